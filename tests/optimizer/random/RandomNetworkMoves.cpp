// SPDX-License-Identifier: Apache-2.0
// The makers of RandomNetwork that came with operators beyond Arm NN's: elementwise ones, norms, and what moves data.
#include "optimizer/random/RandomNetwork.hpp"
#include "optimizer/random/RandomShapes.hpp"

#include <algorithm>

namespace tenon::test
{

// Elementwise

TENON_RANDOM_KIND(AddN)
{
    const Tensor* x = FindFloat();
    const Tensor* y =
        x == nullptr
            ? nullptr
            : Find([&](const Tensor& t)
                   { return t.m_Type == DataType::Float32 && t.m_Shape == x->m_Shape && t.m_Bound <= x->m_Bound; });
    if (y == nullptr)
    {
        return false;
    }
    AddNDescriptor descriptor;
    descriptor.m_NumInputs = 3;
    const float bound = x->m_Bound * 3.0f;
    const std::vector<Tensor> inputs = {*x, *y, *x};
    Finish(m_Network->AddAddNLayer(descriptor, m_Name.c_str()), inputs, DataType::Float32,
           x->m_IsExact && y->m_IsExact && bound <= 256.0f, bound);
    return true;
}

TENON_RANDOM_KIND(FloorIt)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    Move(m_Network->AddFloorLayer(m_Name.c_str()), *x, x->m_Bound + 1.0f);
    return true;
}

TENON_RANDOM_KIND(Zeros)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddZerosLikeLayer(m_Name.c_str()), {input}, DataType::Float32, true, 0.0f);
    return true;
}

TENON_RANDOM_KIND(Bucketize)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    BucketizeDescriptor descriptor;
    descriptor.m_Boundaries = {-1.0f, 0.0f, 2.5f};
    Finish(m_Network->AddBucketizeLayer(descriptor, m_Name.c_str()), {input}, DataType::Signed32, true, 3.0f);
    return true;
}

TENON_RANDOM_KIND(FakeQuantize)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddFakeQuantizationLayer(FakeQuantizationDescriptor(), m_Name.c_str()), {input},
           DataType::Float32, false, 6.0f);
    return true;
}

TENON_RANDOM_KIND(Bitcast)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    FinishAs(m_Network->AddBitcastLayer(m_Name.c_str()), {input}, {{input.m_Shape, DataType::Signed32, true, 4e9f}});
    return true;
}

TENON_RANDOM_KIND(TableLookup)
{
    const Tensor* x = FindType(DataType::QAsymmS8);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const float scale = 0.125f;
    FinishAs(m_Network->AddTableLayer(m_Name.c_str()),
             {input, Stored(TensorInfo({256}, DataType::QAsymmS8, scale, 0), -128, 127)},
             {{input.m_Shape, DataType::QAsymmS8, true, 16.0f, scale}});
    return true;
}

// Norms

TENON_RANDOM_KIND(LogSoftmax)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddLogSoftmaxLayer(LogSoftmaxDescriptor(), m_Name.c_str()), {input}, DataType::Float32, false,
           input.m_Bound * 2.0f + 10.0f);
    return true;
}

TENON_RANDOM_KIND(LayerNormalization)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    std::vector<Tensor> inputs = {*x};
    const float bound = x->m_Bound * 3.0f + 2.0f;
    const TensorShape channels({LastOf(x->m_Shape)});
    for (int parameter = 0; parameter < 2 && Roll(3) != 0; ++parameter)
    {
        inputs.push_back(Constant(channels, 1.0f, false));
    }
    LayerNormalizationDescriptor descriptor;
    descriptor.m_Epsilon = 0.5f;
    descriptor.m_SubtractMean = Roll(3) != 0;
    FinishAs(m_Network->AddLayerNormalizationLayer(descriptor, m_Name.c_str()), inputs,
             {{inputs[0].m_Shape, DataType::Float32, false, bound}});
    return true;
}

TENON_RANDOM_KIND(InstanceNormalization)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    InstanceNormalizationDescriptor descriptor;
    descriptor.m_DataLayout = Flip() ? DataLayout::NHWC : DataLayout::NCHW;
    descriptor.m_Eps = 0.5f;
    Finish(m_Network->AddInstanceNormalizationLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32, false,
           input.m_Bound * 3.0f);
    return true;
}

TENON_RANDOM_KIND(ResponseNormalization)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    NormalizationDescriptor descriptor;
    descriptor.m_NormChannelType =
        Flip() ? NormalizationAlgorithmChannel::Across : NormalizationAlgorithmChannel::Within;
    descriptor.m_NormSize = 3;
    descriptor.m_Alpha = descriptor.m_Beta = 0.5f;
    descriptor.m_K = 1.0f;
    descriptor.m_DataLayout = Flip() ? DataLayout::NHWC : DataLayout::NCHW;
    Finish(m_Network->AddNormalizationLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32, false,
           input.m_Bound);
    return true;
}

// Windows and moves

