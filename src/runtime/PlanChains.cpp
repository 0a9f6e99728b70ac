// SPDX-License-Identifier: Apache-2.0
// Finds elementwise layers after each other that run as a chain, block by block.
#include "common/AddsTensor.hpp"
#include "runtime/ChainFinder.hpp"

#include <algorithm>

namespace tenon
{

namespace
{

/// Of a chain: as for strips.
constexpr uint32_t MostSteps = 32;

} // namespace

/// How many steps a chain from one on may have at most: what all but the last of them make is read up to that one. 0:
/// there is no such chain.
uint32_t Plan::CountChainSteps(const Program& program, uint32_t first) const
{
    const uint32_t end = first + std::min(MostSteps, static_cast<uint32_t>(m_Steps.size()) - first);
    uint32_t lastUse = program.Values()[program.Steps()[first].m_FirstOutput].m_LastUse;
    uint32_t most = 0;
    for (uint32_t s = first + 1; s < end && lastUse < end && program.Steps()[s].m_NumOutputs == 1; ++s)
    {
        most = lastUse <= s ? s - first + 1 : most;
        lastUse = std::max(lastUse, program.Values()[program.Steps()[s].m_FirstOutput].m_LastUse);
    }
    return most;
}

/// The longest chain from a step on; null where there is none of two links.
std::unique_ptr<Strips> Plan::MakeChain(const Program& program, uint32_t first) const
{
    if (m_Infos[program.Steps()[first].m_FirstOutput].GetNumBytes() < Strips::LeastChainBytes)
    {
        return nullptr;
    }
    // Counted first, since links are costly: where outputs are read late, as in blocks of many residuals, dozens of
    // steps may follow of which none could be the last one.
    const uint32_t most = CountChainSteps(program, first);
    ChainFinder finder(*this, program, first);
    std::vector<ChainFinder::Length> closed;
    for (uint32_t steps = 1; steps <= most && finder.Add(); ++steps)
    {
        if (finder.GetLength().m_Links > 1 && finder.IsClosed())
        {
            closed.push_back(finder.GetLength());
        }
    }
    for (; !closed.empty(); closed.pop_back())
    {
        finder.Shorten(closed.back());
        if (auto strips = finder.Make())
        {
            return strips;
        }
    }
    return nullptr;
}

/// Whether the product before it is to add the tensor, in registers: better there than in a chain.
bool Plan::IsSumOfLayer(const Program& program, uint32_t sum) const
{
    if (!IsSum(program.Steps()[sum]))
    {
        return false;
    }
    for (uint32_t layer = sum - std::min(sum, PlannedSum::MostSteps); layer < sum; ++layer)
    {
        const auto* const adds = dynamic_cast<const IAddsTensor*>(m_Steps[layer].m_Workload.get());
        if (adds != nullptr && adds->CanAddTensor() && FindSumOf(program, layer) == sum)
        {
            return true;
        }
    }
    return false;
}

} // namespace tenon
