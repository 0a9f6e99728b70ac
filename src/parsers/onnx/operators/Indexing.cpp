// SPDX-License-Identifier: Apache-2.0
// Rows of operators that read or write where indices say, or that give indices.
#include "parsers/onnx/Rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon::onnx::rows
{

namespace
{

ScatterNdFunction ReadScatterFunction(const Operator& op)
{
    static constexpr std::pair<const char*, ScatterNdFunction> functions[] = {{"none", ScatterNdFunction::Update},
                                                                              {"add", ScatterNdFunction::Add},
                                                                              {"mul", ScatterNdFunction::Mul},
                                                                              {"max", ScatterNdFunction::Max},
                                                                              {"min", ScatterNdFunction::Min}};
    return op.Choose("reduction", "none", functions);
}

/// Indices of the elements along `axis` where a flat list is true: Signed64 [n].
Value IndicesOf(GraphBuilder& graph, const Value& condition)
{
    const Value places = graph.AddLayer(LayerType::Where, NullDescriptor(), {condition}, DataType::Signed64,
                                        ToShape({OpenSize, int64_t{condition.Rank()}}));
    return graph.Reshape(places, {OpenSize});
}

/// The elements of a constant of int64 numbers, of any size; empty for other values.
std::vector<int64_t> ReadAll(const Value& x)
{
    if (!x.IsConstant() || x.Type() != DataType::Signed64)
    {
        return {};
    }
    if (const auto known = x.FindInts())
    {
        return *known;
    }
    std::vector<int64_t> numbers(x->m_Data.size() / sizeof(int64_t));
    std::copy_n(x->m_Data.data(), numbers.size() * sizeof(int64_t), reinterpret_cast<uint8_t*>(numbers.data()));
    return numbers;
}

/// Where index tuples [box..., k] begin if they name the elements of such a box of x in order, as those of assignments
/// to slices do; empty if they do not. Negative ones count from the end.
std::vector<int64_t> FindBox(const Value& x, const Value& indices)
{
    if (!x.HasSizes() || !indices.HasSizes() || indices.Rank() < 2 || indices.Rank() - 1 > x.Rank() ||
        indices.Size(indices.Rank() - 1) != int64_t{indices.Rank()} - 1)
    {
        return {};
    }
    const std::vector<int64_t> numbers = ReadAll(indices);
    std::vector<int64_t> box = indices.Sizes();
    box.pop_back();
    if (numbers.empty())
    {
        return {};
    }
    const size_t rank = box.size();
    std::vector<int64_t> start(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(rank));
    std::vector<int64_t> place(rank, 0);
    for (size_t d = 0; d < rank; ++d)
    {
        const int64_t size = x.Size(static_cast<unsigned int>(d));
        if (start[d] < -size || start[d] >= size)
        {
            return {}; // for the layer to refuse
        }
    }
    for (size_t at = 0; at < numbers.size(); at += rank)
    {
        for (size_t d = 0; d < rank; ++d)
        {
            if (numbers[at + d] != start[d] + place[d])
            {
                return {};
            }
        }
        for (size_t d = rank; d-- > 0 && ++place[d] == box[d];)
        {
            place[d] = 0;
        }
    }
    for (size_t d = 0; d < rank; ++d)
    {
        const int64_t size = x.Size(static_cast<unsigned int>(d));
        const int64_t first = start[d] < 0 ? start[d] + size : start[d];
        // Tuples on both sides of zero are no box, and those out of range are for the layer to refuse.
        if (first < 0 || box[d] > size || first > size - box[d] || (start[d] < 0 && start[d] > -box[d]))
        {
            return {};
        }
        start[d] = first;
    }
    return start;
}

} // namespace

void AddGather(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    op.SetOutput(0, graph.Gather(x, op.Input(1), op.AxisAttribute(0, x.Rank())));
}

void AddGatherElements(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const GatherElementsDescriptor descriptor(static_cast<int32_t>(op.AxisAttribute(0, x.Rank())));
    op.SetOutput(
        0, graph.AddLayer(LayerType::GatherElements, descriptor, {x, op.Input(1)}, x.Type(), op.Input(1).Shape()));
}

void AddGatherNd(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value& indices = op.Input(1);
    GatherNdDescriptor descriptor;
    descriptor.m_BatchDims = op.Unsigned("batch_dims", 0, 0);
    descriptor.m_NegativeIndices = true;
    TensorShape shape;
    const unsigned int rank = indices.Rank();
    if (const int64_t tuple = rank != 0 ? indices.Size(rank - 1) : OpenSize;
        tuple != OpenSize && tuple + descriptor.m_BatchDims <= x.Rank())
    {
        std::vector<int64_t> sizes = indices.Sizes();
        sizes.pop_back();
        const std::vector<int64_t> old = x.Sizes();
        sizes.insert(sizes.end(), old.begin() + tuple + descriptor.m_BatchDims, old.end());
        shape = ToShape(sizes);
    }
    op.SetOutput(0, graph.AddLayer(LayerType::GatherNd, descriptor, {x, indices}, x.Type(), shape));
}

void AddScatterElements(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const ScatterElementsDescriptor descriptor(static_cast<int32_t>(op.AxisAttribute(0, x.Rank())),
                                               ReadScatterFunction(op));
    op.SetOutput(
        0, graph.AddLayer(LayerType::ScatterElements, descriptor, {x, op.Input(1), op.Input(2)}, x.Type(), x.Shape()));
}

void AddScatterNd(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    ScatterNdDescriptor descriptor(ReadScatterFunction(op), true);
    descriptor.m_NegativeIndices = true;
    std::vector<int64_t> start = FindBox(x, op.Input(1));
    std::vector<int64_t> updated = op.Input(1).HasRank() ? op.Input(1).Sizes() : std::vector<int64_t>();
    if (!start.empty() && descriptor.m_Function == ScatterNdFunction::Update)
    {
        const std::vector<int64_t> sizes = x.Sizes();
        updated.pop_back();
        updated.insert(updated.end(), sizes.begin() + static_cast<std::ptrdiff_t>(start.size()), sizes.end());
        if (op.Input(2).Sizes() == updated)
        {
            start.resize(sizes.size(), 0);
            op.SetOutput(0, updated == sizes
                                ? op.Input(2)
                                : graph.AddLayer(LayerType::DynamicUpdateSlice, NullDescriptor(),
                                                 {x, op.Input(2), GraphBuilder::Ints(start)}, x.Type(), x.Shape()));
            return;
        }
    }
    op.SetOutput(0,
                 graph.AddLayer(LayerType::ScatterNd, descriptor, {x, op.Input(1), op.Input(2)}, x.Type(), x.Shape()));
}

/// Index tuples [rank, n] of the elements that are not zero; of a scalar as of a list of one.
void AddNonZero(Operator& op, GraphBuilder& graph)
{
    const Value x = op.Input(0).Rank() == 0 ? graph.Reshape(op.Input(0), {1}) : op.Input(0);
    if (const auto ints = x.FindInts(); ints.has_value() && x.Rank() == 1)
    {
        std::vector<int64_t> places;
        for (size_t i = 0; i < ints->size(); ++i)
        {
            if ((*ints)[i] != 0)
            {
                places.push_back(static_cast<int64_t>(i));
            }
        }
        const Value list = GraphBuilder::Ints(places);
        op.SetOutput(0, graph.Reshape(list, {1, static_cast<int64_t>(places.size())}));
        return;
    }
    const Value places = graph.AddLayer(LayerType::Where, NullDescriptor(), {x}, DataType::Signed64,
                                        ToShape({OpenSize, int64_t{x.Rank()}}));
    op.SetOutput(0, graph.Transpose(places, {1, 0}));
}

/// The slices along an axis, or elements of the flat input, whose condition is true.
void AddCompress(Operator& op, GraphBuilder& graph)
{
    const Value& condition = op.Input(1);
    if (condition.Rank() != 1)
    {
        op.Fail(fmt::format("the condition has shape {}; it must be a list", condition.Shape().ToString()));
    }
    const bool isFlat = !op.Has("axis");
    const Value x = isFlat ? graph.Reshape(op.Input(0), {OpenSize}) : op.Input(0);
    const unsigned int axis = isFlat ? 0 : op.AxisAttribute(0, x.Rank());
    op.SetOutput(0, graph.Gather(x, IndicesOf(graph, condition), axis));
}

/// values[1] at the index along a new axis, values[0] elsewhere.
void AddOneHot(Operator& op, GraphBuilder& graph)
{
    const Value& indices = op.Input(0);
    const Value depth = graph.AsScalar(op.Input(1));
    const Value& values = op.Input(2);
    const Value off = graph.Reshape(graph.Slice(values, 0, 0, 1), {});
    const Value on = graph.Reshape(graph.Slice(values, 0, 1, 2), {});
    OneHotDescriptor descriptor;
    descriptor.m_Axis = static_cast<int32_t>(op.AxisAttribute(-1, indices.Rank() + 1));
    descriptor.m_NegativeIndices = true;
    std::vector<int64_t> sizes = indices.Sizes();
    const auto known = depth.FindReals();
    if (known.has_value() && !(known->front() >= 0.0 && known->front() <= std::numeric_limits<int32_t>::max()))
    {
        op.Fail(fmt::format("a depth of {} is not possible", known->front()));
    }
    sizes.insert(sizes.begin() + descriptor.m_Axis,
                 known.has_value() ? static_cast<int64_t>(known->front()) : OpenSize);
    op.SetOutput(
        0, graph.AddLayer(LayerType::OneHot, descriptor,
                          {graph.Cast(indices, DataType::Signed64), graph.Cast(depth, DataType::Signed32), on, off},
                          values.Type(), ToShape(sizes)));
}

namespace
{

void AddArgMinMax(Operator& op, GraphBuilder& graph, ArgMinMaxFunction function)
{
    const Value& x = op.Input(0);
    ArgMinMaxDescriptor descriptor;
    descriptor.m_Function = function;
    const unsigned int axis = op.AxisAttribute(0, x.Rank());
    descriptor.m_Axis = static_cast<int>(axis);
    descriptor.m_Output_Type = DataType::Signed64;
    descriptor.m_SelectLastIndex = op.Int64("select_last_index", 0) != 0;
    std::vector<int64_t> sizes = x.Sizes();
    sizes.erase(sizes.begin() + axis);
    const Value places = graph.AddLayer(LayerType::ArgMinMax, descriptor, {x}, DataType::Signed64, ToShape(sizes));
    op.SetOutput(0, op.Int64("keepdims", 1) != 0 ? graph.Unsqueeze(places, {axis}) : places);
}

} // namespace

void AddArgMax(Operator& op, GraphBuilder& graph)
{
    AddArgMinMax(op, graph, ArgMinMaxFunction::Max);
}

void AddArgMin(Operator& op, GraphBuilder& graph)
{
    AddArgMinMax(op, graph, ArgMinMaxFunction::Min);
}

/// How many elements is an attribute before version 10.
void AddTopK(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value given = op.Version() < 10 ? GraphBuilder::Ints({op.Int64("k", 0)}) : op.Input(1);
    if (const auto number = given.FindInts();
        number.has_value() && number->size() == 1 &&
        (number->front() < 0 || number->front() > std::numeric_limits<int32_t>::max()))
    {
        op.Fail(fmt::format("{} elements cannot be chosen", number->front()));
    }
    const Value count = graph.Cast(graph.AsScalar(given), DataType::Signed32);
    TopKDescriptor descriptor;
    descriptor.m_Axis = static_cast<int32_t>(op.AxisAttribute(-1, x.Rank()));
    descriptor.m_Largest = op.Int64("largest", 1) != 0;
    descriptor.m_IndexType = DataType::Signed64;
    std::vector<int64_t> sizes = x.Sizes();
    const auto known = count.FindInts();
    sizes[static_cast<size_t>(descriptor.m_Axis)] = known.has_value() ? known->front() : OpenSize;
    const TensorShape shape = ToShape(sizes);
    const std::vector<Value> values =
        graph.AddLayers(LayerType::TopK, descriptor, {x, count}, {{x.Type(), shape}, {DataType::Signed64, shape}});
    op.SetOutput(0, values[0]);
    if (op.NumOutputs() > 1)
    {
        op.SetOutput(1, values[1]);
    }
}

void AddUnique(Operator& op, GraphBuilder& graph)
{
    UniqueDescriptor descriptor;
    descriptor.m_IndexType = DataType::Signed64;
    descriptor.m_Sorted = op.Int64("sorted", 1) != 0;
    descriptor.m_AxisEnabled = op.Has("axis");
    descriptor.m_FirstsAndCounts = op.HasOutput(1) || op.HasOutput(3);
    Value x = op.Input(0);
    TensorShape shape(1, false);
    if (descriptor.m_AxisEnabled)
    {
        descriptor.m_Axis = static_cast<int32_t>(op.AxisAttribute(0, x.Rank()));
        std::vector<int64_t> sizes = x.Sizes();
        sizes[static_cast<size_t>(descriptor.m_Axis)] = OpenSize;
        shape = ToShape(sizes);
    }
    else
    {
        x = graph.Reshape(x, {OpenSize});
    }
    const TensorShape list(1, false);
    std::vector<GraphBuilder::Output> outputs = {{x.Type(), shape}, {DataType::Signed64, list}};
    if (descriptor.m_FirstsAndCounts)
    {
        outputs.insert(outputs.end(), 2, {DataType::Signed64, list});
    }
    const std::vector<Value> values = graph.AddLayers(LayerType::Unique, descriptor, {x}, outputs);
    // The layer's order is values, places of their elements, first places, counts.
    static constexpr size_t layerOutput[] = {0, 2, 1, 3};
    for (size_t i = 0; i < op.NumOutputs(); ++i)
    {
        if (op.HasOutput(i))
        {
            op.SetOutput(i, values.at(layerOutput[i]));
        }
    }
}

} // namespace tenon::onnx::rows
