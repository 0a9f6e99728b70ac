// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(beta * (queries * keys + mask)) * values, a BatchMatMul, an addition or none, a Softmax and a
// BatchMatMul, maybe with views between them, in one workload for each head, if the first product's kernel offers one
// (FusionHooks::m_MakeAttention). Scores then stay in the first-level cache ("FlashAttention": Dao et al., 2022).
#include "runtime/fusions/Fusion.hpp"
#include "runtime/fusions/Tiling.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::fusions
{

namespace
{

/// The minimum size of the scores: smaller ones gain nothing.
constexpr size_t MinScoresBytes = size_t{16} << 10;
/// The maximum number of steps from the first product to the second, with views.
constexpr uint32_t MaxAttentionSteps = 12;

/// Whether the softmax is along the last dimension, of `length` numbers: a reshape before it may have changed the rows.
bool IsOfRows(const Step& softmax, const TensorInfo& info, unsigned int length)
{
    const int axis = static_cast<const SoftmaxDescriptor&>(softmax.m_Layer->GetParameters()).m_Axis;
    const int rank = static_cast<int>(info.GetNumDimensions());
    return rank != 0 && (axis == -1 || axis == rank - 1) && info.GetShape()[info.GetNumDimensions() - 1] == length;
}

/// The layers of an attention, as distances from the layer that makes scores.
struct AttentionSteps
{
    uint32_t m_Add = 0;   ///< the addition of a mask; 0: there is none
    uint32_t m_Added = 0; ///< index of the addition's input that is not the scores
    uint32_t m_Softmax = 0;
    uint32_t m_Values = 0; ///< the second product, the last layer

    bool HasAdd() const { return m_Add != 0; }
};

/// Finds the layers after the first product: each reads the output of the previous layer, maybe through views, and no
/// other layer reads it.
WhyNot FindSteps(const PlanDraft& draft, uint32_t first, AttentionSteps& found)
{
    const Step& product = draft.GetStep(first);
    const TensorShape& scores = draft.OutputOf(first).GetShape();
    if (product.m_Layer->GetFusedActivation() != nullptr)
    {
        return "an activation is fused into the product of queries and keys";
    }
    const unsigned int keys = scores[scores.GetNumDimensions() - 1];
    ValueId given = product.m_FirstOutput;
    for (uint32_t i = 1; i < MaxAttentionSteps && first + i < draft.NumSteps() && found.m_Values == 0; ++i)
    {
        const Step& step = draft.GetStep(first + i);
        const auto at = std::find(step.m_Inputs.begin(), step.m_Inputs.end(), given) - step.m_Inputs.begin();
        const auto input = static_cast<uint32_t>(at);
        const Value& value = draft.GetValue(given);
        const bool isView = GetSchema(step.m_Type).Has(OpFlags::View);
        if (input == step.m_Inputs.size())
        {
            return "the next layer does not read its output";
        }
        if (value.m_IsReadAgain || value.m_LastUse != first + i)
        {
            return "another layer reads a tensor between its layers";
        }
        if (!isView && step.m_Layer->GetFusedActivation() != nullptr)
        {
            return "an activation is fused into one of its layers";
        }
        if (!isView && step.m_Layer->GetBackendId() != product.m_Layer->GetBackendId())
        {
            return "its layers are on several backends";
        }
        given = step.m_FirstOutput;
        if (isView)
        {
            continue;
        }
        if (IsAddition(step) && !found.HasAdd() && found.m_Softmax == 0)
        {
            found.m_Add = i;
            found.m_Added = 1 - input;
        }
        else if (step.m_Type == LayerType::Softmax && found.m_Softmax == 0 && IsOfRows(step, draft.InfoOf(given), keys))
        {
            found.m_Softmax = i;
        }
        else if (step.m_Type == LayerType::BatchMatMul && found.m_Softmax != 0 && input == 0)
        {
            found.m_Values = i;
        }
        else
        {
            return "the product is not followed by a Softmax of its rows and a product of that";
        }
    }
    return found.m_Values != 0 ? nullptr : "no product of a Softmax follows";
}

/// The infos of the layers of an attention in one head, or in a part of its queries.
struct HeadInfos
{
    HeadInfos(const PlanDraft& draft, const AttentionSteps& of, const FusedRun& run)
    {
        TiledStep unused; // the positions of tiles are known
        const auto infosOf = [&](uint32_t i) { return CutTensors(draft, run.m_First + i, run.m_Tiles, unused); };
        m_Scores = infosOf(0);
        m_Values = infosOf(of.m_Values);
        m_Add = of.HasAdd() ? infosOf(of.m_Add) : std::nullopt;
    }

    std::optional<TileInfos> m_Scores;
    std::optional<TileInfos> m_Values;
    std::optional<TileInfos> m_Add; ///< none: no mask is added
};

/// Makes a workload for the layers of a head, or of a part of it, that have these infos. `hooks`: of the first product.
std::unique_ptr<IShapedWorkload> MakeWorkload(const PlanDraft& draft, const AttentionSteps& of, const FusedRun& run,
                                              const HeadInfos& infos, const FusionHooks& hooks, bool isShared)
{
    const Step& second = draft.GetStep(run.m_First + of.m_Values);
    const Step& softmax = draft.GetStep(run.m_First + of.m_Softmax);
    const TileInfos& values = *infos.m_Values;
    const std::array<const TensorInfo*, 2> inputs = {&values.m_Inputs[0], &values.m_Inputs[1]};
    const std::array<const TensorInfo*, 1> outputs = {&values.m_Output};
    ReshapeArgs product;
    product.m_Descriptor = &second.m_Layer->GetParameters();
    product.m_Inputs = {inputs.data(), inputs.size()};
    product.m_Outputs = {outputs.data(), outputs.size()};
    product.m_ConstantData = {values.m_Constants.data(), values.m_Constants.size()};
    product.m_Name = &second.m_Layer->GetNameStr();
    product.m_MaxThreads = std::min(draft.m_Options.m_MaxThreads, hooks.m_MaxTileThreads);
    return hooks.m_MakeAttention({infos.m_Add ? &infos.m_Add->m_Inputs[of.m_Added] : nullptr,
                                  static_cast<const SoftmaxDescriptor&>(softmax.m_Layer->GetParameters()).m_Beta,
                                  isShared, product});
}

/// The rows of a matrix in the last two dimensions; 1 for a vector.
unsigned int CountRows(const TensorInfo& info)
{
    const unsigned int rank = info.GetNumDimensions();
    return rank > 1 ? info.GetShape()[rank - 2] : 1;
}

/// Leaves a range of the rows.
void CutRows(TensorInfo& info, unsigned int parts)
{
    TensorShape shape = info.GetShape();
    shape.SetDimensionSize(shape.GetNumDimensions() - 2, CountRows(info) / parts);
    info.SetShape(shape);
}

/// Whether rows of the first input of the product are queries, and follow each other in memory.
bool HasQueriesAsRows(const Step& product)
{
    const auto& descriptor = static_cast<const BatchMatMulDescriptor&>(product.m_Layer->GetParameters());
    return !descriptor.m_TransposeX && !descriptor.m_AdjointX && descriptor.m_DataLayoutX == DataLayout::NCHW &&
           descriptor.m_DataLayoutY == DataLayout::NCHW;
}

/// The ways in which several threads run an attention, by their time in units of a query.
class ThreadCosts
{
public:
    ThreadCosts(size_t heads, size_t queries, size_t threads) : m_Heads(heads), m_Queries(queries), m_Threads(threads)
    {
    }

    /// Threads take equal ranges of heads, each cut into `parts`.
    size_t OfParts(size_t parts) const
    {
        return DivideUp(m_Heads * parts, m_Threads) * (m_Queries / parts + Preparation);
    }
    /// Threads share the queries of one head after the other; one thread prepares keys and values.
    size_t OfSharing() const
    {
        return m_Heads * (Preparation + Join + DivideUp(DivideUp(m_Queries, Panel), m_Threads) * Panel);
    }

private:
    static constexpr size_t Preparation = 6; ///< of the keys and values of a head
    static constexpr size_t Join = 6;        ///< of a loop
    static constexpr size_t Panel = 16;      ///< queries that a thread takes at once

    static size_t DivideUp(size_t a, size_t b) { return (a + b - 1) / b; }

    size_t m_Heads;
    size_t m_Queries;
    size_t m_Threads;
};

/// Makes the workload of a part of a head, for `parts` parts; false if there is none. `infos`: of a head.
bool TryParts(const PlanDraft& draft, const AttentionSteps& of, FusedRun& run, HeadInfos infos, unsigned int parts)
{
    const unsigned int queries = CountRows(infos.m_Scores->m_Output);
    const bool isMaskCut = infos.m_Add && CountRows(infos.m_Add->m_Inputs[of.m_Added]) == queries;
    CutRows(infos.m_Scores->m_Inputs[0], parts);
    CutRows(infos.m_Scores->m_Output, parts);
    CutRows(infos.m_Values->m_Inputs[0], parts);
    CutRows(infos.m_Values->m_Output, parts);
    if (isMaskCut)
    {
        CutRows(infos.m_Add->m_Inputs[of.m_Added], parts);
    }
    FusedWorkload& fused = run.m_Fused;
    fused.m_PartOwner = infos.m_Scores->Reshape(draft.GetStep(run.m_First));
    const FusionHooks& hooks = fused.m_PartOwner->GetFusion();
    fused.m_Part = hooks.m_MakeAttention != nullptr ? MakeWorkload(draft, of, run, infos, hooks, false) : nullptr;
    if (fused.m_Part == nullptr)
    {
        fused.m_PartOwner = nullptr;
        return false;
    }
    fused.m_Inputs[0].m_IsCut = true;
    fused.m_Inputs[2].m_IsCut = isMaskCut;
    return true;
}

/// Decides how threads run an attention that has too few heads for equal shares: in heads, in parts of heads, each of
/// which prepares keys and values anew, or one head after the other.
void ChooseParts(const PlanDraft& draft, const AttentionSteps& of, FusedRun& run, const HeadInfos& infos)
{
    constexpr size_t MaxPartsOfThread = 4;
    const size_t threads = std::min<size_t>(draft.m_Options.m_MaxThreads, run.m_AllowedThreads);
    if (run.HasTilesFor(threads))
    {
        return;
    }
    const unsigned int queries = CountRows(draft.OutputOf(run.m_First));
    const bool isCut =
        HasQueriesAsRows(draft.GetStep(run.m_First)) && HasQueriesAsRows(draft.GetStep(run.m_First + of.m_Values));
    const ThreadCosts costs(run.m_Tiles, queries, threads);
    std::vector<unsigned int> numbers = {1};
    for (unsigned int parts = 2; isCut && parts <= queries && run.m_Tiles * (parts - 1) < MaxPartsOfThread * threads;
         ++parts)
    {
        if (queries % parts == 0)
        {
            numbers.push_back(parts);
        }
    }
    std::erase_if(numbers, [&](unsigned int parts) { return costs.OfParts(parts) >= costs.OfSharing(); });
    std::stable_sort(numbers.begin(), numbers.end(),
                     [&](unsigned int a, unsigned int b) { return costs.OfParts(a) < costs.OfParts(b); });
    for (const unsigned int parts : numbers)
    {
        if (parts == 1 || TryParts(draft, of, run, infos, parts))
        {
            run.m_Fused.m_Parts = parts;
            run.m_MaxThreads = std::min(threads, run.m_Tiles * parts);
            return;
        }
    }
}

/// Makes the workloads of all layers of one head.
WhyNot JoinLayers(const PlanDraft& draft, const AttentionSteps& of, FusedRun& run)
{
    const FusionHooks& hooks = run.m_Steps.front().m_Workload->GetFusion();
    if (hooks.m_MakeAttention == nullptr)
    {
        return "the kernel of the first product offers no attention for one head";
    }
    const HeadInfos infos(draft, of, run);
    FusedWorkload& fused = run.m_Fused;
    fused.m_Workload = MakeWorkload(draft, of, run, infos, hooks, false);
    fused.m_Shared = MakeWorkload(draft, of, run, infos, hooks, true);
    if (fused.m_Workload == nullptr || fused.m_Shared == nullptr)
    {
        return "the kernel of the first product does not take an attention of these shapes";
    }
    const auto addInput = [&](uint32_t step, uint32_t input) {
        fused.m_Inputs[fused.m_NumInputs++] = {step, input, false};
    };
    addInput(0, 0);
    addInput(0, 1);
    if (infos.m_Add)
    {
        addInput(of.m_Add, of.m_Added);
    }
    addInput(of.m_Values, 1);
    ChooseParts(draft, of, run, infos);
    for (TiledStep& step : run.m_Steps)
    {
        step.m_ScratchBytes = 0; // the steps do not run themselves
    }
    run.m_Steps.back().SetScratchBytes(
        std::max(fused.m_Workload->GetScratchBytes(), fused.m_Part != nullptr ? fused.m_Part->GetScratchBytes() : 0));
    return nullptr;
}

/// The attention that begins with a product, whose tiles are its heads; null with the reason why there is none. Sets
/// the last step that belongs to it.
std::unique_ptr<FusedRun> MakeAttention(const PlanDraft& draft, uint32_t first, uint32_t& last, WhyNot& whyNot)
{
    AttentionSteps found;
    whyNot = FindSteps(draft, first, found);
    if (whyNot != nullptr)
    {
        return nullptr;
    }
    last = first + found.m_Values;
    if (draft.HooksOf(first)->m_MakeAttention == nullptr)
    {
        whyNot = "the kernel of the first product offers no attention";
        return nullptr;
    }
    const TensorShape& scores = draft.OutputOf(first).GetShape();
    size_t heads = 1;
    for (unsigned int i = 0; i + 2 < scores.GetNumDimensions(); ++i)
    {
        heads *= scores[i];
    }
    auto run = heads != 0 ? CutRun(draft, first, heads, found.m_Values + 1) : nullptr;
    if (run == nullptr || run->m_Steps.size() != found.m_Values + 1)
    {
        whyNot = "its layers cannot be cut into heads";
        return nullptr;
    }
    whyNot = JoinLayers(draft, found, *run);
    return whyNot == nullptr ? std::move(run) : nullptr;
}

} // namespace

void FuseAttention(PlanDraft& draft)
{
    if (draft.m_LargestBytes < MinScoresBytes)
    {
        return;
    }
    std::vector<std::unique_ptr<FusedRun>> runs;
    for (uint32_t s = 0; s < draft.NumSteps(); ++s)
    {
        const Step& step = draft.GetStep(s);
        if (step.m_Type != LayerType::BatchMatMul || draft.Planned(s).m_Workload == nullptr ||
            draft.OutputOf(s).GetNumDimensions() < 3 || draft.OutputOf(s).GetNumBytes() < MinScoresBytes)
        {
            continue;
        }
        WhyNot whyNot = nullptr;
        uint32_t last = s;
        auto run = MakeAttention(draft, s, last, whyNot);
        draft.Note(FusionKind::Attention, s, last, whyNot);
        if (run != nullptr)
        {
            run->m_Kind = FusionKind::Attention;
            s = run->Last();
            runs.push_back(std::move(run));
        }
    }
    draft.AddRuns(std::move(runs));
}

} // namespace tenon::fusions
