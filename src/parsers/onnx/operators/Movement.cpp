// SPDX-License-Identifier: Apache-2.0
// Rows of operators that give elements another shape or order, join, split and repeat them.
#include "parsers/onnx/Rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace tenon::onnx::rows
{

namespace
{

/// Numbers that are an attribute in older versions and input `i` since.
std::vector<int64_t> AttributeOrInput(const Operator& op, const char* name, size_t i, int64_t since)
{
    if (op.Version() < since)
    {
        return op.Int64s(name);
    }
    return op.HasInput(i) ? op.ConstantInts(i, name) : std::vector<int64_t>();
}

/// Axes that are computed at the run; no value where they are known or left out.
Value AxesAtRun(const Operator& op, size_t i, int64_t since)
{
    return op.Version() >= since && op.HasInput(i) && !op.Input(i).FindInts().has_value() ? op.Input(i) : Value();
}

/// The constant number in input `i`, which old versions have as a float.
int64_t WholeNumber(const Operator& op, size_t i, const char* what)
{
    const double number = op.ConstantReal(i, what);
    if (!(std::abs(number) <= std::numeric_limits<uint32_t>::max()))
    {
        op.Fail(fmt::format("input {} ({}) is {}, which is not possible", i, what, number));
    }
    return static_cast<int64_t>(number);
}

/// 1 for each of `rank` dimensions that the axes name, else 0.
Value MarkAxes(const Operator& op, GraphBuilder& graph, const Value& axes, size_t rank)
{
    if (axes.Size(0) == OpenSize)
    {
        op.Refuse("the number of axes is computed at the run");
    }
    if (axes.Size(0) > static_cast<int64_t>(rank))
    {
        op.Fail(fmt::format("has {} axes for {} dimensions", axes.Size(0), rank));
    }
    const Value zeros = GraphBuilder::Ints(std::vector<int64_t>(rank, 0));
    const Value ones = GraphBuilder::Ints(std::vector<int64_t>(static_cast<size_t>(axes.Size(0)), 1));
    return graph.Put(zeros, axes, ones);
}

/// One number of a list, as a list of one.
Value Entry(GraphBuilder& graph, const Value& list, int64_t i)
{
    return graph.Slice(list, 0, i, i + 1);
}

} // namespace

/// Sizes that are 0 are those of the input, unless allowzero says that they are 0.
void AddReshape(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value shape = op.Version() < 5 ? GraphBuilder::Ints(op.Int64s("shape")) : op.Input(1);
    if (shape.Rank() != 1)
    {
        op.Fail(fmt::format("the shape is a tensor of shape {} in place of a list", shape.Shape().ToString()));
    }
    const Numbers* const numbers = shape.FindNumbers();
    const bool keepsZeros = op.Int64("allowzero", 0) != 0;
    const auto isCopied = [&](const Number& number) { return number.m_IsKnown && number.m_Int == 0 && !keepsZeros; };
    if (numbers == nullptr && !keepsZeros)
    {
        // Which sizes are copied is told by the run, maybe also how many there are.
        const Value ones = GraphBuilder::Ints(std::vector<int64_t>(MaxNumOfTensorDimensions, 1));
        const Value padded = graph.Concat({graph.ShapeOf(x), ones}, 0);
        StridedSliceDescriptor descriptor;
        descriptor.m_ParametersAsInputs = true;
        const bool isCounted = OpenShape(shape.Size(0)).GetDimensionality() != Dimensionality::NotSpecified;
        const Value own =
            isCounted ? graph.Slice(padded, 0, 0, shape.Size(0))
                      : graph.AddLayer(LayerType::StridedSlice, descriptor,
                                       {padded, GraphBuilder::Ints({0}), graph.ShapeOf(shape), GraphBuilder::Ints({1})},
                                       DataType::Signed64, TensorShape(1, false));
        const Value wanted = graph.Cast(shape, DataType::Signed64);
        const Value isZero = graph.Compare(ComparisonOperation::Equal, wanted, GraphBuilder::Ints({0}));
        op.SetOutput(0, graph.ReshapeTo(x, graph.Select(isZero, own, wanted)));
        return;
    }
    if (numbers == nullptr || std::none_of(numbers->begin(), numbers->end(), isCopied))
    {
        op.SetOutput(0, graph.ReshapeTo(x, shape));
        return;
    }
    const Value sizes = graph.ShapeOf(x);
    std::vector<Value> entries;
    for (size_t i = 0; i < numbers->size(); ++i)
    {
        const bool copies = isCopied((*numbers)[i]);
        if (copies && x.HasRank() && i >= x.Rank())
        {
            op.Fail(fmt::format("size {} of the shape is 0, but input 0 has no dimension {}", i, i));
        }
        entries.push_back(Entry(graph, copies ? sizes : shape, static_cast<int64_t>(i)));
    }
    op.SetOutput(0, graph.ReshapeTo(x, graph.Concat(entries, 0)));
}

void AddFlatten(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    const int64_t axis = op.Int64("axis", 1);
    if (axis < -int64_t{rank} || axis > int64_t{rank})
    {
        op.Fail(fmt::format("axis {} is outside of {} dimensions", axis, rank));
    }
    const auto first = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    const std::vector<int64_t> sizes = x.Sizes();
    const int64_t rows = ProductOf(sizes, 0, first);
    const int64_t columns = ProductOf(sizes, first, rank);
    // An open size follows from the others, unless one of them is 0.
    if (rows > 0 || columns > 0 || (rows == 0 && columns == 0))
    {
        op.SetOutput(0, graph.Reshape(x, {rows, columns}));
        return;
    }
    const Value shape = graph.ShapeOf(x);
    const auto product = [&](size_t begin, size_t end)
    {
        const Value sizesOfGroup = graph.Slice(shape, 0, static_cast<int64_t>(begin), static_cast<int64_t>(end));
        return graph.Reduce(ReduceOperation::Prod, sizesOfGroup, {0}, true);
    };
    op.SetOutput(0, graph.ReshapeTo(x, graph.Concat({product(0, first), product(first, rank)}, 0)));
}

/// Without axes all dimensions of size 1 go.
void AddSqueeze(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    if (const Value given = AxesAtRun(op, 1, 13))
    {
        // The sizes that are not marked.
        const Value marks = MarkAxes(op, graph, given, x.Rank());
        const Value stays = graph.Compare(ComparisonOperation::Equal, marks, GraphBuilder::Ints({0}));
        const int64_t rank = x.Rank() - given.Size(0);
        const Value places = graph.AddLayer(LayerType::Where, NullDescriptor(), {stays}, DataType::Signed64,
                                            ToShape({std::max(rank, int64_t{0}), 1}));
        op.SetOutput(0, graph.ReshapeTo(x, graph.Gather(graph.ShapeOf(x), graph.Squeeze(places, {1}), 0)));
        return;
    }
    const std::vector<int64_t> axes = AttributeOrInput(op, "axes", 1, 13);
    if (!axes.empty())
    {
        op.SetOutput(0, graph.Squeeze(x, op.Axes(axes, x.Rank())));
        return;
    }
    std::vector<unsigned int> ones;
    for (unsigned int i = 0; i < x.Rank(); ++i)
    {
        if (x.Size(i) == OpenSize)
        {
            op.RefuseOpen(fmt::format("which dimensions of shape {} are dropped is not known before the run, as there "
                                      "are no axes that name them",
                                      x.Shape().ToString()));
        }
        if (x.Size(i) == 1)
        {
            ones.push_back(i);
        }
    }
    op.SetOutput(0, graph.Squeeze(x, ones));
}

void AddUnsqueeze(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    if (const Value given = AxesAtRun(op, 1, 13))
    {
        // Where a dimension is not marked, it is the next one of the input: as many are not marked up to there.
        const size_t rank = x.Rank() + OpenShape(std::max(given.Size(0), int64_t{0})).GetNumDimensions();
        const Value marks = MarkAxes(op, graph, given, rank);
        const Value others = graph.Subtract(GraphBuilder::Ints({1}), marks);
        const Value counts =
            graph.AddLayer(LayerType::CumSum, CumSumDescriptor(), {others}, DataType::Signed64, others.Shape());
        const Value places = graph.Binary(BinaryOperation::Maximum, graph.Subtract(counts, GraphBuilder::Ints({1})),
                                          GraphBuilder::Ints({0}));
        const Value sizes = graph.Concat({graph.ShapeOf(x), GraphBuilder::Ints({1})}, 0);
        const Value isMarked = graph.Compare(ComparisonOperation::Equal, marks, GraphBuilder::Ints({1}));
        op.SetOutput(0, graph.ReshapeTo(x, graph.Select(isMarked, marks, graph.Gather(sizes, places, 0))));
        return;
    }
    const std::vector<int64_t> axes = AttributeOrInput(op, "axes", 1, 13);
    const size_t rank = x.Rank() + axes.size();
    if (rank > MaxNumOfTensorDimensions)
    {
        op.Refuse(fmt::format("the output has {} dimensions; at most {} are possible", rank, MaxNumOfTensorDimensions));
    }
    op.SetOutput(0, graph.Unsqueeze(x, op.Axes(axes, static_cast<unsigned int>(rank))));
}

void AddTranspose(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    std::vector<unsigned int> permutation(x.Rank());
    std::iota(permutation.rbegin(), permutation.rend(), 0U);
    if (op.Has("perm"))
    {
        permutation = op.Axes(op.Int64s("perm"), x.Rank());
        if (permutation.size() != x.Rank())
        {
            op.Fail(fmt::format("perm has {} entries for {} dimensions", permutation.size(), x.Rank()));
        }
    }
    op.SetOutput(0, graph.Transpose(x, permutation));
}

/// Before version 4 the axis may be left out.
void AddConcat(Operator& op, GraphBuilder& graph)
{
    if (!op.Has("axis") && op.Version() >= 4)
    {
        op.Fail("attribute 'axis' is missing");
    }
    std::vector<Value> values;
    for (size_t i = 0; i < op.NumInputs(); ++i)
    {
        values.push_back(op.Input(i));
    }
    op.SetOutput(0, graph.Concat(values, op.AxisAttribute(1, values.front().Rank())));
}

namespace
{

/// [count]: ceil(size / count) as long as there is so much left, then what is left.
Value PartSizes(GraphBuilder& graph, const Value& size, int64_t count)
{
    std::vector<int64_t> places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    const Value part = graph.Divide(graph.Add(size, GraphBuilder::Ints({count - 1})), GraphBuilder::Ints({count}));
    const Value left = graph.Subtract(size, graph.Multiply(part, GraphBuilder::Ints(places)));
    return graph.Binary(BinaryOperation::Maximum, graph.Binary(BinaryOperation::Minimum, left, part),
                        GraphBuilder::Ints({0}));
}

} // namespace

namespace
{

/// Parts whose sizes the run tells: those in a list, or equal ones where there is none.
void SplitAtRun(Operator& op, GraphBuilder& graph, unsigned int axis, const Value& partSizes)
{
    const Value& x = op.Input(0);
    SplitterDescriptor descriptor(static_cast<uint32_t>(op.NumOutputs()), x.Rank());
    descriptor.m_ParametersAsInputs = true;
    std::vector<Value> inputs = {x, GraphBuilder::ScalarInt(DataType::Signed32, axis)};
    if (partSizes)
    {
        descriptor.m_SizesAsInput = true;
        inputs.push_back(partSizes);
    }
    std::vector<int64_t> sizes = x.Sizes();
    sizes[axis] = OpenSize;
    const std::vector<GraphBuilder::Output> outputs(op.NumOutputs(), {x.Type(), ToShape(sizes)});
    op.SetOutputs(graph.AddLayers(LayerType::Splitter, descriptor, inputs, outputs));
}

} // namespace

/// Sizes of the parts, or how many equal ones there are, the last of which may be smaller.
void AddSplit(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int axis = op.AxisAttribute(0, x.Rank());
    const int64_t size = x.Size(axis);
    const auto count = static_cast<int64_t>(op.NumOutputs());
    std::vector<int64_t> parts;
    if (op.Version() >= 13 && op.HasInput(1) && !op.Input(1).FindInts().has_value())
    {
        SplitAtRun(op, graph, axis, op.Input(1));
        return;
    }
    if (op.Version() < 13 ? op.Has("split") : op.HasInput(1))
    {
        parts = op.Version() < 13 ? op.Int64s("split") : op.ConstantInts(1, "sizes of the parts");
        if (std::any_of(parts.begin(), parts.end(), [](int64_t part) { return part < 0; }))
        {
            op.Fail(fmt::format("parts cannot have the sizes [{}]", fmt::join(parts, ", ")));
        }
    }
    else if (op.Int64("num_outputs", count) != count)
    {
        op.Fail(fmt::format("has {} outputs in place of the {} in the attribute 'num_outputs'", count,
                            op.Int64("num_outputs", count)));
    }
    else if (size == OpenSize && count != 1)
    {
        // Equal before version 18.
        const bool isEven = op.Version() < 18;
        SplitAtRun(op, graph, axis,
                   isEven ? Value()
                          : PartSizes(graph, graph.Slice(graph.ShapeOf(x), 0, axis, int64_t{axis} + 1), count));
        return;
    }
    else
    {
        const int64_t part = count == 1 ? size : (size + count - 1) / count;
        for (int64_t i = 0; i < count; ++i)
        {
            parts.push_back(count == 1 ? size : std::clamp(size - i * part, int64_t{0}, part));
        }
    }
    const bool isKnown = std::find(parts.begin(), parts.end(), OpenSize) == parts.end();
    const auto isNoSize = [](int64_t part) { return part < OpenSize || part > std::numeric_limits<uint32_t>::max(); };
    if (parts.size() != op.NumOutputs() || std::any_of(parts.begin(), parts.end(), isNoSize) ||
        (isKnown && size != OpenSize && std::accumulate(parts.begin(), parts.end(), int64_t{0}) != size))
    {
        op.Fail(fmt::format("parts of sizes {} do not fit {} outputs and a dimension of {} elements",
                            fmt::join(parts, ", "), op.NumOutputs(), size));
    }
    int64_t start = 0;
    for (size_t i = 0; i < parts.size(); ++i)
    {
        const int64_t end = parts[i] == OpenSize ? std::numeric_limits<int64_t>::max() : start + parts[i];
        if (op.HasOutput(i))
        {
            op.SetOutput(i, graph.Slice(x, axis, start, end));
        }
        start = end;
    }
}

/// Version 1: attributes; from version 10 on inputs, which may be computed at the run.
void AddSlice(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    std::vector<int64_t> starts;
    std::vector<int64_t> ends;
    std::vector<int64_t> axes;
    std::vector<int64_t> steps;
    bool isKnown = true;
    if (op.Version() < 10)
    {
        starts = op.Int64s("starts");
        ends = op.Int64s("ends");
        axes = op.Int64s("axes");
    }
    else if (const Value places = AxesAtRun(op, 3, 10))
    {
        // Whole dimensions, but for those that are named.
        const auto spread = [&](size_t i, int64_t whole)
        {
            const Value numbers = GraphBuilder::Ints(std::vector<int64_t>(rank, whole));
            const Value given = op.FindInput(i);
            return given ? graph.Put(numbers, places, graph.Cast(given, DataType::Signed64)) : numbers;
        };
        StridedSliceDescriptor descriptor;
        descriptor.m_ParametersAsInputs = true;
        op.SetOutput(0, graph.AddLayer(LayerType::StridedSlice, descriptor,
                                       {x, spread(1, 0), spread(2, std::numeric_limits<int64_t>::max()), spread(4, 1)},
                                       x.Type(), TensorShape(rank, false)));
        return;
    }
    else
    {
        axes = op.HasInput(3) ? op.ConstantInts(3, "axes") : std::vector<int64_t>();
        const auto knownStarts = op.Input(1).FindInts();
        const auto knownEnds = op.Input(2).FindInts();
        const auto knownSteps = op.HasInput(4) ? op.Input(4).FindInts() : std::vector<int64_t>();
        isKnown = knownStarts.has_value() && knownEnds.has_value() && knownSteps.has_value();
        if (isKnown)
        {
            starts = *knownStarts;
            ends = *knownEnds;
            steps = *knownSteps;
        }
    }
    const int64_t count = isKnown ? static_cast<int64_t>(starts.size()) : op.Input(1).Size(0);
    if (axes.empty() && count != OpenSize)
    {
        axes.resize(static_cast<size_t>(std::min<int64_t>(count, rank)));
        std::iota(axes.begin(), axes.end(), 0);
    }
    const std::vector<unsigned int> dimensions = op.Axes(axes, rank);
    if (isKnown)
    {
        steps.resize(steps.empty() ? starts.size() : steps.size(), 1);
        if (ends.size() != starts.size() || dimensions.size() != starts.size() || steps.size() != starts.size())
        {
            op.Fail(fmt::format("{} starts, {} ends, {} axes and {} steps do not fit together", starts.size(),
                                ends.size(), dimensions.size(), steps.size()));
        }
        for (size_t i = 0; i < starts.size(); ++i)
        {
            // Where steps are negative, ONNX moves starts before element 0 to it; NumPy takes nothing then.
            const int64_t size = x.Size(dimensions[i]);
            starts[i] = steps[i] < 0 && size != OpenSize ? std::max(starts[i], -size) : starts[i];
        }
        op.SetOutput(0, graph.Slice(x, starts, ends, dimensions, steps));
        return;
    }
    if (count != static_cast<int64_t>(dimensions.size()))
    {
        op.Refuse("how many dimensions are sliced is computed at the run");
    }
    // A number for each dimension, in order: those that are not sliced are taken whole.
    StridedSliceDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    std::vector<int64_t> sizes = x.Sizes();
    std::vector<Value> entries[3];
    const Value given[3] = {op.Input(1), op.Input(2), op.FindInput(4)};
    const int64_t whole[3] = {0, std::numeric_limits<int64_t>::max(), 1};
    for (unsigned int i = 0; i < rank; ++i)
    {
        const auto place = std::find(dimensions.begin(), dimensions.end(), i);
        if (place != dimensions.end())
        {
            sizes[i] = OpenSize;
        }
        for (size_t k = 0; k < 3; ++k)
        {
            entries[k].push_back(
                place != dimensions.end() && given[k]
                    ? graph.Cast(Entry(graph, given[k], place - dimensions.begin()), DataType::Signed64)
                    : GraphBuilder::Ints({whole[k]}));
        }
    }
    op.SetOutput(
        0, graph.AddLayer(LayerType::StridedSlice, descriptor,
                          {x, graph.Concat(entries[0], 0), graph.Concat(entries[1], 0), graph.Concat(entries[2], 0)},
                          x.Type(), ToShape(sizes)));
}

/// Sizes broadcast both ways: a 1 in the shape keeps the input's size.
void AddExpand(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value& shape = op.Input(1);
    const auto sizes = shape.FindInts();
    if (sizes.has_value() && std::any_of(sizes->begin(), sizes->end(), [](int64_t size) { return size < 0; }))
    {
        op.Fail(fmt::format("a tensor cannot have the shape [{}]", fmt::join(*sizes, ", ")));
    }
    if (sizes.has_value() && x.HasSizes())
    {
        const Value target = GraphBuilder::Known(DataType::Boolean, *sizes, {});
        op.SetOutput(0, graph.BroadcastTo(x, ToSizes(GraphBuilder::BroadcastShape(x, target))));
        return;
    }
    const Value own = graph.ShapeOf(x);
    const int64_t rank = std::max(own.Size(0), shape.Size(0));
    Value both =
        graph.AddLayer(LayerType::BroadcastArgs, NullDescriptor(), {own, shape}, DataType::Signed64,
                       own.Size(0) != OpenSize && shape.Size(0) != OpenSize ? ToShape({rank}) : TensorShape(1, false));
    // Sizes that one of the two tells: above 1 they are those of the result.
    if (const Numbers* const known = shape.FindNumbers(); known != nullptr && x.HasRank())
    {
        Numbers numbers(static_cast<size_t>(rank));
        const std::vector<int64_t> old = x.Sizes();
        for (size_t i = 0; i < numbers.size(); ++i)
        {
            const size_t fromEnd = numbers.size() - i;
            const int64_t mine = fromEnd <= old.size() ? old[old.size() - fromEnd] : 1;
            const Number other = fromEnd <= known->size() ? (*known)[known->size() - fromEnd] : Number::Of(int64_t{1});
            if (mine > 1 || (mine == 1 && other.m_IsKnown))
            {
                numbers[i] = Number::Of(mine > 1 ? mine : other.m_Int);
            }
            else if (other.m_IsKnown && other.m_Int > 1)
            {
                numbers[i] = other;
            }
        }
        both.GetState()->m_Numbers = std::move(numbers);
    }
    op.SetOutput(0, graph.BroadcastTo(x, both));
}

/// Version 1: repeats along one axis.
void AddTile(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    std::vector<int64_t> sizes(rank, OpenSize);
    std::optional<std::vector<int64_t>> repeats;
    if (op.Version() < 6)
    {
        repeats.emplace(rank, 1);
        (*repeats)[op.Axis(WholeNumber(op, 2, "axis"), rank)] = WholeNumber(op, 1, "tiles");
    }
    else
    {
        repeats = op.Input(1).FindInts();
    }
    if (!repeats.has_value())
    {
        TileDescriptor descriptor;
        descriptor.m_ParametersAsInputs = true;
        op.SetOutput(0, graph.AddLayer(LayerType::Tile, descriptor, {x, op.Input(1)}, x.Type(), ToShape(sizes)));
        return;
    }
    if (repeats->size() != rank ||
        std::any_of(repeats->begin(), repeats->end(),
                    [](int64_t r) { return r < 0 || r > std::numeric_limits<uint32_t>::max(); }))
    {
        op.Fail(fmt::format("repeats {} do not fit shape {}", fmt::join(*repeats, ", "), x.Shape().ToString()));
    }
    if (std::all_of(repeats->begin(), repeats->end(), [](int64_t r) { return r == 1; }))
    {
        op.SetOutput(0, x);
        return;
    }
    TileDescriptor descriptor;
    for (unsigned int i = 0; i < rank; ++i)
    {
        descriptor.m_Multiples.push_back(static_cast<uint32_t>((*repeats)[i]));
        sizes[i] = ProductOf({x.Size(i), (*repeats)[i]}, 0, 2);
    }
    op.SetOutput(0, graph.AddLayer(LayerType::Tile, descriptor, {x}, x.Type(), ToShape(sizes)));
}

/// Negative pads cut elements off.
void AddPad(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    static constexpr std::pair<const char*, PaddingMode> modes[] = {{"constant", PaddingMode::Constant},
                                                                    {"reflect", PaddingMode::Reflect},
                                                                    {"edge", PaddingMode::Edge},
                                                                    {"wrap", PaddingMode::Wrap}};
    const PaddingMode padding = op.Choose("mode", "constant", modes);
    const bool hasAttributes = op.Version() < 11;
    Value fill;
    if (hasAttributes)
    {
        fill = GraphBuilder::Scalar(x.Type(), op.Float("value", 0.0f));
    }
    else if (op.HasInput(2))
    {
        fill = graph.AsScalar(op.Input(2));
    }
    std::vector<unsigned int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0U);
    if (op.Version() >= 18 && op.HasInput(3))
    {
        axes = op.Axes(op.ConstantInts(3, "axes"), rank);
    }
    const auto known =
        hasAttributes ? std::optional(op.Int64s(op.Version() == 1 ? "paddings" : "pads")) : op.Input(1).FindInts();
    const bool hasFill = fill && padding == PaddingMode::Constant;
    PadDescriptor descriptor;
    descriptor.m_PaddingMode = padding;
    descriptor.m_ValueAsInput = hasFill;
    const auto inputs = [&](const Value& data, const Value& pads)
    {
        std::vector<Value> list = {data};
        if (pads || hasFill)
        {
            list.push_back(pads);
        }
        if (hasFill)
        {
            list.push_back(fill);
        }
        return list;
    };
    if (!known.has_value())
    {
        const int64_t given = op.Input(1).Size(0);
        if (op.Input(1).Rank() != 1 || (given != OpenSize && given != 2 * static_cast<int64_t>(axes.size())))
        {
            op.Fail(fmt::format("pads of shape {} do not fit {} axes", op.Input(1).Shape().ToString(), axes.size()));
        }
        // [2 * axes] to [rank, 2].
        std::vector<Value> rows;
        const Value pads = graph.Cast(op.Input(1), DataType::Signed64);
        const auto count = static_cast<int64_t>(axes.size());
        for (unsigned int i = 0; i < rank; ++i)
        {
            const auto place = std::find(axes.begin(), axes.end(), i);
            const int64_t k = place - axes.begin();
            rows.push_back(place != axes.end() ? Entry(graph, pads, k) : GraphBuilder::Ints({0}));
            rows.push_back(place != axes.end() ? Entry(graph, pads, k + count) : GraphBuilder::Ints({0}));
        }
        descriptor.m_ParametersAsInputs = true;
        const Value list = graph.Reshape(graph.Concat(rows, 0), {int64_t{rank}, 2});
        op.SetOutput(0,
                     graph.AddLayer(LayerType::Pad, descriptor, inputs(x, list), x.Type(), TensorShape(rank, false)));
        return;
    }
    const auto isTooLarge = [](int64_t pad)
    { return pad > std::numeric_limits<int32_t>::max() || pad < std::numeric_limits<int32_t>::min(); };
    if (known->size() != 2 * axes.size() || std::any_of(known->begin(), known->end(), isTooLarge))
    {
        op.Fail(fmt::format("pads [{}] do not fit {} axes", fmt::join(*known, ", "), axes.size()));
    }
    Value data = x;
    descriptor.m_PadList.assign(rank, {0, 0});
    bool pads = false;
    std::vector<int64_t> sizes = x.Sizes();
    for (size_t i = 0; i < axes.size(); ++i)
    {
        const unsigned int axis = axes[i];
        const int64_t before = (*known)[i];
        const int64_t after = (*known)[i + axes.size()];
        if (before < 0 || after < 0)
        {
            data = graph.Slice(data, axis, std::max(-before, int64_t{0}),
                               after < 0 ? after : std::numeric_limits<int64_t>::max());
        }
        const auto toSize = [](int64_t pad) { return static_cast<unsigned int>(std::max(pad, int64_t{0})); };
        descriptor.m_PadList[axis] = {toSize(before), toSize(after)};
        pads = pads || before > 0 || after > 0;
        sizes[axis] = sizes[axis] != OpenSize ? std::max(sizes[axis] + before + after, int64_t{0}) : OpenSize;
    }
    op.SetOutput(0,
                 pads ? graph.AddLayer(LayerType::Pad, descriptor, inputs(data, {}), x.Type(), ToShape(sizes)) : data);
}

