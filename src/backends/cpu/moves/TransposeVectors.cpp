// SPDX-License-Identifier: Apache-2.0
// Transposition in registers. A vector holds blocks of 16 bytes, each from a row of its own, so that what is stored
// fills whole vectors of the target.
#include "backends/cpu/moves/TransposeVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/moves/TransposeVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Spans-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

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

/// As many rows as a block has elements, at row and column of the target; a vector of columns.
template <class D, typename T>
HWY_INLINE void TransposeTile(D d, const Matrix<T>& matrix, size_t row, size_t column)
{
    constexpr size_t N = 16 / sizeof(T);
    const T* from = matrix.m_From + static_cast<int64_t>(column) * matrix.m_FromStride + row;
    hn::Vec<D> v[N];
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i)
    {
        v[i] = LoadBlocks(d, from + static_cast<int64_t>(i) * matrix.m_FromStride,
                          static_cast<int64_t>(N) * matrix.m_FromStride);
    }
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
    T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride + column;
    HWY_UNROLL(16)
    for (size_t i = 0; i < N; ++i)
    {
        hn::StoreU(v[i], d, to + static_cast<int64_t>(i) * matrix.m_ToStride);
    }
}

/// Tiles of vectors that are at most as wide as the matrix has columns, the last ones over their neighbours.
template <size_t Lanes, typename T>
void TransposeTiles(const Matrix<T>& matrix)
{
    constexpr size_t N = 16 / sizeof(T);
    if constexpr (Lanes > N)
    {
        if (matrix.m_Columns < Lanes)
        {
            TransposeTiles<Lanes / 2>(matrix);
            return;
        }
    }
    // In pieces of whole cache lines of the source by several vectors of the target: fewer lines and pages at a time.
    constexpr size_t LineRows = 64 / sizeof(T);
    constexpr size_t PieceColumns = (sizeof(T) == 1 ? 2 : 4) * Lanes;
    const hn::CappedTag<T, Lanes> d;
    for (size_t firstColumn = 0; firstColumn < matrix.m_Columns; firstColumn += PieceColumns)
    {
        const size_t endColumn = std::min(firstColumn + PieceColumns, matrix.m_Columns);
        for (size_t firstRow = 0; firstRow < matrix.m_Rows; firstRow += LineRows)
        {
            const size_t endRow = std::min(firstRow + LineRows, matrix.m_Rows);
            for (size_t column = firstColumn; column < endColumn; column += Lanes)
            {
                for (size_t row = firstRow; row < endRow; row += N)
                {
                    TransposeTile(d, matrix, std::min(row, matrix.m_Rows - N),
                                  std::min(column, matrix.m_Columns - Lanes));
                }
            }
        }
    }
}

/// Fewer rows or columns than a tile has.
template <typename T>
void TransposeNarrow(const Matrix<T>& matrix)
{
    for (size_t row = 0; row < matrix.m_Rows; ++row)
    {
        T* to = matrix.m_To + static_cast<int64_t>(row) * matrix.m_ToStride;
        const T* from = matrix.m_From + row;
        for (size_t column = 0; column < matrix.m_Columns; ++column, from += matrix.m_FromStride)
        {
            std::memcpy(to + column, from, sizeof(T)); // two floats are not aligned as one T
        }
    }
}

/// Some rows or columns of a matrix.
template <typename T>
Matrix<T> GetRows(Matrix<T> matrix, size_t first, size_t count)
{
    matrix.m_From += first;
    matrix.m_To += static_cast<int64_t>(first) * matrix.m_ToStride;
    matrix.m_Rows = count;
    return matrix;
}
template <typename T>
Matrix<T> GetColumns(Matrix<T> matrix, size_t first, size_t count)
{
    matrix.m_From += static_cast<int64_t>(first) * matrix.m_FromStride;
    matrix.m_To += first;
    matrix.m_Columns = count;
    return matrix;
}

