// SPDX-License-Identifier: Apache-2.0
// Transposition of matrices by register tiles: the tile, the order of the tiles, and prefetches.
//
//   tile: 16 / sizeof(T) rows of the target by one vector of columns. A vector holds 16-byte blocks of several source
//         rows, so that log2(16 / sizeof(T)) rounds of interleaves (TransposeBlocks) give full target vectors.
//   order: row blocks of the target, inside of them one cache line of columns at a time.
//
// Prefetch orders and row-block heights were chosen by measurement, by element size, stride and whether the matrix is
// larger than the caches. Source strides that map cache lines to few sets (CountLinesOfSet) go by way of a buffer of
// one tile (TransposeCopies). Included by TransposeVectors.cpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_TRANSPOSE_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TRANSPOSE_TILES_INL
#undef TENON_TRANSPOSE_TILES_INL
#else
#define TENON_TRANSPOSE_TILES_INL
#endif

#include "backends/cpu/simd/CombineHalves-inl.hpp"
#include "backends/cpu/simd/TransposeBlocks-inl.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// A matrix and its transpose. Strides are in elements.
template <typename T>
struct Matrix
{
    const T* m_From = nullptr; ///< [columns of the target][rows of the target], row stride `m_FromStride`
    int64_t m_FromStride = 0;
    T* m_To = nullptr; ///< [rows][columns]
    int64_t m_ToStride = 0;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
};

/// Loads a vector of 16-byte blocks whose addresses are `stride` elements apart.
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
        return CombineHalves(d, LoadBlocks(half, from + Blocks * stride, stride), LoadBlocks(half, from, stride));
    }
}

/// The prefetch order, see TransposeTiles.
enum class Prefetch
{
    None,
    NextLines,       ///< source lines of the next columns, and target lines if shuffles take long
    NextLinesToL2,   ///< source lines of the next columns, to the second-level cache only
    LinesOfNextRows, ///< source lines of the same columns that hold the next rows
    InOrder,         ///< source lines in the order of use: the next rows, after the last rows the next columns
};

/// Elements of a cache line: the columns of one step.
template <typename T>
inline constexpr size_t LineElements = 64 / sizeof(T);

/// Prefetches source lines at each load and target lines at each store.
template <Prefetch What, typename T>
struct Prefetcher
{
    HWY_INLINE void OnLoad()
    {
        if constexpr (What != Prefetch::None)
        {
            __builtin_prefetch(reinterpret_cast<const void*>(m_From), 0, What == Prefetch::NextLinesToL2 ? 2 : 3);
            m_From += m_FromStride;
            asm volatile("" : "+r"(m_From));
        }
    }

    HWY_INLINE void OnStore(const T* to) const
    {
        if constexpr (What == Prefetch::NextLines && sizeof(T) <= 2)
        {
            __builtin_prefetch(to + LineElements<T>, 0, 2);
        }
    }

    uintptr_t m_From = 0; // beyond the end of the matrix in the last steps
    uintptr_t m_FromStride = 0;
};

/// The prefetcher of tile number `tile` of the rows [first, end) in one cache line of columns. Four consecutive tiles
/// read the same cache lines of the source, so each of them prefetches a quarter of the next ones.
template <Prefetch What, typename T>
HWY_INLINE Prefetcher<What, T> MakePrefetcher(const Matrix<T>& matrix, size_t first, size_t end, size_t column,
                                              size_t tile)
{
    constexpr size_t Line = LineElements<T>;
    constexpr size_t N = 16 / sizeof(T);
    // The same rows of the next columns, or the next rows of the same columns.
    size_t row = first + tile / 4 * Line;
    const bool isLast = row + Line >= end;
    const bool fetchesRows = What == Prefetch::LinesOfNextRows || (What == Prefetch::InOrder && !isLast);
    if (fetchesRows)
    {
        row += Line;
    }
    else
    {
        row = What == Prefetch::InOrder ? first : row;
        column += Line;
    }
    Prefetcher<What, T> prefetcher;
    prefetcher.m_FromStride = static_cast<uintptr_t>(matrix.m_FromStride) * sizeof(T);
    prefetcher.m_From = reinterpret_cast<uintptr_t>(matrix.m_From) + row * sizeof(T) +
                        (column + tile % 4 * N) * prefetcher.m_FromStride;
    return prefetcher;
}

/// A tile at a row and column of the target: as many rows as a block has elements, by a vector of columns. Addresses
/// are computed by adding strides, hidden from the compiler: otherwise it would compute the addresses of all blocks,
/// more than there are registers, before a loop over tiles.
template <class D, typename T>
struct BlockTile
{
    static constexpr size_t N = 16 / sizeof(T);

