// SPDX-License-Identifier: Apache-2.0
// See FixedShapes.hpp.
#include "optimizer/FixedShapes.hpp"

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

FixedShapes::FixedShapes(const Graph& graph) : FixedShapes(graph.Size())
{
    for (const Layer* layer : graph.TopologicalOrder())
    {
        Add(*layer);
    }
}

void FixedShapes::Add(const Layer& layer)
{
    if (layer.m_Index >= m_Fixed.size())
    {
        return;
    }
    const Span<OutputSlot> outputs = layer.Outputs();
    m_Fixed[layer.m_Index] =
        Follows(layer) && std::all_of(outputs.begin(), outputs.end(),
                                      [](const OutputSlot& output)
                                      { return output.GetTensorInfo().GetShape().AreAllDimensionsSpecified(); });
}

bool FixedShapes::Follows(const Layer& layer) const
{
    if (FindTargetShape(layer) != nullptr)
    {
        return true;
    }
    // States, results of nested networks and custom operators may change from run to run even if all inputs stay.
    if (layer.HasLateOutputs() || layer.GetType() == LayerType::Input || layer.GetType() == LayerType::ReadState ||
        layer.GetSchema().Has(OpFlags::Effect))
    {
        return false;
    }
    const uint32_t values = layer.GetSchema().m_ValueInputs(layer.GetParameters());
    for (const InputSlot& input : layer.Inputs())
    {
        if (input.GetConnectedOutputSlot() == nullptr)
        {
            continue;
        }
        const unsigned int i = input.GetSlotIndex();
        const bool needsValue = i < 32 && ((values >> i) & 1U) != 0;
        if (input.IsTensorInfoOverridden() || !IsFixed(input) || (needsValue && layer.GetConstantInput(i) == nullptr))
        {
            return false;
        }
    }
    return true;
}

bool FixedShapes::IsFixed(const OutputSlot& slot) const
{
    const Layer& layer = slot.GetOwningLayer();
    return layer.GetType() == LayerType::Constant || (layer.m_Index < m_Fixed.size() && m_Fixed[layer.m_Index]);
}

bool FixedShapes::IsFixed(const InputSlot& slot) const
{
    return slot.GetConnectedOutputSlot() != nullptr && IsFixed(*slot.GetConnectedOutputSlot());
}

} // namespace tenon
