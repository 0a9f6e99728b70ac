// SPDX-License-Identifier: Apache-2.0
// Rows of convolutions: of one, two or three spatial dimensions, [N, C, spatial...]. One dimension becomes an image of
// height 1.
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/operators/SlidingWindow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon::onnx::rows
{

namespace
{

/// Paddings and sizes that attributes may ask for, so that sums of them are numbers.
constexpr int64_t MaxElements = std::numeric_limits<int32_t>::max();

uint32_t U32(int64_t value)
{
    return static_cast<uint32_t>(value);
}

template <typename Descriptor>
void SetPads(Descriptor& descriptor, const SlidingWindow& windows)
{
    const size_t last = windows.Rank() - 1;
    descriptor.m_PadTop = U32(windows.m_Before[last - 1]);
    descriptor.m_PadBottom = U32(windows.m_After[last - 1]);
    descriptor.m_PadLeft = U32(windows.m_Before[last]);
    descriptor.m_PadRight = U32(windows.m_After[last]);
    descriptor.m_StrideY = U32(windows.m_Strides[last - 1]);
    descriptor.m_StrideX = U32(windows.m_Strides[last]);
    if (windows.m_AutoPad == SlidingWindow::AutoPad::SameUpper)
    {
        descriptor.m_PaddingScheme = PaddingScheme::Same;
    }
}

template <typename Descriptor>
void SetDilations(Descriptor& descriptor, const SlidingWindow& windows)
{
    const size_t last = windows.Rank() - 1;
    descriptor.m_DilationY = U32(windows.m_Dilations[last - 1]);
    descriptor.m_DilationX = U32(windows.m_Dilations[last]);
}

template <typename Descriptor>
void SetDepth(Descriptor& descriptor, const SlidingWindow& windows)
{
    descriptor.m_DataLayout = DataLayout::NCDHW;
    descriptor.m_PadFront = U32(windows.m_Before[0]);
    descriptor.m_PadBack = U32(windows.m_After[0]);
    descriptor.m_StrideZ = U32(windows.m_Strides[0]);
    descriptor.m_DilationZ = U32(windows.m_Dilations[0]);
}

/// What a convolution works on, with one spatial dimension made two.
struct Operands
{
    Value m_Data;
    Value m_Weights;
    Value m_Bias;
    SlidingWindow m_Window;
    bool m_IsOneDimensional = false;
    int64_t m_Groups = 1;
};

Operands ReadOperands(const Operator& op, GraphBuilder& graph)
{
    Operands operands{op.Input(0), op.Input(1), op.FindInput(2), {}, false, op.Int64("group", 1)};
    const unsigned int rank = operands.m_Data.Rank();
    if (rank < 3 || operands.m_Weights.Rank() != rank)
    {
        op.Fail(fmt::format("data of shape {} and weights of shape {} are not those of a convolution",
                            operands.m_Data.Shape().ToString(), operands.m_Weights.Shape().ToString()));
    }
    if (rank > 5)
    {
        op.Refuse(fmt::format("{} spatial dimensions are not supported, at most 3 are", rank - 2));
    }
    if (operands.m_Groups < 1)
    {
        op.Fail(fmt::format("attribute 'group' is {}; it must be 1 at least", operands.m_Groups));
    }
    operands.m_Window = ReadSlidingWindow(op, rank - 2, SpatialSizes(operands.m_Weights));
    if (rank == 3)
    {
        operands.m_IsOneDimensional = true;
        operands.m_Data = graph.Unsqueeze(operands.m_Data, {2});
        operands.m_Weights = graph.Unsqueeze(operands.m_Weights, {2});
        operands.m_Window.AddDimension();
    }
    return operands;
}

Value Part(GraphBuilder& graph, const Value& x, unsigned int axis, int64_t i, int64_t parts)
{
    const int64_t size = x.Size(axis) / parts;
    return graph.Slice(x, axis, i * size, (i + 1) * size);
}

/// Runs `convolve` for each group of channels and joins what it gives. `outputs`: the dimension of the weights, each
/// group of which has channels of its own.
template <typename Convolve>
Value ForEachGroup(const Operator& op, GraphBuilder& graph, const Operands& operands, Convolve convolve)
{
    const int64_t groups = operands.m_Groups;
    if (groups == 1)
    {
        return convolve(operands.m_Data, operands.m_Weights, operands.m_Bias);
    }
    const int64_t channels = operands.m_Data.Size(1);
    const int64_t filters = operands.m_Weights.Size(0);
    if (channels == OpenSize || filters == OpenSize || (operands.m_Bias && operands.m_Bias.Size(0) == OpenSize))
    {
        op.Refuse("the number of channels of a grouped convolution is not known before the run");
    }
    if (channels % groups != 0 || filters % groups != 0)
    {
        op.Fail(fmt::format("{} groups do not fit {} channels and weights of shape {}", groups, channels,
                            operands.m_Weights.Shape().ToString()));
    }
    std::vector<Value> results;
    for (int64_t i = 0; i < groups; ++i)
    {
        results.push_back(convolve(Part(graph, operands.m_Data, 1, i, groups),
                                   Part(graph, operands.m_Weights, 0, i, groups),
                                   operands.m_Bias ? Part(graph, operands.m_Bias, 0, i, groups) : Value()));
    }
    return graph.Concat(results, 1);
}

std::vector<Value> Inputs(const Value& data, const Value& weights, const Value& bias)
{
    std::vector<Value> inputs = {data, weights};
    if (bias)
    {
        inputs.push_back(bias);
    }
    return inputs;
}

Value Finish(GraphBuilder& graph, const Operands& operands, const Value& result)
{
    return operands.m_IsOneDimensional ? graph.Squeeze(result, {2}) : result;
}

/// Weights of a transposed convolution, [C, filters / group, H, W], as those of the convolution that computes the same
/// where windows move by one element: [filters, C / group, H, W].
Value FlipWeights(GraphBuilder& graph, const Value& weights, int64_t groups)
{
    const std::vector<int64_t> sizes = weights.Sizes();
    const int64_t last = std::numeric_limits<int64_t>::min();
    const Value flipped = graph.Slice(weights, {-1, -1}, {last, last}, {2, 3}, {-1, -1});
    const Value byGroup = graph.Reshape(flipped, {groups, sizes[0] / groups, sizes[1], sizes[2], sizes[3]});
    return graph.Reshape(graph.Transpose(byGroup, {0, 2, 1, 3, 4}),
                         {groups * sizes[1], sizes[0] / groups, sizes[2], sizes[3]});
}

/// A transposed convolution of images as a Convolution2d: windows are flipped, and data are padded as far as windows
/// reach. Where windows move by more than one element, data lie as many elements apart, with zeros between them. No
/// value where that is not possible, or slower than the transposed convolution.
Value TryAsConvolution(const Operator& op, GraphBuilder& graph, const Operands& operands,
                       const std::vector<int64_t>& outputPadding)
{
    constexpr int64_t ManyGroups = 4; // of which each would be a layer
    const SlidingWindow& windows = operands.m_Window;
    const bool hasSteps =
        std::any_of(windows.m_Strides.begin(), windows.m_Strides.end(), [](int64_t n) { return n != 1; });
    const int64_t groups = operands.m_Groups;
    const int64_t channels = operands.m_Data.Size(1);
    if (windows.Rank() != 2 || !op.Input(1).IsConstant() || channels != operands.m_Weights.Size(0) ||
        channels % groups != 0 || (hasSteps && groups < ManyGroups))
    {
        return {};
    }
    SlidingWindow flipped = windows;
    for (size_t i = 0; i < 2; ++i)
    {
        flipped.m_Before[i] = windows.Extent(i) - 1 - windows.m_Before[i];
        flipped.m_After[i] = windows.Extent(i) - 1 - windows.m_After[i] + outputPadding[i];
        flipped.m_Strides[i] = 1;
        if (flipped.m_Before[i] < 0 || flipped.m_After[i] < 0)
        {
            return {};
        }
    }
    Value data = operands.m_Data;
    if (hasSteps)
    {
        DilateDescriptor apart;
        apart.m_Dilations = {1, 1, U32(windows.m_Strides[0]), U32(windows.m_Strides[1])};
        data = graph.AddLayer(LayerType::Dilate, apart, {data, GraphBuilder::Scalar(data.Type(), 0.0)}, data.Type());
    }
    Convolution2dDescriptor descriptor;
    SetPads(descriptor, flipped);
    SetDilations(descriptor, flipped);
    descriptor.m_BiasEnabled = static_cast<bool>(operands.m_Bias);
    descriptor.m_DataLayout = DataLayout::NCHW;
    return graph.AddImageLayer(LayerType::Convolution2d, descriptor,
                               Inputs(data, FlipWeights(graph, operands.m_Weights, groups), operands.m_Bias));
}

} // namespace

void AddConv(Operator& op, GraphBuilder& graph)
{
    Operands operands = ReadOperands(op, graph);
    ResolvePads(op, operands.m_Window, SpatialSizes(operands.m_Data), false);
    const SlidingWindow& windows = operands.m_Window;
    if (windows.Rank() == 3)
    {
        Convolution3dDescriptor descriptor;
        SetPads(descriptor, windows);
        SetDilations(descriptor, windows);
        SetDepth(descriptor, windows);
        descriptor.m_BiasEnabled = static_cast<bool>(operands.m_Bias);
        op.SetOutput(0, ForEachGroup(op, graph, operands,
                                     [&](const Value& data, const Value& weights, const Value& bias)
                                     {
                                         return graph.AddImageLayer(
                                             LayerType::Convolution3d, descriptor,
                                             Inputs(data, graph.Transpose(weights, {2, 3, 4, 1, 0}), bias));
                                     }));
        return;
    }
    // The layer takes groups as they are: it sees them by the weights' number of input channels.
    const int64_t channels = operands.m_Data.Size(1);
    const int64_t taken = operands.m_Weights.Size(1);
    if (channels != OpenSize && taken != OpenSize && channels != taken * operands.m_Groups)
    {
        op.Fail(fmt::format("{} channels do not fit {} groups and weights of shape {}", channels, operands.m_Groups,
                            op.Input(1).Shape().ToString()));
    }
    Convolution2dDescriptor descriptor;
    SetPads(descriptor, windows);
    SetDilations(descriptor, windows);
    descriptor.m_BiasEnabled = static_cast<bool>(operands.m_Bias);
    descriptor.m_DataLayout = DataLayout::NCHW;
    op.SetOutput(0, Finish(graph, operands,
                           graph.AddImageLayer(LayerType::Convolution2d, descriptor,
                                               Inputs(operands.m_Data, operands.m_Weights, operands.m_Bias))));
}

/// Weights are [C, filters / group, spatial...].
void AddConvTranspose(Operator& op, GraphBuilder& graph)
{
    Operands operands = ReadOperands(op, graph);
    SlidingWindow& windows = operands.m_Window;
    const size_t spatialRank = windows.Rank();
    std::vector<int64_t> outputPadding = op.Int64s("output_padding");
    std::vector<int64_t> outputShape = op.Int64s("output_shape");
    const size_t declaredRank = operands.m_IsOneDimensional ? 1 : spatialRank;
    if (outputShape.size() == declaredRank + 2)
    {
        outputShape.erase(outputShape.begin(), outputShape.begin() + 2); // some files have N and C, too
    }
    for (std::vector<int64_t>* list : {&outputPadding, &outputShape})
    {
        if ((!list->empty() && list->size() != declaredRank) ||
            std::any_of(list->begin(), list->end(), [](int64_t n) { return n < 0 || n > MaxElements; }))
        {
            op.Fail(fmt::format("output_padding or output_shape is [{}], which does not fit {} spatial dimensions",
                                fmt::join(*list, ", "), declaredRank));
        }
        if (!list->empty() && operands.m_IsOneDimensional)
        {
            list->insert(list->begin(), list == &outputShape ? 1 : 0);
        }
    }
    outputPadding.resize(spatialRank, 0);
    const std::vector<int64_t> sizes = SpatialSizes(operands.m_Data);
    const bool isUpper = windows.m_AutoPad == SlidingWindow::AutoPad::SameUpper;
    const bool isSame = windows.m_AutoPad != SlidingWindow::AutoPad::NotSet;
    for (size_t i = 0; i < spatialRank; ++i)
    {
        if (outputShape.empty() && !isSame)
        {
            break;
        }
        if (!outputShape.empty() && sizes[i] == OpenSize)
        {
            op.RefuseOpen("paddings follow from a size that is not known before the run");
        }
        const int64_t full = outputShape.empty() ? windows.Extent(i) - windows.m_Strides[i] + outputPadding[i]
                                                 : windows.m_Strides[i] * (sizes[i] - 1) + outputPadding[i] +
                                                       windows.Extent(i) - outputShape[i];
        const int64_t total = std::max(full, int64_t{0});
        if (total > MaxElements)
        {
            op.Fail(
                fmt::format("output_shape [{}] asks for paddings of {} elements", fmt::join(outputShape, ", "), total));
        }
        windows.m_Before[i] = isUpper ? total / 2 : total - total / 2;
        windows.m_After[i] = total - windows.m_Before[i];
        if (full < 0)
        {
            outputPadding[i] -= full; // more than what the windows reach
        }
    }
    windows.m_AutoPad = SlidingWindow::AutoPad::NotSet;
    for (size_t i = 0; i < spatialRank; ++i)
    {
        // Elements at the end that are cut off no more are part of the output.
        const int64_t kept = std::min(outputPadding[i], windows.m_After[i]);
        windows.m_After[i] -= kept;
        outputPadding[i] -= kept;
    }
    if (const Value convolved = TryAsConvolution(op, graph, operands, outputPadding))
    {
        op.SetOutput(0, Finish(graph, operands, convolved));
        return;
    }
    // [N, filters, stride * (size - 1) + window - pads + output padding].
    const bool declaresShape =
        std::any_of(outputPadding.begin(), outputPadding.end(), [](int64_t n) { return n != 0; });
    const auto outputSizes = [&](const Value& data, int64_t filters)
    {
        if (filters == OpenSize)
        {
            op.Refuse("the number of filters is not known before the run");
        }
        const Value shape = graph.ShapeOf(data);
        std::vector<Value> entries = {graph.Slice(shape, 0, 0, 1), GraphBuilder::Ints({filters})};
        for (size_t i = 0; i < spatialRank; ++i)
        {
            const auto d = static_cast<int64_t>(i) + 2;
            const int64_t stride = windows.m_Strides[i];
            const int64_t rest =
                windows.Extent(i) - windows.m_Before[i] - windows.m_After[i] + outputPadding[i] - stride;
            entries.push_back(graph.Add(graph.Multiply(graph.Slice(shape, 0, d, d + 1), GraphBuilder::Ints({stride})),
                                        GraphBuilder::Ints({rest})));
        }
        return graph.Concat(entries, 0);
    };
    const auto convolve = [&](auto descriptor, LayerType type, const Value& data, const Value& weights,
                              const Value& bias, unsigned int filterDimension)
    {
        SetPads(descriptor, windows);
        descriptor.m_BiasEnabled = static_cast<bool>(bias);
        std::vector<Value> inputs = Inputs(data, weights, bias);
        if (!declaresShape)
        {
            return graph.AddImageLayer(type, descriptor, inputs);
        }
        const Value wanted = outputSizes(data, weights.Size(filterDimension));
        if (const auto known = wanted.FindInts())
        {
            descriptor.m_OutputShapeEnabled = true;
            descriptor.m_OutputShape.assign(known->begin(), known->end());
            return graph.AddLayer(type, descriptor, inputs, data.Type());
        }
        descriptor.m_ParametersAsInputs = true;
        inputs.resize(3);
        inputs.push_back(graph.Cast(wanted, DataType::Signed32));
        std::vector<int64_t> shape(spatialRank + 2, OpenSize);
        shape[1] = weights.Size(filterDimension);
        return graph.AddLayer(type, descriptor, inputs, data.Type(), ToShape(shape));
    };
    const Value result =
        ForEachGroup(op, graph, operands,
                     [&](const Value& data, const Value& weights, const Value& bias)
                     {
                         if (spatialRank == 3)
                         {
                             TransposeConvolution3dDescriptor descriptor;
                             SetDilations(descriptor, windows);
                             SetDepth(descriptor, windows);
                             return convolve(descriptor, LayerType::TransposeConvolution3d, data,
                                             graph.Transpose(weights, {2, 3, 4, 1, 0}), bias, 3);
                         }
                         // The layer has no dilations: zeros between the weights do the same.
                         Value dilated = graph.Transpose(weights, {1, 0, 2, 3});
                         if (windows.HasDilation())
                         {
                             DilateDescriptor descriptor;
                             descriptor.m_Dilations = {1, 1, U32(windows.m_Dilations[0]), U32(windows.m_Dilations[1])};
                             dilated =
                                 graph.AddLayer(LayerType::Dilate, descriptor,
                                                {dilated, GraphBuilder::Scalar(dilated.Type(), 0.0)}, dilated.Type());
                         }
                         TransposeConvolution2dDescriptor descriptor;
                         descriptor.m_DataLayout = DataLayout::NCHW;
                         return convolve(descriptor, LayerType::TransposeConvolution2d, data, dilated, bias, 0);
                     });
    op.SetOutput(0, Finish(graph, operands, result));
}

} // namespace tenon::onnx::rows
