// SPDX-License-Identifier: Apache-2.0
// Rows of layers that join tensors or take parts of them.
#include "parsers/armnn/operators/Rows.hpp"

#include <fmt/format.h>

namespace tenon::arm_nn
{

namespace
{

/// The numbers of a list of lists, view by view. Throws ParseException if their count is not numViews * numDimensions.
std::vector<uint32_t> ReadViews(const LayerView& op, const char* field)
{
    const uint64_t wanted = uint64_t{op.Number("numViews")} * op.Number("numDimensions");
    std::vector<uint32_t> numbers = op.Numbers(field);
    if (numbers.size() != wanted)
    {
        op.Fail(fmt::format("field {} has {} numbers, but numViews and numDimensions ask for {}", field, numbers.size(),
                            wanted));
    }
    return numbers;
}

/// Calls set(view, coordinate, number) with each number of the field.
template <typename Set>
void ForEachView(const LayerView& op, const char* field, Set set)
{
    const std::vector<uint32_t> numbers = ReadViews(op, field);
    const uint32_t numDimensions = op.Number("numDimensions");
    for (uint32_t i = 0; i < numbers.size(); ++i)
    {
        set(i / numDimensions, i % numDimensions, numbers[i]);
    }
}

/// The origins of the views, of an OriginsDescriptor or ViewsDescriptor.
template <typename Descriptor>
Descriptor ReadOrigins(const LayerView& op)
{
    Descriptor descriptor(op.Number("numViews"), op.Number("numDimensions"));
    ForEachView(op, "viewOrigins",
                [&](uint32_t view, uint32_t coordinate, uint32_t number)
                { descriptor.SetViewOriginCoord(view, coordinate, number); });
    return descriptor;
}

IConnectableLayer* AddConcat(const LayerView& op, NetworkBuilder& network)
{
    op.CheckNumInputs("numViews", op.Number("numViews"));
    auto descriptor = ReadOrigins<OriginsDescriptor>(op);
    descriptor.SetConcatAxis(op.Number("concatAxis"));
    return network->AddConcatLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddSplitter(const LayerView& op, NetworkBuilder& network)
{
    op.CheckNumOutputs("numViews", op.Number("numViews"));
    auto descriptor = ReadOrigins<ViewsDescriptor>(op);
    ForEachView(op, "viewSizes",
                [&](uint32_t view, uint32_t coordinate, uint32_t number)
                { descriptor.SetViewSize(view, coordinate, number); });
    if (op.Bool("hasAxis", false))
    {
        descriptor.SetAxis(op.Int("axis", 0));
    }
    return network->AddSplitterLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddStack(const LayerView& op, NetworkBuilder& network)
{
    op.CheckNumInputs("numInputs", op.Number("numInputs"));
    const StackDescriptor descriptor(op.Number("axis"), op.Number("numInputs"), ToShape(op.Numbers("inputShape")));
    return network->AddStackLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddSlice(const LayerView& op, NetworkBuilder& network)
{
    return network->AddSliceLayer(SliceDescriptor(op.Numbers("begin"), op.Numbers("size")), op.LayerName());
}

IConnectableLayer* AddStridedSlice(const LayerView& op, NetworkBuilder& network)
{
    StridedSliceDescriptor descriptor(op.Ints("begin"), op.Ints("end"), op.Ints("stride"));
    descriptor.m_BeginMask = op.Int("beginMask", 0);
    descriptor.m_EndMask = op.Int("endMask", 0);
    descriptor.m_ShrinkAxisMask = op.Int("shrinkAxisMask", 0);
    descriptor.m_EllipsisMask = op.Int("ellipsisMask", 0);
    descriptor.m_NewAxisMask = op.Int("newAxisMask", 0);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NHWC);
    return network->AddStridedSliceLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddGather(const LayerView& op, NetworkBuilder& network)
{
    // Old files have no descriptor; their axis is 0.
    const int32_t axis = op.HasOptions() ? op.Int("axis", 0) : 0;
    return network->AddGatherLayer(GatherDescriptor(axis), op.LayerName());
}

constexpr LayerRow SlicingRows[] = {
    {"Concat", AddConcat},
    {"Gather", AddGather},
    {"GatherNd", AddPlain<&INetwork::AddGatherNdLayer>},
    {"Merger", AddConcat}, // the name of Concat in old files
    {"Slice", AddSlice},
    {"Splitter", AddSplitter},
    {"Stack", AddStack},
    {"StridedSlice", AddStridedSlice},
};

} // namespace

Span<const LayerRow> GetSlicingRows()
{
    return {SlicingRows, std::size(SlicingRows)};
}

} // namespace tenon::arm_nn
