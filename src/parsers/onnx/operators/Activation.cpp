// SPDX-License-Identifier: Apache-2.0
// Rows of activation functions and softmax.
#include "parsers/onnx/Rows.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::onnx::rows
{

namespace
{

void AddActivation(Operator& op, GraphBuilder& graph, ActivationFunction function, float a = 0.0f, float b = 0.0f)
{
    op.SetOutput(0, graph.Activation(ActivationDescriptor(function, a, b), op.Input(0)));
}

/// max(0, min(1, alpha * x + beta)).
Value HardSigmoid(GraphBuilder& graph, const Value& x, float alpha, float beta)
{
    const Value line = graph.Activation(ActivationDescriptor(ActivationFunction::Linear, alpha, beta), x);
    return graph.Activation(ActivationDescriptor(ActivationFunction::BoundedReLu, 1.0f, 0.0f), line);
}

/// x > 0 ? scale * x : scale * alpha * (exp(x / divisor) - 1), of which x = 0 gives 0. NaN stays where it is operand 1.
Value ScaledElu(GraphBuilder& graph, const Value& given, double scale, double alpha, double divisor)
{
    const Value x = Widened(graph, given);
    const Value zero = GraphBuilder::Scalar(x.Type(), 0.0);
    const Value low = graph.Binary(BinaryOperation::Minimum, zero, x);
    const Value power =
        graph.Unary(UnaryOperation::Exp, divisor == 1.0 ? low : graph.WithNumber(BinaryOperation::Div, low, divisor));
    const Value negative =
        graph.WithNumber(BinaryOperation::Mul, graph.WithNumber(BinaryOperation::Sub, power, 1.0), alpha);
    const Value sum = graph.Add(graph.Binary(BinaryOperation::Maximum, zero, x), negative);
    return graph.Cast(scale == 1.0 ? sum : graph.WithNumber(BinaryOperation::Mul, sum, scale), given.Type());
}

/// Before version 13 the axis splits the dimensions in two groups, whose second one is normalized as one dimension.
template <typename Normalize>
void AddOverAxis(Operator& op, GraphBuilder& graph, Normalize normalize)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    if (op.Version() >= 13)
    {
        if (rank == 0)
        {
            op.SetOutput(0, graph.Reshape(normalize(graph.Reshape(x, {1}), 0), {}));
            return;
        }
        op.SetOutput(0, normalize(x, op.AxisAttribute(-1, rank)));
        return;
    }
    // The default may be one past the only dimension.
    const unsigned int axis = rank == 0 ? 0 : op.AxisAttribute(1, op.Int64("axis", 1) < 0 ? rank : std::max(rank, 2U));
    if (axis + 1 == rank)
    {
        op.SetOutput(0, normalize(x, axis));
        return;
    }
    const int64_t columns = ProductOf(x.Sizes(), axis, rank);
    if (columns == OpenSize)
    {
        const int64_t rows = ProductOf(x.Sizes(), 0, axis);
        if (rows == OpenSize)
        {
            op.RefuseOpen("sizes on both sides of the axis are not known before the run");
        }
        const Value flat = graph.Reshape(x, {rows, OpenSize});
        op.SetOutput(0, graph.ReshapeTo(normalize(flat, 1), graph.ShapeOf(x)));
        return;
    }
    const Value flat = graph.Reshape(x, {OpenSize, columns});
    op.SetOutput(0, graph.ReshapeTo(normalize(flat, 1), graph.ShapeOf(x)));
}

} // namespace

void AddRelu(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    if (x.Type() == DataType::Float64)
    {
        op.SetOutput(0, graph.NumberWith(BinaryOperation::Maximum, 0.0, x));
        return;
    }
    AddActivation(op, graph, ActivationFunction::ReLu);
}

void AddLeakyRelu(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::LeakyReLu, op.Float("alpha", 0.01f));
}

/// Before version 7 a slope for each channel is a list.
void AddPRelu(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    Value slope = op.Input(1);
    if (op.Version() < 7 && slope.Rank() == 1 && slope.Size(0) != 1 && x.Rank() > 2)
    {
        std::vector<unsigned int> added(x.Rank() - 2);
        std::iota(added.begin(), added.end(), 1U);
        slope = graph.Unsqueeze(slope, added);
    }
    if (!x.IsFloat() || x.Type() == DataType::Float64)
    {
        const Value zero = GraphBuilder::Scalar(x.Type(), 0.0);
        op.SetOutput(0, graph.Select(graph.Compare(ComparisonOperation::Less, x, zero), graph.Multiply(x, slope), x));
        return;
    }
    op.SetOutput(0, graph.AddLayer(LayerType::Prelu, NullDescriptor(), {x, slope}, x.Type(), x.Shape()));
}

void AddElu(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::Elu, op.Float("alpha", 1.0f));
}

void AddCelu(Operator& op, GraphBuilder& graph)
{
    const auto alpha = static_cast<double>(op.Float("alpha", 1.0f));
    op.SetOutput(0, ScaledElu(graph, op.Input(0), 1.0, alpha, alpha));
}

