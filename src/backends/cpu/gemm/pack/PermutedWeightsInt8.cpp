// SPDX-License-Identifier: Apache-2.0
// Packing of permuted weights.
#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"

#include "backends/cpu/move/TransposeVectors.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tenon::cpu
{

namespace
{

constexpr size_t StepDepth = PermuteLoopsInt8::StepDepth;
/// The sum of a value and its complement.
constexpr int32_t ComplementSum = 255;

/// A vector of columns that is being packed: paired steps from the front on, the others from the back.
class PackedVector
{
public:
    PackedVector(std::byte* to, size_t lanes, size_t numSteps)
        : m_To(to), m_Offsets(reinterpret_cast<uint32_t*>(to + sizeof(PermutedHeader))),
          m_Corrections(reinterpret_cast<int32_t*>(to + GetPermutedHeaderBytes(numSteps))),
          m_Steps(reinterpret_cast<std::byte*>(m_Corrections + lanes)), m_NumSteps(numSteps), m_Lanes(lanes)
    {
        std::memset(to, 0, GetPermutedHeaderBytes(numSteps));
    }

    void Add(size_t block, const std::byte* step, bool isPaired)
    {
        const size_t stepBytes = m_Lanes * PermuteLoopsInt8::StepBytes;
        const size_t place = isPaired ? m_NumPairedSteps++ : m_NumSteps - ++m_NumSingleSteps;
        m_Offsets[place] = static_cast<uint32_t>(block * ComplementBlockBytes);
        std::memcpy(m_Steps + place * stepBytes, step, stepBytes);
    }

    /// `complemented`: for each lane, the sum of the weights that multiply complements.
    void Finish(const int32_t* complemented, size_t bytes)
    {
        const PermutedHeader header = {static_cast<uint32_t>(m_NumPairedSteps)};
        std::memcpy(m_To, &header, sizeof(header));
        std::transform(complemented, complemented + m_Lanes, m_Corrections,
                       [](int32_t sum) { return ComplementSum * sum; });
        std::byte* const end = m_Steps + m_NumSteps * m_Lanes * PermuteLoopsInt8::StepBytes;
        std::memset(end, 0, static_cast<size_t>(m_To + bytes - end));
    }

private:
    std::byte* m_To;
    uint32_t* m_Offsets;
    int32_t* m_Corrections;
    std::byte* m_Steps;
    size_t m_NumSteps;
    size_t m_Lanes;
    size_t m_NumPairedSteps = 0;
    size_t m_NumSingleSteps = 0;
};

} // namespace

size_t PermutedWeightsInt8::GetPanelBytes(const PanelInt8& panel) const
{
    return panel.m_Vectors * GetPermutedBytes(m_Lanes, GetNumSteps());
}

void PermutedWeightsInt8::Pack(const PanelInt8& panel, const uint8_t* columns, std::byte* to) const
{
    const size_t numSteps = GetNumSteps();
    const size_t places = 2 * m_Lanes; // columns of the two vectors that are arranged together
    const AlignedMemory weights(numSteps * StepDepth * places);
    std::memset(weights.Data(), 0, weights.Bytes());
    TransposeBytes(reinterpret_cast<const std::byte*>(columns), m_Depth, m_Depth, panel.m_Columns, weights.Data(),
                   places);

    const size_t stepBytes = m_Lanes * PermuteLoopsInt8::StepBytes;
    const size_t vectorBytes = GetPermutedBytes(m_Lanes, numSteps);
    alignas(ArenaAlignment) std::byte steps[2 * MicrokernelsInt8::MaxLanes * PermuteLoopsInt8::StepBytes];
    alignas(ArenaAlignment) int32_t complemented[2 * MicrokernelsInt8::MaxLanes] = {};
    std::vector<PackedVector> vectors;
    for (size_t v = 0; v < panel.m_Vectors; ++v)
    {
        vectors.emplace_back(to + v * vectorBytes, m_Lanes, numSteps);
    }
    for (size_t block = 0; block < numSteps; ++block)
    {
        bool isStepPaired[2] = {};
        GetPermuteLoopsInt8().m_Arrange(weights.Data() + block * StepDepth * places, steps, complemented, isStepPaired);
        for (size_t v = 0; v < panel.m_Vectors; ++v)
        {
            vectors[v].Add(block, steps + v * stepBytes, isStepPaired[v]);
        }
    }
    for (size_t v = 0; v < panel.m_Vectors; ++v)
    {
        vectors[v].Finish(complemented + v * m_Lanes, vectorBytes);
    }
}

bool PermutedWeightsInt8::IsPanel(const PanelInt8& panel, const std::byte* packed) const
{
    const size_t numSteps = GetNumSteps();
    for (size_t v = 0; v < panel.m_Vectors; ++v, packed += GetPermutedBytes(m_Lanes, numSteps))
    {
        const auto& header = *reinterpret_cast<const PermutedHeader*>(packed);
        const auto* const offsets = reinterpret_cast<const uint32_t*>(packed + sizeof(PermutedHeader));
        if (header.m_NumPairedSteps > numSteps ||
            !std::all_of(offsets, offsets + numSteps,
                         [numSteps](uint32_t offset) { return offset <= (numSteps - 1) * ComplementBlockBytes; }))
        {
            return false;
        }
    }
    return true;
}

} // namespace tenon::cpu
