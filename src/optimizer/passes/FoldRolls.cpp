// SPDX-License-Identifier: Apache-2.0
// Pass FoldRolls: two slices that cut a tensor in two along an axis, joined the other way around, become a Roll, as
// exporters write PyTorch's roll; several in a row along different axes become one. Where the tensor is cut must be
// sure (SizeFacts.hpp).
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"
#include "optimizer/rewriting/SizeFacts.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

/// What a slice takes along one axis, of the others everything.
struct Range
{
    int64_t m_Begin = 0;
    int64_t m_End = 0;
};

/// The range of dimension i, whose size may be unknown; nothing where it is not sure then.
std::optional<Range> GetRange(const Layer& slice, unsigned int i, const SizeFacts::Entry& size, unsigned int rank)
{
    if (slice.GetType() == LayerType::Slice)
    {
        const auto& d = slice.Descriptor<SliceDescriptor>();
        if (d.m_ParametersAsInputs || d.m_Begin.size() != rank || d.m_Size.size() != rank)
        {
            return std::nullopt;
        }
        return Range{d.m_Begin[i], int64_t{d.m_Begin[i]} + d.m_Size[i]};
    }
    const auto& d = slice.Descriptor<StridedSliceDescriptor>();
    if (d.m_ParametersAsInputs || d.m_ShrinkAxisMask != 0 || d.m_EllipsisMask != 0 || d.m_NewAxisMask != 0 ||
        d.m_Begin.size() > rank || d.m_End.size() != d.m_Begin.size() || d.m_Stride.size() != d.m_Begin.size() ||
        (i < d.m_Stride.size() && d.m_Stride[i] != 1) || !size.IsKnown())
    {
        return std::nullopt;
    }
    if (i >= d.m_Begin.size())
    {
        return Range{0, size.m_Number};
    }
    TensorShape shape(rank, true);
    shape.SetDimensionSize(i, static_cast<unsigned int>(size.m_Number));
    const int begin = d.GetStartForAxis(shape, i);
    return Range{begin, d.GetStopForAxis(shape, i, begin)};
}

/// Whether a slice takes all of a dimension, of whatever size.
bool TakesAll(const Layer& slice, unsigned int i, const SizeFacts::Entry& size, unsigned int rank)
{
    if (slice.GetType() == LayerType::StridedSlice)
    {
        const auto& d = slice.Descriptor<StridedSliceDescriptor>();
        const auto isSet = [&](int32_t mask) { return ((mask >> i) & 1) != 0; };
        if (i >= d.m_Begin.size() ||
            (i < d.m_Stride.size() && d.m_Stride[i] == 1 && isSet(d.m_BeginMask) && isSet(d.m_EndMask)))
        {
            return true;
        }
    }
    const auto range = size.IsKnown() ? GetRange(slice, i, size, rank) : std::nullopt;
    return range.has_value() && range->m_Begin == 0 && range->m_End == size.m_Number;
}

struct FoundRoll
{
    Layer* m_Concat = nullptr;
    OutputSlot* m_Source = nullptr;
    std::vector<int32_t> m_Shifts;
    std::vector<int32_t> m_Axes;
};

