// SPDX-License-Identifier: Apache-2.0
// Four rows of an image interleaved for 8-bit depthwise convolutions with AVX-512: four pieces at a time, of one column
// or of several. Part of DepthwiseLoops8.cpp, after simd/Foreach.hpp.
#if defined(TENON_CPU_DEPTHWISE_INTERLEAVE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DEPTHWISE_INTERLEAVE_INL
#undef TENON_CPU_DEPTHWISE_INTERLEAVE_INL
#else
#define TENON_CPU_DEPTHWISE_INTERLEAVE_INL
#endif

#include "backends/cpu/kernels/DepthwiseLoops8.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// The pieces of `4 / Pieces` columns (three: of one column) of a row, one in each 128-bit lane; zeros for channels
/// that do not exist. `step`: bytes from a column to the next; 0 repeats one.
template <size_t Pieces>
HWY_INLINE __m512i LoadPieces(const uint8_t* from, size_t step, size_t channels)
{
    if constexpr (Pieces == 1)
    {
        const auto mask = static_cast<__mmask16>((1U << std::min<size_t>(channels, 16)) - 1);
        if (step == 16 && channels == 16)
        {
            return _mm512_loadu_si512(from);
        }
        if (step == 8 && channels == 8)
        {
            const __m512i order = _mm512_setr_epi64(0, 0, 1, 0, 2, 0, 3, 0);
            const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
            return _mm512_maskz_permutexvar_epi64(0x55, order, _mm512_castsi256_si512(four));
        }
        const auto load = [&](size_t column) HWY_ATTR { return _mm_maskz_loadu_epi8(mask, from + column * step); };
        __m512i all = _mm512_castsi128_si512(load(0));
        all = _mm512_inserti64x2(all, load(1), 1);
        all = _mm512_inserti64x2(all, load(2), 2);
        return _mm512_inserti64x2(all, load(3), 3);
    }
    else if constexpr (Pieces == 2)
    {
        if (step == 32 && channels == 32)
        {
            return _mm512_loadu_si512(from);
        }
        const auto mask = static_cast<__mmask32>((uint64_t{1} << std::min<size_t>(channels, 32)) - 1);
        return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi8(mask, from)),
                                  _mm256_maskz_loadu_epi8(mask, from + step), 1);
    }
    else
    {
        const auto mask = (__mmask64{1} << std::min<size_t>(channels, 48)) - 1;
        return _mm512_maskz_loadu_epi8(mask, from);
    }
}

/// Four rows as [lane][channel][row]; the first `lanes` of the lanes are written.
HWY_INLINE void StoreLanes(__m512i a, __m512i b, __m512i c, __m512i e, size_t lanes, std::byte* to)
{
    const __m512i lowAb = _mm512_unpacklo_epi8(a, b);
    const __m512i highAb = _mm512_unpackhi_epi8(a, b);
    const __m512i lowCe = _mm512_unpacklo_epi8(c, e);
    const __m512i highCe = _mm512_unpackhi_epi8(c, e);
    // A quarter of each lane's 64 bytes.
    const __m512i first = _mm512_unpacklo_epi16(lowAb, lowCe);
    const __m512i second = _mm512_unpackhi_epi16(lowAb, lowCe);
    const __m512i third = _mm512_unpacklo_epi16(highAb, highCe);
    const __m512i fourth = _mm512_unpackhi_epi16(highAb, highCe);
    constexpr int Lower = 0x44;
    constexpr int Upper = 0xEE;
    constexpr int Even = 0x88;
    constexpr int Odd = 0xDD;
    const __m512i lowerHalves = _mm512_shuffle_i64x2(first, second, Lower); // of lanes 0 and 1
    const __m512i upperHalves = _mm512_shuffle_i64x2(third, fourth, Lower);
    auto* const out = reinterpret_cast<__m512i*>(to);
    _mm512_store_si512(out, _mm512_shuffle_i64x2(lowerHalves, upperHalves, Even));
    if (lanes > 1)
    {
        _mm512_store_si512(out + 1, _mm512_shuffle_i64x2(lowerHalves, upperHalves, Odd));
    }
    if (lanes > 2)
    {
        const __m512i lowerOfLast = _mm512_shuffle_i64x2(first, second, Upper); // of lanes 2 and 3
        const __m512i upperOfLast = _mm512_shuffle_i64x2(third, fourth, Upper);
        _mm512_store_si512(out + 2, _mm512_shuffle_i64x2(lowerOfLast, upperOfLast, Even));
        if (lanes > 3)
        {
            _mm512_store_si512(out + 3, _mm512_shuffle_i64x2(lowerOfLast, upperOfLast, Odd));
        }
    }
}

/// Columns of `Pieces` pieces: some at a time, and the last ones once more where they are fewer. Returns false, and
/// does nothing, where there are too few.
template <size_t Pieces>
bool InterleavePieces(const InterleaveColumns8& columns, uint8_t flip, std::byte* out)
{
    constexpr size_t Together = Pieces < 3 ? 4 / Pieces : 1;
    constexpr size_t ColumnBytes = Pieces * DepthwiseEngine8::PieceBytes;
    if (columns.m_Columns < Together)
    {
        return false;
    }
    const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
    const auto load = [&](size_t row, size_t column) HWY_ATTR
    {
        const size_t step = columns.m_Steps[row];
        return _mm512_xor_si512(LoadPieces<Pieces>(columns.m_Rows[row] + column * step, step, columns.m_Channels),
                                flips);
    };
    for (size_t next = 0; next < columns.m_Columns; next += Together)
    {
        const size_t column = std::min(next, columns.m_Columns - Together);
        StoreLanes(load(0, column), load(1, column), load(2, column), load(3, column), Together * Pieces,
                   out + column * ColumnBytes);
    }
    return true;
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
