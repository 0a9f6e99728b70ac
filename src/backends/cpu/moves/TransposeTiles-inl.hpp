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
    static constexpr size_t Rows = N;
    static constexpr size_t Columns = hn::MaxLanes(D());

    static HWY_INLINE void Transpose(D d, const Matrix<T>& matrix, size_t row, size_t column)
    {
        const T* from = matrix.m_From + static_cast<int64_t>(column) * matrix.m_FromStride + row;
        hn::Vec<D> v[N];
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            v[i] = LoadBlocks(d, from + static_cast<int64_t>(i) * matrix.m_FromStride,
                              static_cast<int64_t>(N) * matrix.m_FromStride);
        }
        TransposeBlocks(d, v);
        T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride + column;
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            hn::StoreU(v[i], d, to + static_cast<int64_t>(i) * matrix.m_ToStride);
        }
    }
};

/// As many rows and columns as two blocks have elements, for vectors of four blocks. Reading 32 bytes at a time takes
/// half as many loads, of which a processor does no more than it does stores and shuffles.
template <class D, typename T>
struct SquareTile
{
    static constexpr size_t N = 16 / sizeof(T);
    static constexpr size_t Rows = 2 * N;
    static constexpr size_t Columns = 2 * N;

    static HWY_INLINE void Transpose(D d, const Matrix<T>& matrix, size_t row, size_t column)
    {
        const hn::Half<D> half;
        const T* from = matrix.m_From + static_cast<int64_t>(column) * matrix.m_FromStride + row;
        const int64_t fromN = static_cast<int64_t>(N) * matrix.m_FromStride;
        hn::Vec<D> v[N];
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            const T* const at = from + static_cast<int64_t>(i) * matrix.m_FromStride;
            v[i] = hn::Combine(d, hn::LoadU(half, at + fromN), hn::LoadU(half, at));
        }
        TransposeBlocks(d, v);
        // Blocks are now of rows i, N + i, i and N + i.
        alignas(64) static constexpr uint64_t Order[] = {0, 1, 4, 5, 2, 3, 6, 7};
        const hn::Repartition<uint64_t, D> dPairs;
        const auto order = hn::SetTableIndices(dPairs, Order);
        T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride + column;
        const int64_t toN = static_cast<int64_t>(N) * matrix.m_ToStride;
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            const auto rows = hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(dPairs, v[i]), order));
            T* const at = to + static_cast<int64_t>(i) * matrix.m_ToStride;
            hn::StoreU(hn::LowerHalf(half, rows), half, at);
            hn::StoreU(hn::UpperHalf(half, rows), half, at + toN);
        }
    }
};

/// All tiles of a matrix that has at least one, the last ones over their neighbours.
template <template <class, typename> class Tile, class D, typename T>
void ForEachTile(D d, const Matrix<T>& matrix)
{
    using TileOf = Tile<D, T>;
    // In pieces of whole cache lines of the source by several vectors of the target: fewer lines and pages at a time.
    constexpr size_t LineRows = 64 / sizeof(T);
    constexpr size_t PieceColumns = (sizeof(T) == 1 ? 2 : 4) * hn::MaxLanes(D());
    for (size_t firstColumn = 0; firstColumn < matrix.m_Columns; firstColumn += PieceColumns)
    {
        const size_t endColumn = std::min(firstColumn + PieceColumns, matrix.m_Columns);
        for (size_t firstRow = 0; firstRow < matrix.m_Rows; firstRow += LineRows)
        {
            const size_t endRow = std::min(firstRow + LineRows, matrix.m_Rows);
            for (size_t column = firstColumn; column < endColumn; column += TileOf::Columns)
            {
                for (size_t row = firstRow; row < endRow; row += TileOf::Rows)
                {
                    TileOf::Transpose(d, matrix, std::min(row, matrix.m_Rows - TileOf::Rows),
                                      std::min(column, matrix.m_Columns - TileOf::Columns));
                }
            }
        }
    }
}

/// Tiles of vectors that are at most as wide as the matrix has columns.
template <size_t Lanes, typename T>
HWY_INLINE void TransposeTiles(const Matrix<T>& matrix)
{
    constexpr size_t N = 16 / sizeof(T);
    const hn::CappedTag<T, Lanes> d;
    if constexpr (Lanes == 4 * N && sizeof(T) < 8)
    {
        if (matrix.m_Rows >= 2 * N && matrix.m_Columns >= 2 * N)
        {
            ForEachTile<SquareTile>(d, matrix);
            return;
        }
    }
    if constexpr (Lanes > N)
    {
        if (matrix.m_Columns < Lanes)
        {
            TransposeTiles<Lanes / 2>(matrix);
            return;
        }
    }
    ForEachTile<BlockTile>(d, matrix);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
