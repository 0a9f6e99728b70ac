// SPDX-License-Identifier: Apache-2.0
// MicrokernelsBf16: the inner loops of GemmBf16 with float32 accumulators, for processors that multiply bfloat16 faster
// than float32: AMX (tdpbf16ps, tiles of 32 x 2 vectors), or AVX512-BF16 (vdpbf16ps) at full rate. Other processors
// widen such layers to float32, see half/.
#pragma once

#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[rows][columns] = clamp(bias[columns] + data[rows][pairs] * panel); a pair is two neighbours of the depth.
struct TileBf16
{
    const uint16_t* m_Data = nullptr;
    size_t m_DataStride = 0; ///< elements between rows
    /// Indirection buffer [taps][m_TapStep] of pointers to the rows' data; null: the data are in m_Data.
    const uint16_t* const* m_Indirection = nullptr;
    size_t m_TapStep = 0;  ///< of windows: elements between rows of taps
    size_t m_TapPairs = 0; ///< pairs of a tap, of windows of a row of taps; m_Pairs is a multiple of it
    /// Pointer that marks taps in the padding: a tap is skipped if all rows of the tile have it. Null: none is skipped.
    /// Not for sliding tiles.
    const uint16_t* m_Zeros = nullptr;
    size_t m_PixelStep = 0;            ///< of sliding tiles: elements between rows of data
    const uint16_t* m_Panel = nullptr; ///< [pairs][vectors][lanes][2]
    size_t m_Pairs = 0;
    bool m_HasHalfPair = false; ///< the last pair has its first half alone; not with an indirection buffer
    size_t m_Rows = 0;
    /// Whether the whole GEMM has few rows, so that independent accumulator chains may be used. The order of summation
    /// must not depend on the number of rows of a tile: that depends on the partition over threads.
    bool m_HasFewRows = false;
    static constexpr size_t FewRows = 3;
    size_t m_StepPairs = 0; ///< of AMX: pairs of a step, a divisor of m_Pairs, of windows also of m_TapPairs

    const float* m_Bias = nullptr; ///< [columns], padded with zeros to whole vectors
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    /// Added to the rounded output, with the layout of the output; null: nothing. The sum is clamped and rounded again.
    const uint16_t* m_Added = nullptr;
    uint16_t* m_Out = nullptr;
    size_t m_OutStride = 0;
    size_t m_Columns = 0;               ///< written columns
    WeightPrefetcher* m_Next = nullptr; ///< prefetched meanwhile and advanced; null: none

    /// Moves on to the tile below, which has `rows` rows.
    void MoveDown(size_t rows)
    {
        m_Indirection += m_Indirection != nullptr ? rows : 0;
        m_Data += m_Data != nullptr ? rows * m_DataStride : 0;
        m_Added += m_Added != nullptr ? rows * m_OutStride : 0;
        m_Out += rows * m_OutStride;
    }
};

/// Runs `count` tiles of the same height, one below the other; `tile` is the first one.
using MicrokernelBf16 = void (*)(const TileBf16& tile, size_t count);

/// Neighbouring output pixels of one row, at most MaxPixels, whose windows are read from a padded image:
///     window p, row of taps t:  m_Data + p * tile.m_DataStride + t * tile.m_TapStep
/// The memory behind the last window is readable as if there were MaxPixels of them.
struct WindowsBf16
{
    static constexpr size_t MaxPixels = 16;

    const uint16_t* m_Data = nullptr;
    size_t m_Pixels = 0;
    size_t m_OutOffset = 0; ///< of the first pixel, in elements from tile.m_Out
};

/// Runs a panel by `count` groups of windows. m_Data, m_Indirection and m_Rows of `tile` are not used.
using WindowMicrokernelBf16 = void (*)(const TileBf16& tile, const WindowsBf16* windows, size_t count);

/// The microkernels for a kind of processor.
struct MicrokernelsBf16
{
    static constexpr size_t MaxVectors = 4;
    static constexpr size_t MaxRows = 32;
    static constexpr size_t MaxLanes = 16;

    size_t m_Lanes = 0;                 ///< columns of a vector
    size_t m_Vectors = 1;               ///< in the widest panel
    size_t m_Rows[MaxVectors + 1] = {}; ///< of the highest tile, by vectors of the panel
    size_t m_MaxStepPairs = 1;          ///< most pairs of a step; the depth is a multiple of a step
    bool m_ReadsIndirection = false;    ///< tiles read m_Indirection, and halves of pairs
    bool m_HasDots = false;             ///< there are tiles: the processor multiplies bfloat16 faster than float32
    size_t m_RowUnit = 1;               ///< row multiple of all tiles but the last
    MicrokernelBf16 m_Tiles[MaxVectors + 1][MaxRows + 1] = {}; ///< by vectors and rows
    /// Panels of one vector by windows of three columns and stride 1; the indirection buffer points to the first pixel
    /// of each row of taps. By rows; m_SlidingRows: of the highest tile, 0: there are none.
    size_t m_SlidingRows = 0;
    MicrokernelBf16 m_SlidingTiles[MaxRows + 1] = {};
    /// Panels by windows of a padded image, by vectors; null: there are none.
    WindowMicrokernelBf16 m_WindowTiles[MaxVectors + 1] = {};
    /// Releases the tile registers; called when a thread has run its tiles.
    void (*m_Release)() = nullptr;
};

/// The best set for this processor. Precondition: the processor has vectors, see CpuFeatures.
const MicrokernelsBf16& GetMicrokernelsBf16();

} // namespace tenon::cpu
