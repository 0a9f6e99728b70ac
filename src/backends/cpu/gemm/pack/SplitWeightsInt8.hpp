// SPDX-License-Identifier: Apache-2.0
// Weights for processors that multiply bytes but have no dot product of four: they add the products of two bytes up in
// 16 bits, which some weights are too large for. Those are split into several terms that are not. Sums stay exact, and
// few weights of trained networks need it. Where two terms are so small that their products fit 16 bits together, they
// become a couple, which is added up in fewer steps.
//
// A panel is a SplitHeader; for each term, couples first, the group of the data that it is multiplied with, uint32;
// from the next multiple of 64 bytes of the panel on [terms][width] words of four int8.
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
    uint32_t m_NumCouples = 0;
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

/// The weights of a panel's columns, on their way to being packed.
class SplitPanel8
{
public:
    /// `columns`: [count, depth], bytes of weights that are not transposed.
    SplitPanel8(const uint8_t* columns, size_t count, const WeightBytes8& weights, const Engine8& engine);

    /// Groups whose weights may have to be split.
    size_t GetNumLarge() const { return m_Large.size(); }
    size_t CountTerms() const;
    /// `to`: of GetSplitPanelBytes. Leaves nothing to pack again. Throws ParseException if there are not `numTerms`.
    void Pack(size_t width, size_t numTerms, std::byte* to);

private:
    /// Groups of all terms: of the first ones, which are those of all groups, and of the others.
    std::vector<uint32_t> FindTerms() const;

    size_t m_Columns;
    size_t m_Groups;
    std::vector<int16_t> m_Values; ///< [columns][groups * 4], less their zero point
    std::vector<uint32_t> m_Large;
};

/// How many terms each panel has: a block of its own, so that packing anew does not look at the weights.
class SplitCounts8
{
public:
    SplitCounts8() = default;
    /// For panels of these tiles. `percent`: so many more terms than groups are worth while.
    SplitCounts8(ColumnSums8::GetColumns getColumns, const WeightBytes8& weights, const TileSet8& tiles, size_t percent,
                 const Engine8& engine, backends::PackedStore& store);

    /// Whether products of split weights are worth while. False if there are none, and where a file has numbers that
    /// cannot be.
    bool AreFew() const;
    /// Precondition: AreFew().
    size_t Get(size_t panel) const { return m_Block.As<uint32_t>()[panel]; }

private:
    size_t m_Groups = 0;
    size_t m_MostTerms = 0;        ///< of all panels
    backends::PackedBlock m_Block; ///< uint32 for each panel
};

/// Whether a packed panel can be read: it may come from a file.
bool IsSplitPanel(const std::byte* panel, size_t groups, size_t numTerms);

} // namespace tenon::cpu
