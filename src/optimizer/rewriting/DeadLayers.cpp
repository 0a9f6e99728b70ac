// SPDX-License-Identifier: Apache-2.0
// See DeadLayers.hpp.
#include "optimizer/rewriting/DeadLayers.hpp"

#include <algorithm>

namespace tenon
{

namespace
{

/// A layer of more outputs is left to RemoveDeadLayers: it would be looked at again for each of them that goes.
constexpr unsigned int MaxOutputs = 8;

bool IsDead(const Layer& layer)
{
    return layer.GetNumOutputSlots() <= MaxOutputs && !layer.GetSchema().Has(OpFlags::Effect) &&
           std::all_of(layer.Outputs().begin(), layer.Outputs().end(),
                       [](const OutputSlot& output) { return output.GetNumConnections() == 0; });
}

} // namespace

void DeadLayers::CutOffIfDead(Layer& layer)
{
    m_Pending.assign(1, &layer);
    while (!m_Pending.empty())
    {
        Layer& next = *m_Pending.back();
        m_Pending.pop_back();
        m_Dead.resize(m_Graph.Size(), false); // for layers that came since
        if (m_Dead[next.m_Index] || !IsDead(next))
        {
            continue;
        }
        m_Dead[next.m_Index] = true;
        for (InputSlot& input : next.Inputs())
        {
            if (OutputSlot* const source = input.GetConnectedOutputSlot())
            {
                source->Disconnect(input);
                m_Pending.push_back(&source->GetOwningLayer());
            }
        }
    }
}

void DeadLayers::Remove()
{
    m_Graph.RemoveLayers(m_Dead);
    m_Dead.assign(m_Graph.Size(), false);
}

} // namespace tenon
