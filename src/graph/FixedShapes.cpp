// SPDX-License-Identifier: Apache-2.0
// See FixedShapes.hpp.
#include "graph/FixedShapes.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Expansion.hpp>

#include <algorithm>

namespace tenon
{

const TensorShape* FindTargetShape(const Layer& layer)
{
    const TensorShape* target = nullptr;
    if (layer.GetType() == LayerType::Reshape && !layer.Descriptor<ReshapeDescriptor>().m_ParametersAsInputs)
    {
        target = &layer.Descriptor<ReshapeDescriptor>().m_TargetShape;
    }
    else if (layer.GetType() == LayerType::BroadcastTo &&
             !layer.Descriptor<BroadcastToDescriptor>().m_ParametersAsInputs)
    {
        target = &layer.Descriptor<BroadcastToDescriptor>().m_BroadcastToShape;
    }
    return target != nullptr && target->AreAllDimensionsSpecified() ? target : nullptr;
}

bool HasFixedSizes(const Layer& layer)
{
    return layer.GetType() == LayerType::Input && !layer.GetParameters().IsNull();
}

namespace
{

/// States, results of nested networks and custom operators may change from run to run even if all inputs stay.
bool IsFree(const Layer& layer)
{
    return layer.HasDataDependentShapes() || layer.GetType() == LayerType::Input ||
           layer.GetType() == LayerType::ReadState || layer.GetSchema().Has(OpFlags::Effect);
}

bool HasKnownOutputs(const Layer& layer)
{
    return std::all_of(layer.Outputs().begin(), layer.Outputs().end(),
                       [](const OutputSlot& output)
                       { return output.GetTensorInfo().GetShape().AreAllDimensionsSpecified(); });
}

} // namespace

void FixedShapes::Add(const Layer& layer)
{
    if (layer.m_Index < m_States.size())
    {
        Visit visit{&layer, 0};
        Settle(visit);
    }
}

FixedShapes::State FixedShapes::StateOf(const Layer& layer) const
{
    if (layer.GetType() == LayerType::Constant)
    {
        return State::Fixed;
    }
    return layer.m_Index < m_States.size() ? m_States[layer.m_Index] : State::Open;
}

const Layer* FixedShapes::Settle(Visit& visit) const
{
    const Layer& layer = *visit.m_Layer;
    State& state = m_States[layer.m_Index];
    state = State::Open;
    if (!HasKnownOutputs(layer))
    {
        return nullptr;
    }
    if (FindTargetShape(layer) != nullptr || HasFixedSizes(layer))
    {
        state = State::Fixed;
        return nullptr;
    }
    if (IsFree(layer))
    {
        return nullptr;
    }
    const uint32_t values = layer.GetSchema().m_ValueInputs(layer.GetParameters());
    for (; visit.m_NextInput < layer.NumInputs(); ++visit.m_NextInput)
    {
        const unsigned int i = visit.m_NextInput;
        const InputSlot& input = layer.Input(i);
        const Layer* const producer = input.GetProducer();
        if (producer == nullptr)
        {
            if (layer.NeedsInput(i))
            {
                return nullptr;
            }
            continue;
        }
        const bool needsValue = i < 32 && ((values >> i) & 1U) != 0;
        if (input.IsTensorInfoOverridden() || (needsValue && layer.GetConstantInput(i) == nullptr))
        {
            return nullptr;
        }
        const State given = StateOf(*producer);
        if (given != State::Fixed)
        {
            return given == State::Unknown ? producer : nullptr;
        }
    }
    state = State::Fixed;
    return nullptr;
}

bool FixedShapes::IsFixed(const OutputSlot& slot) const
{
    const Layer& layer = slot.GetOwningLayer();
    const State known = StateOf(layer);
    if (known != State::Unknown)
    {
        return known == State::Fixed;
    }
    std::vector<Visit> visits{{&layer, 0}}; // a stack of its own: networks may be deeper than the thread's
    while (!visits.empty())
    {
        if (const Layer* const producer = Settle(visits.back()))
        {
            visits.push_back({producer, 0});
        }
        else
        {
            visits.pop_back();
        }
    }
    return StateOf(layer) == State::Fixed;
}

bool FixedShapes::IsFixed(const InputSlot& slot) const
{
    return slot.GetConnectedOutputSlot() != nullptr && IsFixed(*slot.GetConnectedOutputSlot());
}

} // namespace tenon
