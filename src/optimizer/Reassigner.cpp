// SPDX-License-Identifier: Apache-2.0
// Reassigner: see Reassigner.hpp.
#include "optimizer/Reassigner.hpp"

#include <algorithm>

namespace tenon
{

void Reassigner::Move(Layer& layer, const std::string& where, SupportCode code, const std::string& reason)
{
    const BackendId from = layer.GetBackendId();
    Refusals refusals;
    if (layer.m_AssignmentCode != SupportCode::Supported)
    {
        refusals.m_First = layer.m_AssignmentCode;
        refusals.m_Reasons = layer.m_AssignmentReason;
    }
    refusals.Add(from, code, reason);

    const auto own = std::find_if(m_Candidates.begin(), m_Candidates.end(),
                                  [&](const Candidate& candidate) { return candidate.m_Backend->GetId() == from; });
    std::set<std::string>& takenFrom = m_TakenFrom[static_cast<uint64_t>(layer.GetGuid())];
    takenFrom.insert(from.Get());
    ++m_NumMoves;
    const LayerView view = m_Maker.Make(layer);
    // A blob means nothing to any other backend than its own.
    bool isAssigned = false;
    const bool isBlob = layer.GetType() == LayerType::PreCompiled;
    const auto tryAll = [&](auto next, auto end)
    {
        for (; next != end && !isAssigned && !isBlob; ++next)
        {
            const BackendId& id = next->m_Backend->GetId();
            if (m_Closed.count(id.Get()) != 0 && takenFrom.count(id.Get()) == 0)
            {
                refusals.Add(id, SupportCode::PartitionLimit,
                             "its partition limits were held and its subgraphs optimized before");
            }
            else if (takenFrom.count(id.Get()) == 0)
            {
                isAssigned = TryBackend(layer, view, *next, refusals);
            }
        }
    };
    tryAll(own == m_Candidates.end() ? m_Candidates.begin() : own + 1, m_Candidates.end());
    // A hint put the layer where it is: the backends before were never asked.
    const bool wasHinted = layer.GetBackendHint().has_value() && layer.GetBackendHint().value() == from;
    if (wasHinted && own != m_Candidates.end())
    {
        tryAll(m_Candidates.begin(), own);
    }
    if (!isAssigned)
    {
        m_Failures.Add(layer, where, refusals);
        return;
    }
    m_Messages.push_back(DescribeFallback(layer, refusals));
    layer.m_AssignmentCode = refusals.m_First;
    layer.m_AssignmentReason = std::move(refusals.m_Reasons);
}

} // namespace tenon
