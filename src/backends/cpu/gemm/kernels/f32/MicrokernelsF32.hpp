// SPDX-License-Identifier: Apache-2.0
// Tiles of float32 matrix products: the inner loops of ProductF32, one set for each kind of processor.
#pragma once

#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A tile of a product: a few rows of data by a panel of packed weights. A row's data lie in `m_Taps` places, each with
/// `m_Depth` floats beside each other: for a matrix one place, for a convolution one for each point of the window.
struct TileF32
{
    const float* const* m_Table = nullptr; ///< [taps][m_TapStep]: where the rows' data are
    size_t m_TapStep = 0;
    /// Without a table: where the first row's data are, and floats from one row's to the next one's. For one tap.
    const float* m_Data = nullptr;
    size_t m_DataStride = 0;
    size_t m_Taps = 1;
    size_t m_Depth = 0;      ///< of a tap
    size_t m_DataOffset = 0; ///< floats to add to each of the pointers
    /// Where taps that hold zeros alone lie: those that all rows have there are skipped; null: none are. Not of sliding
    /// tiles.
    const float* m_Zeros = nullptr;
    size_t m_PixelStep = 0; ///< of sliding tiles: floats from a row's data to the next one's
    /// Whether the product that the tiles are of has few rows: its sums may then be taken in another order. Not of
    /// tiles alone, or the order would depend on how rows are split over threads.
    bool m_HasFewRows = false;
    static constexpr size_t FewRows = 3;
    const float* m_Panel = nullptr; ///< [taps * depth][vectors * lanes]
    size_t m_PanelStride = 0;       ///< of tiles in place: floats from one step of the depth to the next one
    size_t m_Columns = 0;           ///< of the output; the last vector of the panel may have more
    const float* m_Bias = nullptr;  ///< [columns]; null: zeros
    bool m_Continues = false;       ///< the sums are added to what the output holds, without the bias
    /// To be added to the output, which it lies like, or in the place of; null: nothing.
    const float* m_Added = nullptr;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    float* m_Out = nullptr;
    size_t m_OutStride = 0;
    NextWeights* m_Next = nullptr; ///< to be fetched meanwhile, moved on; null: none
};

/// Runs so many tiles of a height one below the other, of which `tile` is the first one.
using TileFunctionF32 = void (*)(const TileF32& tile, size_t count);

/// The inner loops of a kind of processor.
struct EngineF32
{
    static constexpr size_t MostVectors = 4;
    static constexpr size_t MostRows = 14;

    size_t m_Lanes = 0;                                          ///< columns of a vector
    size_t m_Vectors = 0;                                        ///< in the widest panel that is fast
    size_t m_MostVectors = 0;                                    ///< in the widest one that there are tiles for
    size_t m_Rows[MostVectors + 1] = {};                         ///< of the highest tile for a panel of so many vectors
    TileFunctionF32 m_Tiles[MostVectors + 1][MostRows + 1] = {}; ///< by vectors and rows
    /// The same of panels that are not packed: vectors of a matrix's rows, from anywhere.
    TileFunctionF32 m_InPlaceTiles[MostVectors + 1][MostRows + 1] = {};
    /// For panels whose last vector has columns in its lower half alone; no rows: the others serve.
    size_t m_HalfRows[MostVectors + 1] = {};
    TileFunctionF32 m_HalfTiles[MostVectors + 1][MostRows + 1] = {};
    /// Panels of one vector by windows of three columns, one pixel from each other: a place is where the first one's
    /// row lies. By rows, and how many the highest tile has; 0: there are none.
    size_t m_SlidingRows = 0;
    size_t m_MostSlidingChannels = SIZE_MAX; ///< of the data, for which they serve
    TileFunctionF32 m_SlidingTiles[MostRows + 1] = {};
    /// Whether lines of an output in memory that shallow tiles write in part are best fetched before. On Zen 4 they
    /// are; on Zen 3 with AVX2 it takes up to 1.8 times as long.
    bool m_FetchesOutput = true;

    /// The tiles for so many columns of a panel, by rows, and the rows of the highest one.
    const TileFunctionF32* FindTiles(size_t vectors, size_t columns, size_t& mostRows) const
    {
        const bool hasHalves = m_HalfRows[vectors] != 0 && 2 * columns <= (2 * vectors - 1) * m_Lanes;
        mostRows = hasHalves ? m_HalfRows[vectors] : m_Rows[vectors];
        return hasHalves ? m_HalfTiles[vectors] : m_Tiles[vectors];
    }
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const EngineF32& GetEngineF32();

} // namespace tenon::cpu
