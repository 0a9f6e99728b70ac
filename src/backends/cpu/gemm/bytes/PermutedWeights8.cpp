// SPDX-License-Identifier: Apache-2.0
// Packing of permuted weights.
#include "backends/cpu/gemm/bytes/PermutedWeights8.hpp"

#include "backends/cpu/moves/TransposeVectors.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace tenon::cpu
{

namespace
{

constexpr size_t GroupDepth = 4;
constexpr size_t WindowDepth = PermutedWindowDepth;
constexpr size_t StepDepth = PermuteLoops8::StepDepth;
static_assert(PermutedWeights8::LeastDepth >= WindowDepth);
/// What a step takes, in vector instructions, and what pairs of int16 take for as many numbers.
constexpr size_t CoupledCost = 7;
constexpr size_t LoneCost = 8;
constexpr size_t WideCost = 22;
constexpr size_t PairsCost = 8;

/// A vector of columns that is being packed: coupled steps from the front on, lone ones from the back, and the others,
/// which are rare, between them at the end.
class PackedVector
{
public:
    PackedVector(std::byte* to, size_t numSteps, size_t stepBytes)
        : m_To(to), m_Offsets(reinterpret_cast<uint32_t*>(to + sizeof(PermutedHeader))),
          m_Steps(to + GetPermutedHeaderBytes(numSteps)), m_NumSteps(numSteps), m_StepBytes(stepBytes)
    {
        std::memset(to, 0, GetPermutedHeaderBytes(numSteps));
    }

    /// `numCoupled`: of the first of `count` steps; -1: they are of int16.
    void Add(size_t offset, const std::byte* steps, size_t count, int numCoupled)
    {
        for (size_t s = 0; s < count; ++s, steps += m_StepBytes)
        {
            if (numCoupled < 0)
            {
                m_WideOffsets.push_back(offset);
                m_WideSteps.insert(m_WideSteps.end(), steps, steps + m_StepBytes);
            }
            else if (s < static_cast<size_t>(numCoupled))
            {
                Put(m_NumCoupled++, offset, steps);
            }
            else
            {
                Put(m_NumSteps - ++m_NumLone, offset, steps);
            }
        }
    }

    /// Returns what the steps take.
    size_t Finish()
    {
        // Lone ones before those of int16.
        const size_t numWide = m_WideOffsets.size();
        const size_t back = m_NumSteps - m_NumLone;
        if (numWide != 0)
        {
            std::copy(m_Offsets + back, m_Offsets + m_NumSteps, m_Offsets + m_NumCoupled);
            std::copy(m_Steps + back * m_StepBytes, m_Steps + m_NumSteps * m_StepBytes,
                      m_Steps + m_NumCoupled * m_StepBytes);
        }
        for (size_t i = 0; i < numWide; ++i)
        {
            Put(m_NumCoupled + m_NumLone + i, m_WideOffsets[i], m_WideSteps.data() + i * m_StepBytes);
        }
        const PermutedHeader header = {static_cast<uint32_t>(m_NumCoupled), static_cast<uint32_t>(m_NumLone)};
        std::memcpy(m_To, &header, sizeof(header));
        return m_NumCoupled * CoupledCost + m_NumLone * LoneCost + numWide * WideCost;
    }

private:
    void Put(size_t place, size_t offset, const std::byte* step)
    {
        m_Offsets[place] = static_cast<uint32_t>(offset);
        std::memcpy(m_Steps + place * m_StepBytes, step, m_StepBytes);
    }

    std::byte* m_To;
    uint32_t* m_Offsets;
    std::byte* m_Steps;
    size_t m_NumSteps;
    size_t m_StepBytes;
    size_t m_NumCoupled = 0;
    size_t m_NumLone = 0;
    std::vector<size_t> m_WideOffsets;
    std::vector<std::byte> m_WideSteps;
};

} // namespace

PermutedWeights8::PermutedWeights8(ColumnSums8::GetColumns getColumns, const WeightBytes8& weights,
                                   const TileSet8& tiles, const Engine8& engine, backends::PackedStore& store)
    : m_Lanes(engine.m_Lanes), m_RowBytes(DivideUp(weights.m_Depth, GroupDepth) * GroupDepth),
      m_NumSteps(GetNumPermutedSteps(m_RowBytes))
{
    if (weights.m_Depth < LeastDepth || m_RowBytes > std::numeric_limits<uint32_t>::max())
    {
        return;
    }
    const auto fill = [&](std::byte* to)
    {
        // Two panels stand for all: their columns are of one kind.
        const std::vector<Panel8> panels = CutColumns8(weights.m_Columns, m_Lanes, tiles, weights.m_Matrices);
        const size_t taken = std::min<size_t>(2, panels.size());
        size_t cost = 0;
        size_t pairsCost = 0;
        AlignedMemory packed;
        for (size_t i = 0; i < taken; ++i)
        {
            const Panel8& panel = panels[i * (panels.size() / 2)];
            packed.Reserve(GetPanelBytes(panel));
            cost += Pack(panel, getColumns(panel.m_Column, panel.m_Columns), weights.m_Depth, packed.Data());
            pairsCost += panel.m_Vectors * m_RowBytes * PairsCost / StepDepth;
        }
        const uint32_t areWorthwhile = cost <= pairsCost ? 1 : 0;
        std::memcpy(to, &areWorthwhile, sizeof(areWorthwhile));
    };
    m_Block = store.GetBlock(sizeof(uint32_t), fill);
}

bool PermutedWeights8::AreWorthwhile() const
{
    return m_Block.Bytes() != 0 && *m_Block.As<uint32_t>() == 1;
}

size_t PermutedWeights8::GetPanelBytes(const Panel8& panel) const
{
    return panel.m_Vectors * GetPermutedBytes(m_Lanes, m_NumSteps);
}

size_t PermutedWeights8::Pack(const Panel8& panel, const uint8_t* columns, size_t depth, std::byte* to) const
{
    const size_t stepBytes = m_Lanes * PermuteLoops8::StepBytes;
    const size_t places = 2 * m_Lanes; // columns of the two vectors that are arranged at once
    AlignedMemory weights(m_RowBytes * places);
    std::memset(weights.Data(), 0, weights.Bytes());
    TransposeBytes(reinterpret_cast<const std::byte*>(columns), depth, depth, panel.m_Columns, weights.Data(), places);

    const PermuteLoops8& loops = GetPermuteLoops8();
    const AlignedMemory steps(4 * stepBytes);
    const size_t vectorBytes = GetPermutedBytes(m_Lanes, m_NumSteps);
    std::vector<PackedVector> vectors;
    for (size_t v = 0; v < panel.m_Vectors; ++v)
    {
        vectors.emplace_back(to + v * vectorBytes, m_NumSteps, stepBytes);
    }
    for (size_t k = 0; k < m_RowBytes;)
    {
        // The last window ends with the row, over some of the one before it, whose weights are zeros in it.
        const size_t offset = std::min(k, m_RowBytes - WindowDepth);
        const bool takesEight = m_RowBytes - k <= StepDepth;
        const size_t count = takesEight ? StepDepth : WindowDepth;
        const size_t first = takesEight ? m_RowBytes - StepDepth : offset;
        std::byte* const from = weights.Data() + first * places;
        std::memset(from, 0, (k - first) * places);
        int numCoupled[2] = {};
        (takesEight ? loops.m_ArrangeEight : loops.m_ArrangeSixteen)(from, static_cast<uint32_t>(first - offset),
                                                                     steps.Data(), numCoupled);
        for (size_t v = 0; v < vectors.size(); ++v)
        {
            const size_t numSteps = count / StepDepth;
            vectors[v].Add(offset, steps.Data() + v * numSteps * stepBytes, numSteps, numCoupled[v]);
        }
        k = first + count;
    }
    size_t cost = 0;
    for (size_t v = 0; v < panel.m_Vectors; ++v)
    {
        cost += vectors[v].Finish();
        std::byte* const end = to + (v + 1) * vectorBytes;
        const size_t used = GetPermutedHeaderBytes(m_NumSteps) + m_NumSteps * stepBytes;
        std::memset(end - (vectorBytes - used), 0, vectorBytes - used);
    }
    return cost;
}

bool PermutedWeights8::IsPanel(const Panel8& panel, const std::byte* packed) const
{
    for (size_t v = 0; v < panel.m_Vectors; ++v, packed += GetPermutedBytes(m_Lanes, m_NumSteps))
    {
        const auto& header = *reinterpret_cast<const PermutedHeader*>(packed);
        const auto* const offsets = reinterpret_cast<const uint32_t*>(packed + sizeof(PermutedHeader));
        if (header.m_NumCoupled > m_NumSteps || header.m_NumLone > m_NumSteps - header.m_NumCoupled ||
            !std::all_of(offsets, offsets + m_NumSteps,
                         [this](uint32_t offset) { return offset <= m_RowBytes - WindowDepth; }))
        {
            return false;
        }
    }
    return true;
}

} // namespace tenon::cpu
