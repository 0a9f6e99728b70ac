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
    const LayerView view = m_Maker.Make(layer);
    // A blob means nothing to any other backend than its own.
    bool isAssigned = false;
    for (auto next = own == m_Candidates.end() ? m_Candidates.begin() : own + 1;
         next != m_Candidates.end() && !isAssigned && layer.GetType() != LayerType::PreCompiled; ++next)
    {
        isAssigned = TryBackend(layer, view, *next, refusals);
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
