// SPDX-License-Identifier: Apache-2.0
// Pass BakeComputedParameters: integers that models compute from sizes become constants where they are the same in
// every run (SizeFacts.hpp). Of the target shape of a Reshape one may stay open: it is the size that the Reshape
// computes by itself. Exporters write a Reshape of an open batch so, as a chain of Shape, Gather and Concat.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"
#include "optimizer/rewriting/SizeFacts.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace tenon::passes
{

namespace
{

/// The numbers as an integer tensor like that of `slot`.
OutputSlot& AddIntegers(Graph& graph, const OutputSlot& slot, const SizeFacts::List& sizes,
                        const SizeFacts::List& values)
{
    TensorInfo info = slot.GetTensorInfo();
    const auto count = static_cast<unsigned int>(values.size());
    info.SetShape(sizes.empty() ? TensorShape(Dimensionality::Scalar) : TensorShape({count}));
    info.SetConstant(true);
    const size_t bytes = info.GetDataType() == DataType::Signed64   ? 8
                         : info.GetDataType() == DataType::Signed32 ? 4
                                                                    : 1;
    const auto memory = std::make_shared<std::vector<int64_t>>(values.size());
    auto* const first = reinterpret_cast<unsigned char*>(memory->data());
    for (size_t i = 0; i < values.size(); ++i)
    {
        const int64_t wide = values[i].m_Number;
        const auto narrow = static_cast<int32_t>(wide);
        const auto byte = static_cast<uint8_t>(wide);
        const void* const from = bytes == 8   ? static_cast<const void*>(&wide)
                                 : bytes == 4 ? static_cast<const void*>(&narrow)
                                              : &byte;
        std::copy_n(static_cast<const unsigned char*>(from), bytes, first + i * bytes);
    }
    return graph.AddConstant(ConstTensor(info, memory->data()), memory, slot.GetOwningLayer().GetNameStr()).Output(0);
}

bool IsOfInts(const OutputSlot& slot)
{
    const DataType type = slot.GetTensorInfo().GetDataType();
    return type == DataType::Signed32 || type == DataType::Signed64 || type == DataType::Boolean;
}

/// The target of a Reshape with one size left open, or null where more are.
OutputSlot* FindTarget(Graph& graph, const Layer& reshape, SizeFacts& facts)
{
    OutputSlot& slot = *reshape.Input(1).GetConnectedOutputSlot();
    const SizeFacts::List* const values = facts.GetValues(slot);
    const SizeFacts::List* const sizes = facts.GetSizes(slot);
    if (values == nullptr || sizes == nullptr || sizes->size() != 1 || !IsOfInts(slot))
    {
        return nullptr;
    }
    SizeFacts::List target = *values;
    size_t numOpen = 0;
    for (SizeFacts::Entry& size : target)
    {
        // With sizes of 0 any other size would do.
        if (size.IsKnown() && size.m_Number <= 0 && !size.Is(-1))
        {
            return nullptr;
        }
        numOpen += size.IsKnown() && !size.Is(-1) ? 0 : 1;
        size = size.IsKnown() ? size : SizeFacts::Entry{-1, 0};
    }
    return numOpen == 1 ? &AddIntegers(graph, slot, *sizes, target) : nullptr;
}

} // namespace

void BakeComputedParameters(Graph& graph)
{
    SizeFacts facts(graph);
    const LayerOrder order = graph.TopologicalOrder();
    for (Layer* layer : order)
    {
        if (layer->GetType() == LayerType::Reshape && layer->Descriptor<ReshapeDescriptor>().m_ParametersAsInputs &&
            IsPlainInput(*layer, 1) && layer->GetConstantInput(1) == nullptr)
        {
            if (OutputSlot* const target = FindTarget(graph, *layer, facts))
            {
                Rewire(layer->Input(1), *target);
            }
        }
        if (layer->GetType() == LayerType::Constant || layer->GetType() == LayerType::Input ||
            layer->GetNumOutputSlots() != 1 || !IsOfInts(layer->Output(0)) || layer->Output(0).GetNumConnections() == 0)
        {
            continue;
        }
        OutputSlot& slot = layer->Output(0);
        const SizeFacts::List* const values = facts.GetValues(slot);
        const SizeFacts::List* const sizes = facts.GetSizes(slot);
        if (values != nullptr && sizes != nullptr && sizes->size() <= 1 &&
            std::all_of(values->begin(), values->end(), [](const SizeFacts::Entry& value) { return value.IsKnown(); }))
        {
            slot.MoveAllConnections(AddIntegers(graph, slot, *sizes, *values));
        }
    }
}

} // namespace tenon::passes
