// SPDX-License-Identifier: Apache-2.0
// Weights for processors that multiply bytes but have no dot product of four, like those of SplitWeights8.hpp, where
// many are too large for sums of 16 bits: int8 weights with a scale for each channel. Each column takes sixteen numbers
// of the data in an order of its own, by a shuffle of their bytes, such that large weights share a sum with those of
// the other sign and with small ones. Most products of four fit 16 bits then, and almost all of two. None is split:
// where even two do not fit, both factors become int16.
//
// A panel is, for each vector of its columns: a PermutedHeader; for each step, those of a kind beside each other, the
// byte of a row of data where the sixteen begin that it chooses from, uint32; from the next multiple of 64 bytes on the
// steps, each of PermuteLoops8::StepBytes for each lane: [lanes] words of eight indices, those of the first word of
// weights in the lower halves of bytes; [lanes] words of four int8, and [lanes] more. A whole number of 64 bytes.
#pragma once

#include "backends/common/PackedStore.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/bytes/ColumnSums8.hpp"
#include "backends/cpu/gemm/bytes/Panel8.hpp"
#include "backends/cpu/gemm/bytes/PermuteLoops8.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// How many steps there are of each kind; the others are of int16.
struct PermutedHeader
{
    uint32_t m_NumCoupled = 0; ///< the products of both words share sums of 16 bits
    uint32_t m_NumLone = 0;    ///< those of each word do
};

/// Numbers of the depth that a step chooses from.
constexpr size_t PermutedWindowDepth = 16;

/// How many steps it takes to multiply a row of data of so many bytes, whole groups of four.
constexpr size_t GetNumPermutedSteps(size_t rowBytes)
{
    const size_t rest = rowBytes % PermutedWindowDepth;
    return rowBytes / PermutedWindowDepth * (PermutedWindowDepth / PermuteLoops8::StepDepth) +
           DivideUp(rest, PermuteLoops8::StepDepth);
}

/// Bytes in front of the steps.
constexpr size_t GetPermutedHeaderBytes(size_t numSteps)
{
    return DivideUp(sizeof(PermutedHeader) + numSteps * sizeof(uint32_t), ArenaAlignment) * ArenaAlignment;
}

/// Bytes of a vector of columns.
constexpr size_t GetPermutedBytes(size_t lanes, size_t numSteps)
{
    const size_t bytes = GetPermutedHeaderBytes(numSteps) + numSteps * lanes * PermuteLoops8::StepBytes;
    return DivideUp(bytes, ArenaAlignment) * ArenaAlignment;
}

/// Whether and how the weights of a product are permuted.
class PermutedWeights8
{
public:
    /// With fewer numbers of the depth, what a tile begins and ends with weighs more than its steps.
    static constexpr size_t LeastDepth = 45;

    PermutedWeights8() = default;
    /// For panels of these tiles. Precondition: the weights are int8 without a zero point, and not transposed.
    PermutedWeights8(ColumnSums8::GetColumns getColumns, const WeightBytes8& weights, const TileSet8& tiles,
                     const Engine8& engine, backends::PackedStore& store);

    /// Whether these products are faster than those of int16.
    bool AreWorthwhile() const;
    size_t GetPanelBytes(const Panel8& panel) const;
    /// `columns`: the panel's, `depth` of each one behind the other. Returns what the steps take, in instructions.
    size_t Pack(const Panel8& panel, const uint8_t* columns, size_t depth, std::byte* to) const;
    /// Whether a packed panel can be read: it may come from a file.
    bool IsPanel(const Panel8& panel, const std::byte* packed) const;

private:
    size_t m_Lanes = 0;
    size_t m_RowBytes = 0; ///< of data: whole groups of four
    size_t m_NumSteps = 0;
    backends::PackedBlock m_Block; ///< uint32: 1 if they are worth while
};

} // namespace tenon::cpu
