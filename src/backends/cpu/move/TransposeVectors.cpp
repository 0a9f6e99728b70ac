// SPDX-License-Identifier: Apache-2.0
// Transposition in registers: matrices by tiles (TransposeTiles-inl.hpp), short rows and columns, and pixels of two to
// four elements.
#include "backends/cpu/move/TransposeVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/TransposeVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/move/TransposeTiles-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/PermuteBytes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

// Matrices with fewer rows or columns than a tile. Vectors read and write past the ends of the short rows, except at
// the end of the matrix.

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

// Bytes whose source has short rows without gaps, with AVX-512 VBMI (CpuFeatures::m_Avx512Vbmi). Whole cache lines are
// loaded; byte permutations replace the loads of blocks and two rounds of shuffles.

#if HWY_TARGET == HWY_AVX3

/// Byte indices into one to three cache lines, which hold eight rows of the source, for a vector with eight rows of the
/// target by eight columns. Rows 0 to 3 and 4 to 7 alternate, for the first step of StoreEightRows.
template <size_t Lines>
struct LineIndices
{
    constexpr LineIndices()
    {
        for (size_t part = 0; part < Lines; ++part)
        {
            for (size_t i = 0; i < 64; ++i)
            {
                const size_t row = 8 * part + i / 16 + i / 8 % 2 * 4;
                const size_t byte = i % 8 * 8 * Lines + row;
                const bool isOfThird = byte >= 128;
                m_OfTwo[part][i] = static_cast<uint8_t>(isOfThird ? 0 : byte);
                m_WithThird[part][i] = static_cast<uint8_t>(isOfThird ? byte - 64 : i);
            }
        }
    }

    alignas(64) std::array<std::array<uint8_t, 64>, Lines> m_OfTwo{};
    alignas(64) std::array<std::array<uint8_t, 64>, Lines> m_WithThird{}; ///< combine two lines with the third
};

/// Stores eight vectors of eight columns each as eight rows of 64 bytes. Each step is done for all vectors before the
/// next step: chains of dependent instructions would fill the processor's queues.
HWY_INLINE void StoreEightRows(const LineVec (&v)[8], uint8_t* to, int64_t stride)
{
    __m512i sixteen[8]; // columns of rows 0 to 3, then those of rows 4 to 7
    HWY_UNROLL(4)
    for (size_t i = 0; i < 4; ++i)
    {
        sixteen[i] = _mm512_unpacklo_epi64(v[2 * i].raw, v[2 * i + 1].raw);
        sixteen[4 + i] = _mm512_unpackhi_epi64(v[2 * i].raw, v[2 * i + 1].raw);
    }
    __m512i pairs[8]; // two rows by 32 columns, then by the other 32
    HWY_UNROLL(4)
    for (size_t i = 0; i < 4; ++i)
    {
        const size_t from = i / 2 * 4 + i % 2 * 2;
        pairs[from / 4 * 4 + i % 2] = _mm512_shuffle_i64x2(sixteen[from], sixteen[from + 1], 0x44);
        pairs[from / 4 * 4 + 2 + i % 2] = _mm512_shuffle_i64x2(sixteen[from], sixteen[from + 1], 0xEE);
    }
    HWY_UNROLL(4)
    for (size_t i = 0; i < 8; i += 2)
    {
        hn::StoreU(LineVec{_mm512_shuffle_i64x2(pairs[i], pairs[i + 1], 0x88)}, Line(), to);
        hn::StoreU(LineVec{_mm512_shuffle_i64x2(pairs[i], pairs[i + 1], 0xDD)}, Line(), to + stride);
        to += 2 * stride;
    }
}

/// Transposes 64 columns of a matrix whose source rows have 8 * Lines bytes without gaps.
template <size_t Lines>
HWY_INLINE void TransposeLines(const Matrix<uint8_t>& matrix, size_t column)
{
    static constexpr LineIndices<Lines> Indices;
    const Line d;
    const uint8_t* const from = matrix.m_From + column * 8 * Lines;
    uint8_t* to = matrix.m_To + column;
    for (size_t part = 0; part < Lines; ++part, to += 8 * matrix.m_ToStride)
    {
        const LineVec ofTwo = hn::Load(d, Indices.m_OfTwo[part].data());
        LineVec v[8];
        HWY_UNROLL(8)
        for (size_t i = 0; i < 8; ++i)
        {
            v[i] = hn::LoadU(d, from + i * 64 * Lines);
        }
        HWY_UNROLL(8)
        for (size_t i = 0; i < 8; ++i)
        {
            v[i] = PermuteBytes(v[i], from + i * 64 * Lines + (Lines == 1 ? 0 : 64), ofTwo);
        }
        if constexpr (Lines == 3)
        {
            const LineVec withThird = hn::Load(d, Indices.m_WithThird[part].data());
            HWY_UNROLL(8)
            for (size_t i = 0; i < 8; ++i)
            {
                v[i] = PermuteBytes(v[i], from + i * 64 * Lines + 128, withThird);
            }
        }
        StoreEightRows(v, to, matrix.m_ToStride);
    }
}

/// Transposes all columns; the last 64 overlap their neighbours. Precondition: at least 64 columns.
template <size_t Lines>
HWY_NOINLINE void TransposeShortRows(const Matrix<uint8_t> matrix)
{
    const size_t unaligned = CountUnaligned<64>(matrix);
    size_t next = unaligned == 0 ? 64 : unaligned;
    for (size_t column = 0;; next += 64)
    {
        TransposeLines<Lines>(matrix, column);
        if (column + 64 >= matrix.m_Columns)
        {
            return;
        }
        column = std::min(next, matrix.m_Columns - 64);
    }
}

/// False if the matrix has another form.
inline bool TransposeBytesByLines(const Matrix<uint8_t>& matrix)
{
    if (!GetCpuFeatures().m_Avx512Vbmi || matrix.m_Columns < 64 ||
        matrix.m_FromStride != static_cast<int64_t>(matrix.m_Rows))
    {
        return false;
    }
    switch (matrix.m_Rows)
    {
    case 8: TransposeShortRows<1>(matrix); return true;
    case 16: TransposeShortRows<2>(matrix); return true;
    case 24: TransposeShortRows<3>(matrix); return true;
    default: return false;
    }
}

#else

inline bool TransposeBytesByLines(const Matrix<uint8_t>&)
{
    return false;
}

#endif

namespace
{

/// Transposes a vector of columns, whose 2 to 4 elements are contiguous in the source.
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

/// Transposes a vector of rows, whose 2 to 4 elements are contiguous in the target.
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

/// Transposes matrices with 2 to 4 rows or columns without gaps. False if the matrix has another form.
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
                     TransposeNarrow(isSource ? SliceColumns(matrix, i, Lanes) : SliceRows(matrix, i, Lanes));
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
    if constexpr (sizeof(T) == 1)
    {
        if (TransposeBytesByLines(matrix))
        {
            return;
        }
    }
    if (matrix.m_Rows >= N && matrix.m_Columns >= N)
    {
        TransposeTiles<HWY_LANES(T)>(matrix, plane.m_IsLarge);
    }
    else
    {
        TransposeFew<HWY_LANES(T)>(matrix);
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
    static constinit PerIsa<TransposeFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeTransposeFunctions)(); });
}

} // namespace tenon::cpu
#endif
