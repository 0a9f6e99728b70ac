// SPDX-License-Identifier: Apache-2.0
// The makers of RandomNetwork that are not elementwise.
#include "optimizer/random/RandomNetwork.hpp"
#include "optimizer/random/RandomShapes.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::test
{

// Layers with weights

TENON_RANDOM_KIND(Convolution)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Bound > 20.0f || x->m_Shape[1] < 2 || x->m_Shape[2] < 2)
    {
        return false;
    }
    const Tensor input = *x;
    Convolution2dDescriptor descriptor;
    const bool isNhwc = Roll(3) != 0;
    descriptor.m_DataLayout = isNhwc ? DataLayout::NHWC : DataLayout::NCHW;
    const unsigned int channels = isNhwc ? input.m_Shape[3] : input.m_Shape[1];
    const unsigned int kernel = 1 + Roll(2);
    const unsigned int outputs = 1 + Roll(4);
    descriptor.m_BiasEnabled = Flip();
    descriptor.m_PaddingScheme = static_cast<PaddingScheme>(Roll(3));
    if (descriptor.m_PaddingScheme == PaddingScheme::Explicit)
    {
        descriptor.m_PadLeft = Roll(2);
        descriptor.m_PadBottom = Roll(2);
    }
    std::vector<Tensor> inputs = {input, Constant(isNhwc ? TensorShape({outputs, kernel, kernel, channels})
                                                         : TensorShape({outputs, channels, kernel, kernel}),
                                                  0.5f, false)};
    if (!isNhwc && std::min(input.m_Shape[2], input.m_Shape[3]) < kernel)
    {
        return false;
    }
    if (descriptor.m_BiasEnabled)
    {
        inputs.push_back(Constant(TensorShape({outputs}), 1.0f, false));
    }
    Finish(m_Network->AddConvolution2dLayer(descriptor, m_Name.c_str()), inputs, DataType::Float32, false,
           input.m_Bound * 0.5f * static_cast<float>(kernel * kernel * channels) + 1.0f);
    return true;
}

TENON_RANDOM_KIND(Depthwise)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Bound > 20.0f || x->m_Shape[1] < 2 || x->m_Shape[2] < 2)
    {
        return false;
    }
    const Tensor input = *x;
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_BiasEnabled = Flip();
    const unsigned int outputs = input.m_Shape[3] * (1 + Roll(2));
    std::vector<Tensor> inputs = {input, Constant(TensorShape({1, 2, 2, outputs}), 0.5f, false)};
    if (descriptor.m_BiasEnabled)
    {
        inputs.push_back(Constant(TensorShape({outputs}), 1.0f, false));
    }
    Finish(m_Network->AddDepthwiseConvolution2dLayer(descriptor, m_Name.c_str()), inputs, DataType::Float32, false,
           input.m_Bound * 2.0f + 1.0f);
    return true;
}

TENON_RANDOM_KIND(TransposedConvolution)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    TransposeConvolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_StrideX = 1;
    descriptor.m_StrideY = 2;
    Finish(m_Network->AddTransposeConvolution2dLayer(descriptor, m_Name.c_str()),
           {input, Constant(TensorShape({2, 2, 2, input.m_Shape[3]}), 0.5f, false)}, DataType::Float32, false,
           input.m_Bound * 2.0f * static_cast<float>(input.m_Shape[3]));
    return true;
}

TENON_RANDOM_KIND(FullyConnected)
{
    const Tensor* x = FindFloat(false, 2);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = Flip();
    descriptor.m_BiasEnabled = Flip();
    const unsigned int depth = input.m_Shape[1];
    const unsigned int outputs = 1 + Roll(5);
    std::vector<Tensor> inputs = {input, Constant(descriptor.m_TransposeWeightMatrix ? TensorShape({outputs, depth})
                                                                                     : TensorShape({depth, outputs}),
                                                  0.5f, false)};
    if (descriptor.m_BiasEnabled)
    {
        inputs.push_back(Constant(TensorShape({outputs}), 1.0f, false));
    }
    Finish(m_Network->AddFullyConnectedLayer(descriptor, m_Name.c_str()), inputs, DataType::Float32, false,
           input.m_Bound * 0.5f * static_cast<float>(depth) + 1.0f);
    return true;
}