    template <Prefetch What>
    static HWY_INLINE void Transpose(D d, const Matrix<T>& matrix, size_t row, size_t column,
                                     Prefetcher<What, T> prefetcher)
    {
        hn::Vec<D> v[N];
        Load(d, v, matrix, row, column, prefetcher);
        TransposeBlocks(d, v);
        Store(d, v, matrix, row, column, prefetcher);
    }

    /// Transposes the upper half of the tile's rows only, with half of the shuffles.
    static HWY_INLINE void TransposeUpper(D d, const Matrix<T>& matrix, size_t row, size_t column)
    {
        hn::Vec<D> all[N];
        Prefetcher<Prefetch::None, T> none;
        Load(d, all, matrix, row, column, none);
        hn::Vec<D> v[N / 2];
        HWY_UNROLL(8)
        for (size_t i = 0; i < N / 2; ++i)
        {
            v[i] = hn::InterleaveUpper(d, all[i], all[i + N / 2]);
        }
        TransposeBlocks(d, v);
        Store(d, v, matrix, row + N / 2, column, none);
    }

private:
    template <Prefetch What>
    static HWY_INLINE void Load(D d, hn::Vec<D> (&v)[N], const Matrix<T>& matrix, size_t row, size_t column,
                                Prefetcher<What, T>& prefetcher)
    {
        const int64_t stride = matrix.m_FromStride;
        const T* from = matrix.m_From + static_cast<int64_t>(column) * stride + row;
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            v[i] = LoadBlocks(d, from, static_cast<int64_t>(N) * stride);
            from += stride;
            asm volatile("" : "+r"(from));
            prefetcher.OnLoad();
        }
    }

    template <size_t Count, Prefetch What>
    static HWY_INLINE void Store(D d, const hn::Vec<D> (&v)[Count], const Matrix<T>& matrix, size_t row, size_t column,
                                 const Prefetcher<What, T>& prefetcher)
    {
        T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride + column;
        HWY_UNROLL(16)
        for (size_t i = 0; i < Count; ++i)
        {
            hn::StoreU(v[i], d, to);
            prefetcher.OnStore(to);
            to += matrix.m_ToStride;
            asm volatile("" : "+r"(to));
        }
    }
};

/// Stores the `Parts` equal parts of a block to as many rows.
template <size_t Parts, class D, typename T>
HWY_INLINE void StoreParts(D d, hn::Vec<D> block, T* to, int64_t stride)
{
    if constexpr (Parts == 1)
    {
        hn::StoreU(block, d, to);
    }
    else if constexpr (Parts == 2)
    {
        const hn::Half<D> half;
        hn::StoreU(hn::LowerHalf(half, block), half, to);
        hn::StoreU(hn::UpperHalf(half, block), half, to + stride);
    }
    else
    {
        static_assert(Parts == 4);
        const hn::Repartition<uint32_t, D> words;
        const auto parts = hn::BitCast(words, block);
        const auto store = [&](uint32_t word)
        {
            std::memcpy(to, &word, sizeof(word));
            to += stride;
        };
        store(hn::ExtractLane(parts, 0));
        store(hn::ExtractLane(parts, 1));
        store(hn::ExtractLane(parts, 2));
        store(hn::ExtractLane(parts, 3));
    }
}

/// Transposes N rows by N / Parts columns of the target, where N is the number of elements of a block.
template <size_t Parts, typename T>
HWY_INLINE void TransposePartColumns(const Matrix<T>& matrix, size_t row, size_t column)
{
    constexpr size_t N = 16 / sizeof(T);
    const hn::CappedTag<T, N> d;
    using Block = hn::Vec<hn::CappedTag<T, N>>;
    const T* from = matrix.m_From + static_cast<int64_t>(column) * matrix.m_FromStride + row;
    Block v[N / Parts];
    HWY_UNROLL(8)
    for (size_t i = 0; i < N / Parts; ++i, from += matrix.m_FromStride)
    {
        v[i] = hn::LoadU(d, from);
    }
    TransposeBlocks(d, v);
    T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride + column;
    HWY_UNROLL(8)
    for (size_t i = 0; i < N / Parts; ++i, to += static_cast<int64_t>(Parts) * matrix.m_ToStride)
    {
        StoreParts<Parts>(d, v[i], to, matrix.m_ToStride);
    }
}

