// SPDX-License-Identifier: Apache-2.0
// Fusion: one way to run several steps of a plan as one, or to save a copy between them. Each fusion is a function over
// a draft whose steps are shaped, in a file of its own; FusionList.cpp lists them in the order in which PlanBuilder
// runs them.
//
// A fusion changes no result: the bytes equal the result of the steps one after the other. The exception is attention,
// whose float sums may be taken in another order (the same order for any number of threads). A fusion asks workloads
// through their FusionHooks and knows no backend. It costs O(steps), and visits a bounded number of steps from each
// step.
#pragma once

#include "runtime/PlanDraft.hpp"

#include <span>
#include <string>
#include <vector>

namespace tenon
{

struct Fusion
{
    FusionKind m_Kind;
    const char* m_Name;
    void (*m_Run)(PlanDraft& draft);
};

/// The fusions in the order in which they run; by FusionKind.
std::span<const Fusion> GetFusions();

/// The bits of PlanOptions::m_DisabledFusions for names of fusions. Throws InvalidArgumentException for an unknown
/// name; the text lists the known ones.
uint32_t GetFusionBits(const std::vector<std::string>& names);

/// Whether the fusion is not disabled.
inline bool IsEnabled(const PlanOptions& options, FusionKind kind)
{
    return (options.m_DisabledFusions >> static_cast<unsigned int>(kind) & 1U) == 0;
}

namespace fusions
{

void FuseAttention(PlanDraft& draft);
void FuseElementwiseChains(PlanDraft& draft);
void TileAcrossLayers(PlanDraft& draft);
void FuseResidualAdds(PlanDraft& draft);
void FindConcatsInPlace(PlanDraft& draft);

/// Makes chains of steps [first, end), none of which is in a fused run.
std::vector<std::unique_ptr<FusedRun>> MakeElementwiseChains(PlanDraft& draft, uint32_t first, uint32_t end);
/// Whether the step is an addition that ResidualAdd will move into the product before it.
bool IsResidualAdd(const PlanDraft& draft, uint32_t step);

} // namespace fusions

} // namespace tenon
