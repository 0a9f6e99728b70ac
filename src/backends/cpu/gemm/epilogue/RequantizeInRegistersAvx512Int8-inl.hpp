// SPDX-License-Identifier: Apache-2.0
// Requantization of accumulators in registers, with AVX-512 (see PreparedRequantizationInt8). The formula is in
// RequantizeInt8-inl.hpp. Part of sources that are compiled for each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_REQUANTIZE_IN_REGISTERS_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZE_IN_REGISTERS_AVX512_INT8_INL
#undef TENON_CPU_REQUANTIZE_IN_REGISTERS_AVX512_INT8_INL
#else
#define TENON_CPU_REQUANTIZE_IN_REGISTERS_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/epilogue/RequantizeAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// A load that is not repeated: the compiler would load a value again for its second use, where loads are the
/// bottleneck.
HWY_INLINE __m512i LoadOnce(const void* from)
{
    __m512i x = _mm512_load_si512(from);
    asm("" : "+v"(x));
    return x;
}

/// AnyScale for sums plus `Offset`, which are never negative: products are unsigned then, 2^31 taken away by doubling
/// need not be given back, and one bit says which sums were negative.
struct OffsetScale : SixteenLaneScale
{
    static constexpr int32_t Offset = int32_t{1} << 30;

    HWY_INLINE OffsetScale(const RequantizeColumns& columns, size_t c)
        : SixteenLaneScale(columns.m_Multiplier + c, columns.m_Right + c, columns.m_ZeroPoint, true)
    {
        // The offset's share of a product, and one unit, which sums that were not negative give back.
        const __m512i offset = _mm512_set1_epi64(Offset);
        const __m512i unit = _mm512_set1_epi64(int64_t{1} << 32);
        const auto lessOffset = [&](__m512i addend, __m512i multiplier) HWY_ATTR
        { return _mm512_sub_epi64(addend, _mm512_add_epi64(_mm512_mul_epu32(offset, multiplier), unit)); };
        m_EvenAddend = lessOffset(m_EvenAddend, m_Even);
        m_OddAddend = lessOffset(m_OddAddend, m_Odd);
    }

    static HWY_INLINE __m512i Product(__m512i x, __m512i multiplier) { return _mm512_mul_epu32(x, multiplier); }
    /// `units`: upper halves of the products of x.
    static HWY_INLINE __m512i Round(__m512i units, __m512i x)
    {
        return _mm512_add_epi32(units, _mm512_srli_epi32(x, 30));
    }
};

/// PositiveScale for accumulators in registers.
struct PlainScale : PositiveScale
{
    static constexpr int32_t Offset = 0;

    HWY_INLINE PlainScale(const RequantizeColumns& columns, size_t c) : PositiveScale(columns, c) {}

    static HWY_INLINE __m512i Product(__m512i x, __m512i multiplier) { return _mm512_mul_epi32(x, multiplier); }
    static HWY_INLINE __m512i Round(__m512i units, __m512i) { return units; }
};

/// Scales one vector of accumulators.
template <typename Scale>
HWY_INLINE __m512i ScaleOne(const Scale& scale, __m512i x)
{
    const __m512i lower = _mm512_shuffle_epi32(x, _MM_PERM_DDBB);
    const __m512i even = _mm512_add_epi64(Scale::Product(x, scale.m_Even), scale.m_EvenAddend);
    const __m512i odd = _mm512_add_epi64(Scale::Product(lower, scale.m_Odd), scale.m_OddAddend);
    return _mm512_srav_epi32(Scale::Round(_mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB), x),
                             scale.m_Right);
}

/// Scales two vectors of the same columns; the scale is read from memory once.
template <typename Scale>
HWY_INLINE void ScaleTwo(const Scale& scale, __m512i& x, __m512i& y)
{
    __m512i factor = LoadOnce(&scale.m_Even);
    __m512i xEven = Scale::Product(x, factor);
    __m512i yEven = Scale::Product(y, factor);
    factor = LoadOnce(&scale.m_EvenAddend);
    xEven = _mm512_add_epi64(xEven, factor);
    yEven = _mm512_add_epi64(yEven, factor);
    factor = LoadOnce(&scale.m_Odd);
    __m512i xOdd = Scale::Product(_mm512_shuffle_epi32(x, _MM_PERM_DDBB), factor);
    __m512i yOdd = Scale::Product(_mm512_shuffle_epi32(y, _MM_PERM_DDBB), factor);
    factor = LoadOnce(&scale.m_OddAddend);
    xOdd = _mm512_add_epi64(xOdd, factor);
    yOdd = _mm512_add_epi64(yOdd, factor);
    factor = LoadOnce(&scale.m_Right);
    x = _mm512_srav_epi32(Scale::Round(_mm512_mask_shuffle_epi32(xOdd, 0x5555, xEven, _MM_PERM_DDBB), x), factor);
    y = _mm512_srav_epi32(Scale::Round(_mm512_mask_shuffle_epi32(yOdd, 0x5555, yEven, _MM_PERM_DDBB), y), factor);
}

/// 64 bytes from two vectors of int16, see PackInt16.
template <bool IsInterleaved>
HWY_INLINE __m512i PackInt8(__m512i low, __m512i high, const PreparedRequantizationInt8& columns)
{
    const __m512i bytes = PackInt16<int8_t, IsInterleaved, false>(low, high, low, high);
    if (columns.m_IsPlain)
    {
        return bytes;
    }
    const __m512i least = _mm512_load_si512(columns.m_Min);
    const __m512i most = _mm512_load_si512(columns.m_Max);
    return _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(bytes, least), most), _mm512_load_si512(columns.m_SignXor));
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