/// Transposes `Vectors` vectors of columns of the rows [first, end); the last rows overlap their neighbours.
/// Precondition: end is at least the number of rows of a tile.
template <size_t Lanes, size_t Vectors, Prefetch What, typename T>
HWY_INLINE void TransposeColumns(const Matrix<T>& matrix, size_t first, size_t end, size_t column)
{
    const hn::CappedTag<T, Lanes> d;
    using Tile = BlockTile<hn::CappedTag<T, Lanes>, T>;
    constexpr size_t N = Tile::N;
    size_t row = first;
    for (size_t tile = 0; row + N <= end; row += N, ++tile)
    {
        const auto prefetcher = MakePrefetcher<What>(matrix, first, end, column, tile);
        Tile::Transpose(d, matrix, row, column, prefetcher);
        HWY_UNROLL(4)
        for (size_t i = 1; i < Vectors; ++i)
        {
            Tile::Transpose(d, matrix, row, column + i * Lanes, Prefetcher<Prefetch::None, T>());
        }
    }
    const size_t rest = end - row;
    if (rest != 0)
    {
        for (size_t i = 0; i < Vectors; ++i)
        {
            if (rest > N / 2)
            {
                Tile::Transpose(d, matrix, end - N, column + i * Lanes, Prefetcher<Prefetch::None, T>());
            }
            else
            {
                Tile::TransposeUpper(d, matrix, end - N, column + i * Lanes);
            }
        }
    }
}

/// Transposes at most N / Parts columns of the rows [first, end), overlapping their neighbours.
template <size_t Parts, typename T>
HWY_INLINE void TransposePartColumns(const Matrix<T>& matrix, size_t first, size_t end, size_t column)
{
    constexpr size_t N = 16 / sizeof(T);
    column = std::min(column, matrix.m_Columns - N / Parts);
    for (size_t row = first; row < end; row += N)
    {
        TransposePartColumns<Parts>(matrix, std::min(row, end - N), column);
    }
}

/// Transposes at most `Lanes` columns by the narrowest vectors, or parts of them, that cover them, overlapping their
/// neighbours. One function serves all prefetch orders, as it does not prefetch. The matrix is a copy as in
/// TransposeRowBlocks.
template <size_t Lanes, typename T>
HWY_NOINLINE void TransposeRest(const Matrix<T> matrix, size_t first, size_t end, size_t column, size_t count)
{
    if constexpr (Lanes * sizeof(T) > 16)
    {
        if (count <= Lanes / 2)
        {
            TransposeRest<Lanes / 2>(matrix, first, end, column, count);
            return;
        }
    }
    else
    {
        if constexpr (Lanes >= 4)
        {
            if (count <= Lanes / 4)
            {
                TransposePartColumns<4>(matrix, first, end, column);
                return;
            }
        }
        if (count <= Lanes / 2)
        {
            TransposePartColumns<2>(matrix, first, end, column);
            return;
        }
    }
    TransposeColumns<Lanes, 1, Prefetch::None>(matrix, first, end, std::min(column, matrix.m_Columns - Lanes));
}

/// The number of leading columns after which target vectors are aligned in all rows; stores that cross cache lines cost
/// two. 0: no leading columns, or rows that are not aligned alike.
template <size_t Lanes, typename T>
size_t CountUnaligned(const Matrix<T>& matrix)
{
    constexpr size_t Bytes = Lanes * sizeof(T);
    const size_t past = reinterpret_cast<uintptr_t>(matrix.m_To) % Bytes;
    const bool isSame = matrix.m_ToStride % static_cast<int64_t>(Lanes) == 0;
    return isSame && past % sizeof(T) == 0 ? std::min((Bytes - past) % Bytes / sizeof(T), matrix.m_Columns) : 0;
}

/// Transposes all columns in blocks of `blockRows` rows, one cache line of the target at a time. The matrix is a copy
/// that no store can alias, so it stays in registers.
template <size_t Lanes, Prefetch What, typename T>
HWY_NOINLINE void TransposeRowBlocks(const Matrix<T> matrix, size_t blockRows)
{
    constexpr size_t Line = LineElements<T>;
    const size_t unaligned = CountUnaligned<Lanes>(matrix);
    size_t row = 0;
    while (row < matrix.m_Rows)
    {
        // A last block of a few rows would read all source lines once more, so it is joined with the block before.
        const size_t rest = matrix.m_Rows - row;
        const size_t end = rest <= blockRows + Line / 2 ? matrix.m_Rows : row + blockRows;
        if (unaligned != 0)
        {
            TransposeRest<Lanes>(matrix, row, end, 0, unaligned);
        }
        size_t column = unaligned;
        for (; column + Line <= matrix.m_Columns; column += Line)
        {
            TransposeColumns<Lanes, Line / Lanes, What>(matrix, row, end, column);
        }
        for (; column + Lanes <= matrix.m_Columns; column += Lanes)
        {
            TransposeColumns<Lanes, 1, Prefetch::None>(matrix, row, end, column);
        }
        if (column != matrix.m_Columns)
        {
            TransposeRest<Lanes>(matrix, row, end, column, matrix.m_Columns - column);
        }
        row = end;
    }
}

