// SPDX-License-Identifier: Apache-2.0
// Saturation-safe split weights for pmaddubsw (no VNNI). pmaddubsw adds two products of uint8 x int8 in int16 and
// saturates: 255 * (w0 + w1) fits only while the positive and the negative weights of a pair add up to at most 128 each
// (MaxPairSum). A larger pair is written as several terms w = t1 + t2 + ... that each fit, multiplied with the same
// four data bytes. The result is exact, and few weights of trained networks need it. Two terms whose pairs fit together
// are added in int16 before pmaddwd widens them (term pairs: one widening less).
//
// Panel, with `width` columns:
//   | SplitHeader | uint32 group of the data per term, paired first | pad to 64 | [terms][width] words of int8[4] |
#pragma once

#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

struct SplitHeader
{
    uint32_t m_NumTerms = 0;
    uint32_t m_NumTermPairs = 0;
};

/// Bytes in front of the weights.
constexpr size_t GetSplitHeaderBytes(size_t numTerms)
{
    const size_t bytes = sizeof(SplitHeader) + numTerms * sizeof(uint32_t);
    return (bytes + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment;
}

constexpr size_t GetSplitPanelBytes(size_t width, size_t numTerms)
{
    return GetSplitHeaderBytes(numTerms) + numTerms * width * 4;
}

/// The weights of a panel's columns while they are packed.
class SplitPanelInt8
{
public:
    /// `columns`: [count, depth], bytes of weights that are not transposed.
    SplitPanelInt8(const uint8_t* columns, size_t count, const WeightFormatInt8& weights,
                   const MicrokernelsInt8& microkernels);

    /// Number of groups whose weights may have to be split.
    size_t GetNumLarge() const { return m_Large.size(); }
    size_t CountTerms() const;
    /// `to`: GetSplitPanelBytes of memory. Can be called once. Throws ParseException if there are not `numTerms` terms.
    void Pack(size_t width, size_t numTerms, std::byte* to);

private:
    /// Groups of all terms: of the first terms, which are all groups, then of the others.
    std::vector<uint32_t> FindTerms() const;

    size_t m_Columns;
    size_t m_Groups;
    std::vector<int16_t> m_Values; ///< [columns][groups * 4], less their zero point
    std::vector<uint32_t> m_Large;
};

/// Number of terms of each panel. It is a block of the store of its own, so that packing again does not read the
/// weights.
class SplitCountsInt8
{
public:
    SplitCountsInt8() = default;
    /// For panels of these microkernels. `percent`: extra terms, relative to groups, up to which splitting is faster.
    SplitCountsInt8(ColumnSumsInt8::GetColumns getColumns, const WeightFormatInt8& weights,
                    const MicrokernelSetInt8& tiles, size_t percent, const MicrokernelsInt8& microkernels,
                    backends::PackedStore& store);

    /// Whether split weights are faster. False if there are none, and where a file has impossible numbers.
    bool IsWorthwhile() const;
    /// Precondition: IsWorthwhile().
    size_t Get(size_t panel) const { return m_Block.As<uint32_t>()[panel]; }

private:
    size_t m_Groups = 0;
    size_t m_MaxTerms = 0;         ///< of all panels
    backends::PackedBlock m_Block; ///< uint32 for each panel
};

/// An order of terms, paired terms first: pairs whose products fit int16 together.
struct TermOrder
{
    std::vector<uint32_t> m_Terms; ///< a permutation, paired terms first
    size_t m_NumTermPairs = 0;
};

/// Pairs terms. `terms`: [numTerms][rowBytes] int8, two of which share a sum; rows are whole vectors.
TermOrder PairTerms(const std::byte* terms, size_t numTerms, size_t rowBytes);

/// Whether a packed panel can be read: it may come from a file.
bool IsSplitPanel(const std::byte* panel, size_t groups, size_t numTerms);

} // namespace tenon::cpu
