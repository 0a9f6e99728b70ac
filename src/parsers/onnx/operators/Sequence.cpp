// SPDX-License-Identifier: Apache-2.0
// Rows of operators on sequences and optional values. They are resolved while the model is read: a sequence is a list
// of values, and its length and all indices into it must be known then.
#include "parsers/onnx/GraphReader.hpp"
#include "parsers/onnx/Rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::onnx::rows
{

namespace
{

Value MakeList(Value::Kind kind, std::vector<Value> elements)
{
    auto state = std::make_shared<Value::State>();
    state->m_Kind = kind;
    state->m_Elements = std::move(elements);
    return Value(std::move(state));
}

const std::vector<Value>& ElementsOf(const Operator& op, size_t i)
{
    const Value& sequence = op.AnyInput(i);
    if (!sequence || sequence->m_Kind != Value::Kind::Sequence)
    {
        op.Fail(fmt::format("input {} is no sequence", i));
    }
    return sequence->m_Elements;
}

/// An index into `size` elements, or just behind them where `endToo`.
size_t Place(const Operator& op, size_t i, size_t size, bool endToo)
{
    const int64_t index = op.ConstantInt(i, "index");
    const auto count = static_cast<int64_t>(size);
    if (index < -count || index >= count + (endToo ? 1 : 0))
    {
        op.Fail(fmt::format("index {} is outside of a sequence of {} values", index, size));
    }
    return static_cast<size_t>(index < 0 ? index + count : index);
}

} // namespace

void AddSequenceConstruct(Operator& op, GraphBuilder&)
{
    std::vector<Value> elements;
    for (size_t i = 0; i < op.NumInputs(); ++i)
    {
        elements.push_back(op.Input(i));
    }
    op.SetOutput(0, MakeList(Value::Kind::Sequence, std::move(elements)));
}

void AddSequenceEmpty(Operator& op, GraphBuilder&)
{
    op.SetOutput(0, MakeList(Value::Kind::Sequence, {}));
}

void AddSequenceAt(Operator& op, GraphBuilder&)
{
    const std::vector<Value>& elements = ElementsOf(op, 0);
    op.SetOutput(0, elements[Place(op, 1, elements.size(), false)]);
}

void AddSequenceLength(Operator& op, GraphBuilder&)
{
    op.SetOutput(0, GraphBuilder::ScalarInt(DataType::Signed64, static_cast<int64_t>(ElementsOf(op, 0).size())));
}

void AddSequenceInsert(Operator& op, GraphBuilder&)
{
    std::vector<Value> elements = ElementsOf(op, 0);
    const size_t place = op.HasInput(2) ? Place(op, 2, elements.size(), true) : elements.size();
    elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(place), op.Input(1));
    op.SetOutput(0, MakeList(Value::Kind::Sequence, std::move(elements)));
}

void AddSequenceErase(Operator& op, GraphBuilder&)
{
    std::vector<Value> elements = ElementsOf(op, 0);
    if (elements.empty())
    {
        op.Fail("the sequence is empty");
    }
    const size_t place = op.HasInput(1) ? Place(op, 1, elements.size(), false) : elements.size() - 1;
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(place));
    op.SetOutput(0, MakeList(Value::Kind::Sequence, std::move(elements)));
}

/// Parts of one size, the last of which may be smaller; or of the sizes in a list; or of size 1, which lose the
/// dimension unless keepdims is set.
void AddSplitToSequence(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int axis = op.AxisAttribute(0, x.Rank());
    const int64_t size = x.Size(axis);
    if (size == OpenSize)
    {
        op.RefuseOpen("how many parts there are is not known before the run");
    }
    const bool isGiven = op.HasInput(1);
    std::vector<int64_t> parts;
    if (isGiven && op.Input(1).Rank() != 0)
    {
        parts = op.ConstantInts(1, "sizes of the parts");
    }
    else
    {
        const int64_t part = isGiven ? op.ConstantInt(1, "size of the parts") : 1;
        if (part < 1)
        {
            op.Fail(fmt::format("parts cannot have the size {}", part));
        }
        if (size / part >= static_cast<int64_t>(op.Reader().Reading().GetLimits().m_MaxLayers))
        {
            op.Fail(fmt::format("{} parts are too many (Limits::m_MaxLayers)", size / part));
        }
        for (int64_t start = 0; start < size; start += part)
        {
            parts.push_back(std::min(part, size - start));
        }
    }
    std::vector<Value> elements;
    int64_t start = 0;
    for (const int64_t part : parts)
    {
        if (part < 0 || part > size - start)
        {
            op.Fail(
                fmt::format("parts of sizes {} do not fit a dimension of {} elements", fmt::join(parts, ", "), size));
        }
        const Value slice = graph.Slice(x, axis, start, start + part);
        elements.push_back(!isGiven && op.Int64("keepdims", 1) == 0 ? graph.Squeeze(slice, {axis}) : slice);
        start += part;
    }
    op.SetOutput(0, MakeList(Value::Kind::Sequence, std::move(elements)));
}