TENON_RANDOM_KIND(MatMul)
{
    const Tensor* x =
        Find([](const Tensor& t)
             { return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() >= 2 && t.m_Bound <= 8.0f; });
    if (x == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *x};
    Finish(m_Network->AddBatchMatMulLayer(BatchMatMulDescriptor(false, true), m_Name.c_str()), inputs,
           DataType::Float32, false, x->m_Bound * x->m_Bound * static_cast<float>(LastOf(x->m_Shape)));
    return true;
}

TENON_RANDOM_KIND(Attention)
{
    const Tensor* x =
        Find([](const Tensor& t)
             { return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() >= 2 && t.m_Bound <= 8.0f; });
    if (x == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *x, *x};
    AttentionDescriptor descriptor;
    descriptor.m_IsCausal = Flip();
    descriptor.m_RowsBeforeHeads = x->m_Shape.GetNumDimensions() > 2 && Flip();
    Finish(m_Network->AddAttentionLayer(descriptor, m_Name.c_str()), inputs, DataType::Float32, false, x->m_Bound);
    return true;
}

TENON_RANDOM_KIND(BatchNormalization)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    BatchNormalizationDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_Eps = 0.001f;
    const TensorInfo info(TensorShape({input.m_Shape[3]}), DataType::Float32, 0.0f, 0, true);
    const auto values = [&](float first)
    {
        std::vector<float>& v = m_Kept.emplace_back(input.m_Shape[3]);
        std::generate(v.begin(), v.end(), [&] { return first + static_cast<float>(Roll(10)) / 10.0f; });
        return ConstTensor(info, v);
    };
    const ConstTensor mean = values(-0.5f);
    const ConstTensor variance = values(0.5f);
    const ConstTensor beta = values(-0.5f);
    const ConstTensor gamma = values(-0.5f);
    Finish(m_Network->AddBatchNormalizationLayer(descriptor, mean, variance, beta, gamma, m_Name.c_str()), {input},
           DataType::Float32, false, (input.m_Bound + 1.0f) * 1.5f + 1.0f);
    return true;
}

// Over windows and axes

TENON_RANDOM_KIND(Pool)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Shape[1] < 2 || x->m_Shape[2] < 2)
    {
        return false;
    }
    const Tensor input = *x;
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = Flip() ? PoolingAlgorithm::Max : PoolingAlgorithm::Average;
    descriptor.m_PaddingMethod = Flip() ? PaddingMethod::IgnoreValue : PaddingMethod::Exclude;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PoolHeight = descriptor.m_PoolWidth = 2;
    descriptor.m_StrideX = descriptor.m_StrideY = 1 + Roll(2);
    Finish(m_Network->AddPooling2dLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32,
           input.m_IsExact && descriptor.m_PoolType == PoolingAlgorithm::Max, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(Softmax)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddSoftmaxLayer(SoftmaxDescriptor(), m_Name.c_str()), {input}, DataType::Float32, false, 1.0f);
    return true;
}

TENON_RANDOM_KIND(L2Normalization)
{
    const Tensor* x = FindFloat(true, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    L2NormalizationDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_Eps = 0.01f;
    Finish(m_Network->AddL2NormalizationLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32, false, 1.0f);
    return true;
}

TENON_RANDOM_KIND(LayerNormalizationLongForm)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int last = input.m_Shape.GetNumDimensions() - 1;
    const auto binary = [&](BinaryOperation operation, const Tensor& a, const Tensor& b, float bound)
    {
        Finish(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), m_Name.c_str()), {a, b},
               DataType::Float32, false, bound);
        return m_Tensors.back();
    };
    const auto mean = [&](const Tensor& t)
    {
        Finish(m_Network->AddMeanLayer(MeanDescriptor({last}, true), m_Name.c_str()), {t}, DataType::Float32, false,
               t.m_Bound);
        return m_Tensors.back();
    };
    const Tensor centre = mean(input);
    const Tensor squares = binary(BinaryOperation::SqDiff, input, centre, input.m_Bound * input.m_Bound * 4);
    const Tensor variance = mean(squares);
    const Tensor stable = binary(BinaryOperation::Add, variance, Scalar(0.5f), input.m_Bound * input.m_Bound * 4 + 1);
    Finish(m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Rsqrt), m_Name.c_str()),
           {stable}, DataType::Float32, false, 1.5f);
    const Tensor factor = m_Tensors.back();
    const Tensor shifted = binary(BinaryOperation::Sub, input, centre, input.m_Bound * 2);
    binary(BinaryOperation::Mul, shifted, factor, input.m_Bound * 3);
    return true;
}

