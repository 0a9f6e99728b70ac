// SPDX-License-Identifier: Apache-2.0
// KernelChoiceInt8: chooses the microkernels, and with them the layout, for constant int8 weights.
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

/// Sizes and conditions of a GEMM whose weights are to be packed.
struct GemmShapeInt8
{
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    size_t m_Rows = 0; ///< upper bound
    RoundingInt8 m_Rounding = RoundingInt8::FixedPoint;
    bool m_IsTransposed = false; ///< weights are [depth, columns]
    size_t m_Matrices = 1;       ///< see WeightFormatInt8
    /// Weights may stay unpacked, for few rows or columns: the model's constant outlives the packed weights.
    bool m_MayStayUnpacked = false;
    /// Length of the runs that the weights were padded for, see PatchRunsInt8; 0: not padded.
    size_t m_PaddedRunBytes = 0;
    /// Constants with equal numbers of columns that together are the weights; empty: input 1.
    std::span<const void* const> m_Segments = {};
    /// With RoundingInt8::None: weights keep their type and zero point, and are not taken for int8 without a zero
    /// point.
    bool m_HasZeroPoint = false;

    /// For float data, which are quantized at run time.
    bool IsHybrid() const { return m_Rounding == RoundingInt8::None; }
    /// With float data, TFLite takes uint8 weights for int8 bit patterns without a zero point.
    bool ReadsWeightsAsInt8() const { return IsHybrid() && !m_HasZeroPoint; }
};

class KernelChoiceInt8
{
public:
    /// Up to this number of columns, weights stay unpacked and dot products run along the depth: a packed panel would
    /// leave most lanes of a vector empty. The price is one horizontal sum per column. For dot-product instructions
    /// (VNNI), which take weights of -128 and fill a vector's accumulators faster than other instructions.
    static constexpr size_t FewColumnsOfDots = 4;

    /// For input 1 of the layer. Counts over the weights are blocks of the store.
    KernelChoiceInt8(const LayerView& layer, const GemmShapeInt8& shape, const MicrokernelsInt8& microkernels,
                     backends::PackedStore& store);

    /// Upper bound of a matrix's packed bytes over all layouts.
    static uint64_t GetMaxBytes(size_t columns, size_t depth, const MicrokernelsInt8& microkernels);

    const WeightFormatInt8& GetBytes() const { return m_Bytes; }
    bool IsDataSigned() const { return m_IsDataSigned; }
    const MicrokernelSetInt8& GetTiles() const { return *m_Tiles; }
    /// Counts of terms, if the choice is split weights.
    const SplitCountsInt8& GetSplits() const { return m_Splits; }
    /// Packing of permuted weights, if they are the choice.
    const PermutedWeightsInt8& GetPermuted() const { return m_Permuted; }

private:
    const MicrokernelSetInt8& Choose(const LayerView& layer, const GemmShapeInt8& shape,
                                     const MicrokernelsInt8& microkernels, backends::PackedStore& store);

    WeightFormatInt8 m_Bytes;
    bool m_IsDataSigned;
    SplitCountsInt8 m_Splits;
    PermutedWeightsInt8 m_Permuted;
    const MicrokernelSetInt8* m_Tiles;
};

} // namespace tenon::cpu
