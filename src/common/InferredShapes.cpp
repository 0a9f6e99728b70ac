// SPDX-License-Identifier: Apache-2.0
// See InferredShapes.hpp.
#include "common/InferredShapes.hpp"

#include <exception>

namespace tenon
{

namespace
{

bool SaysAll(const IOutputSlot& slot)
{
    return slot.IsTensorInfoSet() && slot.GetTensorInfo().GetShape().AreAllDimensionsSpecified();
}

} // namespace

TensorShape InferredShapes::Known(const IOutputSlot& slot) const
{
    if (SaysAll(slot))
    {
        return slot.GetTensorInfo().GetShape();
    }
    const auto found = m_Settled.find(&slot.GetOwningIConnectableLayer());
    const unsigned int index = slot.CalculateIndexOnOwner();
    return found != m_Settled.end() && index < found->second.size() ? found->second[index] : TensorShape();
}

const IConnectableLayer* InferredShapes::FindOpenProducer(Visit& visit) const
{
    while (visit.m_NextInput < visit.m_Layer->GetNumInputSlots())
    {
        const IOutputSlot* const source = visit.m_Layer->GetInputSlot(visit.m_NextInput++).GetConnection();
        if (source != nullptr && !SaysAll(*source) && m_Settled.count(&source->GetOwningIConnectableLayer()) == 0)
        {
            return &source->GetOwningIConnectableLayer();
        }
    }
    return nullptr;
}

void InferredShapes::Settle(const IConnectableLayer& layer)
{
    std::vector<TensorShape> inputs;
    for (unsigned int i = 0; i < layer.GetNumInputSlots(); ++i)
    {
        const IInputSlot& input = layer.GetInputSlot(i);
        const IOutputSlot* const source = input.GetConnection();
        if (source == nullptr)
        {
            break; // only leading inputs have shapes to give
        }
        const bool isOverridden =
            input.IsTensorInfoOverridden() && input.GetTensorInfo().GetShape().AreAllDimensionsSpecified();
        inputs.push_back(isOverridden ? input.GetTensorInfo().GetShape() : Known(*source));
    }
    try
    {
        m_Settled[&layer] = layer.InferOutputShapes(inputs);
    }
    catch (const std::exception&) // operators of the application may throw any
    {
        m_Settled[&layer] = {}; // Optimize() tells why they do not fit
    }
}

TensorShape InferredShapes::Get(const IOutputSlot& slot)
{
    if (!SaysAll(slot) && m_Settled.count(&slot.GetOwningIConnectableLayer()) == 0)
    {
        // A stack of its own: networks may be deeper than the thread's. A layer that is on it counts as settled.
        std::vector<Visit> open;
        const auto push = [&](const IConnectableLayer& layer)
        {
            m_Settled[&layer] = {};
            open.push_back({&layer, 0});
        };
        push(slot.GetOwningIConnectableLayer());
        while (!open.empty())
        {
            const IConnectableLayer* const producer = FindOpenProducer(open.back());
            if (producer != nullptr)
            {
                push(*producer);
                continue;
            }
            Settle(*open.back().m_Layer);
            open.pop_back();
        }
    }
    return Known(slot);
}

} // namespace tenon
