// SPDX-License-Identifier: Apache-2.0
// Finds strips that are an attention, a product, a sum or none, a Softmax and a product, and has them run in one
// workload where the first product's backend has one.
#include "common/RunsAttention.hpp"
#include "runtime/PartInfos.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace tenon
{

namespace
{

/// Whether it is along the last dimension, of so many numbers: a reshape before it may have made other rows.
bool IsOfRows(const Step& softmax, const TensorInfo& info, unsigned int length)
{
    const int axis = static_cast<const SoftmaxDescriptor&>(softmax.m_Layer->GetParameters()).m_Axis;
    const int rank = static_cast<int>(info.GetNumDimensions());
    return rank != 0 && (axis == -1 || axis == rank - 1) && info.GetShape()[info.GetNumDimensions() - 1] == length;
}

} // namespace

/// The layers of an attention, by their place behind the one that makes scores.
struct Plan::AttentionSteps
{
    uint32_t m_Sum = 0;   ///< 0: there is none
    uint32_t m_Added = 0; ///< which input of the sum is not the scores
    uint32_t m_Softmax = 0;
    uint32_t m_Values = 0; ///< the last one

    bool HasSum() const { return m_Sum != 0; }
};

/// Each layer reads what the one before gives, maybe through views, and nobody else does.
std::optional<Plan::AttentionSteps> Plan::FindAttention(const Program& program, uint32_t first) const
{
    constexpr uint32_t MostSteps = 12; // with views
    const Step& product = program.Steps()[first];
    const TensorShape& scores = m_Infos[product.m_FirstOutput].GetShape();
    if (product.m_Type != LayerType::BatchMatMul || scores.GetNumDimensions() < 3 ||
        product.m_Layer->GetFusedActivation() != nullptr)
    {
        return std::nullopt;
    }
    const unsigned int keys = scores[scores.GetNumDimensions() - 1];
    AttentionSteps found;
    ValueId given = product.m_FirstOutput;
    for (uint32_t i = 1; i < MostSteps && first + i < m_Steps.size() && found.m_Values == 0; ++i)
    {
        const Step& step = program.Steps()[first + i];
        const auto at = std::find(step.m_Inputs.begin(), step.m_Inputs.end(), given) - step.m_Inputs.begin();
        const auto input = static_cast<uint32_t>(at);
        const Value& value = program.Values()[given];
        const bool isRead = value.m_IsReadAgain || value.m_LastUse != first + i; // by others, too
        const bool isView = GetSchema(step.m_Type).Has(OpFlags::View);
        if (input == step.m_Inputs.size() || isRead ||
            (!isView && (step.m_Layer->GetFusedActivation() != nullptr ||
                         step.m_Layer->GetBackendId() != product.m_Layer->GetBackendId())))
        {
            return std::nullopt;
        }
        given = step.m_FirstOutput;
        if (isView)
        {
            continue;
        }
        if (IsSum(step) && !found.HasSum() && found.m_Softmax == 0)
        {
            found.m_Sum = i;
            found.m_Added = 1 - input;
        }
        else if (step.m_Type == LayerType::Softmax && found.m_Softmax == 0 && IsOfRows(step, m_Infos[given], keys))
        {
            found.m_Softmax = i;
        }
        else if (step.m_Type == LayerType::BatchMatMul && found.m_Softmax != 0 && input == 0)
        {
            found.m_Values = i;
        }
        else
        {
            return std::nullopt;
        }
    }
    return found.m_Values != 0 ? std::optional(found) : std::nullopt;
}

/// The strips of an attention, whose parts are its heads, with a workload for all layers of one; null where the step
/// does not begin one, or its backend has none.
std::unique_ptr<Strips> Plan::MakeAttention(const Program& program, uint32_t first) const
{
    const auto found = FindAttention(program, first);
    if (!found || dynamic_cast<const IRunsAttention*>(m_Steps[first].m_Workload.get()) == nullptr)
    {
        return nullptr;
    }
    const TensorShape& scores = m_Infos[program.Steps()[first].m_FirstOutput].GetShape();
    size_t heads = 1;
    for (unsigned int i = 0; i + 2 < scores.GetNumDimensions(); ++i)
    {
        heads *= scores[i];
    }
    auto strips = heads != 0 ? CutRun(program, first, heads, found->m_Values + 1) : nullptr;
    return strips != nullptr && strips->m_Steps.size() == found->m_Values + 1 && JoinLayers(program, *found, *strips)
               ? std::move(strips)
               : nullptr;
}

bool Plan::JoinLayers(const Program& program, const AttentionSteps& of, Strips& strips) const
{
    const auto* const first = dynamic_cast<const IRunsAttention*>(strips.m_Steps.front().m_Workload.get());
    if (first == nullptr)
    {
        return false;
    }
    StripStep unused; // where parts lie is known
    const auto infosOf = [&](uint32_t i) { return CutInfos(program, strips.m_First + i, strips.m_Parts, unused); };
    const auto values = infosOf(of.m_Values);
    const auto sum = of.HasSum() ? infosOf(of.m_Sum) : std::nullopt;
    const Step& second = program.Steps()[strips.m_First + of.m_Values];
    const Step& softmax = program.Steps()[strips.m_First + of.m_Softmax];
    const std::array<const TensorInfo*, 2> inputs = {&values->m_Inputs[0], &values->m_Inputs[1]};
    const std::array<const TensorInfo*, 1> outputs = {&values->m_Output};
    ReshapeArgs product;
    product.m_Descriptor = &second.m_Layer->GetParameters();
    product.m_Inputs = {inputs.data(), inputs.size()};
    product.m_Outputs = {outputs.data(), outputs.size()};
    product.m_ConstantData = {values->m_Constants.data(), values->m_Constants.size()};
    product.m_Name = &second.m_Layer->GetNameStr();
    AttentionRest rest{sum ? &sum->m_Inputs[of.m_Added] : nullptr,
                       static_cast<const SoftmaxDescriptor&>(softmax.m_Layer->GetParameters()).m_Beta, false, product};

    StripWhole& whole = strips.m_Whole;
    whole.m_Workload = first->MakeAttention(rest);
    rest.m_IsShared = true;
    whole.m_Shared = first->MakeAttention(rest);
    if (whole.m_Workload == nullptr || whole.m_Shared == nullptr)
    {
        whole = StripWhole();
        return false;
    }
    const auto add = [&](uint32_t step, uint32_t input) { whole.m_Inputs[whole.m_NumInputs++] = {step, input}; };
    add(0, 0);
    add(0, 1);
    if (sum)
    {
        add(of.m_Sum, of.m_Added);
    }
    add(of.m_Values, 1);
    for (StripStep& step : strips.m_Steps)
    {
        step.m_ScratchBytes = 0; // they do not run in parts
    }
    strips.m_Steps.back().SetScratchBytes(whole.m_Workload->GetScratchBytes());
    return true;
}

} // namespace tenon
