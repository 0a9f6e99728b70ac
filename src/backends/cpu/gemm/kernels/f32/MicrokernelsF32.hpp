// SPDX-License-Identifier: Apache-2.0
// MicrokernelsF32: the inner loops of GemmF32, one set for each kind of processor.
//
//   out[r][c] = clamp(bias[c] + sum over taps t and depth k of data[r][t][k] * panel[t * depth + k][c] + added[r][c])
//
// A tile is `rows` x `vectors` accumulators in registers. Each step of k loads a row of the panel (`vectors` loads) and
// broadcasts one number of each row: rows x vectors multiply-adds. Rows x vectors is chosen so that all accumulators
// and a panel row fit the registers and the multiply-adds hide their latency. Called by GemmF32, WinogradF32 and the
// fused attention.
#pragma once

#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Operands of a microkernel: a few rows of data by a panel of packed weights. A row's data are `m_Taps` contiguous
/// runs of `m_Depth` floats: one for a matrix, one for each kernel tap (or row of taps) of a convolution.
struct TileF32
{
    const float* const* m_Indirection = nullptr; ///< [taps][m_TapStep] pointers to the rows' data
    size_t m_TapStep = 0;
    /// Without an indirection buffer, for one tap: the first row's data, and floats between rows.
    const float* m_Data = nullptr;
    size_t m_DataStride = 0;
    size_t m_Taps = 1;
    size_t m_Depth = 0;      ///< of a tap
    size_t m_DataOffset = 0; ///< floats added to each of the pointers
    /// Pointer that marks taps in the padding: a tap is skipped if all rows of the tile have it. Null: none is skipped.
    /// Not for sliding tiles.
    const float* m_Zeros = nullptr;
    size_t m_PixelStep = 0; ///< of sliding tiles: floats between rows of data
    /// Whether the whole GEMM has few rows, so that independent accumulator chains may be used. The order of summation
    /// must not depend on the number of rows of a tile: that depends on the partition over threads.
    bool m_HasFewRows = false;
    static constexpr size_t FewRows = 3;
    const float* m_Panel = nullptr; ///< [taps * depth][vectors * lanes]
    size_t m_PanelStride = 0;       ///< of tiles in place: floats between steps of the depth
    size_t m_Columns = 0;           ///< of the output, without the panel's padding
    const float* m_Bias = nullptr;  ///< [columns]; null: zeros
    bool m_Accumulates = false;     ///< adds the sums to the output, without the bias
    /// Added to the output, with the layout of the output, which it may alias; null: nothing.
    const float* m_Added = nullptr;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    float* m_Out = nullptr;
    size_t m_OutStride = 0;
    WeightPrefetcher* m_Next = nullptr; ///< prefetched meanwhile and advanced; null: none
};

/// Runs `count` tiles of the same height, one below the other; `tile` is the first one.
using MicrokernelF32 = void (*)(const TileF32& tile, size_t count);

/// The microkernels for a kind of processor.
struct MicrokernelsF32
{
    static constexpr size_t MaxVectors = 4;
    static constexpr size_t MaxRows = 14;

    size_t m_Lanes = 0;                                       ///< columns of a vector
    size_t m_Vectors = 0;                                     ///< in the widest panel that is fast
    size_t m_MaxVectors = 0;                                  ///< in the widest panel that has microkernels
    size_t m_Rows[MaxVectors + 1] = {};                       ///< of the highest tile, by vectors of the panel
    MicrokernelF32 m_Tiles[MaxVectors + 1][MaxRows + 1] = {}; ///< by vectors and rows
    /// Panels that are not packed: vectors of a matrix's rows, unaligned.
    MicrokernelF32 m_InPlaceTiles[MaxVectors + 1][MaxRows + 1] = {};
    /// For panels whose last vector has columns in its lower half alone; 0 rows: the other tiles serve.
    size_t m_HalfVectorRows[MaxVectors + 1] = {};
    MicrokernelF32 m_HalfVectorTiles[MaxVectors + 1][MaxRows + 1] = {};
    /// Panels of one vector by windows of three columns and stride 1; the indirection buffer points to the first pixel
    /// of each row of taps. By rows; m_SlidingRows: of the highest tile, 0: there are none.
    size_t m_SlidingRows = 0;
    size_t m_MaxSlidingChannels = SIZE_MAX; ///< sliding tiles serve up to this many
    MicrokernelF32 m_SlidingTiles[MaxRows + 1] = {};
    /// Whether output lines in memory are prefetched before shallow tiles write parts of them. Useful on Zen 4; on Zen
    /// 3 with AVX2 it takes up to 1.8 times as long.
    bool m_FetchesOutput = true;

    /// The tiles, by rows, for a panel of `columns` columns; `maxRows`: rows of the highest one.
    const MicrokernelF32* FindTiles(size_t vectors, size_t columns, size_t& maxRows) const
    {
        const bool isLastVectorHalf = m_HalfVectorRows[vectors] != 0 && 2 * columns <= (2 * vectors - 1) * m_Lanes;
        maxRows = isLastVectorHalf ? m_HalfVectorRows[vectors] : m_Rows[vectors];
        return isLastVectorHalf ? m_HalfVectorTiles[vectors] : m_Tiles[vectors];
    }
};

/// The best set for this processor. Precondition: the processor has vectors, see CpuFeatures.
const MicrokernelsF32& GetMicrokernelsF32();

} // namespace tenon::cpu
