// SPDX-License-Identifier: Apache-2.0
// What running in strips means for the memory of a plan: which tensors are there as a whole, and which layers run
// together, so that what they read has to last as long.
#include "common/KernelName.hpp"
#include "runtime/PlanSharing.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace tenon
{

/// Drops the strips whose layers would overwrite what is read later, and says which tensors are kept.
void Plan::SettleStrips(const Program& program, const Sharing& sharing)
{
    const auto overwrites = [&](const std::unique_ptr<Strips>& strips)
    { return !SettleStrips(program, sharing, *strips); };
    m_Strips.erase(std::remove_if(m_Strips.begin(), m_Strips.end(), overwrites), m_Strips.end());
    for (const auto& strips : m_Strips)
    {
        for (size_t i = 0; i < strips->m_Steps.size(); ++i)
        {
            PlannedStep& inner = m_Steps[strips->m_First + i];
            inner.m_ScratchBytes =
                std::max(inner.m_ScratchBytes, strips->m_Steps[i].m_ScratchBytes * strips->m_MostThreads);
        }
        if (strips->m_Whole.m_Shared != nullptr)
        {
            PlannedStep& last = m_Steps[strips->Last()];
            last.m_ScratchBytes = std::max(last.m_ScratchBytes, strips->m_Whole.m_Shared->GetScratchBytes());
        }
    }
}

bool Plan::SettleStrips(const Program& program, const Sharing& sharing, Strips& strips) const
{
    const auto isInner = [&](ValueId value)
    {
        return IsMadeBy(program, strips.m_First, strips.Last() + 1, value) &&
               program.Values()[value].m_LastUse <= strips.Last();
    };
    // A set all of whose values are inner ones; others keep all parts.
    std::vector<ValueId> kept;
    std::vector<ValueId> written;
    for (size_t i = 0; i < strips.m_Steps.size(); ++i)
    {
        const Step& step = program.Steps()[strips.m_First + i];
        for (const ValueId value : step.m_Inputs)
        {
            if (value != NoValue && !isInner(value))
            {
                kept.push_back(sharing.Root(value));
            }
        }
        written.push_back(sharing.Root(step.m_FirstOutput));
        if (!isInner(step.m_FirstOutput))
        {
            kept.push_back(written.back());
        }
    }
    const auto contains = [](const std::vector<ValueId>& values, ValueId value)
    { return std::find(values.begin(), values.end(), value) != values.end(); };
    const auto* const whole = dynamic_cast<const INamesKernel*>(strips.m_Whole.m_Workload.get());
    strips.m_Label = whole != nullptr ? std::string(whole->GetKernelName()) + " of " : "Strips of ";
    for (size_t i = 0; i < strips.m_Steps.size(); ++i)
    {
        const Step& step = program.Steps()[strips.m_First + i];
        StripStep& strip = strips.m_Steps[i];
        const ValueId output = step.m_FirstOutput;
        for (size_t k = 0; k < step.m_Inputs.size() && k < StripStep::MostInputs; ++k)
        {
            const ValueId root = step.m_Inputs[k] == NoValue ? NoValue : sharing.Root(step.m_Inputs[k]);
            // What a layer of the run writes over is read part by part, where the output has its parts.
            if (root != NoValue && contains(written, root) &&
                (!strip.m_Inputs[k].m_Offsets.empty() ||
                 strip.m_Inputs[k].m_Bytes * strips.m_Parts != m_Infos[root].GetNumBytes()))
            {
                return false;
            }
            strip.m_Inputs[k].m_IsKept = root == NoValue || contains(kept, root);
        }
        const bool isView = strip.m_Workload == nullptr && strips.m_Whole.m_Workload == nullptr;
        if (isView && sharing.Root(output) != sharing.Root(step.m_Inputs[0]))
        {
            return false;
        }
        strip.m_Output.m_IsKept = contains(kept, sharing.Root(output));
        if (!isView)
        {
            strips.m_Label += std::string(i == 0 ? "" : ", ") + m_Steps[strips.m_First + i].m_KernelName;
        }
    }
    return true;
}

/// The first and the last step of the strips that a step belongs to; else itself, or the sum that it waits for.
std::pair<uint32_t, uint32_t> Plan::RunsWith(uint32_t step) const
{
    const auto next = std::upper_bound(m_Strips.begin(), m_Strips.end(), step,
                                       [](uint32_t s, const auto& strips) { return s < strips->m_First; });
    if (next != m_Strips.begin() && (*std::prev(next))->Last() >= step)
    {
        return {(*std::prev(next))->m_First, (*std::prev(next))->Last()};
    }
    const uint32_t sum = step < m_Steps.size() ? m_Steps[step].m_Sum : PlannedSum::None; // or after the last one
    const uint32_t turn = sum != PlannedSum::None ? m_Sums[sum].m_Sum : step;
    return {turn, turn};
}

} // namespace tenon
