// SPDX-License-Identifier: Apache-2.0
// Rows of normalizations.
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <numeric>

namespace tenon::onnx::rows
{

namespace
{

/// A list of one number a channel, as it broadcasts to [N, C, spatial...].
Value PerChannel(GraphBuilder& graph, const Value& list, unsigned int rank)
{
    if (list.Rank() != 1)
    {
        throw ParseException(
            fmt::format("parameters of shape {} are no list of one number a channel", list.Shape().ToString()));
    }
    if (rank <= 2)
    {
        return list;
    }
    std::vector<unsigned int> added(rank - 2);
    std::iota(added.begin(), added.end(), 1U);
    return graph.Unsqueeze(list, added);
}

std::vector<unsigned int> AxesFrom(unsigned int first, unsigned int rank)
{
    std::vector<unsigned int> axes(rank - first);
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

/// (x - mean) / sqrt(variance + epsilon) over the dimensions from `axis` on.
Value Normalized(GraphBuilder& graph, const Value& x, unsigned int axis, float epsilon)
{
    LayerNormalizationDescriptor descriptor;
    descriptor.m_Axis = static_cast<int>(axis);
    descriptor.m_Epsilon = epsilon;
    return graph.AddLayer(LayerType::LayerNormalization, descriptor, {x}, x.Type(), x.Shape());
}

} // namespace

/// (x - mean) / sqrt(var + epsilon) * scale + bias, for each channel.
void AddBatchNormalization(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    if (op.Int64("training_mode", 0) != 0 || (op.Version() < 7 && op.Has("is_test") && op.Int64("is_test", 1) == 0))
    {
        op.Refuse("normalization in training is not supported");
    }
    if (op.Int64("spatial", 1) == 0)
    {
        op.Refuse("spatial = 0 is not supported");
    }
    const float epsilon = op.Float("epsilon", 1e-5f);
    const unsigned int rank = x.Rank();
    const Value& scale = op.Input(1);
    const Value& bias = op.Input(2);
    const Value& mean = op.Input(3);
    const Value& variance = op.Input(4);
    const bool isOneType = scale.Type() == x.Type() && mean.Type() == x.Type() && variance.Type() == x.Type();
    if (rank == 4 && isOneType && x.Type() == DataType::Float32)
    {
        BatchNormalizationDescriptor descriptor;
        descriptor.m_Eps = epsilon;
        descriptor.m_DataLayout = DataLayout::NCHW;
        op.SetOutput(0, graph.AddLayer(LayerType::BatchNormalization, descriptor, {x, mean, variance, bias, scale},
                                       x.Type(), x.Shape()));
        return;
    }
    // scale' = scale / sqrt(var + epsilon), then x * scale' + (bias - mean * scale').
    const DataType type = variance.Type();
    const Value root = graph.Unary(UnaryOperation::Sqrt,
                                   graph.WithNumber(BinaryOperation::Add, variance, static_cast<double>(epsilon)));
    const Value factor = graph.Divide(graph.Cast(scale, type), root);
    const Value shift = graph.Subtract(graph.Cast(bias, type), graph.Multiply(mean, factor));
    const Value data = graph.Cast(x, type);
    const Value result =
        graph.Add(graph.Multiply(data, PerChannel(graph, factor, rank)), PerChannel(graph, shift, rank));
    op.SetOutput(0, graph.Cast(result, x.Type()));
}

/// Each image and channel by itself, with a scale and a bias for each channel.
void AddInstanceNormalization(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    if (rank < 3)
    {
        op.Fail(fmt::format("input 0 has shape {}; it must have a batch, channels and spatial dimensions",
                            x.Shape().ToString()));
    }
    const float epsilon = op.Float("epsilon", 1e-5f);
    Value result;
    if (rank == 4)
    {
        InstanceNormalizationDescriptor descriptor;
        descriptor.m_Eps = epsilon;
        descriptor.m_DataLayout = DataLayout::NCHW;
        result = graph.AddLayer(LayerType::InstanceNormalization, descriptor, {x}, x.Type(), x.Shape());
    }
    else
    {
        result = Normalized(graph, x, 2, epsilon);
    }
    result = graph.Multiply(result, PerChannel(graph, op.Input(1), rank));
    op.SetOutput(0, graph.Add(result, PerChannel(graph, op.Input(2), rank)));
}

/// Over groups of channels. Scale and bias are for each channel; before version 21 for each group.
void AddGroupNormalization(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    const int64_t groups = op.Int64("num_groups", 0);
    const int64_t channels = rank > 1 ? x.Size(1) : OpenSize;
    if (rank < 2 || groups < 1 || (channels != OpenSize && channels % groups != 0))
    {
        op.Fail(fmt::format("{} groups do not fit shape {}", groups, x.Shape().ToString()));
    }
    Value scale = op.Input(1);
    Value bias = op.Input(2);
    if (op.Version() < 21)
    {
        if (channels == OpenSize)
        {
            op.Refuse("the number of channels is not known before the run");
        }
        const auto spread = [&](const Value& list)
        {
            const Value column = graph.Reshape(list, {groups, 1});
            return graph.Reshape(graph.BroadcastTo(column, {groups, channels / groups}), {channels});
        };
        scale = spread(scale);
        bias = spread(bias);
    }
    const Value shape = graph.ShapeOf(x);
    const Value grouped =
        x.Size(0) != OpenSize
            ? graph.Reshape(x, {x.Size(0), groups, OpenSize})
            : graph.ReshapeTo(x,
                              graph.Concat({graph.Slice(shape, 0, 0, 1), GraphBuilder::Ints({groups, OpenSize})}, 0));
    Value result = graph.ReshapeTo(Normalized(graph, grouped, 2, op.Float("epsilon", 1e-5f)), shape);
    result = graph.Multiply(result, PerChannel(graph, scale, rank));
    op.SetOutput(0, graph.Add(result, PerChannel(graph, bias, rank)));
}

/// Over the dimensions from the axis on, computed in the type of the attribute stash_type. Further outputs are the mean
/// and 1 / sqrt(variance + epsilon).
void AddLayerNormalization(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    const unsigned int axis = op.AxisAttribute(-1, rank);
    LayerNormalizationDescriptor descriptor;
    descriptor.m_Axis = static_cast<int>(axis);
    descriptor.m_Epsilon = op.Float("epsilon", 1e-5f);
    std::vector<Value> inputs = {x, op.Input(1)};
    if (op.HasInput(2))
    {
        inputs.push_back(op.Input(2));
    }
    op.SetOutput(0, graph.AddLayer(LayerType::LayerNormalization, descriptor, inputs, x.Type(), x.Shape()));
    if (!op.HasOutput(1) && !op.HasOutput(2))
    {
        return;
    }
    const DataType stash = ToLayerType(static_cast<ElementType>(op.Int64("stash_type", 1)));
    const Value wide = graph.Cast(x, stash);
    const std::vector<unsigned int> axes = AxesFrom(axis, rank);
    const Value mean = graph.Reduce(ReduceOperation::Mean, wide, axes, true);
    if (op.HasOutput(1))
    {
        op.SetOutput(1, mean);
    }
    if (op.HasOutput(2))
    {
        const Value difference = graph.Binary(BinaryOperation::SqDiff, wide, mean);
        const Value variance = graph.Reduce(ReduceOperation::Mean, difference, axes, true);
        const Value sum = graph.WithNumber(BinaryOperation::Add, variance, static_cast<double>(descriptor.m_Epsilon));
        op.SetOutput(2, graph.Unary(UnaryOperation::Rsqrt, sum));
    }
}

/// x / sqrt(mean of squares + epsilon) * scale, over the dimensions from the axis on.
void AddRmsNormalization(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    LayerNormalizationDescriptor descriptor;
    descriptor.m_Axis = static_cast<int>(op.AxisAttribute(-1, x.Rank()));
    descriptor.m_Epsilon = op.Float("epsilon", 1e-5f);
    descriptor.m_SubtractMean = false;
    op.SetOutput(0, graph.AddLayer(LayerType::LayerNormalization, descriptor, {x, op.Input(1)}, x.Type(), x.Shape()));
}

/// (x - mean) / (deviation + 1e-9) over the axes.
void AddMeanVarianceNormalization(Operator& op, GraphBuilder& graph)
{
    const Value x = Widened(graph, op.Input(0));
    std::vector<int64_t> axes = op.Int64s("axes");
    if (axes.empty())
    {
        axes = {0, 2, 3};
    }
    const std::vector<unsigned int> dimensions = op.Axes(axes, x.Rank());
    const Value mean = graph.Reduce(ReduceOperation::Mean, x, dimensions, true);
    // The mean of squares less the square of the mean would be rounded below 0 where x hardly varies.
    const Value centered = graph.Subtract(x, mean);
    const Value variance = graph.Reduce(ReduceOperation::Mean, graph.Multiply(centered, centered), dimensions, true);
    const Value divisor = graph.WithNumber(BinaryOperation::Add, graph.Unary(UnaryOperation::Sqrt, variance), 1e-9);
    op.SetOutput(0, graph.Cast(graph.Divide(centered, divisor), op.Input(0).Type()));
}

/// x / (bias + alpha / size * sum of squares of `size` channels around)^beta.
void AddLrn(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    const uint32_t size = op.Unsigned("size", 0, 1);
    const float alpha = op.Float("alpha", 1e-4f);
    const float beta = op.Float("beta", 0.75f);
    const float bias = op.Float("bias", 1.0f);
    if (rank < 2)
    {
        op.Fail(fmt::format("input 0 has shape {}; it must have channels", x.Shape().ToString()));
    }
    // An average over windows along the channels, which stand on a spatial dimension for it: [N, 1, C, rest].
    const Value square = graph.Multiply(x, x);
    const Value shape = graph.ShapeOf(x);
    const Value rows = graph.ReshapeTo(square, graph.Concat({graph.Slice(shape, 0, 0, 1), GraphBuilder::Ints({1}),
                                                             graph.Slice(shape, 0, 1, 2), GraphBuilder::Ints({-1})},
                                                            0));
    PoolingNdDescriptor pool;
    pool.m_Function = PoolingNdFunction::Average;
    pool.m_PoolSizes = {size, 1};
    pool.m_PadsBefore = {(size - 1) / 2, 0};
    pool.m_PadsAfter = {size - 1 - (size - 1) / 2, 0};
    pool.m_PaddingMethod = PaddingMethod::IgnoreValue;
    const Value average = graph.ReshapeTo(graph.AddImageLayer(LayerType::PoolingNd, pool, {rows}), shape);
    const Value sum = graph.WithNumber(BinaryOperation::Add,
                                       graph.WithNumber(BinaryOperation::Mul, average, static_cast<double>(alpha)),
                                       static_cast<double>(bias));
    op.SetOutput(0, graph.Divide(x, graph.WithNumber(BinaryOperation::Power, sum, static_cast<double>(beta))));
}

/// x / norm along the axis; 0 where the norm is 0.
void AddLpNormalization(Operator& op, GraphBuilder& graph)
{
    const Value x = Widened(graph, op.Input(0));
    const unsigned int axis = op.AxisAttribute(-1, x.Rank());
    const int64_t p = op.Int64("p", 2);
    if (p != 1 && p != 2)
    {
        op.Fail(fmt::format("attribute 'p' is {}; it must be 1 or 2", p));
    }
    const Value parts = p == 1 ? graph.Unary(UnaryOperation::Abs, x) : graph.Multiply(x, x);
    const Value sum = graph.Reduce(ReduceOperation::Sum, parts, {axis}, true);
    const Value norm = p == 1 ? sum : graph.Unary(UnaryOperation::Sqrt, sum);
    const Value zero = GraphBuilder::Scalar(x.Type(), 0.0);
    const Value isZero = graph.Compare(ComparisonOperation::Equal, norm, zero);
    const Value divisor = graph.Select(isZero, GraphBuilder::Scalar(x.Type(), 1.0), norm);
    op.SetOutput(0, graph.Cast(graph.Divide(x, divisor), op.Input(0).Type()));
}

} // namespace tenon::onnx::rows
