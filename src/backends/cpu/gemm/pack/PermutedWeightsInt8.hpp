// SPDX-License-Identifier: Apache-2.0
// Weights for processors that multiply bytes but have no dot product of four, like those of SplitWeightsInt8.hpp, where
// many are too large for sums of 16 bits: int8 weights with a scale for each channel. Data are windows of eight numbers
// x, unsigned, and their mirrors 255 - x. Each column takes the eight in an order of its own, by a shuffle of the
// window's bytes, and each as it is or as mirrored, which its weight has the other sign for: w * x = 255 * w - w * (255
// - x). So signs are free, and large weights share a sum with small ones, or with large ones of the other sign. Most
// products of four fit 16 bits then, and all of two.
//
// A panel is, for each vector of its columns: a PermutedHeader; for each step, coupled ones first, the byte of a row of
// windows where its window begins, uint32; from the next multiple of 64 bytes on what the sum of each lane lacks for
// the mirrored numbers, int32; then the steps, each of PermuteLoops8::StepBytes for each lane: [lanes] words of eight
// indices, those of the first word of weights in the lower halves of bytes; [lanes] words of four int8, and [lanes]
// more. A whole number of 64 bytes.
#pragma once

#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/gemm/pack/PermuteLoopsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::cpu
{

struct PermutedHeader
{
    uint32_t m_NumCoupled = 0; ///< steps whose products of both words share sums of 16 bits; in others those of each do
};

/// Bytes of a window: eight numbers, and their mirrors.
constexpr size_t PermutedWindowBytes = 2 * PermuteLoops8::StepDepth;

/// How many steps it takes to multiply a row of so many numbers: one for each window.
constexpr size_t GetNumPermutedSteps(size_t depth)
{
    return DivideUp(depth, PermuteLoops8::StepDepth);
}

/// Bytes in front of what sums lack.
constexpr size_t GetPermutedHeaderBytes(size_t numSteps)
{
    return DivideUp(sizeof(PermutedHeader) + numSteps * sizeof(uint32_t), ArenaAlignment) * ArenaAlignment;
}

/// Bytes of a vector of columns.
constexpr size_t GetPermutedBytes(size_t lanes, size_t numSteps)
{
    const size_t ofLane = sizeof(int32_t) + numSteps * PermuteLoops8::StepBytes;
    return GetPermutedHeaderBytes(numSteps) + DivideUp(lanes * ofLane, ArenaAlignment) * ArenaAlignment;
}

class PermutedWeights8
{
public:
    /// With fewer numbers of the depth, what a tile begins and ends with weighs more than its steps.
    static constexpr size_t LeastDepth = 33;
    /// Up to which all windows' offsets have room.
    static constexpr size_t MostDepth = std::numeric_limits<uint32_t>::max() / 2;

    PermutedWeights8() = default;
    /// Precondition: the weights are int8 without a zero point, not transposed, and no eight of a column that begin at
    /// a multiple of eight have -128 more often than PermuteLoops8::MostLeast.
    PermutedWeights8(size_t depth, size_t lanes) : m_Depth(depth), m_Lanes(lanes) {}

    size_t GetPanelBytes(const Panel8& panel) const;
    /// `columns`: the panel's, one behind the other.
    void Pack(const Panel8& panel, const uint8_t* columns, std::byte* to) const;
    /// Whether a packed panel can be read: it may come from a file.
    bool IsPanel(const Panel8& panel, const std::byte* packed) const;

private:
    size_t GetNumSteps() const { return GetNumPermutedSteps(m_Depth); }

    size_t m_Depth = 0;
    size_t m_Lanes = 0;
};

} // namespace tenon::cpu
