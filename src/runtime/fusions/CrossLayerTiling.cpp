// SPDX-License-Identifier: Apache-2.0
// CrossLayerTiling: runs layers tile by tile, all of them for one tile and then for the next, so that the tensors
// between them stay in a cache ("depth-first" or "fused-layer" execution: Alwani et al., Fused-Layer CNN Accelerators,
// 2016). Tiles are indices of leading dimensions; there is no overlap between them. See FusedRun.hpp for a drawing.
#include "runtime/fusions/Fusion.hpp"
#include "runtime/fusions/Tiling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::fusions
{

namespace
{

/// The minimum size of a step's output: smaller tensors stay in a cache anyway.
constexpr size_t MinTiledTensorBytes = size_t{512} << 10;
/// The minimum size of all tensors between the steps: less gains nothing.
constexpr size_t MinInnerBytes = size_t{2} << 20;
/// The maximum size of the tensors between the steps, in one tile. It may fill a third-level cache, which gains, too.
constexpr size_t MaxTileBytes = size_t{4} << 20;
/// The minimum size of the largest tensor between the steps, in one tile: the time of a call is then negligible.
constexpr size_t MinTileBytes = size_t{32} << 10;
/// The maximum number of steps of a run: more steps would gain little, and the search takes long in networks of many
/// large layers.
constexpr size_t MaxTiledSteps = 32;

WhyNot CheckInnerTensors(const PlanDraft& draft, const FusedRun& run)
{
    size_t bytes = 0;
    size_t largest = 0;
    for (size_t i = 0; i < run.m_Steps.size(); ++i)
    {
        const Step& step = draft.GetStep(run.m_First + static_cast<uint32_t>(i));
        const size_t tileBytes = run.m_Steps[i].m_Output.m_Bytes;
        // Layers that work in place add no memory.
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

/// The longest worthwhile run of at most `maxSteps` steps; null with the reason if there is none.
std::unique_ptr<FusedRun> MakeTiledRun(const PlanDraft& draft, uint32_t first, size_t maxSteps, WhyNot& whyNot)
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
            auto run = CutRun(draft, first, tiles, maxSteps);
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

/// Visits the steps in order, and chooses between a tiled run and the runs that other fusions made.
class TilingPass
{
public:
    explicit TilingPass(PlanDraft& draft) : m_Draft(draft), m_Others(draft.m_Plan.m_FusedRuns)
    {
        m_IsDropped.resize(m_Others.size(), false);
        uint32_t first = draft.NumSteps();
        m_NextAttention.resize(m_Others.size() + 1, first);
        for (size_t i = m_Others.size(); i-- > 0;)
        {
            first = m_Others[i]->m_Kind == FusionKind::Attention ? m_Others[i]->m_First : first;
            m_NextAttention[i] = first;
        }
    }

    void Run()
    {
        for (uint32_t s = 0; s < m_Draft.NumSteps();)
        {
            s = Visit(s);
        }
        size_t i = 0;
        m_Others.erase(
            std::remove_if(m_Others.begin(), m_Others.end(), [&](const auto&) { return bool(m_IsDropped[i++]); }),
            m_Others.end());
        m_Draft.AddRuns(std::move(m_Runs));
    }

private:
    /// Returns the next step to visit.
    uint32_t Visit(uint32_t s);
    uint32_t DropChains(const FusedRun& run);

    PlanDraft& m_Draft;
    std::vector<std::unique_ptr<FusedRun>>& m_Others; ///< attentions and chains; not changed while the pass runs
    std::vector<bool> m_IsDropped;                    ///< by index of m_Others
    std::vector<uint32_t> m_NextAttention; ///< by index of m_Others: the first step of the next attention from it on
    size_t m_Next = 0;                     ///< index of the first one of m_Others that ends at or after the step
    std::vector<std::unique_ptr<FusedRun>> m_Runs;
};

uint32_t TilingPass::Visit(uint32_t s)
{
    while (m_Next < m_Others.size() && m_Others[m_Next]->Last() < s)
    {
        ++m_Next;
    }
    const FusedRun* const other =
        m_Next < m_Others.size() && m_Others[m_Next]->m_First <= s ? m_Others[m_Next].get() : nullptr;
    const uint32_t next = other != nullptr ? other->Last() + 1 : s + 1;
    const Step& step = m_Draft.GetStep(s);
    const bool isTaken = other != nullptr && (other->m_Kind != FusionKind::ElementwiseChain || other->m_First != s);
    if (isTaken || m_Draft.Planned(s).m_Workload == nullptr || step.m_NumOutputs != 1 || !IsTileable(step) ||
        m_Draft.OutputOf(s).GetNumBytes() < MinTiledTensorBytes)
    {
        return next;
    }
    WhyNot whyNot = nullptr;
    auto run = MakeTiledRun(m_Draft, s, std::min<size_t>(MaxTiledSteps, m_NextAttention[m_Next] - s), whyNot);
    if (run != nullptr && other != nullptr && other->Last() >= run->Last())
    {
        whyNot = "a chain has all of its layers, in smaller blocks";
    }
    m_Draft.Note(FusionKind::CrossLayerTiling, s, run != nullptr ? run->Last() : s, whyNot);
    if (whyNot != nullptr)
    {
        return next;
    }
    run->m_Kind = FusionKind::CrossLayerTiling;
    const uint32_t begin = run->Last() + 1;
    const uint32_t end = DropChains(*run);
    m_Runs.push_back(std::move(run));
    if (end == begin || !IsEnabled(m_Draft.m_Options, FusionKind::ElementwiseChain))
    {
        return begin;
    }
    for (auto& chain : MakeElementwiseChains(m_Draft, begin, end)) // chains of the steps that a dropped chain leaves
    {
        m_Runs.push_back(std::move(chain));
    }
    return end;
}

/// Drops the chains that share steps with the run. Returns the step after them and the run.
uint32_t TilingPass::DropChains(const FusedRun& run)
{
    uint32_t end = run.Last() + 1;
    for (size_t i = m_Next; i < m_Others.size() && m_Others[i]->m_First <= run.Last(); ++i)
    {
        m_IsDropped[i] = true;
        end = std::max(end, m_Others[i]->Last() + 1);
        m_Draft.NoteDropped(FusionKind::ElementwiseChain, m_Others[i]->m_First, "a tiled run has more of its layers");
    }
    return end;
}

} // namespace

void TileAcrossLayers(PlanDraft& draft)
{
    if (draft.m_LargestBytes >= MinTiledTensorBytes)
    {
        TilingPass(draft).Run();
    }
}

} // namespace tenon::fusions