TENON_RANDOM_KIND(HardSwishLongForm)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const auto binary = [&](BinaryOperation operation, const Tensor& a, const Tensor& b)
    {
        Finish(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), m_Name.c_str()), {a, b},
               DataType::Float32, false, input.m_Bound * 6.0f);
        return m_Tensors.back();
    };
    const Tensor shifted = binary(BinaryOperation::Add, input, Scalar(3.0f));
    Finish(m_Network->AddActivationLayer(ActivationDescriptor(ActivationFunction::BoundedReLu, 6.0f, 0.0f),
                                         m_Name.c_str()),
           {shifted}, DataType::Float32, false, 6.0f);
    const Tensor gate = m_Tensors.back();
    const Tensor product = binary(BinaryOperation::Mul, input, gate);
    const bool divides = Flip();
    binary(divides ? BinaryOperation::Div : BinaryOperation::Mul, product, Scalar(divides ? 6.0f : 1.0f / 6.0f));
    return true;
}

TENON_RANDOM_KIND(Prelu)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddPreluLayer(m_Name.c_str()),
           {input, Constant(TensorShape({LastOf(input.m_Shape)}), 0.5f, false)}, DataType::Float32, false,
           input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(Mean)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Shape.GetNumDimensions() < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const bool keeps = Flip();
    std::vector<unsigned int> axes = RandomAxes(input.m_Shape.GetNumDimensions());
    axes.resize(1);
    Finish(m_Network->AddMeanLayer(MeanDescriptor(axes, keeps), m_Name.c_str()), {input}, DataType::Float32, false,
           input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(Reduce)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Shape.GetNumDimensions() < 2)
    {
        return false;
    }
    const Tensor input = *x;
    ReduceDescriptor descriptor;
    descriptor.m_ReduceOperation = Flip() ? ReduceOperation::Max : ReduceOperation::Min;
    descriptor.m_KeepDims = Flip();
    descriptor.m_vAxis = {Roll(input.m_Shape.GetNumDimensions())};
    Move(m_Network->AddReduceLayer(descriptor, m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(CumSum)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Bound > 50.0f)
    {
        return false;
    }
    const Tensor input = *x;
    CumSumDescriptor descriptor;
    descriptor.m_Axis = -1;
    descriptor.m_Reverse = Flip();
    Finish(m_Network->AddCumSumLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32, false,
           input.m_Bound * static_cast<float>(LastOf(input.m_Shape)));
    return true;
}

// What moves data

