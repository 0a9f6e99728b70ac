// SPDX-License-Identifier: Apache-2.0
// Indices that name positions along one axis of a tensor. In all other dimensions an index stands at the position that
// it addresses. Used by GatherElements and ScatterElements.
#pragma once

#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

class AxisIndices
{
public:
    /// Input 0 is the data, input 1 the indices. Throws LayerValidationException when their shapes do not fit.
    AxisIndices(const ReshapeArgs& args, int axis);

    size_t GetCount() const { return m_Rows * m_RowSize; }
    /// The innermost dimension of the indices is a row.
    size_t GetNumRows() const { return m_Rows; }
    size_t GetRowSize() const { return m_RowSize; }

    /// Calls f(first, count, places) for segments of the rows from `begin` up to `end`: places[k] is the number of the
    /// element of the data that index first + k names. Throws RuntimeException for an index that is out of range.
    template <typename F>
    void ForEachBlock(const ExecuteArgs& args, size_t begin, size_t end, const F& f) const
    {
        std::array<size_t, MaxBlockIndices> places;
        for (size_t row = begin; row < end; ++row)
        {
            const size_t base = GetBase(row);
            for (size_t at = 0; at < m_RowSize; at += MaxBlockIndices)
            {
                const size_t first = row * m_RowSize + at;
                const size_t count = std::min(MaxBlockIndices, m_RowSize - at);
                Find(args, first, count, base + at * m_Step, places.data());
                f(first, count, places.data());
            }
        }
    }

    /// Calls f(i, place) for each index in turn.
    template <typename F>
    void ForEach(const ExecuteArgs& args, const F& f) const
    {
        ForEachBlock(args, 0, m_Rows,
                     [&f](size_t first, size_t count, const size_t* places)
                     {
                         for (size_t k = 0; k < count; ++k)
                         {
                             f(first + k, places[k]);
                         }
                     });
    }

private:
    static constexpr size_t MaxBlockIndices = 256;

    /// The element of the data at the place of the first index of a row, but at 0 along the axis.
    size_t GetBase(size_t row) const
    {
        size_t base = 0;
        for (unsigned int d = m_Rank - 1; d-- > 0;)
        {
            base += row % static_cast<size_t>(m_Sizes[d]) * static_cast<size_t>(m_Steps[d]);
            row /= static_cast<size_t>(m_Sizes[d]);
        }
        return base;
    }

    void Find(const ExecuteArgs& args, size_t first, size_t count, size_t base, size_t* places) const
    {
        if (!m_Find(*this, args.m_Inputs[1], first, count, base, places))
        {
            ThrowOutside(args, first, count);
        }
    }
    /// False where an index is out of range.
    template <typename T>
    static bool FindAs(const AxisIndices& self, const void* indices, size_t first, size_t count, size_t base,
                       size_t* places);
    void ThrowOutside(const ExecuteArgs& args, size_t first, size_t count) const;

    IndexInput m_Indices;
    bool (*m_Find)(const AxisIndices& self, const void* indices, size_t first, size_t count, size_t base,
                   size_t* places) = nullptr;
    unsigned int m_Rank = 0;
    size_t m_Rows = 0;
    size_t m_RowSize = 0;
    int64_t m_AxisSize = 0;
    size_t m_AxisStride = 0;
    size_t m_Step = 0; ///< from an index of a row to the next: 0 if rows lie along the axis, else 1
    Extents m_Sizes{}; ///< sizes of the indices
    Extents m_Steps{}; ///< strides of the data; 0 along the axis
};

} // namespace tenon::ref
