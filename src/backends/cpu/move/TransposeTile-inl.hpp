// SPDX-License-Identifier: Apache-2.0
// Transposition of a tile in registers. A vector holds 16-byte blocks of several source rows, so that stores are full
// vectors of the target. Included by TransposeTiles-inl.hpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_TRANSPOSE_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TRANSPOSE_TILE_INL
#undef TENON_TRANSPOSE_TILE_INL
#else
#define TENON_TRANSPOSE_TILE_INL
#endif

#include "backends/cpu/simd/CombineHalves-inl.hpp"
#include "backends/cpu/simd/TransposeBlocks-inl.hpp"

#include <cstdint>
#include <cstring>

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

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
