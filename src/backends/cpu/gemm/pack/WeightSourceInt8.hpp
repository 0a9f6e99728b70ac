// SPDX-License-Identifier: Apache-2.0
// WeightSourceInt8: the constant weights of an int8 GEMM as the model has them, which are one constant, or several with
// equal numbers of columns, as for the gates of a recurrent layer: the address of each column, and columns as one byte
// a weight. Users: PackedWeightsInt8 (packing, and weights that stay unpacked), MultiplyPanelInt8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::cpu
{

struct WeightFormatInt8;

class WeightSourceInt8
{
public:
    WeightSourceInt8() = default;
    /// `constants`: one, or several with equal numbers of columns, one byte a weight, not transposed. `isInt4`: two
    /// weights a byte. Data are read only for columns that are asked for, which are those that the store does not have.
    WeightSourceInt8(std::span<const void* const> constants, bool isInt4, const WeightFormatInt8& format);

    /// Calls run(column, count, weights) for the columns [first, first + count), cut at the bounds of constants.
    /// Precondition: one byte a weight, not transposed.
    template <typename F>
    void ForEachRun(size_t first, size_t count, const F& run) const
    {
        for (const size_t last = first + count; first < last;)
        {
            const size_t segment = first / m_Columns;
            const size_t ofSegment = std::min(last, (segment + 1) * m_Columns) - first;
            run(first, ofSegment, m_Segments[segment] + (first - segment * m_Columns) * m_Depth);
            first += ofSegment;
        }
    }

    size_t GetDepth() const { return m_Depth; }

    /// `count` columns, contiguous one after the other; all weights where these are transposed. Valid until the next
    /// call.
    const uint8_t* GetColumns(size_t first, size_t count);

private:
    const uint8_t* JoinColumns(size_t first, size_t count);

    std::vector<const uint8_t*> m_Segments; ///< [columns][depth]
    size_t m_Columns = 0;                   ///< of a segment
    size_t m_Depth = 0;
    size_t m_Count = 0;
    bool m_IsTransposed = false;
    bool m_IsInt4 = false;
    std::vector<int8_t> m_Unpacked; ///< 4-bit weights as bytes, or columns of several segments
};

} // namespace tenon::cpu
