// SPDX-License-Identifier: Apache-2.0
// See FusableNetwork.hpp. Here: convolutions and pools of images, and layers that join, cut and move.
#include "random/FusableNetwork.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::test
{

namespace
{

constexpr size_t MaxElementsOfBlock = 40000;

} // namespace

// Images

FusableNetwork::Tensor FusableNetwork::Image()
{
    const Tensor* const found = Find(
        [](const Tensor& t)
        {
            return t.m_Type == DataType::Float32 && t.Rank() == 4 && t.m_Bound < 20.0 && t.Shape()[1] > 2 &&
                   t.Shape()[2] > 2 && t.Shape()[3] <= 32 && !t.IsFree(3) && t.Elements() < 20000;
        });
    if (found != nullptr && OneIn(2))
    {
        return *found;
    }
    const unsigned int size = 3 + Roll(12);
    const unsigned int batch = std::min(m_Batch[0], 3U);
    const RunShapes shapes{TensorShape({batch, size, size + 2, OneOf({3U, 8U, 16U})}), TensorShape()};
    RunShapes both{shapes[0], shapes[0]};
    both[1].SetDimensionSize(OneIn(2) ? 0 : 1, both[0][0] + 3 + Roll(8));
    return FloatInput(both, 2.0);
}

FusableNetwork::Tensor FusableNetwork::Convolve(const Tensor& image, unsigned int channels, bool isDepthwise)
{
    INetwork& network = *m_Case.m_Network;
    const unsigned int depth = image.Shape()[3];
    const unsigned int kernel = OneOf({1U, 3U});
    const double terms = static_cast<double>(kernel * kernel) * (isDepthwise ? 1.0 : depth);
    const ValueRange range{-1.0 / std::sqrt(terms), 1.0 / std::sqrt(terms)};
    const double bound = image.m_Bound * std::sqrt(terms) + 1.0;
    m_Work += image.Elements() / depth * channels * static_cast<size_t>(terms) / 2;
    const auto fill = [&](auto& descriptor)
    {
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_PaddingScheme = PaddingScheme::Same;
        descriptor.m_BiasEnabled = OneIn(2);
        std::vector<Tensor> inputs{image, Constant(isDepthwise ? TensorShape({1, kernel, kernel, depth})
                                                               : TensorShape({channels, kernel, kernel, depth}),
                                                   DataType::Float32, range)};
        if (descriptor.m_BiasEnabled)
        {
            inputs.push_back(Constant(TensorShape({isDepthwise ? depth : channels}), DataType::Float32, {-1.0, 1.0}));
        }
        return inputs;
    };
    if (isDepthwise)
    {
        DepthwiseConvolution2dDescriptor descriptor;
        const std::vector<Tensor> inputs = fill(descriptor);
        return Finish(network.AddDepthwiseConvolution2dLayer(descriptor, NextName("depthwise").c_str()), inputs,
                      Float(), false, bound);
    }
    Convolution2dDescriptor descriptor;
    const std::vector<Tensor> inputs = fill(descriptor);
    return Finish(network.AddConvolution2dLayer(descriptor, NextName("convolution").c_str()), inputs, Float(), false,
                  bound);
}

FusableNetwork::Tensor FusableNetwork::Pool(const Tensor& image)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = OneIn(2) ? PoolingAlgorithm::Max : PoolingAlgorithm::Average;
    descriptor.m_PoolWidth = descriptor.m_PoolHeight = 3;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    return Finish(m_Case.m_Network->AddPooling2dLayer(descriptor, NextName("pool").c_str()), {image}, Float(), false,
                  image.m_Bound);
}

FusableNetwork::Tensor FusableNetwork::Join(const std::vector<Tensor>& parts, unsigned int axis)
{
    OriginsDescriptor descriptor(static_cast<uint32_t>(parts.size()), parts[0].Rank());
    descriptor.SetConcatAxis(axis);
    return Move(m_Case.m_Network->AddConcatLayer(descriptor, NextName("join").c_str()), parts);
}

bool FusableNetwork::ConvolutionBlock()
{
    const Tensor image = Image();
    Tensor made = image;
    for (unsigned int i = 0, layers = 1 + Roll(3); i < layers; ++i)
    {
        const bool isDepthwise = OneIn(3);
        const unsigned int channels = isDepthwise || OneIn(2) ? made.Shape()[3] : OneOf({8U, 16U});
        const Tensor before = made;
        made = Convolve(made, channels, isDepthwise);
        if (OneIn(3))
        {
            made = Activate(made, OneOf({ActivationFunction::ReLu, ActivationFunction::TanH}));
        }
        if (made.IsSameShape(before) && OneIn(2))
        {
            made = OneIn(2) ? Binary(BinaryOperation::Add, made, before) : Binary(BinaryOperation::Add, before, made);
        }
        if (OneIn(2))
        {
            made = Activate(made, ActivationFunction::BoundedReLu, 6.0f, 0.0f);
        }
        made = Limit(made);
    }
    if (OneIn(3))
    {
        made = Pool(made);
    }
    Chain(made, Roll(4));
    return true;
}

/// The channels of convolutions and pools joined, which these may write in place.
bool FusableNetwork::JoinedConvolutions()
{
    const Tensor image = Image();
    std::vector<Tensor> parts;
    for (unsigned int i = 0, count = 2 + Roll(3); i < count; ++i)
    {
        switch (Roll(4))
        {
        case 0: parts.push_back(Pool(image)); break;
        case 1: parts.push_back(Convolve(image, image.Shape()[3], true)); break;
        case 2:
            parts.push_back(Activate(Convolve(image, OneOf({4U, 8U, 16U}), false), ActivationFunction::ReLu));
            break;
        default: parts.push_back(Convolve(image, OneOf({4U, 8U, 16U}), false));
        }
    }
    if (OneIn(6))
    {
        parts.push_back(parts[0]); // twice
    }
    const Tensor made = Limit(Join(parts, 3));
    Chain(OneIn(2) ? Pool(made) : made, Roll(4));
    return true;
}