/// The same by vectors of `Lanes` elements. A matrix that needs vectors narrower than the target's has no whole cache
/// line of columns, so nothing is prefetched.
template <size_t Lanes, Prefetch What, typename T>
HWY_INLINE void TransposeRowBlocksBy(const Matrix<T>& matrix, size_t blockRows)
{
    TransposeRowBlocks<Lanes, Lanes == HWY_LANES(T) ? What : Prefetch::None>(matrix, blockRows);
}

/// The number of cache lines that fall into one set of the first-level cache, of the lines that one tile reads (one a
/// source row). Strides with large powers of two use few sets.
template <typename T>
size_t CountLinesOfSet(int64_t stride)
{
    constexpr int64_t Sets = 64;
    const int64_t lines = stride * static_cast<int64_t>(sizeof(T)) / 64;
    return lines == 0 ? 1 : std::max<size_t>(1, LineElements<T> * static_cast<size_t>(std::gcd(lines, Sets)) / Sets);
}

/// Transposes a matrix with at least one cache line of rows and of columns, by tiles of whole lines. Each tile is
/// copied to a buffer first, since its source lines evict each other before all of their elements are used. The last
/// tiles overlap their neighbours.
template <size_t Lanes, typename T>
HWY_NOINLINE void TransposeCopies(const Matrix<T> matrix)
{
    constexpr size_t Line = LineElements<T>;
    const hn::CappedTag<T, Line> d;
    alignas(64) T copy[Line * Line];
    Matrix<T> tile;
    tile.m_From = copy;
    tile.m_FromStride = Line;
    tile.m_ToStride = matrix.m_ToStride;
    for (size_t i = 0; i < matrix.m_Columns; i += Line)
    {
        const size_t column = std::min(i, matrix.m_Columns - Line);
        for (size_t j = 0; j < matrix.m_Rows; j += Line)
        {
            const size_t row = std::min(j, matrix.m_Rows - Line);
            const T* from = matrix.m_From + static_cast<int64_t>(column) * matrix.m_FromStride + row;
            HWY_UNROLL(8)
            for (size_t k = 0; k < Line; ++k, from += matrix.m_FromStride)
            {
                for (size_t at = 0; at < Line; at += hn::MaxLanes(d))
                {
                    hn::Store(hn::LoadU(d, from + at), d, copy + k * Line + at);
                }
            }
            tile.m_To = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride + column;
            TransposeColumns<Lanes, Line / Lanes, Prefetch::None>(tile, 0, Line, 0);
        }
    }
}

/// The same for whole tiles; a few rows and columns past them are transposed without a copy.
template <size_t Lanes, typename T>
HWY_NOINLINE void TransposeCopiesAndRest(const Matrix<T>& matrix)
{
    constexpr size_t Line = LineElements<T>;
    const auto toTiles = [](size_t count) { return count % Line <= Line / 2 ? count / Line * Line : count; };
    Matrix<T> tiles = matrix;
    tiles.m_Rows = toTiles(matrix.m_Rows);
    tiles.m_Columns = toTiles(matrix.m_Columns);
    TransposeCopies<Lanes>(tiles);
    for (size_t column = tiles.m_Columns; column < matrix.m_Columns; column += Lanes)
    {
        TransposeRest<Lanes>(matrix, 0, matrix.m_Rows, column, std::min(Lanes, matrix.m_Columns - column));
    }
    for (size_t column = 0; column < tiles.m_Columns && tiles.m_Rows != matrix.m_Rows; column += Line)
    {
        TransposeColumns<Lanes, Line / Lanes, Prefetch::None>(matrix, tiles.m_Rows, matrix.m_Rows,
                                                              std::min(column, tiles.m_Columns - Line));
    }
}

