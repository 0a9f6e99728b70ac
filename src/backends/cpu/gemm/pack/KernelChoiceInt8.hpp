// SPDX-License-Identifier: Apache-2.0
// Which tiles the constant weights of a product of bytes are packed for.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"
#include "backends/cpu/gemm/pack/SplitWeightsInt8.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon::cpu
{

/// What a product is made of.
struct ProductShape8
{
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    size_t m_Rows = 0; ///< at most
    Rounding8 m_Rounding = Rounding8::FixedPoint;
    bool m_IsTransposed = false; ///< weights are [depth, columns]
    size_t m_Matrices = 1;       ///< see WeightBytes8
    bool m_MayStay = false;      ///< weights may be read where they are, as long as there is what is packed: for few
                                 ///< rows, or few columns
    size_t m_PaddedRunBytes = 0; ///< of runs that the weights were padded for, see ImageRuns8; 0: they were not
    /// Constants of as many columns each, which are the weights together; none: input 1.
    std::span<const void* const> m_Pieces = {};
    /// With Rounding8::None: weights are of the type and zero point that they have, in place of int8 without one.
    bool m_HasZeroPoint = false;

    /// Of float data, which are quantized while running.
    bool IsHybrid() const { return m_Rounding == Rounding8::None; }
    /// TFLite takes uint8 weights beside float data for int8 bit patterns without a zero point.
    bool AreWeightsPlain() const { return IsHybrid() && !m_HasZeroPoint; }
};

class FormChoice8
{
public:
    /// Vectors of so few columns would be empty for the most part; dot products along the depth, of weights that stay
    /// where they are, are not, but have to add lanes up for each column. Of instructions that multiply and add up at
    /// once, which take the least byte and fill a vector's sums faster than others.
    static constexpr size_t FewColumnsOfDots = 4;

    /// For input 1 of the layer. What has to be known of the weights is in blocks of the store.
    FormChoice8(const LayerView& layer, const ProductShape8& shape, const Engine8& engine,
                backends::PackedStore& store);

    /// Bytes that panels of any form have at most.
    static uint64_t GetMostBytes(size_t columns, size_t depth, const Engine8& engine);

    const WeightBytes8& GetBytes() const { return m_Bytes; }
    bool IsDataSigned() const { return m_IsDataSigned; }
    const TileSet8& GetTiles() const { return *m_Tiles; }
    /// Where the tiles are for split weights.
    const SplitCounts8& GetSplits() const { return m_Splits; }
    /// Where they are for permuted ones.
    const PermutedWeights8& GetPermuted() const { return m_Permuted; }

private:
    const TileSet8& Choose(const LayerView& layer, const ProductShape8& shape, const Engine8& engine,
                           backends::PackedStore& store);

    WeightBytes8 m_Bytes;
    bool m_IsDataSigned;
    SplitCounts8 m_Splits;
    PermutedWeights8 m_Permuted;
    const TileSet8* m_Tiles;
};

} // namespace tenon::cpu
