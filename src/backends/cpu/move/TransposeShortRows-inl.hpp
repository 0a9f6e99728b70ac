// SPDX-License-Identifier: Apache-2.0
// Transposition of bytes whose source has short rows without gaps, with AVX-512 VBMI (CpuFeatures::m_Avx512Vbmi). Whole
// cache lines are loaded; byte permutations replace the loads of blocks and two rounds of shuffles. Included by
// TransposeVectors.cpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_TRANSPOSE_SHORT_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TRANSPOSE_SHORT_ROWS_INL
#undef TENON_TRANSPOSE_SHORT_ROWS_INL
#else
#define TENON_TRANSPOSE_SHORT_ROWS_INL
#endif

#include "backends/cpu/move/TransposeTiles-inl.hpp"
#include "backends/cpu/simd/PermuteBytes-inl.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

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

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
