// SPDX-License-Identifier: Apache-2.0
// Transposition of matrices with fewer rows or columns than a tile. Vectors read and write past the ends of the short
// rows, except at the end of the matrix. Included by TransposeVectors.cpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_TRANSPOSE_FEW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TRANSPOSE_FEW_INL
#undef TENON_TRANSPOSE_FEW_INL
#else
#define TENON_TRANSPOSE_FEW_INL
#endif

#include "backends/cpu/move/TransposeTile-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// A range of rows or columns of a matrix.
template <typename T>
Matrix<T> SliceRows(Matrix<T> matrix, size_t first, size_t count)
{
    matrix.m_From += first;
    matrix.m_To += static_cast<int64_t>(first) * matrix.m_ToStride;
    matrix.m_Rows = count;
    return matrix;
}
template <typename T>
Matrix<T> SliceColumns(Matrix<T> matrix, size_t first, size_t count)
{
    matrix.m_From += static_cast<int64_t>(first) * matrix.m_FromStride;
    matrix.m_To += first;
    matrix.m_Columns = count;
    return matrix;
}

/// Transposes element by element.
template <typename T>
void TransposeNarrow(const Matrix<T>& matrix)
{
    for (size_t row = 0; row < matrix.m_Rows; ++row)
    {
        T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride;
        const T* from = matrix.m_From + row;
        for (size_t column = 0; column < matrix.m_Columns; ++column, from += matrix.m_FromStride)
        {
            std::memcpy(to + column, from, sizeof(T)); // two floats may have less alignment than one T
        }
    }
}

/// Transposes a vector of columns. The matrix has fewer rows than the blocks that are read.
template <class D, typename T>
HWY_INLINE void TransposeFewRows(D d, const Matrix<T>& matrix, size_t column)
{
    constexpr size_t N = BlockTile<D, T>::N;
    const int64_t stride = matrix.m_FromStride;
    const T* from = matrix.m_From + static_cast<int64_t>(column) * stride;
    hn::Vec<D> v[N];
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i, from += stride)
    {
        v[i] = LoadBlocks(d, from, static_cast<int64_t>(N) * stride);
    }
    TransposeBlocks(d, v);
    T* to = matrix.m_To + column;
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i)
    {
        if (i == matrix.m_Rows)
        {
            return;
        }
        hn::StoreU(v[i], d, to);
        to += matrix.m_ToStride;
    }
}

/// Stores the lowest block of each vector, `stride` elements apart, then the next block of each vector, and so on.
template <class D, typename T, size_t N>
HWY_INLINE void StoreBlocks(D d, const hn::Vec<D> (&v)[N], T* to, int64_t stride)
{
    if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16)
    {
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i, to += stride)
        {
            hn::StoreU(v[i], d, to);
        }
    }
    else
    {
        const hn::Half<D> half;
        hn::Vec<hn::Half<D>> part[N];
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            part[i] = hn::LowerHalf(half, v[i]);
        }
        StoreBlocks(half, part, to, stride);
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            part[i] = hn::UpperHalf(half, v[i]);
        }
        StoreBlocks(half, part, to + static_cast<int64_t>(hn::MaxLanes(D()) / 2) * stride, stride);
    }
}

/// Transposes a vector of rows. The matrix has fewer columns than the blocks that are written: elements behind a row's
/// end are overwritten by the next row, which is stored later.
template <class D, typename T>
HWY_INLINE void TransposeFewColumns(D d, const Matrix<T>& matrix, size_t row)
{
    constexpr size_t N = BlockTile<D, T>::N;
    const T* from = matrix.m_From + row;
    hn::Vec<D> v[N];
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i)
    {
        v[i] = hn::LoadU(d, from);
        from += i + 1 < matrix.m_Columns ? matrix.m_FromStride : 0; // repeats the last column
    }
    TransposeBlocks(d, v);
    StoreBlocks(d, v, matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride, matrix.m_ToStride);
}

/// Calls f(d, i) for vectors that cover [0, count). Precondition: count is a block at least.
template <size_t Lanes, typename T, typename F>
HWY_INLINE void CoverByBlocks(size_t count, const F& f)
{
    CoverBy<T, Lanes>(count,
                      [&](auto d, size_t i) HWY_ATTR
                      {
                          if constexpr (hn::MaxLanes(decltype(d)()) * sizeof(T) >= 16)
                          {
                              f(d, i);
                          }
                      });
}

/// Transposes a matrix with fewer rows or columns than a block has elements.
template <size_t Lanes, typename T>
void TransposeFew(const Matrix<T>& matrix)
{
    constexpr size_t N = 16 / sizeof(T);
    const size_t rows = matrix.m_Rows;
    const size_t columns = matrix.m_Columns;
    if (rows < N && matrix.m_FromStride >= static_cast<int64_t>(rows))
    {
        // For each column, a block of N elements is read: reads for the last columns would exceed the matrix.
        const auto stride = static_cast<size_t>(matrix.m_FromStride);
        const size_t count = columns - std::min(columns, (N - rows + stride - 1) / stride);
        if (count >= N)
        {
            CoverByBlocks<Lanes, T>(count, [&](auto d, size_t i) HWY_ATTR { TransposeFewRows(d, matrix, i); });
            TransposeNarrow(SliceColumns(matrix, count, columns - count));
            return;
        }
    }
    else if (columns < N && matrix.m_ToStride == static_cast<int64_t>(columns))
    {
        // For each row, a block of N elements is written: writes for the last rows would exceed the matrix.
        const size_t count = rows - std::min(rows, (N - 1) / columns);
        if (count >= N)
        {
            CoverByBlocks<Lanes, T>(count, [&](auto d, size_t i) HWY_ATTR { TransposeFewColumns(d, matrix, i); });
            TransposeNarrow(SliceRows(matrix, count, rows - count));
            return;
        }
    }
    TransposeNarrow(matrix);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
