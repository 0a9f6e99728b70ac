// SPDX-License-Identifier: Apache-2.0
// See ElementChain.hpp.
#include "runtime/fusions/ElementChain.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace tenon
{

namespace
{

/// The minimum number of elements per thread: some microseconds of most loops, several times the cost of starting a
/// thread.
constexpr size_t MinElements = 8192;
/// Blocks consist of whole vectors of the smallest elements, if the periods in them allow it.
constexpr size_t Vector = 64;

} // namespace

/// The working memory of a thread.
struct ElementChain::Block
{
    const ExecuteArgs& m_Args;
    std::byte* m_Buffers;

    std::byte* Buffer(uint8_t index) const { return m_Buffers + index * BlockBytes; }
};

std::unique_ptr<ElementChain> ElementChain::Make(std::vector<ChainLink> links, std::vector<ChainInput> inputs,
                                                 size_t count)
{
    std::unique_ptr<ElementChain> chain(new ElementChain);
    chain->m_Links = std::move(links);
    chain->m_Inputs = std::move(inputs);
    chain->m_Count = count;
    for (const ChainLink& link : chain->m_Links)
    {
        chain->m_MaxThreads = std::min(chain->m_MaxThreads, link.m_MaxThreads);
    }
    return chain->ChooseBlock() && chain->AssignBuffers() ? std::move(chain) : nullptr;
}

/// Blocks begin at multiples of all periods up to their length, and lie within one of each longer period. Example: 4 KB
/// are 1024 floats. With inputs of period 12 and 4848, blocks have 960 elements, a multiple of 12 and of vectors. The
/// sixth block ends at 4848, after 48 elements.
bool ElementChain::ChooseBlock()
{
    size_t elementBytes = 1; // bytes of the largest elements
    for (const ChainLink& link : m_Links)
    {
        elementBytes = std::max(elementBytes, link.m_ElementBytes);
    }
    std::vector<size_t> periods;
    for (const ChainInput& input : m_Inputs)
    {
        elementBytes = std::max(elementBytes, input.m_ElementBytes);
        if (input.m_Period != 0)
        {
            periods.push_back(input.m_Period);
        }
    }
    std::sort(periods.begin(), periods.end());
    for (size_t i = 1; i < periods.size(); ++i)
    {
        if (periods[i] % periods[i - 1] != 0)
        {
            return false;
        }
    }
    const size_t max = BlockBytes / elementBytes;
    const auto firstLonger = std::upper_bound(periods.begin(), periods.end(), max);
    m_Cut = firstLonger != periods.end() ? *firstLonger : 0;
    const size_t period = firstLonger != periods.begin() ? *std::prev(firstLonger) : 1; // all shorter periods divide it
    const size_t ofVectors = std::lcm(period, Vector);
    const size_t unit = ofVectors <= max ? ofVectors : period;
    m_Block = max / unit * unit;
    return true;
}

bool ElementChain::AssignBuffers()
{
    uint8_t used = 0;
    for (const ChainInput& input : m_Inputs)
    {
        const bool isRepeated = input.m_Period != 0 && input.m_Period < m_Block;
        m_InputBuffers.push_back(isRepeated ? used++ : NoBuffer);
        if (used > MaxBuffers)
        {
            return false;
        }
    }
    // A link's buffer is free again after the last link that reads it.
    std::vector<size_t> lastReader(m_Links.size());
    for (size_t i = 0; i < m_Links.size(); ++i)
    {
        for (size_t k = 0; k < m_Links[i].m_NumOperands; ++k)
        {
            const ChainOperand& operand = m_Links[i].m_Operands[k];
            if (!operand.m_IsInput)
            {
                lastReader[operand.m_Index] = i;
            }
        }
    }
    std::array<size_t, MaxBuffers> freeFrom{};
    for (size_t i = 0; i + 1 < m_Links.size(); ++i)
    {
        const auto free = std::find_if(freeFrom.begin() + used, freeFrom.end(), [i](size_t from) { return from <= i; });
        if (free == freeFrom.end())
        {
            return false;
        }
        *free = lastReader[i] + 1;
        m_LinkBuffers.push_back(static_cast<uint8_t>(free - freeFrom.begin()));
    }
    m_LinkBuffers.push_back(NoBuffer);
    return true;
}

void ElementChain::Execute(const ExecuteArgs& args) const
{
    const size_t blocks = (m_Count + m_Block - 1) / m_Block;
    const auto run = [&](size_t begin, size_t end)
    { RunBlocks(args, begin * m_Block, std::min(m_Count, end * m_Block)); };
    // A thread runs at least one task, so there are no more tasks than threads that may run.
    const size_t blocksPerThread = (blocks + m_MaxThreads - 1) / m_MaxThreads;
    args.m_Parallel->Run(blocks, std::max({size_t{1}, MinElements / m_Block, blocksPerThread}), std::ref(run));
}

void ElementChain::RunBlocks(const ExecuteArgs& args, size_t begin, size_t end) const
{
    alignas(Vector) std::array<std::byte, MaxBuffers * BlockBytes> buffers;
    const Block block{args, buffers.data()};
    for (size_t i = 0; i < m_Inputs.size(); ++i)
    {
        if (m_InputBuffers[i] == NoBuffer)
        {
            continue;
        }
        // One period is copied first, then the copied part is doubled until the block is full.
        std::byte* const to = block.Buffer(m_InputBuffers[i]);
        const size_t bytes = m_Block * m_Inputs[i].m_ElementBytes;
        size_t filled = m_Inputs[i].m_Period * m_Inputs[i].m_ElementBytes;
        std::memcpy(to, args.m_Inputs[i], filled);
        while (filled < bytes)
        {
            const size_t more = std::min(filled, bytes - filled);
            std::memcpy(to + filled, to, more);
            filled += more;
        }
    }
    for (size_t first = begin; first < end;)
    {
        const size_t untilCut = m_Cut == 0 ? m_Block : m_Cut - first % m_Cut;
        const size_t count = std::min({m_Block, end - first, untilCut});
        RunBlock(block, first, count);
        first += count;
    }
}

void ElementChain::RunBlock(const Block& block, size_t first, size_t count) const
{
    const auto find = [&](const ChainOperand& operand) -> const void*
    {
        if (!operand.m_IsInput)
        {
            return block.Buffer(m_LinkBuffers[operand.m_Index]);
        }
        const ChainInput& input = m_Inputs[operand.m_Index];
        const size_t at = input.m_Period == 0 ? first : first % input.m_Period;
        return m_InputBuffers[operand.m_Index] != NoBuffer
                   ? block.Buffer(m_InputBuffers[operand.m_Index])
                   : static_cast<const std::byte*>(block.m_Args.m_Inputs[operand.m_Index]) + at * input.m_ElementBytes;
    };
    for (size_t i = 0; i < m_Links.size(); ++i)
    {
        const ChainLink& link = m_Links[i];
        std::array<const void*, ChainLink::MaxOperands> operands{};
        for (size_t k = 0; k < link.m_NumOperands; ++k)
        {
            operands[k] = find(link.m_Operands[k]);
        }
        void* const output = m_LinkBuffers[i] != NoBuffer
                                 ? block.Buffer(m_LinkBuffers[i])
                                 : static_cast<std::byte*>(block.m_Args.m_Outputs[0]) + first * link.m_ElementBytes;
        link.m_Run(operands.data(), output, count);
    }
}

} // namespace tenon
