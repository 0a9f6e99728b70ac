// SPDX-License-Identifier: Apache-2.0
// Rows of operators that give constants, sizes and tensors made of sizes.
#include "parsers/onnx/GraphReader.hpp"
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>

namespace tenon::onnx::rows
{

/// One attribute holds the value: a tensor, dense or sparse, a number or a list of them.
void AddConstant(Operator& op, GraphBuilder&)
{
    if (const AttributeMessage* const sparse = op.FindMessage("sparse_value");
        sparse != nullptr && sparse->m_SparseTensor != nullptr)
    {
        op.SetOutput(0, op.Reader().Reading().Tensors().Read(*sparse->m_SparseTensor));
    }
    else if (Value value = op.Tensor("value"))
    {
        op.SetOutput(0, value);
    }
    else if (op.Has("value_float"))
    {
        op.SetOutput(0, GraphBuilder::Scalar(DataType::Float32, op.Float("value_float", 0.0f)));
    }
    else if (op.Has("value_int"))
    {
        op.SetOutput(0, GraphBuilder::ScalarInt(DataType::Signed64, op.Int64("value_int", 0)));
    }
    else if (op.Has("value_ints"))
    {
        op.SetOutput(0, GraphBuilder::Ints(op.Int64s("value_ints")));
    }
    else if (op.Has("value_floats"))
    {
        Numbers numbers;
        for (const float number : op.Floats("value_floats"))
        {
            numbers.push_back(Number::Of(static_cast<double>(number)));
        }
        const auto count = static_cast<int64_t>(numbers.size());
        op.SetOutput(0, GraphBuilder::Known(DataType::Float32, {count}, std::move(numbers)));
    }
    else if (op.Has("value_string") || op.Has("value_strings"))
    {
        op.Refuse("constants of strings are not supported");
    }
    else
    {
        op.Fail("none of the attributes that a constant may have is there");
    }
}

void AddConstantOfShape(Operator& op, GraphBuilder& graph)
{
    const Value given = op.Tensor("value");
    const Value element = given ? graph.AsScalar(given) : GraphBuilder::Scalar(DataType::Float32, 0.0);
    op.SetOutput(0, graph.Fill(op.Input(0), element));
}

/// From version 15 on a part of the shape: start and end are clamped.
void AddShape(Operator& op, GraphBuilder& graph)
{
    const Value shape = graph.ShapeOf(op.Input(0));
    const int64_t start = op.Int64("start", 0);
    const int64_t end = op.Has("end") ? op.Int64("end", 0) : std::numeric_limits<int64_t>::max();
    op.SetOutput(0, graph.Slice(shape, 0, start, end));
}

void AddSize(Operator& op, GraphBuilder& graph)
{
    const Value shape = graph.ShapeOf(op.Input(0));
    op.SetOutput(0, shape.Size(0) == 0 ? GraphBuilder::ScalarInt(DataType::Signed64, 1)
                                       : graph.Reduce(ReduceOperation::Prod, shape, {0}, false));
}

namespace
{

/// How many numbers there are from `from` on, `step` apart, before `to`. Differences of int64 fit into uint64.
uint64_t CountSteps(int64_t from, int64_t to, int64_t step)
{
    const bool rises = step > 0;
    const uint64_t distance = rises ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                                    : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
    const uint64_t stride = rises ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    return (rises ? from < to : from > to) ? (distance - 1) / stride + 1 : 0;
}

} // namespace

/// start, start + delta, ...: ceil((limit - start) / delta) numbers.
void AddRange(Operator& op, GraphBuilder& graph)
{
    const Value start = graph.AsScalar(op.Input(0));
    const Value limit = graph.AsScalar(op.Input(1));
    const Value delta = graph.AsScalar(op.Input(2));
    const auto from = start.FindInts();
    const auto to = limit.FindInts();
    const auto step = delta.FindInts();
    const bool isOneType = limit.Type() == start.Type() && delta.Type() == start.Type() && start.IsInteger();
    if (from.has_value() && to.has_value() && step.has_value() && step->front() != 0 && isOneType)
    {
        const uint64_t count = CountSteps(from->front(), to->front(), step->front());
        if (count <= MaxNumbers)
        {
            Numbers numbers;
            for (uint64_t i = 0; i < count; ++i)
            {
                // Unsigned, as i steps may be more than an int64 holds.
                numbers.push_back(Number::Of(static_cast<int64_t>(static_cast<uint64_t>(from->front()) +
                                                                  i * static_cast<uint64_t>(step->front()))));
            }
            const auto size = static_cast<int64_t>(numbers.size());
            op.SetOutput(0, GraphBuilder::Known(start.Type(), {size}, std::move(numbers)));
            return;
        }
    }
    // A limit on the other side of the start gives no number; the layer refuses it.
    const auto stepReal = delta.FindReals();
    const bool canRise = !stepReal.has_value() || stepReal->front() > 0.0;
    const bool canFall = !stepReal.has_value() || stepReal->front() < 0.0;
    Value end = canRise ? graph.Binary(BinaryOperation::Maximum, limit, start) : limit;
    if (canFall)
    {
        const Value low = graph.Binary(BinaryOperation::Minimum, limit, start);
        const Value rises = graph.Compare(ComparisonOperation::Greater, delta, GraphBuilder::Scalar(delta.Type(), 0.0));
        end = canRise ? graph.Select(rises, end, low) : low;
    }
    op.SetOutput(0, graph.AddLayer(LayerType::Range, NullDescriptor(), {start, end, delta}, start.Type(),
                                   TensorShape(1, false)));
}

namespace
{

/// 0, 1, ... for each index of a dimension: Signed64 [size].
Value IndicesAlong(GraphBuilder& graph, const Value& x, unsigned int dimension)
{
    const auto i = static_cast<int64_t>(dimension);
    const Value size = graph.Reshape(graph.Slice(graph.ShapeOf(x), 0, i, i + 1), {});
    return graph.AddLayer(
        LayerType::Range, NullDescriptor(),
        {GraphBuilder::ScalarInt(DataType::Signed64, 0), size, GraphBuilder::ScalarInt(DataType::Signed64, 1)},
        DataType::Signed64, ToShape({x.Size(dimension)}));
}

} // namespace

/// Ones on a diagonal of a matrix.
void AddEyeLike(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    if (x.Rank() != 2)
    {
        op.Fail(fmt::format("input 0 has shape {}; it must be a matrix", x.Shape().ToString()));
    }
    const DataType type = op.Has("dtype") ? ToLayerType(static_cast<ElementType>(op.Int64("dtype", 0))) : x.Type();
    const Value rows = graph.Reshape(IndicesAlong(graph, x, 0), {OpenSize, 1});
    const Value diagonal = graph.Add(rows, GraphBuilder::ScalarInt(DataType::Signed64, op.Int64("k", 0)));
    op.SetOutput(0, graph.Cast(graph.Compare(ComparisonOperation::Equal, IndicesAlong(graph, x, 1), diagonal), type));
}

/// The elements of each matrix on and above a diagonal, or on and below it; zero elsewhere.
void AddTrilu(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    if (rank < 2)
    {
        op.Fail(fmt::format("input 0 has shape {}; it must have two dimensions at least", x.Shape().ToString()));
    }
    const Value offset = op.HasInput(1) ? graph.AsScalar(op.Input(1)) : GraphBuilder::ScalarInt(DataType::Signed64, 0);
    const Value diagonal = graph.Add(graph.Reshape(IndicesAlong(graph, x, rank - 2), {OpenSize, 1}), offset);
    const bool isUpper = op.Int64("upper", 1) != 0;
    const Value keeps = graph.Compare(isUpper ? ComparisonOperation::GreaterOrEqual : ComparisonOperation::LessOrEqual,
                                      IndicesAlong(graph, x, rank - 1), diagonal);
    op.SetOutput(0, graph.Select(keeps, x, GraphBuilder::Scalar(x.Type(), 0.0)));
}

namespace
{

/// Without the attribute `seed` each node has a seed of its own. Every run gives the same numbers.
void AddRandom(Operator& op, GraphBuilder& graph, const Value& shape, DataType fallback, bool isNormal)
{
    const DataType type = op.Has("dtype") ? ToLayerType(static_cast<ElementType>(op.Int64("dtype", 0))) : fallback;
    RandomDescriptor descriptor;
    descriptor.m_Distribution = isNormal ? RandomDistribution::StandardNormal : RandomDistribution::Uniform;
    descriptor.m_Seed = op.Has("seed") ? int64_t{std::bit_cast<uint32_t>(op.Float("seed", 0.0f))} : 0;
    descriptor.m_Seed2 = op.Has("seed") ? 0 : graph.NextSeed();
    TensorShape known;
    if (const auto sizes = shape.FindInts())
    {
        known = ToShape(*sizes);
    }
    Value random = graph.AddLayer(LayerType::Random, descriptor, {shape}, DataType::Float32, known);
    const float low = op.Float("low", 0.0f);
    const float scale = isNormal ? op.Float("scale", 1.0f) : op.Float("high", 1.0f) - low;
    random = graph.WithNumber(BinaryOperation::Mul, random, static_cast<double>(scale));
    random =
        graph.WithNumber(BinaryOperation::Add, random, static_cast<double>(isNormal ? op.Float("mean", 0.0f) : low));
    op.SetOutput(0, graph.Cast(random, type));
}

} // namespace

void AddRandomNormal(Operator& op, GraphBuilder& graph)
{
    AddRandom(op, graph, GraphBuilder::Ints(op.Int64s("shape")), DataType::Float32, true);
}

void AddRandomUniform(Operator& op, GraphBuilder& graph)
{
    AddRandom(op, graph, GraphBuilder::Ints(op.Int64s("shape")), DataType::Float32, false);
}

void AddRandomNormalLike(Operator& op, GraphBuilder& graph)
{
    AddRandom(op, graph, graph.ShapeOf(op.Input(0)), op.Input(0).Type(), true);
}

void AddRandomUniformLike(Operator& op, GraphBuilder& graph)
{
    AddRandom(op, graph, graph.ShapeOf(op.Input(0)), op.Input(0).Type(), false);
}

} // namespace tenon::onnx::rows
