// SPDX-License-Identifier: Apache-2.0
// Rows of operators that reduce dimensions or sum up along one.
#include "parsers/onnx/Rows.hpp"

#include <limits>
#include <numeric>
#include <optional>

namespace tenon::onnx::rows
{

namespace
{

struct Reduction
{
    std::vector<unsigned int> m_Axes;
    Value m_AxesAtRun; ///< in place of m_Axes
    bool m_KeepDims = true;
    bool m_IsIdentity = false; ///< noop_with_empty_axes
};

/// A list of axes whose length the run tells; of all axes where it has none.
Value OrAll(GraphBuilder& graph, const Value& axes, unsigned int rank)
{
    std::vector<int64_t> all(rank);
    std::iota(all.begin(), all.end(), 0);
    const Value list = graph.Concat({graph.Cast(axes, DataType::Signed64), GraphBuilder::Ints(all)}, 0);
    const Value count = graph.ShapeOf(axes);
    const Value isNone = graph.Compare(ComparisonOperation::Equal, count, GraphBuilder::Ints({0}));
    const Value length = graph.Select(isNone, GraphBuilder::Ints({rank}), count);
    StridedSliceDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    return graph.AddLayer(LayerType::StridedSlice, descriptor,
                          {list, GraphBuilder::Ints({0}), length, GraphBuilder::Ints({1})}, DataType::Signed64,
                          ToShape({OpenSize}));
}

/// Axes are an input from version `since` on, an attribute before. No axes: all dimensions, or none.
Reduction ReadReduction(const Operator& op, GraphBuilder& graph, int64_t since)
{
    Reduction reduction;
    reduction.m_KeepDims = op.Int64("keepdims", 1) != 0;
    const unsigned int rank = op.Input(0).Rank();
    std::vector<int64_t> axes;
    if (op.Version() < since)
    {
        axes = op.Int64s("axes");
    }
    else if (op.HasInput(1))
    {
        const auto known = op.Input(1).FindInts();
        if (!known.has_value())
        {
            const Value& given = op.Input(1);
            const bool mayBeAll = given.Size(0) == OpenSize && op.Int64("noop_with_empty_axes", 0) == 0;
            reduction.m_AxesAtRun = mayBeAll ? OrAll(graph, given, rank) : given;
            return reduction;
        }
        axes = *known;
    }
    if (axes.empty())
    {
        reduction.m_IsIdentity = op.Int64("noop_with_empty_axes", 0) != 0;
        reduction.m_Axes.resize(rank);
        std::iota(reduction.m_Axes.begin(), reduction.m_Axes.end(), 0U);
        return reduction;
    }
    reduction.m_Axes = op.Axes(axes, rank);
    return reduction;
}

constexpr int64_t MinVersionOfAxesInput = 18; ///< the version from which on axes are an input, but for ReduceSum
constexpr int64_t AxesOfSum = 13;

Value Apply(GraphBuilder& graph, ReduceOperation operation, const Reduction& reduction, const Value& x)
{
    if (reduction.m_AxesAtRun)
    {
        return graph.ReduceAtRun(operation, x, reduction.m_AxesAtRun, reduction.m_KeepDims);
    }
    return reduction.m_IsIdentity ? x : graph.Reduce(operation, x, reduction.m_Axes, reduction.m_KeepDims);
}

void AddReduction(Operator& op, GraphBuilder& graph, ReduceOperation operation, int64_t since = MinVersionOfAxesInput)
{
    op.SetOutput(0, Apply(graph, operation, ReadReduction(op, graph, since), op.Input(0)));
}

} // namespace

void AddReduceSum(Operator& op, GraphBuilder& graph)
{
    AddReduction(op, graph, ReduceOperation::Sum, AxesOfSum);
}

void AddReduceMean(Operator& op, GraphBuilder& graph)
{
    AddReduction(op, graph, ReduceOperation::Mean);
}

/// Of Booleans from version 20 on: whether any is true.
void AddReduceMax(Operator& op, GraphBuilder& graph)
{
    const bool isBoolean = op.Input(0).Type() == DataType::Boolean;
    AddReduction(op, graph, isBoolean ? ReduceOperation::Any : ReduceOperation::Max);
}

void AddReduceMin(Operator& op, GraphBuilder& graph)
{
    const bool isBoolean = op.Input(0).Type() == DataType::Boolean;
    AddReduction(op, graph, isBoolean ? ReduceOperation::All : ReduceOperation::Min);
}

void AddReduceProd(Operator& op, GraphBuilder& graph)
{
    AddReduction(op, graph, ReduceOperation::Prod);
}

/// sum(|x|).
void AddReduceL1(Operator& op, GraphBuilder& graph)
{
    const Value absolute = graph.Unary(UnaryOperation::Abs, op.Input(0));
    op.SetOutput(0, Apply(graph, ReduceOperation::Sum, ReadReduction(op, graph, MinVersionOfAxesInput), absolute));
}

/// sqrt(sum(x^2)); of integers through Float64.
void AddReduceL2(Operator& op, GraphBuilder& graph)
{
    const DataType type = op.Input(0).Type();
    const Value x = op.Input(0).IsFloat() ? Widened(graph, op.Input(0)) : graph.Cast(op.Input(0), DataType::Float64);
    const Value sum =
        Apply(graph, ReduceOperation::Sum, ReadReduction(op, graph, MinVersionOfAxesInput), graph.Multiply(x, x));
    op.SetOutput(0, graph.Cast(graph.Unary(UnaryOperation::Sqrt, sum), type));
}

void AddReduceSumSquare(Operator& op, GraphBuilder& graph)
{
    const Value x = Widened(graph, op.Input(0));
    const Value sum =
        Apply(graph, ReduceOperation::Sum, ReadReduction(op, graph, MinVersionOfAxesInput), graph.Multiply(x, x));
    op.SetOutput(0, graph.Cast(sum, op.Input(0).Type()));
}

/// log(sum(x)).
void AddReduceLogSum(Operator& op, GraphBuilder& graph)
{
    const Value x = Widened(graph, op.Input(0));
    const Value sum = Apply(graph, ReduceOperation::Sum, ReadReduction(op, graph, MinVersionOfAxesInput), x);
    op.SetOutput(0, graph.Cast(graph.Unary(UnaryOperation::Log, sum), op.Input(0).Type()));
}

/// log(sum(exp(x))) = m + log(sum(exp(x - m))) with the largest x as m, which keeps exp() from overflowing; where that
/// is infinite, 0 takes its place.
void AddReduceLogSumExp(Operator& op, GraphBuilder& graph)
{
    const Reduction reduction = ReadReduction(op, graph, MinVersionOfAxesInput);
    if (reduction.m_IsIdentity)
    {
        op.SetOutput(0, op.Input(0));
        return;
    }
    const DataType type = op.Input(0).Type();
    const Value x = Widened(graph, op.Input(0));
    Reduction kept = reduction;
    kept.m_KeepDims = true;
    const Value largest = Apply(graph, ReduceOperation::Max, kept, x);
    const Value isFinite = graph.Compare(ComparisonOperation::Less, graph.Unary(UnaryOperation::Abs, largest),
                                         GraphBuilder::Scalar(x.Type(), std::numeric_limits<double>::infinity()));
    const Value shift = graph.Select(isFinite, largest, GraphBuilder::Scalar(x.Type(), 0.0));
    const Value exponentials = graph.Unary(UnaryOperation::Exp, graph.Subtract(x, shift));
    const Value sum = Apply(graph, ReduceOperation::Sum, kept, exponentials);
    const Value result = graph.Add(graph.Unary(UnaryOperation::Log, sum), shift);
    if (!reduction.m_KeepDims && reduction.m_AxesAtRun)
    {
        const Value squeezed =
            graph.ReduceAtRun(ReduceOperation::Sum, result, reduction.m_AxesAtRun, false); // of size 1
        op.SetOutput(0, graph.Cast(squeezed, type));
        return;
    }
    op.SetOutput(0, graph.Cast(reduction.m_KeepDims ? result : graph.Squeeze(result, reduction.m_Axes), type));
}

void AddCumSum(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    CumSumDescriptor descriptor;
    descriptor.m_Operation = op.Name() == "CumProd" ? ReduceOperation::Prod : ReduceOperation::Sum;
    descriptor.m_Exclusive = op.Int64("exclusive", 0) != 0;
    descriptor.m_Reverse = op.Int64("reverse", 0) != 0;
    const auto axis = op.Input(1).FindInts();
    if (axis.has_value() && axis->size() == 1)
    {
        descriptor.m_Axis = static_cast<int32_t>(op.Axis(axis->front(), x.Rank()));
        op.SetOutput(0, graph.AddLayer(LayerType::CumSum, descriptor, {x}, x.Type(), x.Shape()));
        return;
    }
    descriptor.m_ParametersAsInputs = true;
    const Value given = graph.AsScalar(op.Input(1));
    op.SetOutput(0, graph.AddLayer(LayerType::CumSum, descriptor, {x, given}, x.Type(), x.Shape()));
}

} // namespace tenon::onnx::rows