namespace
{

void AddBlocks(Operator& op, GraphBuilder& graph, LayerType type)
{
    static constexpr std::pair<const char*, bool> modes[] = {{"DCR", false}, {"CRD", true}};
    SpaceToDepthDescriptor descriptor(op.Unsigned("blocksize", 0, 1), DataLayout::NCHW);
    descriptor.m_ChannelMajor = op.Choose("mode", "DCR", modes);
    op.SetOutput(0, graph.AddImageLayer(type, descriptor, {op.Input(0)}));
}

} // namespace

void AddDepthToSpace(Operator& op, GraphBuilder& graph)
{
    AddBlocks(op, graph, LayerType::DepthToSpace);
}

void AddSpaceToDepth(Operator& op, GraphBuilder& graph)
{
    AddBlocks(op, graph, LayerType::SpaceToDepth);
}

void AddReverseSequence(Operator& op, GraphBuilder& graph)
{
    ReverseSequenceDescriptor descriptor;
    descriptor.m_BatchDimension = op.Int("batch_axis", 1);
    descriptor.m_SequenceDimension = op.Int("time_axis", 0);
    const Value& x = op.Input(0);
    op.SetOutput(0, graph.AddLayer(LayerType::ReverseSequence, descriptor,
                                   {x, graph.Cast(op.Input(1), DataType::Signed32)}, x.Type(), x.Shape()));
}

} // namespace tenon::onnx::rows
