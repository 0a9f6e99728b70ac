// SPDX-License-Identifier: Apache-2.0
// BackendFallback: see BackendFallback.hpp.
#include "optimizer/subgraphs/BackendFallback.hpp"

#include "optimizer/widths/FitFloatWidths.hpp"

#include <algorithm>

namespace tenon
{

/// Calls tryOne(candidate) for the backends that the layer may come to, in order, until one takes it.
template <typename Try>
bool BackendFallback::TryAll(const Layer& layer, const BackendId& from, Refusals& refusals, Try tryOne)
{
    const std::set<std::string>& takenFrom = m_TakenFrom[static_cast<uint64_t>(layer.GetGuid())];
    const auto tryRange = [&](auto next, auto end)
    {
        return std::any_of(next, end,
                           [&](const Candidate& candidate)
                           {
                               const BackendId& id = candidate.m_Backend->GetId();
                               if (takenFrom.count(id.Get()) != 0)
                               {
                                   return false;
                               }
                               if (m_Closed.count(id.Get()) != 0)
                               {
                                   refusals.Add(id, SupportCode::PartitionLimit,
                                                "its partition limits were held and its subgraphs optimized before");
                                   return false;
                               }
                               return tryOne(candidate);
                           });
    };
    const auto own = std::find_if(m_Candidates.begin(), m_Candidates.end(),
                                  [&](const Candidate& candidate) { return candidate.m_Backend->GetId() == from; });
    if (tryRange(own == m_Candidates.end() ? m_Candidates.begin() : own + 1, m_Candidates.end()))
    {
        return true;
    }
    // A hint put the layer where it is: the backends before were never asked.
    const bool wasHinted = layer.GetBackendHint().has_value() && layer.GetBackendHint().value() == from;
    return wasHinted && own != m_Candidates.end() && tryRange(m_Candidates.begin(), own);
}

void BackendFallback::Move(Layer& layer, const std::string& where, SupportCode code, const std::string& reason)
{
    const BackendId from = layer.GetBackendId();
    Refusals refusals;
    if (layer.m_AssignmentCode != SupportCode::Supported)
    {
        refusals.m_First = layer.m_AssignmentCode;
        refusals.m_Reasons = layer.GetAssignmentReason();
    }
    refusals.Add(from, code, reason);
    m_TakenFrom[static_cast<uint64_t>(layer.GetGuid())].insert(from.Get());
    ++m_NumMoves;

    const LayerView view = m_Maker.Make(layer);
    // A blob means nothing to any other backend than its own.
    const bool isBlob = layer.GetType() == LayerType::PreCompiled;
    bool isAssigned =
        !isBlob && TryAll(layer, from, refusals,
                          [&](const Candidate& candidate) { return TryBackend(layer, view, candidate, refusals); });
    if (!isAssigned && !isBlob)
    {
        Refusals wideRefusals;
        isAssigned = TryAll(layer, from, wideRefusals,
                            [&](const Candidate& candidate)
                            {
                                if (!TakesInFloat32(candidate, layer, wideRefusals))
                                {
                                    return false;
                                }
                                layer.SetBackendId(candidate.m_Backend->GetId());
                                m_ToWiden.insert(&layer);
                                return true;
                            });
    }
    if (!isAssigned)
    {
        m_Failures.Add(layer, where, refusals);
        return;
    }
    m_Messages.push_back(DescribeFallback(layer, refusals));
    layer.m_AssignmentCode = refusals.m_First;
    layer.SetAssignmentReason(refusals.m_Reasons);
}

void BackendFallback::WidenMoved(const LocatedGraph& graph)
{
    std::set<const Layer*> layers;
    for (const auto& layer : graph.m_Graph->Layers())
    {
        if (m_ToWiden.erase(layer.get()) != 0)
        {
            layers.insert(layer.get());
        }
    }
    if (layers.empty())
    {
        return;
    }
    WidenLayers(*graph.m_Graph, layers, m_Messages);
    for (const auto& layer : graph.m_Graph->Layers())
    {
        if (IsBoundByRuntime(layer->GetType()) || IsRunByRuntime(layer->GetType()) ||
            !layer->GetBackendId().IsUndefined())
        {
            continue;
        }
        const LayerView view = m_Maker.Make(*layer);
        Refusals refusals;
        const bool isAssigned =
            TryAll(*layer, layer->GetBackendId(), refusals,
                   [&](const Candidate& candidate) { return TryBackend(*layer, view, candidate, refusals); });
        if (!isAssigned)
        {
            m_Failures.Add(*layer, graph.m_Where, refusals);
        }
        layer->SetAssignmentReason(refusals.IsEmpty() ? "preferred" : refusals.m_Reasons);
        layer->m_AssignmentCode = refusals.m_First;
    }
}

} // namespace tenon