void AddSelu(Operator& op, GraphBuilder& graph)
{
    const auto alpha = static_cast<double>(op.Float("alpha", 1.67326319217681884765625f));
    const auto gamma = static_cast<double>(op.Float("gamma", 1.05070102214813232421875f));
    op.SetOutput(0, ScaledElu(graph, op.Input(0), gamma, alpha, 1.0));
}

void AddSigmoid(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::Sigmoid);
}

void AddTanh(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::TanH, 1.0f, 1.0f);
}

void AddSoftplus(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::SoftReLu);
}

void AddSoftsign(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value divisor = graph.WithNumber(BinaryOperation::Add, graph.Unary(UnaryOperation::Abs, x), 1.0);
    op.SetOutput(0, graph.Divide(x, divisor));
}

void AddHardSigmoid(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, HardSigmoid(graph, op.Input(0), op.Float("alpha", 0.2f), op.Float("beta", 0.5f)));
}

void AddHardSwish(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::HardSwish);
}

/// x * sigmoid(alpha * x).
void AddSwish(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::Swish, op.Float("alpha", 1.0f));
}

void AddMish(Operator& op, GraphBuilder& graph)
{
    AddActivation(op, graph, ActivationFunction::Mish);
}

void AddGelu(Operator& op, GraphBuilder& graph)
{
    static constexpr std::pair<const char*, float> forms[] = {{"none", 0.0f}, {"tanh", 1.0f}};
    AddActivation(op, graph, ActivationFunction::Gelu, op.Choose("approximate", "none", forms));
}

void AddThresholdedRelu(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value bound = GraphBuilder::Scalar(x.Type(), static_cast<double>(op.Float("alpha", 1.0f)));
    const Value isAbove = graph.Compare(ComparisonOperation::Greater, x, bound);
    op.SetOutput(0, graph.Select(isAbove, x, GraphBuilder::Scalar(x.Type(), 0.0)));
}

/// x + bias below -lambda, x - bias above lambda, else 0.
void AddShrink(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const auto bias = static_cast<double>(op.Float("bias", 0.0f));
    const auto lambda = static_cast<double>(op.Float("lambd", 0.5f));
    const Value isLow = graph.Compare(ComparisonOperation::Less, x, GraphBuilder::Scalar(x.Type(), -lambda));
    const Value isHigh = graph.Compare(ComparisonOperation::Greater, x, GraphBuilder::Scalar(x.Type(), lambda));
    const Value high =
        graph.Select(isHigh, graph.WithNumber(BinaryOperation::Sub, x, bias), GraphBuilder::Scalar(x.Type(), 0.0));
    op.SetOutput(0, graph.Select(isLow, graph.WithNumber(BinaryOperation::Add, x, bias), high));
}

void AddSoftmax(Operator& op, GraphBuilder& graph)
{
    AddOverAxis(op, graph,
                [&](const Value& x, unsigned int axis)
                {
                    SoftmaxDescriptor descriptor;
                    descriptor.m_Axis = static_cast<int>(axis);
                    return graph.AddLayer(LayerType::Softmax, descriptor, {x}, x.Type(), x.Shape());
                });
}

void AddLogSoftmax(Operator& op, GraphBuilder& graph)
{
    AddOverAxis(op, graph,
                [&](const Value& x, unsigned int axis)
                {
                    LogSoftmaxDescriptor descriptor;
                    descriptor.m_Axis = static_cast<int>(axis);
                    return graph.AddLayer(LayerType::LogSoftmax, descriptor, {x}, x.Type(), x.Shape());
                });
}

/// 1 at the first largest element along the axis, 0 elsewhere.
void AddHardmax(Operator& op, GraphBuilder& graph)
{
    AddOverAxis(op, graph,
                [&](const Value& x, unsigned int axis)
                {
                    ArgMinMaxDescriptor search;
                    search.m_Function = ArgMinMaxFunction::Max;
                    search.m_Axis = static_cast<int>(axis);
                    std::vector<int64_t> sizes = x.Sizes();
                    sizes.erase(sizes.begin() + axis);
                    const Value place =
                        graph.AddLayer(LayerType::ArgMinMax, search, {x}, DataType::Signed32, ToShape(sizes));
                    const Value depth =
                        graph.Cast(graph.Reshape(graph.Slice(graph.ShapeOf(x), 0, axis, int64_t{axis} + 1), {}),
                                   DataType::Signed32);
                    OneHotDescriptor descriptor;
                    descriptor.m_Axis = static_cast<int32_t>(axis);
                    return graph.AddLayer(
                        LayerType::OneHot, descriptor,
                        {place, depth, GraphBuilder::Scalar(x.Type(), 1.0), GraphBuilder::Scalar(x.Type(), 0.0)},
                        x.Type(), x.Shape());
                });
}

} // namespace tenon::onnx::rows
