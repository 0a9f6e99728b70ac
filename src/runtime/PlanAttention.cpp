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

bool IsSum(const Step& step)
{
    return step.m_Type == LayerType::ElementwiseBinary &&
           static_cast<const ElementwiseBinaryDescriptor&>(step.m_Layer->GetParameters()).m_Operation ==
               BinaryOperation::Add;
}

bool IsAlongLast(const Step& softmax, const TensorInfo& info)
{
    const int axis = static_cast<const SoftmaxDescriptor&>(softmax.m_Layer->GetParameters()).m_Axis;
    const int rank = static_cast<int>(info.GetNumDimensions());
    return axis == -1 || axis == rank - 1;
}

} // namespace

/// The layers of an attention, by their index into the strips' steps. The first one makes scores.
struct Plan::AttentionSteps
{
    uint32_t m_Sum = 0;   ///< 0: there is none
    uint32_t m_Added = 0; ///< which input of the sum is not the scores
    uint32_t m_Softmax = 0;
    uint32_t m_Values = 0; ///< the last one

    bool HasSum() const { return m_Sum != 0; }
};

/// Each layer reads what the one before gives, maybe through views, and nobody else does.
std::optional<Plan::AttentionSteps> Plan::FindAttention(const Program& program, const Strips& strips) const
{
    AttentionSteps found;
    const Layer* const scores = program.Steps()[strips.m_First].m_Layer;
    if (strips.m_Steps.empty() || program.Steps()[strips.m_First].m_Type != LayerType::BatchMatMul ||
        scores->GetFusedActivation() != nullptr)
    {
        return std::nullopt;
    }
    ValueId given = program.Steps()[strips.m_First].m_FirstOutput;
    for (uint32_t i = 1; i < strips.m_Steps.size(); ++i)
    {
        const Step& step = program.Steps()[strips.m_First + i];
        const auto at = std::find(step.m_Inputs.begin(), step.m_Inputs.end(), given) - step.m_Inputs.begin();
        const auto input = static_cast<uint32_t>(at);
        const bool isView = strips.m_Steps[i].m_Workload == nullptr;
        const Value& value = program.Values()[given];
        const bool isRead = value.m_IsReadAgain || value.m_LastUse != strips.m_First + i; // by others, too
        if (input == step.m_Inputs.size() || isRead || found.m_Values != 0 ||
            (!isView &&
             (step.m_Layer->GetFusedActivation() != nullptr || step.m_Layer->GetBackendId() != scores->GetBackendId())))
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
        else if (step.m_Type == LayerType::Softmax && found.m_Softmax == 0 && IsAlongLast(step, m_Infos[given]))
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

/// Has all layers of a part run in one workload, where these are an attention and the first one's backend has one.
bool Plan::JoinAttention(const Program& program, Strips& strips) const
{
    const auto found = FindAttention(program, strips);
    const auto* const first =
        found ? dynamic_cast<const IRunsAttention*>(strips.m_Steps.front().m_Workload.get()) : nullptr;
    if (first == nullptr)
    {
        return false;
    }
    StripStep unused; // where parts lie is known
    const auto infosOf = [&](uint32_t i) { return CutInfos(program, strips.m_First + i, strips.m_Parts, unused); };
    const auto values = infosOf(found->m_Values);
    const auto sum = found->HasSum() ? infosOf(found->m_Sum) : std::nullopt;
    const Step& second = program.Steps()[strips.m_First + found->m_Values];
    const Step& softmax = program.Steps()[strips.m_First + found->m_Softmax];
    const std::array<const TensorInfo*, 2> inputs = {&values->m_Inputs[0], &values->m_Inputs[1]};
    const std::array<const TensorInfo*, 1> outputs = {&values->m_Output};
    ReshapeArgs product;
    product.m_Descriptor = &second.m_Layer->GetParameters();
    product.m_Inputs = {inputs.data(), inputs.size()};
    product.m_Outputs = {outputs.data(), outputs.size()};
    product.m_ConstantData = {values->m_Constants.data(), values->m_Constants.size()};
    product.m_Name = &second.m_Layer->GetNameStr();
    const AttentionRest rest{sum ? &sum->m_Inputs[found->m_Added] : nullptr,
                             static_cast<const SoftmaxDescriptor&>(softmax.m_Layer->GetParameters()).m_Beta, product};

    StripWhole& whole = strips.m_Whole;
    whole.m_Workload = first->MakeAttention(rest);
    if (whole.m_Workload == nullptr)
    {
        return false;
    }
    const auto add = [&](uint32_t step, uint32_t input) { whole.m_Inputs[whole.m_NumInputs++] = {step, input}; };
    add(0, 0);
    add(0, 1);
    if (sum)
    {
        add(found->m_Sum, found->m_Added);
    }
    add(found->m_Values, 1);
    strips.m_Steps.back().SetScratchBytes(
        std::max(strips.m_Steps.back().m_ScratchBytes, whole.m_Workload->GetScratchBytes()));
    return true;
}

} // namespace tenon