/// A vector of columns, whose 2 to 4 elements lie side by side in the source.
template <class D, typename T>
HWY_INLINE void DeinterleaveVector(D d, const Matrix<T>& matrix, size_t column)
{
    const T* from = matrix.m_From + column * matrix.m_Rows;
    T* to = matrix.m_To + column;
    const int64_t stride = matrix.m_ToStride;
    hn::Vec<D> a, b, c, e;
    if (matrix.m_Rows == 2)
    {
        hn::LoadInterleaved2(d, from, a, b);
    }
    else if (matrix.m_Rows == 3)
    {
        hn::LoadInterleaved3(d, from, a, b, c);
        hn::StoreU(c, d, to + 2 * stride);
    }
    else
    {
        hn::LoadInterleaved4(d, from, a, b, c, e);
        hn::StoreU(c, d, to + 2 * stride);
        hn::StoreU(e, d, to + 3 * stride);
    }
    hn::StoreU(a, d, to);
    hn::StoreU(b, d, to + stride);
}

/// A vector of rows, whose 2 to 4 elements come to lie side by side.
template <class D, typename T>
HWY_INLINE void InterleaveVector(D d, const Matrix<T>& matrix, size_t row)
{
    const int64_t stride = matrix.m_FromStride;
    const T* from = matrix.m_From + row;
    T* to = matrix.m_To + row * matrix.m_Columns;
    const auto a = hn::LoadU(d, from);
    const auto b = hn::LoadU(d, from + stride);
    if (matrix.m_Columns == 2)
    {
        hn::StoreInterleaved2(a, b, d, to);
    }
    else if (matrix.m_Columns == 3)
    {
        hn::StoreInterleaved3(a, b, hn::LoadU(d, from + 2 * stride), d, to);
    }
    else
    {
        hn::StoreInterleaved4(a, b, hn::LoadU(d, from + 2 * stride), hn::LoadU(d, from + 3 * stride), d, to);
    }
}

/// Matrices of 2 to 4 rows or columns, without gaps between them. False: not one of these.
template <typename T>
bool TransposePixels(const Matrix<T>& matrix)
{
    const auto isFew = [](size_t count, int64_t stride)
    { return count >= 2 && count <= 4 && stride == static_cast<int64_t>(count); };
    const bool isSource = isFew(matrix.m_Rows, matrix.m_FromStride);
    if (!isSource && !isFew(matrix.m_Columns, matrix.m_ToStride))
    {
        return false;
    }
    Cover<T>(isSource ? matrix.m_Columns : matrix.m_Rows,
             [&](auto d, size_t i)
             {
                 constexpr size_t Lanes = hn::MaxLanes(decltype(d)());
                 if constexpr (Lanes * sizeof(T) < 16)
                 {
                     TransposeNarrow(isSource ? GetColumns(matrix, i, Lanes) : GetRows(matrix, i, Lanes));
                 }
                 else if (isSource)
                 {
                     DeinterleaveVector(d, matrix, i);
                 }
                 else
                 {
                     InterleaveVector(d, matrix, i);
                 }
             });
    return true;
}

template <typename T>
void Transpose(const Plane& plane, const std::byte* from, std::byte* to)
{
    constexpr auto Bytes = static_cast<int64_t>(sizeof(T));
    Matrix<T> matrix;
    matrix.m_From = reinterpret_cast<const T*>(from);
    matrix.m_FromStride = plane.m_FromRun / Bytes;
    matrix.m_To = reinterpret_cast<T*>(to);
    matrix.m_ToStride = plane.m_ToRow / Bytes;
    matrix.m_Rows = plane.m_Rows;
    matrix.m_Columns = plane.m_Runs;
    constexpr size_t N = 16 / sizeof(T);
    if constexpr (sizeof(T) <= 4)
    {
        if (TransposePixels(matrix))
        {
            return;
        }
    }
    if (matrix.m_Rows >= N && matrix.m_Columns >= N)
    {
        TransposeTiles<HWY_LANES(T)>(matrix);
    }
    else
    {
        TransposeNarrow(matrix);
    }
}

TransposeFunctions MakeTransposeFunctions()
{
    TransposeFunctions functions;
    functions.m_Transpose[0] = Transpose<uint8_t>;
    functions.m_Transpose[1] = Transpose<uint16_t>;
    functions.m_Transpose[2] = Transpose<uint32_t>;
    functions.m_Transpose[3] = Transpose<uint64_t>;
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const TransposeFunctions& GetTransposeFunctions()
{
    static const TransposeFunctions functions = TENON_CHOOSE(MakeTransposeFunctions)();
    return functions;
}

} // namespace tenon::cpu
#endif
