// SPDX-License-Identifier: Apache-2.0
// Sign-free permuted pmaddubsw, for int8 weights with many large values (scale per channel) on processors without VNNI.
// Data come as complement blocks of 16 bytes: eight biased bytes x (x = a + 128) and their complements 255 - x.
//
//   w * x = 255 * w - w * (255 - x)      a weight takes either sign, 255 * w goes into the lane's correction
//
// Each column sorts its eight weights by magnitude, deals them out by rank so that large ones share an int16 sum with
// small ones or with large ones of the opposite sign, and reads the block by a byte shuffle (pshufb) in that order.
// Most sums of four products fit int16 then, and all sums of two.
//
// Panel, for each vector of columns, a multiple of 64 bytes:
//   header:  | PermutedHeader | block offset per step, uint32, paired first | pad to 64 | correction per lane |
//   step:    | 8 indices of 4 bits per lane | weights 0-3 per lane, int8[4] | weights 4-7 per lane, int8[4] |
// Offsets are uint32, corrections int32, a step has 12 bytes per lane. In the bytes of indices, the lower halves belong
// to the first word of weights. Paired steps add both words' products in int16 before widening; single steps widen
// each.
#pragma once

#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::cpu
{

/// Loops that permute weights: for each column of a vector, an order and signs of eight weights such that four products
/// that share an int16 sum fit it.
struct PermuteLoopsInt8
{
    /// Values of the depth in a step, for each column.
    static constexpr size_t StepDepth = 8;
    /// Bytes of a step for each column: a 4-bit index for each of the eight values, and the weights.
    static constexpr size_t StepBytes = 12;

    /// Maximum number of a column's eight weights that may be -128, which cannot be negated.
    static constexpr size_t MaxMinWeights = 2;

    /// Orders the weights of two vectors of columns, [StepDepth][2 * lanes] int8. Writes [2] steps and whether each one
    /// is paired; adds to complemented[2 * lanes] the weights that multiply complements. Steps and sums are aligned.
    void (*m_Arrange)(const std::byte* weights, std::byte* steps, int32_t* complemented,
                      bool (&isStepPaired)[2]) = nullptr;
};

/// Precondition: the processor has microkernels for permuted weights.
const PermuteLoopsInt8& GetPermuteLoopsInt8();

struct PermutedHeader
{
    uint32_t m_NumPairedSteps = 0; ///< steps whose words share int16 sums; in all others each word has sums of its own
};

/// Bytes of a block: eight values, and their complements.
constexpr size_t ComplementBlockBytes = 2 * PermuteLoopsInt8::StepDepth;

/// Number of steps for a row of this depth: one for each block.
constexpr size_t GetNumPermutedSteps(size_t depth)
{
    return DivideUp(depth, PermuteLoopsInt8::StepDepth);
}

/// Bytes in front of the corrections.
constexpr size_t GetPermutedHeaderBytes(size_t numSteps)
{
    return DivideUp(sizeof(PermutedHeader) + numSteps * sizeof(uint32_t), ArenaAlignment) * ArenaAlignment;
}

/// Bytes of a vector of columns.
constexpr size_t GetPermutedBytes(size_t lanes, size_t numSteps)
{
    const size_t ofLane = sizeof(int32_t) + numSteps * PermuteLoopsInt8::StepBytes;
    return GetPermutedHeaderBytes(numSteps) + DivideUp(lanes * ofLane, ArenaAlignment) * ArenaAlignment;
}

class PermutedWeightsInt8
{
public:
    /// With a smaller depth, the start and the end of a tile take longer than its steps.
    static constexpr size_t MinDepth = 33;
    /// Largest depth for which the offsets of all blocks fit.
    static constexpr size_t MaxDepth = std::numeric_limits<uint32_t>::max() / 2;

    PermutedWeightsInt8() = default;
    /// Precondition: the weights are int8 without a zero point, not transposed, and no aligned group of eight of a
    /// column has -128 more than PermuteLoopsInt8::MaxMinWeights times.
    PermutedWeightsInt8(size_t depth, size_t lanes) : m_Depth(depth), m_Lanes(lanes) {}

    size_t GetPanelBytes(const PanelInt8& panel) const;
    /// `columns`: the panel's, contiguous one after the other.
    void Pack(const PanelInt8& panel, const uint8_t* columns, std::byte* to) const;
    /// Whether a packed panel can be read: it may come from a file.
    bool IsPanel(const PanelInt8& panel, const std::byte* packed) const;

private:
    size_t GetNumSteps() const { return GetNumPermutedSteps(m_Depth); }

    size_t m_Depth = 0;
    size_t m_Lanes = 0;
};

} // namespace tenon::cpu