TENON_RANDOM_KIND(ReduceWindows)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || LastOf(x->m_Shape) < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    ReduceWindowDescriptor descriptor;
    descriptor.m_Function = ReduceWindowFunction::Max;
    descriptor.m_WindowSizes.assign(rank, 1);
    descriptor.m_WindowSizes.back() = 2;
    descriptor.m_Strides.assign(rank, 1);
    descriptor.m_Dilations.assign(rank, 1);
    FinishAs(m_Network->AddReduceWindowLayer(descriptor, m_Name.c_str()),
             {input, Constant(TensorShape({1}), 2.0f, true)},
             {{Resized(input.m_Shape, rank - 1, LastOf(input.m_Shape) - 1), DataType::Float32, input.m_IsExact,
               std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(SpaceToBatch)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Shape[1] % 2 != 0)
    {
        return false;
    }
    const Tensor input = *x;
    SpaceToBatchNdDescriptor there({2, 1}, {{0, 0}, {1, 0}});
    there.m_DataLayout = DataLayout::NHWC;
    Move(m_Network->AddSpaceToBatchNdLayer(there, m_Name.c_str()), input);
    const Tensor batches = m_Tensors.back();
    BatchToSpaceNdDescriptor back({2, 1}, {{0, 0}, {1, 0}});
    back.m_DataLayout = DataLayout::NHWC;
    Move(m_Network->AddBatchToSpaceNdLayer(back, m_Name.c_str()), batches);
    return true;
}

TENON_RANDOM_KIND(DepthToSpace)
{
    const Tensor* x = Find([](const Tensor& t) { return t.m_Shape.GetNumDimensions() == 4 && t.m_Shape[3] % 4 == 0; });
    if (x == nullptr)
    {
        return false;
    }
    Move(m_Network->AddDepthToSpaceLayer(DepthToSpaceDescriptor(2, DataLayout::NHWC), m_Name.c_str()), *x);
    return true;
}

TENON_RANDOM_KIND(ShuffleChannels)
{
    const Tensor* x = Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && LastOf(t.m_Shape) % 2 == 0; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Move(m_Network->AddChannelShuffleLayer(ChannelShuffleDescriptor(2, input.m_Shape.GetNumDimensions() - 1),
                                           m_Name.c_str()),
         input);
    return true;
}

TENON_RANDOM_KIND(Dilate)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    DilateDescriptor descriptor;
    descriptor.m_Dilations.assign(rank, 1);
    descriptor.m_Dilations.back() = 2;
    FinishAs(m_Network->AddDilateLayer(descriptor, m_Name.c_str()), {input, Constant(TensorShape({1}), 2.0f, true)},
             {{Resized(input.m_Shape, rank - 1, LastOf(input.m_Shape) * 2 - 1), DataType::Float32, input.m_IsExact,
               std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(PadBetween)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    StablehloPadDescriptor descriptor;
    descriptor.m_EdgeLow.assign(rank, 0);
    descriptor.m_EdgeHigh.assign(rank, 0);
    descriptor.m_Interior.assign(rank, 0);
    descriptor.m_EdgeLow[0] = static_cast<int32_t>(Roll(2));
    descriptor.m_EdgeHigh[0] = 1;
    FinishAs(m_Network->AddStablehloPadLayer(descriptor, m_Name.c_str()),
             {input, Constant(TensorShape({1}), 2.0f, true)},
             {{Resized(input.m_Shape, 0, input.m_Shape[0] + 1 + static_cast<unsigned int>(descriptor.m_EdgeLow[0])),
               DataType::Float32, input.m_IsExact, std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(ReverseSequence)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Shape.GetNumDimensions() < 2)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<int32_t> lengths(input.m_Shape[0]);
    std::generate(lengths.begin(), lengths.end(),
                  [&] { return static_cast<int32_t>(1 + Roll(LastOf(input.m_Shape))); });
    ReverseSequenceDescriptor descriptor;
    descriptor.m_SequenceDimension = -1;
    FinishAs(m_Network->AddReverseSequenceLayer(descriptor, m_Name.c_str()),
             {input, Ints(lengths, TensorShape({input.m_Shape[0]}))},
             {{input.m_Shape, DataType::Float32, input.m_IsExact, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(RollAxes)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    FinishAs(m_Network->AddRollLayer(m_Name.c_str()),
             {input, Ints({1, -1}, TensorShape({2})),
              Ints({0, static_cast<int32_t>(input.m_Shape.GetNumDimensions() - 1)}, TensorShape({2}))},
             {{input.m_Shape, DataType::Float32, input.m_IsExact, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(Diagonal)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() < 4; });
    if (x == nullptr)
    {
        return false;
    }
    Move(m_Network->AddMatrixDiagLayer(m_Name.c_str()), *x);
    return true;
}

TENON_RANDOM_KIND(SetDiagonal)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Shape.GetNumDimensions() < 2)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<unsigned int> sizes = SizesOf(input.m_Shape);
    const unsigned int last = sizes.back();
    sizes.pop_back();
    sizes.back() = std::min(sizes.back(), last);
    FinishAs(m_Network->AddMatrixSetDiagLayer(m_Name.c_str()), {input, Constant(ShapeOf(sizes), 2.0f, true)},
             {{input.m_Shape, DataType::Float32, input.m_IsExact, std::max(input.m_Bound, 2.0f)}});
    return true;
}

} // namespace tenon::test
