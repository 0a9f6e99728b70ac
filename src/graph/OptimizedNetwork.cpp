// SPDX-License-Identifier: Apache-2.0
// OptimizedNetwork: see OptimizedNetwork.hpp.
#include "graph/OptimizedNetwork.hpp"

#include <algorithm>
#include <iostream>

namespace tenon
{

void IOptimizedNetwork::Destroy(IOptimizedNetwork* network)
{
    delete network;
}

Status OptimizedNetwork::PrintGraph()
{
    tenon::PrintGraph(*m_Graph, std::cout);
    return Status::Success;
}

Status OptimizedNetwork::SerializeToDot(std::ostream& stream) const
{
    WriteDot(*m_Graph, "Optimized", stream);
    return Status::Success;
}

void OptimizedNetwork::SerializeToJson(std::ostream& stream) const
{
    WriteJson(*m_Graph, stream);
}

size_t OptimizedNetwork::CountLayers(LayerType type) const
{
    return m_Graph->Count(type);
}

size_t OptimizedNetwork::GetNumInputs() const
{
    return CountLayers(LayerType::Input);
}

size_t OptimizedNetwork::GetNumOutputs() const
{
    return CountLayers(LayerType::Output);
}

void OptimizedNetwork::ExecuteStrategy(IStrategy& strategy) const
{
    for (const auto& layer : m_Graph->Layers())
    {
        layer->ExecuteStrategy(strategy);
    }
    strategy.FinishStrategy();
}

std::vector<LayerAssignment> OptimizedNetwork::GetAssignment() const
{
    std::vector<LayerAssignment> assignment;
    assignment.reserve(m_Graph->Size());
    for (const auto& layer : m_Graph->Layers())
    {
        LayerAssignment entry;
        entry.m_Guid = layer->GetGuid();
        entry.m_Name = layer->GetNameStr();
        entry.m_Type = layer->GetType();
        if (layer->GetNumOutputSlots() > 0)
        {
            entry.m_DataType = layer->Output(0).GetTensorInfo().GetDataType();
        }
        else if (layer->GetNumInputSlots() > 0)
        {
            entry.m_DataType = layer->Input(0).GetTensorInfo().GetDataType();
        }
        entry.m_Backend = layer->GetBackendId();
        entry.m_Reason = layer->m_AssignmentReason;
        entry.m_FusedActivation = layer->GetFusedActivationText();
        entry.m_Code = layer->m_AssignmentCode;
        entry.m_Subgraph = layer->m_Subgraph;
        assignment.push_back(std::move(entry));
    }
    return assignment;
}

} // namespace tenon
