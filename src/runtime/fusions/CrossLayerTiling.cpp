// SPDX-License-Identifier: Apache-2.0
// CrossLayerTiling: runs layers tile by tile, all of them for one tile and then for the next, so that the tensors
// between them stay in a cache ("depth-first" or "fused-layer" execution: Alwani et al., Fused-Layer CNN Accelerators,
// 2016). Tiles are indices of leading dimensions; there is no overlap between them. See FusedRun.hpp for a drawing.
#include "runtime/fusions/Fusion.hpp"
#include "runtime/fusions/Tiling.hpp"

#include <algorithm>
#include <utility>

namespace tenon::fusions
{

namespace
{

/// Of a step's output: smaller tensors stay in a cache anyway.
constexpr size_t MinTensorBytes = size_t{512} << 10;
/// Of all tensors between the steps: fewer gain nothing.
constexpr size_t MinInnerBytes = size_t{2} << 20;
/// Of the tensors between the steps, in one tile: it may fill a third-level cache, which gains, too.
constexpr size_t MaxTileBytes = size_t{4} << 20;
/// Of the largest tensor between the steps, in one tile: a call then takes no time that matters.
constexpr size_t MinTileBytes = size_t{32} << 10;
/// Of a run: one more would gain little, and looking for it takes long in networks of many large layers.
constexpr size_t MaxSteps = 32;

WhyNot CheckInnerTensors(const PlanDraft& draft, const FusedRun& run)
{
    size_t bytes = 0;
    size_t largest = 0;
    for (size_t i = 0; i < run.m_Steps.size(); ++i)
    {
        const Step& step = draft.GetStep(run.m_First + static_cast<uint32_t>(i));
        const size_t tileBytes = run.m_Steps[i].m_Output.m_Bytes;
        // Layers that work in place add nothing.
        if (run.m_Steps[i].m_Workload != nullptr && draft.GetValue(step.m_FirstOutput).m_LastUse <= run.Last() &&
            (i == 0 || !GetSchema(step.m_Type).Has(OpFlags::InPlace)))
        {
            bytes += tileBytes;
            largest = std::max(largest, tileBytes);
        }
    }
    return bytes * run.m_Tiles < MinInnerBytes ? "the tensors between its layers are small enough for a cache"
           : bytes > MaxTileBytes   ? "the tensors between its layers are too large for a cache, even in one tile"
           : largest < MinTileBytes ? "its tiles are too small for what a call takes"
                                    : nullptr;
}

/// The longest run from a step on that pays; null where there is none, with the reason.
std::unique_ptr<FusedRun> FindRun(const PlanDraft& draft, uint32_t first, WhyNot& whyNot)
{
    std::unique_ptr<FusedRun> best;
    whyNot = "no layer after it can be tiled like it";
    const TensorInfo& info = draft.OutputOf(first);
    const TensorShape& shape = info.GetShape();
    size_t tiles = 1;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        tiles *= shape[i];
        if (tiles > 1 && shape[i] > 1 && info.GetNumBytes() / tiles >= MinTileBytes / 4)
        {
            auto run = CutRun(draft, first, tiles, MaxSteps);
            if (run->m_Steps.size() <= 1 || (best != nullptr && run->m_Steps.size() <= best->m_Steps.size()))
            {
                continue;
            }
            const WhyNot refusal = CheckInnerTensors(draft, *run);
            if (refusal == nullptr)
            {
                best = std::move(run);
            }
            else if (best == nullptr)
            {
                whyNot = refusal;
            }
        }
    }
    whyNot = best != nullptr ? nullptr : whyNot;
    return best;
}

/// Whether a step of the run is in an attention.
bool MeetsAttention(const PlanDraft& draft, const FusedRun& run)
{
    for (uint32_t s = run.m_First; s <= run.Last(); ++s)
    {
        const FusedRun* const other = draft.FindRun(s);
        if (other != nullptr && other->m_Kind == FusedRunKind::Attention)
        {
            return true;
        }
    }
    return false;
}

/// Drops the chains that the run takes steps of. Returns the end of the last one of them, or of the run.
uint32_t DropChains(PlanDraft& draft, const FusedRun& run)
{
    uint32_t end = run.Last() + 1;
    auto& runs = draft.m_Plan.m_FusedRuns;
    const auto isTaken = [&](const std::unique_ptr<FusedRun>& other)
    {
        const bool isShared = other->m_First <= run.Last() && other->Last() >= run.m_First;
        if (isShared)
        {
            end = std::max(end, other->Last() + 1);
            draft.NoteDropped(ElementwiseChainName, other->m_First, "a tiled run has more of its layers");
        }
        return isShared;
    };
    runs.erase(std::remove_if(runs.begin(), runs.end(), isTaken), runs.end());
    return end;
}

} // namespace

void TileAcrossLayers(PlanDraft& draft)
{
    if (draft.m_LargestBytes < MinTensorBytes)
    {
        return;
    }
    for (uint32_t s = 0; s < draft.NumSteps();)
    {
        const FusedRun* const other = draft.FindRun(s);
        const uint32_t next = other != nullptr ? other->Last() + 1 : s + 1;
        const Step& step = draft.GetStep(s);
        const bool isTaken =
            other != nullptr && (other->m_Kind != FusedRunKind::ElementwiseChain || other->m_First != s);
        if (isTaken || draft.Planned(s).m_Workload == nullptr || step.m_NumOutputs != 1 || !IsTileable(step) ||
            draft.OutputOf(s).GetNumBytes() < MinTensorBytes)
        {
            s = next;
            continue;
        }
        WhyNot whyNot = nullptr;
        auto run = FindRun(draft, s, whyNot);
        if (run != nullptr && other != nullptr && other->Last() >= run->Last())
        {
            whyNot = "a chain has all of its layers, in smaller blocks";
        }
        else if (run != nullptr && MeetsAttention(draft, *run))
        {
            whyNot = "an attention has some of its layers";
        }
        draft.Note(CrossLayerTilingName, s, run != nullptr ? run->Last() : s, whyNot);
        if (run == nullptr || whyNot != nullptr)
        {
            s = next;
            continue;
        }
        run->m_Kind = FusedRunKind::CrossLayerTiling;
        const uint32_t begin = run->Last() + 1;
        const uint32_t end = DropChains(draft, *run);
        draft.AddRun(std::move(run));
        if (end > begin) // the run took the beginning of a chain
        {
            FuseElementwiseChainsOf(draft, begin, end);
        }
        s = begin;
    }
}

} // namespace tenon::fusions
