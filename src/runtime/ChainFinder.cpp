// SPDX-License-Identifier: Apache-2.0
// See ChainFinder.hpp.
#include "runtime/ChainFinder.hpp"

#include "common/RunsElements.hpp"
#include "common/RunsInStrips.hpp"

#include <algorithm>
#include <utility>

namespace tenon
{

namespace
{

/// Elements after which an input that is broadcast to the output begins anew: it has the output's last dimensions, and
/// those before them are 1. None where it is broadcast in another way.
std::optional<size_t> FindPeriod(const TensorShape& input, const TensorShape& output)
{
    const unsigned int rank = output.GetNumDimensions();
    const unsigned int inputRank = input.GetNumDimensions();
    if (inputRank > rank)
    {
        return std::nullopt;
    }
    size_t period = 1;
    bool isRepeated = false; // from here on, towards the first dimension
    for (unsigned int i = 0; i < inputRank; ++i)
    {
        const unsigned int size = input[inputRank - 1 - i];
        const unsigned int wanted = output[rank - 1 - i];
        if ((size != wanted || isRepeated) && size != 1)
        {
            return std::nullopt;
        }
        isRepeated = isRepeated || size != wanted;
        period *= size;
    }
    return period;
}

} // namespace

std::optional<ChainOperand> Plan::ChainFinder::FindMade(ValueId value) const
{
    for (size_t i = 0; i < m_Made.size(); ++i)
    {
        if (m_Program.Steps()[m_First + i].m_FirstOutput == value)
        {
            return m_Made[i];
        }
    }
    return std::nullopt;
}

/// An input from outside as a tensor of the chain, which may know it already.
std::optional<ChainOperand> Plan::ChainFinder::AddInput(uint32_t input, const TensorInfo& output)
{
    const ValueId value = m_Program.Steps()[Next()].m_Inputs[input];
    const TensorInfo& info = m_Plan.m_Infos[value];
    const auto period = FindPeriod(info.GetShape(), output.GetShape());
    if (!period || *period == 0 || GetDataTypeBits(info.GetDataType()) < 8)
    {
        return std::nullopt;
    }
    External external;
    external.m_Place = {static_cast<uint32_t>(m_Made.size()), input};
    external.m_Value = value;
    external.m_Input = {GetDataTypeSize(info.GetDataType()), *period == m_Count ? 0 : *period};
    const auto known = std::find_if(m_Externals.begin(), m_Externals.end(),
                                    [&](const External& other) { return other.m_Value == value; });
    if (known == m_Externals.end())
    {
        if (m_Externals.size() == StripWhole::MostInputs)
        {
            return std::nullopt;
        }
        m_Externals.push_back(external);
        return ChainOperand{true, static_cast<uint32_t>(m_Externals.size() - 1)};
    }
    return known->m_Input.m_Period == external.m_Input.m_Period
               ? std::optional(ChainOperand{true, static_cast<uint32_t>(known - m_Externals.begin())})
               : std::nullopt;
}

bool Plan::ChainFinder::Add()
{
    const uint32_t index = Next();
    const Step& step = m_Program.Steps()[index];
    if (step.m_Memory != HostMemory || step.m_NumOutputs != 1 || !step.m_Overrides.empty() || step.m_Inputs.empty() ||
        step.m_Inputs.size() > ChainLink::MostOperands ||
        m_Plan.m_Infos[step.m_FirstOutput].GetNumElements() != m_Count || m_Plan.IsSumOfLayer(m_Program, index))
    {
        return false;
    }
    if (GetSchema(step.m_Type).Has(OpFlags::View))
    {
        return AddView(step);
    }
    const size_t numExternals = m_Externals.size();
    const bool isAdded = AddLink(index);
    if (!isAdded)
    {
        m_Externals.resize(numExternals); // without those of its inputs that came before the one that does not fit
    }
    return isAdded;
}

/// Another shape of what the chain has made.
bool Plan::ChainFinder::AddView(const Step& step)
{
    const auto made = FindMade(step.m_Inputs[0]);
    if (!made || m_Plan.m_Infos[step.m_Inputs[0]].GetNumBytes() != m_Plan.m_Infos[step.m_FirstOutput].GetNumBytes())
    {
        return false;
    }
    m_Made.push_back(*made);
    return true;
}

/// A layer with a loop of elements that reads what the chain has made, if there is anything yet.
bool Plan::ChainFinder::AddLink(uint32_t index)
{
    const IShapedWorkload* const workload = m_Plan.m_Steps[index].m_Workload.get();
    const auto* const runs = dynamic_cast<const IRunsElements*>(workload);
    ChainLink link;
    link.m_Run = runs != nullptr ? runs->MakeElementLoop() : ElementLoop();
    if (link.m_Run == nullptr)
    {
        return false;
    }
    if (const unsigned int threads = GetMostStripThreads(*workload); threads != 0) // 0: no strips, which sets no limit
    {
        link.m_MaxThreads = threads;
    }
    const Step& step = m_Program.Steps()[index];
    const TensorInfo& output = m_Plan.m_Infos[step.m_FirstOutput];
    link.m_ElementBytes = GetDataTypeSize(output.GetDataType());
    bool readsMade = false;
    for (const ValueId value : step.m_Inputs)
    {
        if (value == NoValue)
        {
            return false;
        }
        auto operand = FindMade(value);
        readsMade = readsMade || operand;
        if (!operand)
        {
            operand = AddInput(static_cast<uint32_t>(link.m_NumOperands), output);
        }
        if (!operand)
        {
            return false;
        }
        link.m_Operands[link.m_NumOperands++] = *operand;
    }
    if (!readsMade && !m_Links.empty())
    {
        return false;
    }
    m_Links.push_back(std::move(link));
    m_Made.push_back({false, static_cast<uint32_t>(m_Links.size() - 1)});
    return true;
}

bool Plan::ChainFinder::IsClosed() const
{
    const uint32_t last = Next() - 1;
    const bool endsInLink = !GetSchema(m_Program.Steps()[last].m_Type).Has(OpFlags::View);
    return endsInLink &&
           std::all_of(m_Program.Steps().begin() + m_First, m_Program.Steps().begin() + last,
                       [&](const Step& step) { return m_Program.Values()[step.m_FirstOutput].m_LastUse <= last; });
}

std::unique_ptr<Strips> Plan::ChainFinder::Make() const
{
    std::vector<ChainInput> inputs;
    auto strips = std::make_unique<Strips>();
    strips->m_First = m_First;
    strips->m_Parts = 1;
    for (const External& external : m_Externals)
    {
        inputs.push_back(external.m_Input);
        strips->m_Whole.m_Inputs[strips->m_Whole.m_NumInputs++] = external.m_Place;
    }
    for (uint32_t s = m_First; s < Next(); ++s)
    {
        const Step& step = m_Program.Steps()[s];
        StripStep& strip = strips->m_Steps.emplace_back();
        for (size_t i = 0; i < step.m_Inputs.size(); ++i)
        {
            const ValueId value = step.m_Inputs[i]; // a view's shape may be absent
            strip.m_Inputs[i].m_Bytes = value != NoValue ? m_Plan.m_Infos[value].GetNumBytes() : 0;
        }
        strip.m_Output.m_Bytes = m_Plan.m_Infos[step.m_FirstOutput].GetNumBytes();
    }
    strips->m_Whole.m_Workload = ElementChain::Make(m_Links, std::move(inputs), m_Count);
    return strips->m_Whole.m_Workload != nullptr ? std::move(strips) : nullptr;
}

} // namespace tenon