TENON_RANDOM_KIND(Reshape)
{
    const Tensor* x = Find([](const Tensor&) { return true; });
    const Tensor input = *x;
    const unsigned int count = input.m_Shape.GetNumElements();
    const unsigned int part = count % 2 == 0 ? 2 : (count % 3 == 0 ? 3 : 1);
    const TensorShape targets[] = {TensorShape({count}), TensorShape({part, count / part}),
                                   TensorShape({1, count / part, part}), TensorShape({1, part, count / part, 1})};
    Move(m_Network->AddReshapeLayer(ReshapeDescriptor(targets[Roll(4)]), m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(Permute)
{
    const Tensor* x = Find([](const Tensor& t) { return t.m_Shape.GetNumDimensions() > 1; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<unsigned int> mapping(input.m_Shape.GetNumDimensions());
    std::iota(mapping.begin(), mapping.end(), 0U);
    std::shuffle(mapping.begin(), mapping.end(), m_Random);
    const PermutationVector permutation(mapping.data(), static_cast<unsigned int>(mapping.size()));
    Move(m_Network->AddPermuteLayer(PermuteDescriptor(permutation), m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(Transpose)
{
    const Tensor* x = Find([](const Tensor& t) { return t.m_Shape.GetNumDimensions() == 4; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const PermutationVector toNchw({0, 3, 1, 2});
    const PermutationVector toNhwc({0, 2, 3, 1});
    Move(m_Network->AddTransposeLayer(TransposeDescriptor(Flip() ? toNchw : toNhwc), m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(InversePermutes)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Move(m_Network->AddTransposeLayer(TransposeDescriptor(PermutationVector({0, 3, 1, 2})), m_Name.c_str()), input);
    const Tensor moved = m_Tensors.back();
    Move(m_Network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu), m_Name.c_str()), moved);
    const Tensor active = m_Tensors.back();
    Move(m_Network->AddTransposeLayer(TransposeDescriptor(PermutationVector({0, 2, 3, 1})), m_Name.c_str()), active);
    return true;
}

TENON_RANDOM_KIND(Concat)
{
    const Tensor* x = FindFloat();
    const Tensor* y = x == nullptr
                          ? nullptr
                          : Find([&](const Tensor& t) { return t.m_Type == x->m_Type && t.m_Shape == x->m_Shape; });
    if (y == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *y, *x};
    const std::vector<TensorShape> shapes = {x->m_Shape, y->m_Shape, x->m_Shape};
    const OriginsDescriptor descriptor =
        CreateDescriptorForConcatenation(shapes.begin(), shapes.end(), Roll(x->m_Shape.GetNumDimensions()));
    Finish(m_Network->AddConcatLayer(descriptor, m_Name.c_str()), inputs, DataType::Float32,
           x->m_IsExact && y->m_IsExact, std::max(x->m_Bound, y->m_Bound));
    return true;
}

TENON_RANDOM_KIND(Split)
{
    const Tensor* x = Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && LastOf(t.m_Shape) % 2 == 0; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    ViewsDescriptor descriptor(2, rank);
    for (unsigned int view = 0; view < 2; ++view)
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            const bool isLast = i + 1 == rank;
            descriptor.SetViewSize(view, i, isLast ? input.m_Shape[i] / 2 : input.m_Shape[i]);
            descriptor.SetViewOriginCoord(view, i, isLast ? view * input.m_Shape[i] / 2 : 0);
        }
    }
    Move(m_Network->AddSplitterLayer(descriptor, m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(Stack)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() < 4; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddStackLayer(StackDescriptor(Roll(input.m_Shape.GetNumDimensions() + 1), 2, input.m_Shape),
                                    m_Name.c_str()),
           {input, input}, DataType::Float32, input.m_IsExact, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(Slice)
{
    const Tensor* x = Find([](const Tensor& t) { return LastOf(t.m_Shape) > 1; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<unsigned int> sizes = SizesOf(input.m_Shape);
    std::vector<unsigned int> begins(sizes.size(), 0);
    if (Flip()) // else all of it
    {
        begins.back() = 1;
        sizes.back() -= 1;
    }
    Move(m_Network->AddSliceLayer(SliceDescriptor(begins, sizes), m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(StridedSlice)
{
    const Tensor* x = Find([](const Tensor& t) { return LastOf(t.m_Shape) > 2; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const size_t rank = input.m_Shape.GetNumDimensions();
    StridedSliceDescriptor descriptor(std::vector<int>(rank, 0), std::vector<int>(rank, 0), std::vector<int>(rank, 1));
    descriptor.m_EndMask = (1 << rank) - 1;
    descriptor.m_Stride.back() = 2;
    descriptor.m_DataLayout = DataLayout::NHWC;
    Move(m_Network->AddStridedSliceLayer(descriptor, m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(Pad)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<std::pair<unsigned int, unsigned int>> paddings(input.m_Shape.GetNumDimensions(), {0, 0});
    paddings[paddings.size() > 2 ? 1 : 0] = {Roll(2), 1};
    Move(m_Network->AddPadLayer(PadDescriptor(paddings, Flip() ? 0.0f : 1.0f), m_Name.c_str()), input,
         std::max(1.0f, input.m_Bound));
    return true;
}

TENON_RANDOM_KIND(Tile)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<uint32_t> multiples(input.m_Shape.GetNumDimensions(), 1);
    multiples[0] = 1 + Roll(2);
    Move(m_Network->AddTileLayer(TileDescriptor(multiples), m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(BroadcastTo)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() < 4; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<unsigned int> sizes = SizesOf(input.m_Shape);
    sizes.insert(sizes.begin(), 1 + Roll(2));
    Move(m_Network->AddBroadcastToLayer(BroadcastToDescriptor(ShapeOf(sizes)), m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(Gather)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int axis = Roll(input.m_Shape.GetNumDimensions());
    const auto last = static_cast<int32_t>(input.m_Shape[axis] - 1);
    Finish(m_Network->AddGatherLayer(GatherDescriptor(static_cast<int32_t>(axis)), m_Name.c_str()),
           {input, Ints({last, 0}, TensorShape({2}))}, DataType::Float32, input.m_IsExact, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(Reverse)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddReverseV2Layer(m_Name.c_str()), {input, Ints({0}, TensorShape({1}))}, DataType::Float32,
           input.m_IsExact, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(ExpandAndSqueeze)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() < 4; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    ExpandDimsDescriptor expand;
    expand.m_Axis = 0;
    Move(m_Network->AddExpandDimsLayer(expand, m_Name.c_str()), input);
    if (Flip())
    {
        const Tensor expanded = m_Tensors.back();
        SqueezeDescriptor squeeze;
        squeeze.m_Axis = {0};
        Move(m_Network->AddSqueezeLayer(squeeze, m_Name.c_str()), expanded);
    }
    return true;
}

TENON_RANDOM_KIND(SpaceAndDepth)
{
    const Tensor* x = Find(
        [](const Tensor& t)
        {
            return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() == 4 && t.m_Shape[1] % 2 == 0 &&
                   t.m_Shape[2] % 2 == 0;
        });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Move(m_Network->AddSpaceToDepthLayer(SpaceToDepthDescriptor(2, DataLayout::NHWC), m_Name.c_str()), input);
    return true;
}

TENON_RANDOM_KIND(Resize)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    ResizeDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_TargetHeight = 1 + Roll(5);
    descriptor.m_TargetWidth = 1 + Roll(5);
    const bool isNearest = Flip();
    descriptor.m_Method = isNearest ? ResizeMethod::NearestNeighbor : ResizeMethod::Bilinear;
    Finish(m_Network->AddResizeLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32,
           input.m_IsExact && isNearest, input.m_Bound);
    return true;
}

// What the optimizer should see through

TENON_RANDOM_KIND(ConstantIsland)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const Tensor start = Constant(TensorShape({LastOf(input.m_Shape), 1}), 2.0f, true);
    Finish(m_Network->AddTransposeLayer(TransposeDescriptor(PermutationVector({1, 0})), m_Name.c_str()), {start},
           DataType::Float32, true, 2.0f);
    const Tensor turned = m_Tensors.back();
    Finish(m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg), m_Name.c_str()),
           {turned}, DataType::Float32, true, 2.0f);
    const Tensor negated = m_Tensors.back();
    Finish(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), m_Name.c_str()),
           {input, negated}, DataType::Float32, input.m_IsExact && input.m_Bound + 2.0f < 256.0f, input.m_Bound + 2.0f);
    return true;
}

TENON_RANDOM_KIND(Twin)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    for (int i = 0; i < 2; ++i)
    {
        Finish(
            m_Network->AddActivationLayer(ActivationDescriptor(ActivationFunction::TanH, 1.0f, 1.0f), m_Name.c_str()),
            {input}, DataType::Float32, false, 1.0f);
    }
    return true;
}

TENON_RANDOM_KIND(Branch)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const auto body = [&](UnaryOperation operation)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* in = network->AddInputLayer(0);
        in->GetOutputSlot(0).SetTensorInfo(TensorInfo(input.m_Shape, DataType::Float32));
        IConnectableLayer* first = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation));
        IConnectableLayer* second = network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu));
        in->GetOutputSlot(0).Connect(first->GetInputSlot(0));
        first->GetOutputSlot(0).Connect(second->GetInputSlot(0));
        second->GetOutputSlot(0).Connect(network->AddOutputLayer(0)->GetInputSlot(0));
        return network;
    };
    ReduceDescriptor all;
    all.m_ReduceOperation = ReduceOperation::Max;
    Finish(m_Network->AddReduceLayer(all, (m_Name + "/max").c_str()), {input}, DataType::Float32, true, input.m_Bound);
    const Tensor largest = m_Tensors.back();
    m_Tensors.pop_back(); // a scalar, which most layers do not take
    Finish(m_Network->AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Greater), (m_Name + "/if").c_str()),
           {largest, Constant(TensorShape({1}), 1.0f, true)}, DataType::Boolean, true, 1.0f);
    const Tensor condition = m_Tensors.back();
    m_Tensors.pop_back();
    const INetworkPtr thenNetwork = body(UnaryOperation::Neg);
    const INetworkPtr elseNetwork = body(UnaryOperation::Abs);
    IConnectableLayer* layer = m_Network->AddIfLayer(*thenNetwork, *elseNetwork, m_Name.c_str());
    condition.m_Slot->Connect(layer->GetInputSlot(0));
    input.m_Slot->Connect(layer->GetInputSlot(1));
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(input.m_Shape, DataType::Float32));
    m_Tensors.push_back({&layer->GetOutputSlot(0), input.m_Shape, DataType::Float32, true, input.m_Bound});
    return true;
}

} // namespace tenon::test
