// SPDX-License-Identifier: Apache-2.0
// SubgraphRewriter: see SubgraphRewriter.hpp. What is checked is in SubgraphChecks.cpp.
#include "optimizer/subgraphs/SubgraphRewriter.hpp"

#include "optimizer/Pass.hpp"

#include <fmt/format.h>

namespace tenon
{

SubgraphRewriter::SubgraphRewriter(const LocatedGraph& graph, const IBackend& backend, const ModelOptions& options,
                                   const Limits& limits)
    : m_Graph(graph), m_Backend(backend), m_Support(backend.GetLayerSupport(options)), m_Limits(limits),
      m_IsReplaced(graph.m_Graph->Size(), false)
{
}

void SubgraphRewriter::Rewrite(std::vector<SubgraphAnswer> answers, BackendFallback& fallback)
{
    for (const SubgraphAnswer& answer : answers)
    {
        Check(answer);
    }
    for (const Replacement& replacement : m_Replacements)
    {
        Substitute(replacement);
    }
    for (const SubgraphAnswer& answer : answers)
    {
        for (const SubgraphLayers& layers : answer.m_Views.m_DeletedSubgraphs)
        {
            for (const size_t place : layers)
            {
                Delete(answer.m_Subgraph->GetLayer(place));
            }
        }
        const std::string& reason = answer.m_Views.m_FailureReason;
        for (const SubgraphLayers& layers : answer.m_Views.m_FailedSubgraphs)
        {
            for (const size_t place : layers)
            {
                fallback.Move(answer.m_Subgraph->GetLayer(place), m_Graph.m_Where, SupportCode::OptimizationFailed,
                              reason.empty() ? "its subgraph optimization failed" : reason);
            }
        }
    }
    if (!m_Substituted.empty())
    {
        RemoveReplaced();
    }
}

void SubgraphRewriter::Substitute(const Replacement& replacement)
{
    const Substitution& substitution = *replacement.m_Substitution;
    const SubgraphViewMaker& subgraph = *replacement.m_Subgraph;
    std::unordered_map<const OutputSlot*, OutputSlot*> madeFrom;
    const LayerOrder order = replacement.m_Graph->TopologicalOrder();
    for (const Layer* layer : order)
    {
        if (layer->GetType() == LayerType::Output)
        {
            continue;
        }
        if (layer->GetType() == LayerType::Input)
        {
            const auto id = static_cast<size_t>(layer->GetBindingId());
            madeFrom.emplace(&layer->Output(0), &Resolve(subgraph.GetSlot(substitution.m_Inputs[id])));
            continue;
        }
        Layer& made = m_Graph.m_Graph->AddCopy(*layer);
        made.SetBackendId(m_Backend.GetId());
        made.SetAssignmentReason(layer->GetConstant() != nullptr
                                     ? "bound by the runtime"
                                     : fmt::format("made by {}'s subgraph optimization", m_Backend.GetId().Get()));
        for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
        {
            madeFrom.emplace(&layer->Output(i), &made.Output(i));
        }
        for (const InputSlot& input : layer->Inputs())
        {
            if (const OutputSlot* source = input.GetConnectedOutputSlot())
            {
                InputSlot& target = made.Input(input.GetSlotIndex());
                madeFrom.at(source)->Connect(target);
                if (input.IsTensorInfoOverridden())
                {
                    target.SetTensorInfo(input.GetTensorInfo());
                }
            }
        }
    }
    for (const size_t place : substitution.m_Layers)
    {
        m_IsReplaced[subgraph.GetLayer(place).m_Index] = true;
    }
    const Layer& named = subgraph.GetLayer(substitution.m_Layers.front());
    for (const Layer* layer : order)
    {
        if (layer->GetType() == LayerType::Output)
        {
            OutputSlot& old = subgraph.GetSlot(substitution.m_Outputs[static_cast<size_t>(layer->GetBindingId())]);
            // A tensor that the replacement passes through may have gone to another one since.
            MoveTensor(old, Resolve(*madeFrom.at(layer->Input(0).GetConnectedOutputSlot())), named);
        }
    }
}

void SubgraphRewriter::Delete(Layer& layer)
{
    m_IsReplaced[layer.m_Index] = true;
    for (InputSlot& input : layer.Inputs())
    {
        if (input.GetConnectedOutputSlot() != nullptr)
        {
            MoveTensor(layer.Output(0), *input.GetConnectedOutputSlot(), layer);
        }
    }
}

void SubgraphRewriter::MoveTensor(OutputSlot& from, OutputSlot& to, const Layer& named)
{
    if (&from == &to)
    {
        Refuse(named, "what it gives would depend on itself: a cycle");
    }
    from.MoveAllConnections(to);
    m_Substituted.emplace(&from, &to);
}

OutputSlot& SubgraphRewriter::Resolve(OutputSlot& slot) const
{
    OutputSlot* resolved = &slot;
    for (auto moved = m_Substituted.find(resolved); moved != m_Substituted.end(); moved = m_Substituted.find(resolved))
    {
        resolved = moved->second;
    }
    return *resolved;
}

void SubgraphRewriter::RemoveReplaced()
{
    Graph& graph = *m_Graph.m_Graph;
    graph.RemoveLayers(m_IsReplaced);
    try
    {
        graph.TopologicalOrder();
    }
    catch (const GraphValidationException& error)
    {
        throw BackendCapabilityException(fmt::format("{}the substitutions of backend {} do not fit together: {}",
                                                     m_Graph.m_Where, m_Backend.GetId().Get(), error.what()));
    }
    passes::RemoveDeadLayers(graph); // constants, and what only replaced layers read
}

void SubgraphRewriter::Refuse(const Layer& layer, const std::string& text) const
{
    throw BackendCapabilityException(fmt::format("backend {}, which optimized the subgraph of {}{}: {}",
                                                 m_Backend.GetId().Get(), m_Graph.m_Where, layer.Describe(), text));
}

} // namespace tenon
