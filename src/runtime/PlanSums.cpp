// SPDX-License-Identifier: Apache-2.0
// Finds the layers of a plan that run together with the sum of their output and something else.
#include "common/AddsTensor.hpp"
#include "common/KernelName.hpp"
#include "runtime/PlanSharing.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace tenon
{

namespace
{

bool MayHaveSum(const Step& step)
{
    return (step.m_Type == LayerType::Convolution2d || step.m_Type == LayerType::FullyConnected) &&
           step.m_Memory == HostMemory && step.m_NumOutputs == 1 && step.m_Overrides.empty();
}

} // namespace

bool IsSum(const Step& step)
{
    return step.m_Type == LayerType::ElementwiseBinary && step.m_Memory == HostMemory && step.m_Overrides.empty() &&
           static_cast<const ElementwiseBinaryDescriptor&>(step.m_Layer->GetParameters()).m_Operation ==
               BinaryOperation::Add;
}

/// The sums whose layers wait for more than the next step keep memory for longer: they are dropped where that would
/// make the arena larger by more than a little.
void Plan::DropCostlySums(const Program& program)
{
    constexpr size_t Little = 16; // one such part of it
    const auto waitsLong = [](const PlannedSum& sum) { return sum.m_Sum - sum.m_Layer > 1; };
    const auto firstLong = std::stable_partition(m_Sums.begin(), m_Sums.end(), std::not_fn(waitsLong));
    if (firstLong == m_Sums.end())
    {
        return;
    }
    const auto number = [&]
    {
        for (uint32_t i = 0; i < m_Sums.size(); ++i)
        {
            m_Steps[m_Sums[i].m_Layer].m_Sum = m_Steps[m_Sums[i].m_Sum].m_Sum = i;
        }
    };
    number();
    const std::vector<bool> noParts(m_Steps.size(), false);
    const size_t bytes = CountHostBytes(program, noParts);
    std::vector<PlannedSum> costly(std::make_move_iterator(firstLong), std::make_move_iterator(m_Sums.end()));
    m_Sums.erase(firstLong, m_Sums.end());
    for (const PlannedSum& sum : costly)
    {
        m_Steps[sum.m_Layer].m_Sum = m_Steps[sum.m_Sum].m_Sum = PlannedSum::None;
    }
    const size_t without = CountHostBytes(program, noParts);
    if (bytes <= without + without / Little)
    {
        m_Sums.insert(m_Sums.end(), std::make_move_iterator(costly.begin()), std::make_move_iterator(costly.end()));
        number();
    }
}

/// The step of the sum that the layer may wait for; None where there is none.
uint32_t Plan::FindSumOf(const Program& program, uint32_t layer) const
{
    const Step& step = program.Steps()[layer];
    if (!MayHaveSum(step) || m_Steps[layer].m_Workload == nullptr)
    {
        return PlannedSum::None;
    }
    const Value& value = program.Values()[step.m_FirstOutput];
    const uint32_t sum = value.m_LastUse;
    if (sum <= layer || sum - layer > PlannedSum::MostSteps || sum >= m_Steps.size() ||
        m_Steps[sum].m_Sum != PlannedSum::None || RunsWith(sum).first != RunsWith(sum).second ||
        !IsSum(program.Steps()[sum]) || value.m_IsReadAgain ||
        step.m_Layer->GetBackendId() != program.Steps()[sum].m_Layer->GetBackendId())
    {
        return PlannedSum::None;
    }
    const Step& next = program.Steps()[sum];
    const TensorInfo& info = m_Infos[next.m_FirstOutput];
    const DataType type = info.GetDataType();
    const bool isFloat = type == DataType::Float32 || type == DataType::BFloat16 || type == DataType::Float16;
    const auto fits = [&](ValueId v)
    { return m_Infos[v].GetDataType() == type && m_Infos[v].GetShape() == info.GetShape(); };
    return isFloat && fits(next.m_Inputs[0]) && fits(next.m_Inputs[1]) ? sum : PlannedSum::None;
}

void Plan::FindSums(const Program& program)
{
    // Of two layers that are added up, the later one waits.
    for (uint32_t layer = static_cast<uint32_t>(m_Steps.size()); layer-- > 0;)
    {
        PlannedSum sum;
        sum.m_Layer = layer;
        sum.m_Sum = FindSumOf(program, layer);
        const auto* const adds =
            sum.m_Sum == PlannedSum::None ? nullptr : dynamic_cast<const IAddsTensor*>(m_Steps[layer].m_Workload.get());
        if (adds == nullptr)
        {
            continue;
        }
        const Step& step = program.Steps()[layer];
        const Step& next = program.Steps()[sum.m_Sum];
        sum.m_Other = next.m_Inputs[0] == step.m_FirstOutput ? 1 : 0;
        sum.m_Workload = adds->AddTensor(next.m_Layer->GetFusedActivation());
        if (sum.m_Workload != nullptr)
        {
            sum.m_KernelName = GetKernelName(*step.m_Workload, *sum.m_Workload);
            m_Steps[layer].m_ScratchBytes = std::max(m_Steps[layer].m_ScratchBytes, sum.m_Workload->GetScratchBytes());
            m_Steps[layer].m_Sum = m_Steps[sum.m_Sum].m_Sum = static_cast<uint32_t>(m_Sums.size());
            m_Sums.push_back(std::move(sum));
        }
    }
    DropCostlySums(program);
}

} // namespace tenon
