// SPDX-License-Identifier: Apache-2.0
// OptimizedNetwork: see OptimizedNetwork.hpp.
#include "graph/OptimizedNetwork.hpp"

#include <array>
#include <iostream>

namespace tenon
{

namespace
{

LayerAssignment MakeAssignment(const Layer& layer, const std::string& network)
{
    LayerAssignment entry;
    entry.m_Guid = layer.GetGuid();
    entry.m_Network = network;
    entry.m_Name = layer.GetNameStr();
    entry.m_Type = layer.GetType();
    if (layer.GetNumOutputSlots() > 0)
    {
        entry.m_DataType = layer.Output(0).GetTensorInfo().GetDataType();
    }
    else if (layer.NumInputs() > 0)
    {
        entry.m_DataType = layer.Input(0).GetTensorInfo().GetDataType();
    }
    entry.m_Backend = layer.GetBackendId();
    entry.m_Reason = layer.GetAssignmentReason();
    entry.m_FusedActivation = layer.GetFusedActivationText();
    entry.m_Code = layer.m_AssignmentCode;
    entry.m_Subgraph = layer.m_Subgraph;
    return entry;
}

/// The path of body `i` of a layer in the network at `network`: see LayerAssignment::m_Network.
std::string MakeBodyPath(const Layer& layer, size_t i, const std::string& network)
{
    constexpr std::array<const char*, 2> branches = {"then", "else"};
    constexpr std::array<const char*, 2> loop = {"condition", "body"};
    std::string path = network.empty() ? "" : network + "/";
    path += layer.GetNameStr().empty() ? GetLayerTypeAsCString(layer.GetType()) : layer.GetNameStr();
    return path + "/" + (layer.GetType() == LayerType::If ? branches : loop).at(i);
}

void AppendAssignment(const Graph& graph, const std::string& network, std::vector<LayerAssignment>& assignment)
{
    for (const auto& layer : graph.Layers())
    {
        assignment.push_back(MakeAssignment(*layer, network));
    }
    for (size_t i = 0; i < graph.Size() && graph.HasBodies(); ++i)
    {
        const Layer& layer = *graph.Layers()[i];
        for (size_t body = 0; body < layer.Bodies().size(); ++body)
        {
            AppendAssignment(*layer.Bodies()[body], MakeBodyPath(layer, body, network), assignment);
        }
    }
}

} // namespace

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
        if (!layer->IsConstantOfReaders())
        {
            layer->ExecuteStrategy(strategy);
        }
    }
    strategy.FinishStrategy();
}

std::vector<LayerAssignment> OptimizedNetwork::GetAssignment() const
{
    std::vector<LayerAssignment> assignment;
    assignment.reserve(m_Graph->Size());
    AppendAssignment(*m_Graph, "", assignment);
    return assignment;
}

} // namespace tenon