void AddConcatFromSequence(Operator& op, GraphBuilder& graph)
{
    std::vector<Value> elements = ElementsOf(op, 0);
    if (elements.empty())
    {
        op.Fail("the sequence is empty");
    }
    const bool isStack = op.Int64("new_axis", 0) != 0;
    const unsigned int axis = op.AxisAttribute(0, elements.front().Rank() + (isStack ? 1 : 0));
    for (Value& element : elements)
    {
        element = isStack ? graph.Unsqueeze(element, {axis}) : element;
    }
    op.SetOutput(0, graph.Concat(elements, axis));
}

/// The body once for each value of the first sequence; further sequences give a value each in the same iteration,
/// tensors are the same for all.
void AddSequenceMap(Operator& op, GraphBuilder& graph)
{
    const GraphMessage* const body = op.Graph("body");
    if (body == nullptr || body->m_Inputs.size() != op.NumInputs() || body->m_Outputs.size() != op.NumOutputs())
    {
        op.Fail("attribute 'body' is missing, or has other inputs or outputs than the node");
    }
    ModelReading& reading = op.Reader().Reading();
    const size_t count = ElementsOf(op, 0).size();
    std::vector<std::vector<Value>> results(op.NumOutputs());
    const parsers::NetworkSize::Level level(reading.Size());
    for (size_t i = 0; i < count; ++i)
    {
        reading.CountVisit(*body);
        GraphReader reader(reading, graph, *body, &op.Reader());
        for (size_t k = 0; k < op.NumInputs(); ++k)
        {
            const Value& input = op.AnyInput(k);
            if (!input)
            {
                op.Fail(fmt::format("input {} is missing", k));
            }
            const bool isSequence = input->m_Kind == Value::Kind::Sequence;
            if (isSequence && input->m_Elements.size() != count)
            {
                op.Fail(fmt::format("sequence {} has {} values in place of {}", k, input->m_Elements.size(), count));
            }
            reader.Define(body->m_Inputs[k].m_Name, isSequence ? input->m_Elements[i] : input);
        }
        const std::vector<Value> outputs = reader.ReadNodes();
        for (size_t k = 0; k < outputs.size(); ++k)
        {
            results[k].push_back(outputs[k]);
        }
    }
    for (size_t k = 0; k < results.size(); ++k)
    {
        op.SetOutput(k, MakeList(Value::Kind::Sequence, std::move(results[k])));
    }
}

void AddOptional(Operator& op, GraphBuilder&)
{
    std::vector<Value> elements;
    if (op.NumInputs() != 0 && op.AnyInput(0))
    {
        elements.push_back(op.AnyInput(0));
    }
    op.SetOutput(0, MakeList(Value::Kind::Optional, std::move(elements)));
}

/// From version 18 on also of a tensor or sequence, which is there.
void AddOptionalHasElement(Operator& op, GraphBuilder&)
{
    const bool isThere = op.NumInputs() != 0 && op.AnyInput(0);
    const bool isEmpty =
        isThere && op.AnyInput(0)->m_Kind == Value::Kind::Optional && op.AnyInput(0)->m_Elements.empty();
    op.SetOutput(0, GraphBuilder::ScalarInt(DataType::Boolean, isThere && !isEmpty ? 1 : 0));
}

void AddOptionalGetElement(Operator& op, GraphBuilder&)
{
    const Value& given = op.AnyInput(0);
    if (!given)
    {
        op.Fail("input 0 is missing");
    }
    if (given->m_Kind != Value::Kind::Optional)
    {
        op.SetOutput(0, given);
        return;
    }
    if (given->m_Elements.empty())
    {
        op.Fail("the optional value has no element");
    }
    op.SetOutput(0, given->m_Elements.front());
}

} // namespace tenon::onnx::rows
