// SPDX-License-Identifier: Apache-2.0
// The makers of RandomNetwork that came with ONNX's operators on images, on boxes in them, and over windows.
#include "optimizer/random/RandomNetwork.hpp"
#include "optimizer/random/RandomShapes.hpp"

#include <numeric>

namespace tenon::test
{

TENON_RANDOM_KIND(Interpolate)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    InterpolateDescriptor descriptor;
    descriptor.m_Axes = Flip() ? RandomAxes(rank) : std::vector<unsigned int>();
    const size_t count = descriptor.m_Axes.empty() ? rank : descriptor.m_Axes.size();
    for (size_t i = 0; i < count; ++i)
    {
        descriptor.m_Sizes.push_back(1 + Roll(5));
    }
    const bool isNearest = Flip();
    descriptor.m_Mode = isNearest ? InterpolationMode::Nearest : InterpolationMode::Linear;
    descriptor.m_Coordinates = Flip() ? InterpolationCoordinates::HalfPixel : InterpolationCoordinates::AlignCorners;
    Finish(m_Network->AddInterpolateLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32,
           input.m_IsExact && isNearest, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(SampleGrid)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    GridSampleDescriptor descriptor;
    descriptor.m_Padding = Flip() ? GridPadding::Zeros : GridPadding::Border;
    descriptor.m_AlignCorners = Flip();
    const Tensor points = Constant(TensorShape({input.m_Shape[0], 2, 3, 2}), 1.5f, true);
    Finish(m_Network->AddGridSampleLayer(descriptor, m_Name.c_str()), {input, points}, DataType::Float32, false,
           input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(AlignRegions)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    RoiAlignDescriptor descriptor;
    descriptor.m_PoolType = Flip() ? PoolingAlgorithm::Average : PoolingAlgorithm::Max;
    descriptor.m_OutputHeight = 1 + Roll(2);
    descriptor.m_OutputWidth = 2;
    const Tensor regions =
        AddFloats(TensorShape({2, 4}), {0.5f, 0.0f, 2.5f, 3.0f, 1.0f, 0.25f, 4.0f, 2.0f}, true, 4.0f);
    Finish(m_Network->AddRoiAlignLayer(descriptor, m_Name.c_str()), {input, regions, Ints({0, 0}, TensorShape({2}))},
           DataType::Float32, false, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(MatrixOfLandmarks)
{
    const Tensor landmarks = Constant(TensorShape({1, 6, 3}), 4.0f, false);
    LandmarksToTransformMatrixDescriptor descriptor;
    descriptor.m_Subset = {1, 3, 4};
    descriptor.m_RightRotationIndex = 5;
    descriptor.m_OutputHeight = 2 + Roll(3);
    descriptor.m_OutputWidth = 4;
    Finish(m_Network->AddLandmarksToTransformMatrixLayer(descriptor, m_Name.c_str()), {landmarks}, DataType::Float32,
           false, 100.0f);
    return true;
}

TENON_RANDOM_KIND(MoveLandmarks)
{
    const Tensor* x = FindFloat(false);
    if (x == nullptr || x->m_Shape.GetNumElements() % 3 != 0)
    {
        return false;
    }
    const Tensor input = *x;
    const Tensor landmarks = Reshaped(input, TensorShape({1, input.m_Shape.GetNumElements() / 3, 3}));
    const Tensor matrix = Constant(TensorShape({1, 4, 4}), 2.0f, true);
    Finish(m_Network->AddTransformLandmarksLayer(m_Name.c_str()), {landmarks, matrix}, DataType::Float32, false,
           4 * input.m_Bound + 2.0f);
    return true;
}

TENON_RANDOM_KIND(SampleByMatrix)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Shape[0] != 1)
    {
        return false;
    }
    const Tensor input = *x;
    TransformTensorBilinearDescriptor descriptor;
    descriptor.m_OutputHeight = 1 + Roll(3);
    descriptor.m_OutputWidth = 2;
    const Tensor matrix =
        AddFloats(TensorShape({1, 4, 4}), {0.75f, 0.125f, 0, 0.25f, -0.125f, 0.75f, 0, 0.25f, 0, 0, 1, 0, 0, 0, 0, 1},
                  true, 1.0f);
    Finish(m_Network->AddTransformTensorBilinearLayer(descriptor, m_Name.c_str()), {input, matrix}, DataType::Float32,
           false, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(SelectBoxesOfClasses)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr || x->m_Shape.GetNumElements() % 4 != 0)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape.GetNumElements() / 4;
    const Tensor boxes = Reshaped(input, TensorShape({1, count, 4}));
    const Tensor scores = Constant(TensorShape({1, 2, count}), 2.0f, true);
    const TensorShape unknown({0, 3}, {false, true});
    FinishAs(m_Network->AddMulticlassNonMaxSuppressionLayer(MulticlassNonMaxSuppressionDescriptor(), m_Name.c_str()),
             {boxes, scores, Ints({3}, TensorShape({1})), Scalar(0.5f), Scalar(-1.0f)},
             {{unknown, DataType::Signed64}});
    const Tensor selected{m_Unread.back(), unknown, DataType::Signed64, true, 0.0f};
    FinishAs(m_Network->AddCastLayer(m_Name.c_str()), {selected}, {{unknown}});
    const Tensor floats{m_Unread.back(), unknown, DataType::Float32, true, 0.0f};
    ReduceDescriptor sum;
    sum.m_ReduceOperation = ReduceOperation::Sum;
    sum.m_vAxis = {0};
    sum.m_KeepDims = true;
    FinishAs(m_Network->AddReduceLayer(sum, m_Name.c_str()), {floats},
             {{TensorShape({1, 3}), DataType::Float32, false, 1e4f}});
    return true;
}

TENON_RANDOM_KIND(PoolSpatial)
{
    const Tensor* x =
        Find([](const Tensor& t)
             { return t.m_Type == DataType::Float32 && t.m_Bound <= 1000.0f && t.m_Shape.GetNumDimensions() >= 3; });
    if (x == nullptr || LastOf(x->m_Shape) < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    PoolingNdDescriptor descriptor;
    descriptor.m_PoolSizes.assign(rank - 2, 1);
    descriptor.m_PoolSizes.back() = 2;
    const bool isMax = Flip();
    descriptor.m_Function = isMax ? PoolingNdFunction::Max : PoolingNdFunction::Average;
    descriptor.m_IndicesEnabled = isMax && input.m_IsExact;
    const TensorShape shape = Resized(input.m_Shape, rank - 1, LastOf(input.m_Shape) - 1);
    std::vector<Made> outputs = {{shape, DataType::Float32, input.m_IsExact && isMax, input.m_Bound}};
    if (descriptor.m_IndicesEnabled)
    {
        outputs.push_back({shape, DataType::Signed64});
    }
    FinishAs(m_Network->AddPoolingNdLayer(descriptor, m_Name.c_str()), {input}, outputs);
    return true;
}

TENON_RANDOM_KIND(Unpool)
{
    const Tensor* x =
        Find([](const Tensor& t)
             { return t.m_Type == DataType::Float32 && t.m_Bound <= 1000.0f && t.m_Shape.GetNumDimensions() >= 3; });
    if (x == nullptr || x->m_Shape.GetNumElements() > 1024)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    MaxUnpoolDescriptor descriptor;
    descriptor.m_PoolSizes.assign(rank - 2, 1);
    descriptor.m_PoolSizes.back() = 2;
    descriptor.m_Strides = descriptor.m_PoolSizes;
    std::vector<int64_t> places(input.m_Shape.GetNumElements());
    std::iota(places.begin(), places.end(), Roll(input.m_Shape.GetNumElements() + 1));
    TensorInfo info(input.m_Shape, DataType::Signed64);
    info.SetConstant();
    Finish(m_Network->AddMaxUnpoolLayer(descriptor, m_Name.c_str()), {input, AddBytes(info, places.data())},
           DataType::Float32, input.m_IsExact, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(PoolAndUnpoolImages)
{
    const Tensor* x = FindFloat(true, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    MaxPool2dWithIndicesDescriptor pool;
    pool.m_PoolWidth = pool.m_StrideX = 2;
    pool.m_PaddingScheme = PaddingScheme::Same;
    const TensorShape shape = Resized(input.m_Shape, 2, (input.m_Shape[2] + 1) / 2);
    FinishAs(m_Network->AddMaxPool2dWithIndicesLayer(pool, m_Name.c_str()), {input},
             {{shape, DataType::Float32, true, input.m_Bound}, {shape, DataType::Float32, false, 2.0f}});
    const Tensor indices = m_Tensors.back();
    const Tensor values = m_Tensors[m_Tensors.size() - 2];
    MaxUnpool2dDescriptor unpool;
    unpool.m_PoolWidth = unpool.m_StrideX = 2;
    Finish(m_Network->AddMaxUnpool2dLayer(unpool, m_Name.c_str()), {values, indices}, DataType::Float32, true,
           input.m_Bound);
    return true;
}

} // namespace tenon::test
