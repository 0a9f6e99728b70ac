// SPDX-License-Identifier: Apache-2.0
// Sums over the weights of columns.
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"

#include <cstdlib>

namespace tenon::cpu
{

namespace
{

constexpr size_t ChunkColumns = 32; ///< columns that are summed together: unpacked, they stay in a cache

/// Sums weights.m_Columns columns. `columnMagnitudes` gets the upper bound `maxMagnitudes` where that is enough to
/// rule out an overflow.
void SumColumns(const uint8_t* bytes, const WeightFormatInt8& weights, const MicrokernelsInt8& microkernels,
                int64_t maxMagnitudes, int32_t* columnSums, int64_t* columnMagnitudes)
{
    const size_t columns = weights.m_Columns;
    const size_t depth = weights.m_Depth;
    std::fill_n(columnMagnitudes, columns, maxMagnitudes);
    // Few layers are so deep that the upper bound is too large.
    constexpr int64_t Enough = int64_t{1} << 21;
    const bool needsMagnitudes = maxMagnitudes >= Enough;
    if (!weights.m_IsTransposed)
    {
        microkernels.m_SumRows(bytes, depth, columns, depth, weights.m_IsSigned, 1, columnSums);
    }
    if (!weights.m_IsTransposed && !needsMagnitudes)
    {
        return;
    }
    for (size_t c = 0; c < columns; ++c)
    {
        int64_t sum = 0;
        int64_t magnitudes = 0;
        for (size_t k = 0; k < depth; ++k)
        {
            const uint8_t byte = bytes[weights.m_IsTransposed ? k * columns + c : c * depth + k];
            const int32_t value = GetValueInt8(byte, weights.m_IsSigned);
            sum += value;
            magnitudes += std::abs(value - weights.m_ZeroPoint);
        }
        columnSums[c] = static_cast<int32_t>(sum);
        columnMagnitudes[c] = magnitudes;
    }
}

} // namespace

ColumnSumsInt8::ColumnSumsInt8(GetColumns getColumns, const WeightFormatInt8& weights,
                               const MicrokernelsInt8& microkernels, backends::PackedStore& store)
    : m_Columns(weights.m_Columns),
      m_MaxMagnitudes(static_cast<int64_t>(weights.m_Depth) *
                      (128 + std::abs(weights.m_ZeroPoint - (weights.m_IsSigned ? 0 : 128)))),
      m_Block(store.GetBlock(m_Columns * (sizeof(int64_t) + sizeof(int32_t)),
                             [&](std::byte* to)
                             {
                                 auto* const magnitudes = reinterpret_cast<int64_t*>(to);
                                 auto* const sums = reinterpret_cast<int32_t*>(magnitudes + m_Columns);
                                 WeightFormatInt8 chunk = weights;
                                 for (size_t first = 0; first < m_Columns; first += chunk.m_Columns)
                                 {
                                     chunk.m_Columns =
                                         weights.m_IsTransposed ? m_Columns : std::min(ChunkColumns, m_Columns - first);
                                     SumColumns(getColumns(first, chunk.m_Columns), chunk, microkernels,
                                                m_MaxMagnitudes, sums + first, magnitudes + first);
                                 }
                             }))
{
}

} // namespace tenon::cpu