std::optional<FoundRoll> FindRoll(Layer& concat, SizeFacts& facts)
{
    const auto& descriptor = concat.Descriptor<OriginsDescriptor>();
    const Layer* const parts[] = {GetSoleProducer(concat, 0),
                                  concat.NumInputs() == 2 ? GetSoleProducer(concat, 1) : nullptr};
    for (const Layer* part : parts)
    {
        const bool isSlice =
            part != nullptr && (part->GetType() == LayerType::StridedSlice || part->GetType() == LayerType::Slice);
        if (!isSlice || part->NumInputs() != 1 || !IsPlainInput(*part, 0))
        {
            return std::nullopt;
        }
    }
    OutputSlot* const source = parts[0]->Input(0).GetConnectedOutputSlot();
    const SizeFacts::List* const sizes = facts.GetSizes(*source);
    if (source != parts[1]->Input(0).GetConnectedOutputSlot() || sizes == nullptr || descriptor.HasOrigins() ||
        !concat.Output(0).GetTensorInfo().IsTypeSpaceMatch(source->GetTensorInfo()))
    {
        return std::nullopt;
    }
    const auto rank = static_cast<unsigned int>(sizes->size());
    const auto given = static_cast<int32_t>(descriptor.GetConcatAxis());
    const int axis = given < 0 ? given + static_cast<int>(rank) : given;
    if (axis < 0 || axis >= static_cast<int>(rank))
    {
        return std::nullopt;
    }
    const auto along = static_cast<unsigned int>(axis);
    const SizeFacts::Entry& size = (*sizes)[along];
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (i != along && !(TakesAll(*parts[0], i, (*sizes)[i], rank) && TakesAll(*parts[1], i, (*sizes)[i], rank)))
        {
            return std::nullopt;
        }
    }
    const auto behind = GetRange(*parts[0], along, size, rank);
    const auto front = GetRange(*parts[1], along, size, rank);
    if (!size.IsKnown() || !behind.has_value() || !front.has_value() || behind->m_End != size.m_Number ||
        front->m_Begin != 0 || front->m_End != behind->m_Begin || front->m_End <= 0 || front->m_End >= size.m_Number)
    {
        return std::nullopt;
    }
    return FoundRoll{&concat, source, {static_cast<int32_t>(-front->m_End)}, {axis}};
}

OutputSlot* AddList(Graph& graph, const std::vector<int32_t>& values, const std::string& name)
{
    const auto owner = std::make_shared<const std::vector<int32_t>>(values);
    const TensorInfo info(TensorShape({static_cast<unsigned int>(values.size())}), DataType::Signed32, 0.0f, 0, true);
    return &graph.AddConstant(ConstTensor(info, owner->data()), owner, name).Output(0);
}

} // namespace

void FoldRolls(Graph& graph, PassContext& context)
{
    // All are found before the first one is replaced: nothing would be known of a new layer.
    SizeFacts facts(graph);
    std::vector<FoundRoll> rolls;
    for (Layer* concat : graph.TopologicalOrder({LayerType::Concat}))
    {
        if (std::optional<FoundRoll> found = FindRoll(*concat, facts))
        {
            rolls.push_back(std::move(*found));
        }
    }
    std::vector<const Layer*> unused;
    for (size_t i = 0; i < rolls.size(); ++i)
    {
        FoundRoll& roll = rolls[i];
        const auto next =
            std::find_if(rolls.begin() + static_cast<std::ptrdiff_t>(i) + 1, rolls.end(),
                         [&](const FoundRoll& other) { return &other.m_Source->GetOwningLayer() == roll.m_Concat; });
        constexpr unsigned int Slices = 2; // of the next one, which alone read it
        if (next != rolls.end() && roll.m_Concat->Output(0).GetNumConnections() == Slices)
        {
            next->m_Source = roll.m_Source;
            next->m_Shifts.insert(next->m_Shifts.begin(), roll.m_Shifts.begin(), roll.m_Shifts.end());
            next->m_Axes.insert(next->m_Axes.begin(), roll.m_Axes.begin(), roll.m_Axes.end());
            continue;
        }
        const std::string& name = roll.m_Concat->GetNameStr();
        if (Layer* const made =
                ReplacePattern(graph, context, *roll.m_Concat, LayerType::Roll, nullptr,
                               {roll.m_Source, AddList(graph, roll.m_Shifts, name), AddList(graph, roll.m_Axes, name)}))
        {
            unused.push_back(roll.m_Concat);
            for (FoundRoll& other : rolls)
            {
                other.m_Source = &other.m_Source->GetOwningLayer() == roll.m_Concat ? &made->Output(0) : other.m_Source;
            }
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
