// SPDX-License-Identifier: Apache-2.0
// Transposition in registers: matrices by tiles, and pixels of two to four elements.
#include "backends/cpu/move/TransposeVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/TransposeVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/move/TransposeFew-inl.hpp"
#include "backends/cpu/move/TransposeShortRows-inl.hpp"
#include "backends/cpu/move/TransposeTiles-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

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
