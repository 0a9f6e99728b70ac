// SPDX-License-Identifier: Apache-2.0
// WeightReaderInt8: reads constant weights as one byte each.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/gemm/pack/WeightSegmentsInt8.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::cpu
{

/// Input 1 of a layer, or the constants that together are its weights. Data are read only for columns that are asked
/// for, which are those that the store does not have.
class WeightReaderInt8
{
public:
    /// `pieces`: constants with equal numbers of columns, one byte a weight, not transposed; empty: input 1.
    WeightReaderInt8(const LayerView& layer, const WeightFormatInt8& bytes, std::span<const void* const> segments = {});

    /// `count` columns, contiguous one after the other; all weights where these are transposed. Valid until the next
    /// call.
    const uint8_t* GetColumns(size_t first, size_t count);

    /// The weights as they are stored. Precondition: one byte a weight, not transposed.
    const WeightSegmentsInt8& GetSegments() const { return m_Segments; }

private:
    const uint8_t* JoinColumns(size_t first, size_t count);

    WeightSegmentsInt8 m_Segments;
    size_t m_Count;
    bool m_IsTransposed;
    bool m_IsInt4;                  ///< 4-bit weights, two a byte
    std::vector<int8_t> m_Unpacked; ///< or columns of several segments
};

} // namespace tenon::cpu
