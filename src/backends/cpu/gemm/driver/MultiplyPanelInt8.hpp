// SPDX-License-Identifier: Apache-2.0
// Multiplies rows of A by one packed panel: cuts the rows into tiles and hands blocks of accumulators to the epilogue.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/gemm/pack/WeightSourceInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Operands of a microkernel for one panel.
struct PackedPanelInt8
{
    const MicrokernelSetInt8* m_Tiles = nullptr;
    size_t m_Vectors = 0;
    size_t m_Width = 0; ///< columns, padding included
    const void* m_Weights = nullptr;
    size_t m_Groups = 0;             ///< of the depth
    const int32_t* m_Bias = nullptr; ///< initial accumulators
};

/// Rows of A. Memory up to the next multiple of KernelTraitsInt8::m_RowUnit rows can be read.
struct DataRowsInt8
{
    const void* m_Data = nullptr;
    size_t m_Stride = 0; ///< bytes
    size_t m_Rows = 0;   ///< without the padding up to KernelTraitsInt8::m_RowUnit
};

/// Calls write(sums, row, rows) with blocks of accumulators, [rows][width].
template <typename F>
void MultiplyPanelInt8(const PackedPanelInt8& panel, const DataRowsInt8& data, const F& write)
{
    const MicrokernelSetInt8& tiles = *panel.m_Tiles;
    const size_t maxRows = tiles.m_Rows[panel.m_Vectors];
    const size_t unit = tiles.m_RowUnit;
    alignas(64) int32_t sums[MicrokernelSetInt8::MaxRows * MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes +
                             RequantizeRows::PastSums];
    const auto sum = [&](size_t row, size_t rows, int32_t* to)
    {
        tiles.m_Tiles[panel.m_Vectors][DivideUp(rows, unit) * unit](
            static_cast<const std::byte*>(data.m_Data) + row * data.m_Stride, data.m_Stride, panel.m_Weights,
            panel.m_Groups, panel.m_Bias, to);
    };
    if (unit != 1)
    {
        // Full tiles come first, a lower tile last: tiles of equal heights would compute more rows that are not needed.
        for (size_t row = 0; row < data.m_Rows; row += maxRows)
        {
            const size_t rows = std::min(maxRows, data.m_Rows - row);
            sum(row, rows, sums);
            write(sums, row, rows);
        }
        return;
    }
    // Several tiles for each call of the epilogue, as its setup takes a while.
    size_t written = 0;
    ForEachTile(data.m_Rows, maxRows,
                [&](size_t row, size_t rows)
                {
                    if (row + rows - written > MicrokernelSetInt8::MaxRows)
                    {
                        write(sums, written, row - written);
                        written = row;
                    }
                    sum(row, rows, sums + (row - written) * panel.m_Width);
                });
    if (written < data.m_Rows)
    {
        write(sums, written, data.m_Rows - written);
    }
}

/// Multiplies by `count` columns from `first` on whose weights are not packed; sums are [rows][stride]. `bias`: initial
/// accumulators, from the first of these columns on.
inline void MultiplyUnpackedInt8(const MicrokernelSetInt8& tiles, const WeightSourceInt8& weights, size_t first,
                                 size_t count, const int32_t* bias, const DataRowsInt8& data, int32_t* sums,
                                 size_t stride)
{
    UnpackedDotsInt8 dots;
    dots.m_Data = static_cast<const uint8_t*>(data.m_Data);
    dots.m_DataStride = data.m_Stride;
    dots.m_Rows = data.m_Rows;
    dots.m_Depth = weights.GetDepth();
    dots.m_SumStride = stride;
    weights.ForEachRun(first, count,
                       [&](size_t column, size_t columns, const uint8_t* ofRun)
                       {
                           dots.m_Weights = ofRun;
                           dots.m_Columns = columns;
                           dots.m_Bias = bias + (column - first);
                           dots.m_Sums = sums + (column - first);
                           tiles.m_UnpackedDots(dots);
                       });
}

/// MultiplyPanelInt8 for columns whose weights are not packed.
template <typename F>
void MultiplyUnpackedPanelInt8(const WeightSourceInt8& weights, const PanelInt8& panel, const PackedPanelInt8& packed,
                               const DataRowsInt8& data, const F& write)
{
    constexpr size_t Sums =
        4 * MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes; // four rows of the widest panel
    alignas(64) int32_t sums[Sums + RequantizeRows::PastSums];
    const size_t maxRows = Sums / packed.m_Width;
    for (size_t row = 0; row < data.m_Rows; row += maxRows)
    {
        const size_t rows = std::min(maxRows, data.m_Rows - row);
        const auto* const first = static_cast<const std::byte*>(data.m_Data) + row * data.m_Stride;
        MultiplyUnpackedInt8(*packed.m_Tiles, weights, panel.m_Column, panel.m_Columns, packed.m_Bias,
                             {first, data.m_Stride, rows}, sums, packed.m_Width);
        write(sums, row, rows);
    }
}

} // namespace tenon::cpu