// Joining and cutting

/// Equal parts of a dimension, each with a chain of its own, and some of them together again.
bool FusableNetwork::SplitAndJoin()
{
    const Tensor* const found = FindFloat(MaxElementsOfBlock);
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = *found;
    std::vector<std::pair<unsigned int, unsigned int>> ways; // axis and number of parts
    for (unsigned int axis = 0; axis < input.Rank(); ++axis)
    {
        for (unsigned int count = 2; count <= 4; ++count)
        {
            if (input.m_Shapes[0][axis] % count == 0 && input.m_Shapes[1][axis] % count == 0)
            {
                ways.emplace_back(axis, count);
            }
        }
    }
    if (ways.empty())
    {
        return false;
    }
    const auto [axis, count] = ways[Roll(static_cast<unsigned int>(ways.size()))];
    ViewsDescriptor descriptor(count, input.Rank());
    descriptor.m_ParametersAsInputs = true;
    const size_t first = m_Tensors.size();
    IConnectableLayer* const layer = m_Case.m_Network->AddSplitterLayer(descriptor, NextName("split").c_str());
    RunShapes shapes = input.m_Shapes;
    for (TensorShape& shape : shapes)
    {
        shape.SetDimensionSize(axis, shape[axis] / count);
    }
    input.m_Slot->Connect(layer->GetInputSlot(0));
    Ints({static_cast<int32_t>(axis)}, TensorShape({1})).m_Slot->Connect(layer->GetInputSlot(1));
    for (unsigned int i = 0; i < count; ++i)
    {
        AddMade(layer->GetOutputSlot(i), shapes, TypeOf(input), input.m_IsExact, input.m_Bound);
    }
    std::vector<Tensor> parts(m_Tensors.begin() + static_cast<std::ptrdiff_t>(first), m_Tensors.end());
    for (Tensor& part : parts)
    {
        const Tensor made = Chain(part, Roll(4));
        part = made.IsSameShape(part) ? made : part;
    }
    if (OneIn(2))
    {
        Chain(Join(parts, axis), Roll(3));
    }
    return true;
}

/// Whole stretches of memory: rows joined, cut out and stacked.
bool FusableNetwork::Rows()
{
    const Tensor* const found =
        Find([](const Tensor& t) { return t.Rank() >= 2 && t.Elements() < MaxElementsOfBlock; });
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = *found;
    INetwork& network = *m_Case.m_Network;
    Tensor made = input;
    switch (Roll(4))
    {
    case 0: made = Join({input, input}, Roll(input.Rank())); break;
    case 1:
    {
        const Tensor* const other = Find(
            [&](const Tensor& t)
            { return t.m_Type == input.m_Type && t.IsSameShape(input) && TypeOf(t).IsTypeSpaceMatch(TypeOf(input)); });
        const Tensor second = *other; // itself at least
        if (input.Rank() < 5 && OneIn(2))
        {
            StackDescriptor descriptor;
            descriptor.m_Axis = Roll(2) * input.Rank();
            descriptor.m_NumInputs = 2;
            made = Move(network.AddStackLayer(descriptor, NextName("stack").c_str()), {input, second});
        }
        else
        {
            made = Join({input, second}, Roll(2) * (input.Rank() - 1));
        }
        break;
    }
    default:
    {
        StridedSliceDescriptor descriptor;
        const unsigned int cut = Roll(input.Rank());
        for (unsigned int axis = 0; axis < input.Rank(); ++axis)
        {
            const unsigned int min = std::min(input.m_Shapes[0][axis], input.m_Shapes[1][axis]);
            const bool isCut = axis == cut && min > 1;
            const bool isToEnd = !isCut || OneIn(2);
            descriptor.m_Begin.push_back(isCut && isToEnd ? 1 : 0);
            descriptor.m_End.push_back(isToEnd ? 0 : static_cast<int>(min / 2));
            descriptor.m_Stride.push_back(isCut && OneIn(4) ? 2 : 1);
            descriptor.m_EndMask |= isToEnd ? 1 << axis : 0;
        }
        made = Move(network.AddStridedSliceLayer(descriptor, NextName("slice").c_str()), {input});
    }
    }
    if (made.m_Type == DataType::Float32 && made.m_Bound < 1e3)
    {
        Chain(made, Roll(4));
    }
    return true;
}

bool FusableNetwork::Moves()
{
    const Tensor* const found =
        Find([](const Tensor& t) { return t.Rank() >= 2 && t.Elements() < MaxElementsOfBlock; });
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = *found;
    INetwork& network = *m_Case.m_Network;
    std::vector<unsigned int> order(input.Rank());
    for (unsigned int i = 0; i < order.size(); ++i)
    {
        order[i] = i;
    }
    std::swap(order[Roll(input.Rank())], order[Roll(input.Rank())]);
    const PermutationVector mappings(order.data(), static_cast<unsigned int>(order.size()));
    Tensor made =
        Move(network.AddTransposeLayer(TransposeDescriptor(mappings), NextName("transpose").c_str()), {input});
    if (made.m_Type != DataType::Float32 || made.m_Bound > 1e3)
    {
        return true;
    }
    made = Chain(made, Roll(4));
    if (OneIn(2) && made.Rank() == order.size()) // and back
    {
        made = Move(network.AddTransposeLayer(TransposeDescriptor(mappings), NextName("transpose").c_str()), {made});
        Chain(made, Roll(3));
    }
    return true;
}

} // namespace tenon::test
