// SPDX-License-Identifier: Apache-2.0
// ElementwiseChain: consecutive elementwise layers run as one workload, block by block (ElementChain.hpp), so that the
// tensors between them are never written ("loop fusion"). A layer can be a part if its kernel offers a loop over
// elements (FusionHooks::m_ElementLoop); views between the layers can, too.
#include "runtime/fusions/ElementChain.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::fusions
{

namespace
{

/// The minimum size of a tensor between layers: for less, calls take as long as the memory traffic.
constexpr size_t MinChainTensorBytes = size_t{4} << 10;
/// The maximum number of steps of a chain: more steps would gain little, and the search takes long in large networks.
constexpr uint32_t MaxChainSteps = 32;

/// The period, in elements, of an input that is broadcast to the output: it has the output's last dimensions, and the
/// dimensions before them are 1. None if it is broadcast in another way.
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

/// The chain from a step on, link by link.
class ChainFinder
{
public:
    ChainFinder(const PlanDraft& draft, uint32_t first)
        : m_Draft(draft), m_First(first), m_Count(draft.OutputOf(first).GetNumElements())
    {
    }

    /// Adds the step after the last one; returns the reason if it is no part of the chain.
    WhyNot Add();
    /// The length of a chain, for a return to it after later steps were added.
    struct Length
    {
        size_t m_Steps = 0;
        size_t m_Links = 0;
        size_t m_Externals = 0;
    };
    Length GetLength() const { return {m_Made.size(), m_Links.size(), m_Externals.size()}; }
    void Shorten(const Length& length)
    {
        m_Made.resize(length.m_Steps);
        m_Links.resize(length.m_Links);
        m_Externals.resize(length.m_Externals);
    }
    /// Whether the chain alone reads the tensors of its steps except the last one's.
    bool IsClosed() const;
    /// The fused run of the chain, which must be closed; null if no workload runs it.
    std::unique_ptr<FusedRun> Make() const;

private:
    struct External
    {
        FusedWorkload::Input m_Place;
        ValueId m_Value = NoValue;
        ChainInput m_Input;
    };

    uint32_t Next() const { return m_First + static_cast<uint32_t>(m_Made.size()); }
    /// The operand of a value that the chain made; none for other values.
    std::optional<ChainOperand> FindMade(ValueId value) const;
    WhyNot AddInput(uint32_t input, const TensorInfo& output, ChainOperand& operand);
    WhyNot AddView(const Step& step);
    WhyNot AddLink(uint32_t index);

    const PlanDraft& m_Draft;
    const uint32_t m_First;
    const size_t m_Count;
    std::vector<ChainLink> m_Links;
    std::vector<ChainOperand> m_Made; ///< the output of each step; for a view, the operand that it shows
    std::vector<External> m_Externals;
};

std::optional<ChainOperand> ChainFinder::FindMade(ValueId value) const
{
    for (size_t i = 0; i < m_Made.size(); ++i)
    {
        if (m_Draft.GetStep(m_First + static_cast<uint32_t>(i)).m_FirstOutput == value)
        {
            return m_Made[i];
        }
    }
    return std::nullopt;
}

/// Adds an input from outside to the chain, unless the chain has it already.
WhyNot ChainFinder::AddInput(uint32_t input, const TensorInfo& output, ChainOperand& operand)
{
    const ValueId value = m_Draft.GetStep(Next()).m_Inputs[input];
    const TensorInfo& info = m_Draft.InfoOf(value);
    const auto period = FindPeriod(info.GetShape(), output.GetShape());
    if (!period || *period == 0 || GetDataTypeBits(info.GetDataType()) < 8)
    {
        return "an input is broadcast in another way than along the first dimensions";
    }
    External external;
    external.m_Place = {static_cast<uint32_t>(m_Made.size()), input};
    external.m_Value = value;
    external.m_Input = {GetDataTypeSize(info.GetDataType()), *period == m_Count ? 0 : *period};
    const auto known = std::find_if(m_Externals.begin(), m_Externals.end(),
                                    [&](const External& other) { return other.m_Value == value; });
    operand = {true, static_cast<uint32_t>(known - m_Externals.begin())};
    if (known != m_Externals.end())
    {
        return known->m_Input.m_Period == external.m_Input.m_Period ? nullptr : "an input is broadcast in two ways";
    }
    if (m_Externals.size() == FusedWorkload::MaxInputs)
    {
        return "it has too many inputs";
    }
    m_Externals.push_back(external);
    return nullptr;
}

WhyNot ChainFinder::Add()
{
    const uint32_t index = Next();
    const Step& step = m_Draft.GetStep(index);
    if (step.m_Memory != HostMemory || step.m_NumOutputs != 1 || !step.m_Overrides.empty() || step.m_Inputs.empty() ||
        step.m_Inputs.size() > ChainLink::MaxOperands)
    {
        return "the next layer is not elementwise";
    }
    if (m_Draft.OutputOf(index).GetNumElements() != m_Count)
    {
        return "the next layer has another number of elements";
    }
    if (IsResidualAdd(m_Draft, index))
    {
        return "the next layer is added in the epilogue of a product";
    }
    if (GetSchema(step.m_Type).Has(OpFlags::View))
    {
        return AddView(step);
    }
    const size_t numExternals = m_Externals.size();
    const WhyNot whyNot = AddLink(index);
    if (whyNot != nullptr)
    {
        m_Externals.resize(numExternals); // drops inputs that were added before the input that does not fit
    }
    return whyNot;
}

/// Adds a view, another shape of a tensor that the chain has made.
WhyNot ChainFinder::AddView(const Step& step)
{
    const auto made = FindMade(step.m_Inputs[0]);
    if (!made || m_Draft.InfoOf(step.m_Inputs[0]).GetNumBytes() != m_Draft.InfoOf(step.m_FirstOutput).GetNumBytes())
    {
        return "the next layer is a view of a tensor that is not the chain's";
    }
    m_Made.push_back(*made);
    return nullptr;
}

/// Adds a layer with a loop over elements. It must read a tensor of the chain, unless it is the first layer.
WhyNot ChainFinder::AddLink(uint32_t index)
{
    const FusionHooks* const hooks = m_Draft.HooksOf(index);
    if (hooks == nullptr || hooks->m_ElementLoop == nullptr)
    {
        return "the kernel of the next layer offers no loop of elements";
    }
    ChainLink link;
    link.m_Run = hooks->m_ElementLoop;
    if (hooks->m_MaxTileThreads != 0) // 0 means not tiled, which sets no limit
    {
        link.m_MaxThreads = hooks->m_MaxTileThreads;
    }
    const Step& step = m_Draft.GetStep(index);
    const TensorInfo& output = m_Draft.InfoOf(step.m_FirstOutput);
    link.m_ElementBytes = GetDataTypeSize(output.GetDataType());
    bool readsMade = false;
    for (const ValueId value : step.m_Inputs)
    {
        if (value == NoValue)
        {
            return "an input of the next layer is not connected";
        }
        const auto made = FindMade(value);
        readsMade = readsMade || made;
        ChainOperand operand = made.value_or(ChainOperand());
        if (!made)
        {
            if (const WhyNot whyNot = AddInput(static_cast<uint32_t>(link.m_NumOperands), output, operand))
            {
                return whyNot;
            }
        }
        link.m_Operands[link.m_NumOperands++] = operand;
    }
    if (!readsMade && !m_Links.empty())
    {
        return "the next layer does not read a tensor of the chain";
    }
    m_Links.push_back(std::move(link));
    m_Made.push_back({false, static_cast<uint32_t>(m_Links.size() - 1)});
    return nullptr;
}

bool ChainFinder::IsClosed() const
{
    const uint32_t last = Next() - 1;
    const auto& steps = m_Draft.m_Program.Steps();
    const bool endsInLink = !GetSchema(steps[last].m_Type).Has(OpFlags::View);
    return endsInLink &&
           std::all_of(steps.begin() + m_First, steps.begin() + last,
                       [&](const Step& step) { return m_Draft.GetValue(step.m_FirstOutput).m_LastUse <= last; });
}

std::unique_ptr<FusedRun> ChainFinder::Make() const
{
    std::vector<ChainInput> inputs;
    auto run = std::make_unique<FusedRun>();
    run->m_Kind = FusionKind::ElementwiseChain;
    run->m_First = m_First;
    run->m_Tiles = 1;
    for (const External& external : m_Externals)
    {
        inputs.push_back(external.m_Input);
        run->m_Fused.m_Inputs[run->m_Fused.m_NumInputs++] = external.m_Place;
    }
    for (uint32_t s = m_First; s < Next(); ++s)
    {
        const Step& step = m_Draft.GetStep(s);
        TiledStep& tiled = run->m_Steps.emplace_back();
        for (size_t i = 0; i < step.m_Inputs.size(); ++i)
        {
            const ValueId value = step.m_Inputs[i]; // a view's shape may be absent
            tiled.m_Inputs[i].m_Bytes = value != NoValue ? m_Draft.InfoOf(value).GetNumBytes() : 0;
        }
        tiled.m_Output.m_Bytes = m_Draft.InfoOf(step.m_FirstOutput).GetNumBytes();
    }
    run->m_Fused.m_Workload = ElementChain::Make(m_Links, std::move(inputs), m_Count);
    return run->m_Fused.m_Workload != nullptr ? std::move(run) : nullptr;
}

/// The maximum number of steps, before `end`, of a chain that begins with a step: the tensors of all its steps except
/// the last are read up to the last one. 0: there is no such chain.
uint32_t CountSteps(const PlanDraft& draft, uint32_t first, uint32_t end)
{
    end = first + std::min(MaxChainSteps, end - first);
    uint32_t lastUse = draft.GetValue(draft.GetStep(first).m_FirstOutput).m_LastUse;
    uint32_t max = 0;
    for (uint32_t s = first + 1; s < end && lastUse < end && draft.GetStep(s).m_NumOutputs == 1; ++s)
    {
        max = lastUse <= s ? s - first + 1 : max;
        lastUse = std::max(lastUse, draft.GetValue(draft.GetStep(s).m_FirstOutput).m_LastUse);
    }
    return max;
}

/// The longest chain from a step on that ends before `end`; null with the reason if there is none with two links.
std::unique_ptr<FusedRun> MakeChain(const PlanDraft& draft, uint32_t first, uint32_t end, WhyNot& whyNot)
{
    // Steps are counted first, since links are costly: if outputs are read late, as in blocks with many residuals,
    // dozens of steps may follow, none of which could be the last one.
    const uint32_t max = CountSteps(draft, first, end);
    if (max == 0)
    {
        whyNot = "its output is read by layers further on, or is an output of the network";
        return nullptr;
    }
    ChainFinder finder(draft, first);
    std::vector<ChainFinder::Length> closed;
    whyNot = nullptr;
    for (uint32_t steps = 1; steps <= max && whyNot == nullptr; ++steps)
    {
        whyNot = finder.Add();
        if (whyNot == nullptr && finder.GetLength().m_Links > 1 && finder.IsClosed())
        {
            closed.push_back(finder.GetLength());
        }
    }
    if (closed.empty())
    {
        whyNot = whyNot != nullptr ? whyNot : "layers that are not part of it read its tensors";
        return nullptr;
    }
    for (; !closed.empty(); closed.pop_back())
    {
        finder.Shorten(closed.back());
        if (auto run = finder.Make())
        {
            whyNot = nullptr;
            return run;
        }
    }
    whyNot = "its inputs are broadcast with periods that do not divide each other, or take too many buffers";
    return nullptr;
}

} // namespace

std::vector<std::unique_ptr<FusedRun>> MakeElementwiseChains(PlanDraft& draft, uint32_t first, uint32_t end)
{
    std::vector<std::unique_ptr<FusedRun>> chains;
    for (uint32_t s = first; s < end; ++s)
    {
        const FusionHooks* const hooks = draft.HooksOf(s);
        if (hooks == nullptr || hooks->m_ElementLoop == nullptr || draft.GetStep(s).m_NumOutputs != 1 ||
            draft.OutputOf(s).GetNumBytes() < MinChainTensorBytes)
        {
            continue;
        }
        WhyNot whyNot = nullptr;
        auto chain = MakeChain(draft, s, end, whyNot);
        draft.Note(FusionKind::ElementwiseChain, s, chain != nullptr ? chain->Last() : s, whyNot);
        if (chain != nullptr)
        {
            s = chain->Last();
            chains.push_back(std::move(chain));
        }
    }
    return chains;
}

void FuseElementwiseChains(PlanDraft& draft)
{
    if (draft.m_LargestBytes < MinChainTensorBytes)
    {
        return;
    }
    std::vector<std::unique_ptr<FusedRun>> chains;
    uint32_t first = 0;
    const auto addUntil = [&](uint32_t end)
    {
        auto more = MakeElementwiseChains(draft, first, end);
        std::move(more.begin(), more.end(), std::back_inserter(chains));
    };
    for (const auto& run : draft.m_Plan.m_FusedRuns)
    {
        addUntil(run->m_First);
        first = run->Last() + 1;
    }
    addUntil(draft.NumSteps());
    draft.AddRuns(std::move(chains));
}

} // namespace tenon::fusions
