// SPDX-License-Identifier: Apache-2.0
// Transposition of tiles in registers. A vector holds blocks of 16 bytes of several rows, so that what is stored fills
// vectors of the target. Included by TransposeVectors.cpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_TRANSPOSE_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TRANSPOSE_TILES_INL
#undef TENON_TRANSPOSE_TILES_INL
#else
#define TENON_TRANSPOSE_TILES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// A matrix and its transpose. Strides are in elements.
template <typename T>
struct Matrix
{
    const T* m_From = nullptr; ///< [columns of the target][rows of the target], rows `m_FromStride` apart
    int64_t m_FromStride = 0;
    T* m_To = nullptr; ///< [rows][columns]
    int64_t m_ToStride = 0;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
};

/// A vector of 16-byte blocks that lie `stride` elements apart.
template <class D, typename T>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const T* from, int64_t stride)
{
    if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16)
    {
        return hn::LoadU(d, from);
    }
    else
    {
        const hn::Half<D> half;
        constexpr auto Blocks = static_cast<int64_t>(hn::MaxLanes(D()) * sizeof(T) / 32);
        return hn::Combine(d, LoadBlocks(half, from + Blocks * stride, stride), LoadBlocks(half, from, stride));
    }
}

/// Transposes blocks of 16 bytes: lists of as many vectors as a block has elements.
template <class D, size_t N>
HWY_INLINE void TransposeBlocks(D d, hn::Vec<D> (&v)[N])
{
    // Shuffling the halves of the list into each other, as often as halving takes, puts all in place.
    HWY_UNROLL(4)
    for (size_t width = 1; width < N; width *= 2)
    {
        hn::Vec<D> shuffled[N];
        HWY_UNROLL(8)
        for (size_t i = 0; i < N / 2; ++i)
        {
            shuffled[2 * i] = hn::InterleaveLower(d, v[i], v[i + N / 2]);
            shuffled[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + N / 2]);
        }
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            v[i] = shuffled[i];
        }
    }
}

/// As many rows as a block has elements, at row and column of the target; a vector of columns.
template <class D, typename T>
struct BlockTile
{
    static constexpr size_t N = 16 / sizeof(T);

    static HWY_INLINE void Transpose(D d, const Matrix<T>& matrix, size_t row, size_t column)
    {
        const Source from(matrix, row, column);
        hn::Vec<D> v[N];
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            v[i] = from.Load(d, i);
        }
        TransposeBlocks(d, v);
        Store(d, v, matrix, row, column);
    }

    /// Its upper half alone, by half the shuffles.
    static HWY_INLINE void TransposeUpper(D d, const Matrix<T>& matrix, size_t row, size_t column)
    {
        const Source from(matrix, row, column);
        hn::Vec<D> v[N / 2];
        HWY_UNROLL(8)
        for (size_t i = 0; i < N / 2; ++i)
        {
            v[i] = hn::InterleaveUpper(d, from.Load(d, i), from.Load(d, i + N / 2));
        }
        TransposeBlocks(d, v);
        Store(d, v, matrix, row + N / 2, column);
    }

private:
    struct Source
    {
        Source(const Matrix<T>& matrix, size_t row, size_t column)
            : m_From(matrix.m_From + static_cast<int64_t>(column) * matrix.m_FromStride + row),
              m_Stride(matrix.m_FromStride)
        {
            // Else the addresses of all blocks, more than there are registers, are found ahead of a loop over tiles.
            asm volatile("" : "+r"(m_Stride));
        }

        HWY_INLINE hn::Vec<D> Load(D d, size_t i) const
        {
            return LoadBlocks(d, m_From + static_cast<int64_t>(i) * m_Stride, static_cast<int64_t>(N) * m_Stride);
        }

        const T* m_From;
        int64_t m_Stride;
    };

    template <size_t Count>
    static HWY_INLINE void Store(D d, const hn::Vec<D> (&v)[Count], const Matrix<T>& matrix, size_t row, size_t column)
    {
        T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride + column;
        HWY_UNROLL(16)
        for (size_t i = 0; i < Count; ++i)
        {
            hn::StoreU(v[i], d, to + static_cast<int64_t>(i) * matrix.m_ToStride);
        }
    }
};

/// A vector of columns of the rows [first, end), the last ones over their neighbours. Precondition: end is a block of
/// rows at least.
template <size_t Lanes, typename T>
HWY_INLINE void TransposeColumns(const Matrix<T>& matrix, size_t first, size_t end, size_t column)
{
    const hn::CappedTag<T, Lanes> d;
    using Tile = BlockTile<hn::CappedTag<T, Lanes>, T>;
    size_t row = first;
    for (; row + Tile::N <= end; row += Tile::N)
    {
        Tile::Transpose(d, matrix, row, column);
    }
    const size_t rest = end - row;
    if (rest > Tile::N / 2)
    {
        Tile::Transpose(d, matrix, end - Tile::N, column);
    }
    else if (rest != 0)
    {
        Tile::TransposeUpper(d, matrix, end - Tile::N, column);
    }
}

/// At most `Lanes` columns, by the narrowest vectors that cover them, over their neighbours.
template <size_t Lanes, typename T>
HWY_INLINE void TransposeRest(const Matrix<T>& matrix, size_t first, size_t end, size_t column, size_t count)
{
    if constexpr (Lanes * sizeof(T) > 16)
    {
        if (count <= Lanes / 2)
        {
            TransposeRest<Lanes / 2>(matrix, first, end, column, count);
            return;
        }
    }
    TransposeColumns<Lanes>(matrix, first, end, std::min(column, matrix.m_Columns - Lanes));
}

/// How many columns come before those whose vectors lie within cache lines, in all rows: what crosses lines is written
/// in two. 0: none do.
template <size_t Lanes, typename T>
size_t CountUnaligned(const Matrix<T>& matrix)
{
    constexpr size_t Bytes = Lanes * sizeof(T);
    const size_t past = reinterpret_cast<uintptr_t>(matrix.m_To) % Bytes;
    const bool isSame = matrix.m_ToStride % static_cast<int64_t>(Lanes) == 0;
    return isSame && past % sizeof(T) == 0 ? std::min((Bytes - past) % Bytes / sizeof(T), matrix.m_Columns) : 0;
}

/// A matrix that has a block of rows and of columns at least, by vectors that are at most as wide as it has columns.
template <size_t Lanes, typename T>
HWY_INLINE void TransposeTiles(const Matrix<T>& matrix)
{
    if constexpr (Lanes * sizeof(T) > 16)
    {
        if (matrix.m_Columns < Lanes)
        {
            TransposeTiles<Lanes / 2>(matrix);
            return;
        }
    }
    // In pieces: what is read goes on for some cache lines, as processors expect, and lines of the target that are
    // written in two are still at hand.
    constexpr size_t PieceRows = 256 / sizeof(T);
    constexpr size_t PieceColumns = 512 / sizeof(T);
    size_t begin = 0;
    for (size_t end = CountUnaligned<Lanes>(matrix); begin < matrix.m_Columns;
         begin = end, end = std::min(end + PieceColumns, matrix.m_Columns))
    {
        for (size_t row = 0; row < matrix.m_Rows; row += PieceRows)
        {
            const size_t endRow = std::min(row + PieceRows, matrix.m_Rows);
            size_t column = begin;
            for (; column + Lanes <= end; column += Lanes)
            {
                TransposeColumns<Lanes>(matrix, row, endRow, column);
            }
            if (column != end)
            {
                TransposeRest<Lanes>(matrix, row, endRow, column, end - column);
            }
        }
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