/// Transposes a matrix with at least one block of rows and of columns, by vectors at most as wide as its columns.
/// `isLarge`: as in Plane.
template <size_t Lanes, typename T>
HWY_INLINE void TransposeTiles(const Matrix<T>& matrix, bool isLarge)
{
    if constexpr (Lanes * sizeof(T) > 16)
    {
        if (matrix.m_Columns < Lanes)
        {
            TransposeTiles<Lanes / 2>(matrix, isLarge);
            return;
        }
    }
    // For matrices beyond the caches, one cache line of each source row at a time, with prefetches of the next ones, is
    // the fastest: each line is used at once. If prefetched lines would evict each other or are in a page each, and for
    // matrices within the caches, some lines of each row are faster, as the processor prefetches neighbours on its own.
    // The same holds if rows begin within cache lines: lines at the bounds of row blocks would be read twice.
    constexpr size_t MaxOfSet = sizeof(T) == 1 ? 4 : sizeof(T) == 8 ? 1 : 2;
    constexpr size_t Line = LineElements<T>;
    constexpr int64_t Page = 4096 / sizeof(T);
    constexpr Prefetch Far = sizeof(T) <= 2 ? Prefetch::NextLinesToL2 : Prefetch::None;
    constexpr size_t LongRowBlock = (sizeof(T) <= 2 ? 16 : 64) * Line;
    if constexpr (sizeof(T) <= 4 && Lanes == HWY_LANES(T)) // tiles of larger elements have fewer lines
    {
        constexpr size_t Ways = 8;
        const bool isInFewSets =
            matrix.m_FromStride % static_cast<int64_t>(Line) == 0 && CountLinesOfSet<T>(matrix.m_FromStride) > Ways;
        // Large matrices of 4-byte elements are faster in the order of the source.
        const bool gains = sizeof(T) <= 2 || !isLarge;
        if (isInFewSets && gains && std::min(matrix.m_Rows, matrix.m_Columns) >= Line)
        {
            TransposeCopiesAndRest<Lanes>(matrix);
            return;
        }
    }
    if (!isLarge)
    {
        if constexpr (sizeof(T) == 1 && Lanes > 16) // with narrower vectors, shuffles hide prefetches
        {
            // Within the first-level cache shuffles are the bottleneck: narrower vectors save those that join halves of
            // vectors.
            constexpr size_t MaxBytes = 24 * 1024;
            matrix.m_Rows* matrix.m_Columns <= MaxBytes
                ? TransposeRowBlocks<std::min<size_t>(Lanes, 32), Prefetch::None>(matrix, 4 * Line)
                : TransposeRowBlocksBy<Lanes, Prefetch::InOrder>(matrix, 4 * Line);
        }
        else
        {
            TransposeRowBlocksBy<Lanes, Prefetch::None>(matrix, 4 * Line);
        }
    }
    else if (matrix.m_FromStride > Page || CountLinesOfSet<T>(matrix.m_FromStride) > MaxOfSet)
    {
        // Long row blocks, unless the target's lines evict each other as well.
        const bool isShort = matrix.m_FromStride > Page || CountLinesOfSet<T>(matrix.m_ToStride) > MaxOfSet;
        const size_t blockRows = isShort ? 4 * Line : LongRowBlock;
        const bool fetchesNextRows = sizeof(T) <= 2 && matrix.m_Columns < 2 * Line; // there are no next columns then
        fetchesNextRows ? TransposeRowBlocksBy<Lanes, Prefetch::LinesOfNextRows>(matrix, blockRows)
                        : TransposeRowBlocksBy<Lanes, Far>(matrix, blockRows);
    }
    else if (matrix.m_FromStride % static_cast<int64_t>(Line) != 0 ||
             reinterpret_cast<uintptr_t>(matrix.m_From) % 64 != 0)
    {
        constexpr Prefetch Next = sizeof(T) <= 4 ? Prefetch::NextLinesToL2 : Prefetch::None;
        const bool hasFew = sizeof(T) <= 4 && matrix.m_FromStride <= static_cast<int64_t>(2 * Line);
        hasFew ? TransposeRowBlocksBy<Lanes, Prefetch::NextLines>(matrix, 64 * Line)
               : TransposeRowBlocksBy<Lanes, Next>(matrix, 64 * Line);
    }
    else if (sizeof(T) == 1 && matrix.m_Rows > 2 * Line)
    {
        TransposeRowBlocksBy<Lanes, Prefetch::InOrder>(matrix, 16 * Line);
    }
    else
    {
        TransposeRowBlocksBy<Lanes, Prefetch::NextLines>(matrix, Line);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
