// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bfloat16 with sums of float32: the inner loops of ProductBf16, one set for each kind of
// processor that multiplies bfloat16: AMX or AVX512-BF16. Elsewhere the kernels of float32 run such products, see
// half/WeightedLayersF16.cpp.
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
    /// [taps][m_TapStep]: where the rows' data are, for each point of a window; null: in m_Data.
    const uint16_t* const* m_Table = nullptr;
    size_t m_TapStep = 0;
    size_t m_TapPairs = 0; ///< of a point, of which m_Pairs is a multiple
    /// Where points that are zeros alone lie: those that all rows have there are skipped; null: none are. Not of
    /// sliding tiles.
    const uint16_t* m_Zeros = nullptr;
    size_t m_PixelStep = 0;            ///< of sliding tiles: elements from a row's data to the next one's
    const uint16_t* m_Panel = nullptr; ///< [pairs][vectors][lanes][2]
    size_t m_Pairs = 0;
    bool m_HasHalfPair = false; ///< whether the data end in the middle of the last pair; not of a table
    size_t m_Rows = 0;
    /// Whether the product that the tiles are of has few rows: its sums may then be taken in another order. Not of
    /// tiles alone, or the order would depend on how rows are split over threads.
    bool m_HasFewRows = false;
    static constexpr size_t FewRows = 3;
    size_t m_StepPairs = 0; ///< of AMX: pairs of a step, which m_Pairs is a multiple of

    const float* m_Bias = nullptr; ///< [columns], and zeros up to whole vectors
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    /// Where what is to be added to the rounded output lies, as the output does; null: nothing. Then that is clamped,
    /// and rounded again.
    const uint16_t* m_Added = nullptr;
    uint16_t* m_Out = nullptr;
    size_t m_OutStride = 0;
    size_t m_Columns = 0;          ///< to be written
    NextWeights* m_Next = nullptr; ///< to be fetched meanwhile, moved on; null: none

    /// On to the tile below, which has `rows`.
    void MoveDown(size_t rows)
    {
        m_Table += m_Table != nullptr ? rows : 0;
        m_Data += m_Data != nullptr ? rows * m_DataStride : 0;
        m_Added += m_Added != nullptr ? rows * m_OutStride : 0;
        m_Out += rows * m_OutStride;
    }
};

/// Runs so many tiles of a height one below the other, of which `tile` is the first one.
using TileFunctionBf16 = void (*)(const TileBf16& tile, size_t count);

/// The inner loops of a kind of processor.
struct EngineBf16
{
    static constexpr size_t MostVectors = 4;
    static constexpr size_t MostRows = 32;
    static constexpr size_t MostLanes = 16;

    size_t m_Lanes = 0;                  ///< columns of a vector
    size_t m_Vectors = 1;                ///< in the widest panel
    size_t m_Rows[MostVectors + 1] = {}; ///< of the highest tile for a panel of so many vectors
    size_t m_MostStepPairs = 1;          ///< pairs of the depth that one step takes: the depth is a multiple of a step
    bool m_ReadsTables = false;          ///< whether tiles take TileBf16::m_Table, and halves of pairs
    bool m_HasDots = false;              ///< whether there are tiles: the processor multiplies bfloat16
    size_t m_RowUnit = 1;                ///< of tiles that are not the last one
    TileFunctionBf16 m_Tiles[MostVectors + 1][MostRows + 1] = {}; ///< by vectors and rows
    /// Panels of one vector by windows of three columns, one pixel from each other: m_Table has where the first one's
    /// rows lie. By rows, and how many the highest tile has; 0: there are none.
    size_t m_SlidingRows = 0;
    TileFunctionBf16 m_SlidingTiles[MostRows + 1] = {};
    /// To be called when a thread is done with tiles.
    void (*m_Release)() = nullptr;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const EngineBf16& GetEngineBf16();

} // namespace tenon::cpu
