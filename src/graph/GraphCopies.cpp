// SPDX-License-Identifier: Apache-2.0
// Copies of a Graph and of its layers, and the Graph that is moved into less memory.
#include "graph/Graph.hpp"
#include "graph/GraphValidator.hpp"

namespace tenon
{

Layer& Graph::AddCopy(const Layer& layer)
{
    Layer& made = Emplace(layer.m_Type, layer.m_Descriptor, m_Names.Keep(layer.GetNameStr()), layer.m_Guid);
    CopyTo(made, layer);
    return made;
}

void Graph::CopyTo(Layer& made, const Layer& layer)
{
    made.SetBindingId(layer.GetBindingId());
    if (layer.m_Rare != nullptr)
    {
        Layer::Rare& rare = made.EditRare();
        rare.m_Constant = layer.m_Rare->m_Constant;
        rare.m_Blob = layer.m_Rare->m_Blob;
        rare.m_Hint = layer.m_Rare->m_Hint;
        if (layer.m_Rare->m_FusedActivation != nullptr)
        {
            made.SetFusedActivation(*layer.m_Rare->m_FusedActivation);
        }
        for (const auto& body : layer.m_Rare->m_Bodies)
        {
            made.AddBody(body->Clone());
        }
    }
    made.SetBackendId(layer.GetBackendId());
    made.m_FirstOwnConstant = layer.m_FirstOwnConstant;
    for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
    {
        if (layer.Output(i).IsTensorInfoSet())
        {
            made.Output(i).SetTensorInfo(layer.Output(i).GetTensorInfo());
        }
    }
}

/// Connects the inputs of a copy, by index, to the copies of the layers that feed the original, at the same place among
/// readers.
void Graph::ConnectLike(const Layer& original)
{
    Layer& copy = *m_Layers[original.m_Index];
    for (const InputSlot& input : original.Inputs())
    {
        const OutputSlot* const source = input.GetConnectedOutputSlot();
        if (source == nullptr)
        {
            continue;
        }
        InputSlot& target = copy.Input(input.GetSlotIndex());
        OutputSlot& output = m_Layers[source->GetOwningLayer().m_Index]->Output(source->CalculateIndexOnOwner());
        output.Reserve(source->GetNumConnections());
        NoteReaders(output.m_NumConnections, source->GetNumConnections());
        output.m_NumConnections = source->GetNumConnections();
        output.Connections()[input.m_Place] = &target;
        target.m_Connection = &output;
        target.m_Place = input.m_Place;
        if (input.IsTensorInfoOverridden())
        {
            target.SetTensorInfo(input.GetTensorInfo());
        }
    }
}

template <typename Fill>
std::unique_ptr<Graph> Graph::Copy(Fill fill) const
{
    auto copy = std::make_unique<Graph>();
    copy->m_Layers.reserve(m_Layers.size());
    copy->m_Types.reserve(m_Layers.size());
    copy->m_Names.Share(m_Names);
    for (const auto& layer : FetchingWalk<LayerPtr, FetchWhole>{Layers()})
    {
        fill(copy->Emplace(layer->m_Type, layer->m_Descriptor, *layer->m_Name, layer->m_Guid), *layer);
        if (m_IsInOrder) // what feeds it is copied already, and all is at hand
        {
            copy->ConnectLike(*layer);
        }
    }
    for (size_t i = 0; i < m_Layers.size() && !m_IsInOrder; ++i)
    {
        copy->ConnectLike(*m_Layers[i]);
    }
    copy->m_IsInOrder = m_IsInOrder;
    return copy;
}

std::unique_ptr<Graph> Graph::Clone() const
{
    return Copy(&Graph::CopyTo);
}

std::unique_ptr<Graph> Graph::CloneValid() const
{
    GraphValidator validator;
    auto copy = Copy(
        [&](Layer& made, const Layer& layer)
        {
            validator.Visit(layer);
            CopyTo(made, layer);
        });
    validator.Finish(*this);
    return copy;
}

void Graph::MoveTo(Layer& made, Layer& layer)
{
    made.m_AssignmentReason = &made.m_Graph->Keep(*layer.m_AssignmentReason);
    made.m_BindingId = layer.m_BindingId;
    made.m_AssignmentCode = layer.m_AssignmentCode;
    made.m_FirstOwnConstant = layer.m_FirstOwnConstant;
    made.m_Subgraph = layer.m_Subgraph;
    made.SetBackendId(layer.GetBackendId());
    made.m_Rare = std::move(layer.m_Rare);
    for (unsigned int i = 0; i < made.m_NumOutputs; ++i)
    {
        made.Output(i).m_Info = std::move(layer.Output(i).m_Info);
        made.Output(i).m_InfoSet = layer.Output(i).m_InfoSet;
    }
}

std::unique_ptr<Graph> Graph::Compact()
{
    auto compact = Copy(&Graph::MoveTo);
    m_Layers.clear();
    m_Types.clear();
    return compact;
}

} // namespace tenon
