// SPDX-License-Identifier: Apache-2.0
// Requantization (EpilogueInt8.cpp has the formula) with AVX-512: of accumulators in memory by multipliers with
// right shifts, in double precision, as FullyConnected rounds (DoubleScale), or in float (FloatScale); and of
// accumulators in registers by multipliers (OffsetScale, PlainScale) or in float (PrepareRequantization makes their
// constants). Part of sources that are compiled for each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_REQUANTIZE_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZE_AVX512_INT8_INL
#undef TENON_CPU_REQUANTIZE_AVX512_INT8_INL
#else
#define TENON_CPU_REQUANTIZE_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Eight sums by their scales, rounded half away from zero. Results below the range of int32 become its lowest value.
HWY_INLINE __m256i RescaleEight(__m256i x, __m512d scale)
{
    const __m512d product = _mm512_mul_pd(_mm512_cvtepi32_pd(x), scale);
    const __m512i sign = _mm512_set1_epi64(INT64_MIN);
    const __m512i half = _mm512_castpd_si512(_mm512_set1_pd(BelowHalf));
    constexpr int FirstAndSecondOrThird = 0xEA;
    const __m512i signedHalf =
        _mm512_ternarylogic_epi64(_mm512_castpd_si512(product), sign, half, FirstAndSecondOrThird);
    const __m512d rounded = _mm512_add_pd(product, _mm512_castsi512_pd(signedHalf));
    return _mm512_cvttpd_epi32(_mm512_min_pd(rounded, _mm512_set1_pd(MaxRounded)));
}

/// The scales of the sixteen lanes of a vector, and the zero point; replaces SixteenLaneScale.
struct DoubleScale
{
    __m512d m_Lower, m_Upper;
    __m512 m_Floats;
    __m512i m_ZeroPoint;

    HWY_INLINE DoubleScale(const RequantizeColumns& columns, size_t c)
        : m_Lower(_mm512_loadu_pd(columns.m_Scale + c)), m_Upper(_mm512_loadu_pd(columns.m_Scale + c + 8)),
          m_Floats(Join(ToFloats(m_Lower), ToFloats(m_Upper))),
          m_ZeroPoint(_mm512_set1_epi16(static_cast<int16_t>(columns.m_ZeroPoint)))
    {
    }

    /// Finite scales: an infinite one would give NaN for a sum of 0.
    static HWY_INLINE __m256 ToFloats(__m512d scales)
    {
        return _mm512_cvtpd_ps(_mm512_min_pd(scales, _mm512_set1_pd(std::numeric_limits<float>::max())));
    }

    static HWY_INLINE __m512 Join(__m256 lower, __m256 upper)
    {
        return _mm512_castpd_ps(
            _mm512_insertf64x4(_mm512_castps_pd(_mm512_castps256_ps512(lower)), _mm256_castps_pd(upper), 1));
    }

    /// int8 clamps more closely than int16, in which the zero point is added.
    HWY_INLINE __m512i Pack(__m512i a, __m512i b) const
    {
        return _mm512_adds_epi16(_mm512_packs_epi32(a, b), m_ZeroPoint);
    }
};

inline HWY_NOINLINE __m512i RescaleSixteen(const DoubleScale& scale, __m512i x)
{
    const __m256i lower = RescaleEight(_mm512_castsi512_si256(x), scale.m_Lower);
    const __m256i upper = RescaleEight(_mm512_extracti64x4_epi64(x, 1), scale.m_Upper);
    return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
}

/// Scales one vector of accumulators, without the zero point. See MaxFloatProduct.
template <bool HasTerm>
HWY_INLINE __m512i ScaleSums(const DoubleScale& scale, const int32_t* sums, __m512i term)
{
    const __m512i loaded = _mm512_load_si512(sums);
    const __m512i x = HasTerm ? _mm512_add_epi32(loaded, term) : loaded;
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(x), scale.m_Floats);
    const __m512 bounded = _mm512_min_ps(product, _mm512_set1_ps(MaxFloatProduct));
    const __m512 rounded = _mm512_roundscale_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 distance = _mm512_abs_ps(_mm512_sub_ps(bounded, rounded));
    if (HWY_UNLIKELY(_mm512_cmp_ps_mask(distance, _mm512_set1_ps(NearHalf), _CMP_GT_OQ) != 0))
    {
        return RescaleSixteen(scale, x);
    }
    return _mm512_cvttps_epi32(rounded);
}

/// A vector whose upper half repeats its lower half.
HWY_INLINE __m512i RepeatLower(__m512i x)
{
    return _mm512_shuffle_i64x2(x, x, 0x44);
}

/// A load that is not repeated: the compiler would load a value again for its second use, where loads are the
/// bottleneck.
HWY_INLINE __m512i LoadOnce(const void* from)
{
    __m512i x = _mm512_load_si512(from);
    asm("" : "+v"(x));
    return x;
}

/// Float factors and the zero point of the sixteen lanes of a vector; the conversion rounds half to even. For
/// accumulators in memory and in registers.
struct FloatScale
{
    static constexpr ScaleInt8 Kind = ScaleInt8::Float;
    static constexpr int32_t Offset = 0;
    __m512 m_Factor;
    __m512i m_ZeroPoint;

    HWY_INLINE FloatScale(const RequantizeColumns& columns, size_t c)
        : m_Factor(_mm512_load_ps(columns.m_FloatScale + c)), m_ZeroPoint(_mm512_set1_epi32(columns.m_ZeroPoint))
    {
    }

    HWY_INLINE void RepeatLowerHalf() { m_Factor = _mm512_castsi512_ps(RepeatLower(_mm512_castps_si512(m_Factor))); }

    /// Packs two vectors of scaled accumulators to int16.
    static HWY_INLINE __m512i Pack(__m512i a, __m512i b) { return _mm512_packs_epi32(a, b); }

    static HWY_INLINE __m512i Scale(__m512i x, __m512 factor, __m512i zeroPoint)
    {
        const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(x), factor);
        constexpr int SmallerMagnitude = 2; // with the first operand's sign
        const __m512 bounded = _mm512_range_ps(product, _mm512_set1_ps(MaxFloatProduct), SmallerMagnitude);
        return _mm512_add_epi32(_mm512_cvtps_epi32(bounded), zeroPoint);
    }
};

/// Scales one vector of accumulators.
template <bool HasTerm>
HWY_INLINE __m512i ScaleSums(const FloatScale& scale, const int32_t* sums, __m512i term)
{
    const __m512i x = _mm512_load_si512(sums);
    return FloatScale::Scale(HasTerm ? _mm512_add_epi32(x, term) : x, scale.m_Factor, scale.m_ZeroPoint);
}

/// Multipliers, shifts and the zero point of the sixteen lanes of a vector.
///
/// Both rounding steps are one floor division, see EpilogueInt8.cpp. The last shift works on the product's upper
/// half. The zero point is added before it, which RequantizeColumns::MaxShift leaves room for.
struct SixteenLaneScale
{
    __m512i m_Even, m_Odd;             ///< multipliers
    __m512i m_EvenAddend, m_OddAddend; ///< 64 bits each
    __m512i m_Right;

    /// `isDoubled`: whether products are doubled.
    HWY_INLINE SixteenLaneScale(const int32_t* multiplier, const int32_t* right, int32_t zeroPoint, bool isDoubled)
        : m_Even(_mm512_slli_epi32(_mm512_load_si512(multiplier), isDoubled ? 1 : 0)),
          m_Odd(_mm512_srli_epi64(m_Even, 32))
    {
        const __m512i shift = _mm512_load_si512(right);
        const int64_t half = int64_t{1} << (isDoubled ? 31 : 30);
        const __m512i first = _mm512_set1_epi64(half);
        const __m512i last = _mm512_set1_epi64((int64_t{1} + 2 * zeroPoint) * half);
        const __m512i evens = _mm512_and_si512(shift, _mm512_set1_epi64(0xFFFFFFFF));
        m_EvenAddend = _mm512_add_epi64(first, _mm512_sllv_epi64(last, evens));
        m_OddAddend = _mm512_add_epi64(first, _mm512_sllv_epi64(last, _mm512_srli_epi64(shift, 32)));
        m_Right = isDoubled ? shift : _mm512_sub_epi32(shift, _mm512_set1_epi32(1));
    }

    HWY_INLINE void RepeatLowerHalf()
    {
        for (__m512i* x : {&m_Even, &m_Odd, &m_EvenAddend, &m_OddAddend, &m_Right})
        {
            *x = RepeatLower(*x);
        }
    }

    /// Packs two vectors of scaled accumulators to int16.
    static HWY_INLINE __m512i Pack(__m512i a, __m512i b) { return _mm512_packs_epi32(a, b); }

    /// The upper halves of the products. `lower`: x with its odd lanes one lane lower.
    HWY_INLINE __m512i Multiply(__m512i x, __m512i lower) const
    {
        const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(x, m_Even), m_EvenAddend);
        const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(lower, m_Odd), m_OddAddend);
        return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
    }
};

/// For all sums. Doubled, a product has 2^31 as one unit of its upper half. A doubled multiplier is at least 2^31, so
/// that as a signed number it is 2^32 less, and the product lacks x in its upper half.
struct AnyScale : SixteenLaneScale
{
    HWY_INLINE AnyScale(const RequantizeColumns& columns, size_t c)
        : SixteenLaneScale(columns.m_Multiplier + c, columns.m_Right + c, columns.m_ZeroPoint, true)
    {
    }

    HWY_INLINE __m512i operator()(__m512i x, __m512i lower) const
    {
        const __m512i lacking = _mm512_add_epi32(x, _mm512_srai_epi32(x, 31));
        return _mm512_srav_epi32(_mm512_add_epi32(Multiply(x, lower), lacking), m_Right);
    }
};

/// For a clamp at or above the zero point: negative sums give at most the zero point even without the step for negative
/// products, and the clamp maps them to the same value as zero.
struct PositiveScale : SixteenLaneScale
{
    HWY_INLINE PositiveScale(const RequantizeColumns& columns, size_t c)
        : SixteenLaneScale(columns.m_Multiplier + c, columns.m_Right + c, columns.m_ZeroPoint, false)
    {
    }

    HWY_INLINE __m512i operator()(__m512i x, __m512i lower) const
    {
        return _mm512_srav_epi32(Multiply(x, lower), m_Right);
    }
};

/// 64 bytes from two vectors of int16, clamped, in the requested order of channels.
template <typename T, bool IsInterleaved, bool Clamps>
HWY_INLINE __m512i PackInt16(__m512i low, __m512i high, __m512i lowest, __m512i highest)
{
    __m512i bytes = std::is_signed_v<T> ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
    if constexpr (Clamps)
    {
        bytes = std::is_signed_v<T> ? _mm512_min_epi8(_mm512_max_epi8(bytes, lowest), highest)
                                    : _mm512_min_epu8(_mm512_max_epu8(bytes, lowest), highest);
    }
    if constexpr (!IsInterleaved)
    {
        // Packing works within 128-bit lanes: lane l has four channels of each vector.
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        bytes = _mm512_permutexvar_epi32(order, bytes);
    }
    return bytes;
}

/// 64 bytes from four vectors of scaled accumulators.
template <typename T, bool IsInterleaved, bool Clamps, typename Scale>
HWY_INLINE __m512i Pack64(const Scale& scale, const __m512i (&x)[4], __m512i lowest, __m512i highest)
{
    return PackInt16<T, IsInterleaved, Clamps>(scale.Pack(x[0], x[1]), scale.Pack(x[2], x[3]), lowest, highest);
}

/// Scales one vector of accumulators.
template <bool HasTerm, typename Scale>
HWY_INLINE __m512i ScaleSums(const Scale& scale, const int32_t* sums, __m512i term)
{
    const __m512i x = _mm512_load_si512(sums);
    // Accumulators lie in memory: a load replaces a shuffle.
    static_assert(RequantizeRows::PastSums == 1);
    const __m512i lower = _mm512_loadu_si512(sums + 1);
    return HasTerm ? scale(_mm512_add_epi32(x, term), _mm512_add_epi32(lower, term)) : scale(x, lower);
}

/// Requantizes the channels from c on of all rows, up to `Vectors` vectors of them.
template <typename T, typename Scale, bool IsInterleaved, size_t Vectors, bool HasTerms, bool Clamps>
void RequantizeVectors(const RequantizeRows& rows, const RequantizeColumns& columns, size_t c)
{
    constexpr size_t Third = Vectors > 2 ? 32 : 0; // vectors that do not exist are not read
    constexpr size_t Fourth = Vectors > 3 ? 48 : 0;
    const Scale scales[4] = {Scale(columns, c), Scale(columns, c + 16), Scale(columns, c + Third),
                             Scale(columns, c + Fourth)};
    const __m512i lowest = _mm512_set1_epi8(static_cast<char>(columns.m_Min));
    const __m512i highest = _mm512_set1_epi8(static_cast<char>(columns.m_Max));
    const size_t count = rows.m_Columns - c;
    const __mmask64 mask = count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
    auto* out = static_cast<uint8_t*>(rows.m_Out) + c;
    const int32_t* sums = rows.m_Sums + c;
    for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride, sums += rows.m_SumStride)
    {
        const __m512i term = HasTerms ? _mm512_set1_epi32(rows.m_RowCorrections[r]) : _mm512_setzero_si512();
        __m512i x[4];
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            x[v] = v < Vectors ? ScaleSums<HasTerms>(scales[v], sums + 16 * v, term) : _mm512_setzero_si512();
        }
        _mm512_mask_storeu_epi8(out, mask, Pack64<T, IsInterleaved, Clamps>(scales[0], x, lowest, highest));
    }
}

/// Requantizes up to 16 channels from c on, in their natural order, four rows at a time.
template <typename T, typename Scale, bool HasTerms, bool Clamps>
void RequantizeFewColumns(const RequantizeRows& rows, const RequantizeColumns& columns, size_t c)
{
    constexpr size_t Together = 4;
    const Scale scale(columns, c);
    const __m512i lowest = _mm512_set1_epi8(static_cast<char>(columns.m_Min));
    const __m512i highest = _mm512_set1_epi8(static_cast<char>(columns.m_Max));
    const size_t count = rows.m_Columns - c;
    const auto mask = static_cast<__mmask16>((1U << count) - 1);
    const size_t stride = rows.m_OutStride;
    auto* out = static_cast<uint8_t*>(rows.m_Out) + c;
    const int32_t* sums = rows.m_Sums + c;
    for (size_t r = 0; r < rows.m_Rows; r += Together, out += Together * stride, sums += Together * rows.m_SumStride)
    {
        const size_t some = std::min(rows.m_Rows - r, Together);
        __m512i x[Together];
        HWY_UNROLL(4)
        for (size_t i = 0; i < Together; ++i)
        {
            const size_t row = i < some ? i : 0;
            const __m512i term = HasTerms ? _mm512_set1_epi32(rows.m_RowCorrections[r + row]) : _mm512_setzero_si512();
            x[i] = ScaleSums<HasTerms>(scale, sums + row * rows.m_SumStride, term);
        }
        const __m512i bytes = Pack64<T, false, Clamps>(scale, x, lowest, highest);
        if (some == Together && stride == 16 && count == 16)
        {
            _mm512_storeu_si512(out, bytes);
        }
        else if (some == Together && stride == 8 && count == 8)
        {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                                _mm512_castsi512_si256(_mm512_maskz_compress_epi64(0x55, bytes)));
        }
        else
        {
            const auto store = [&](size_t i, __m128i row) HWY_ATTR
            { _mm_mask_storeu_epi8(out + i * stride, i < some ? mask : __mmask16{0}, row); };
            store(0, _mm512_castsi512_si128(bytes));
            store(1, _mm512_extracti64x2_epi64(bytes, 1));
            store(2, _mm512_extracti64x2_epi64(bytes, 2));
            store(3, _mm512_extracti64x2_epi64(bytes, 3));
        }
    }
}

template <typename T, typename Scale, bool HasTerms, bool Clamps>
void RequantizeAllColumns(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    size_t c = 0;
    for (; c + 64 <= rows.m_Columns; c += 64)
    {
        rows.m_IsInterleaved ? RequantizeVectors<T, Scale, true, 4, HasTerms, Clamps>(rows, columns, c)
                             : RequantizeVectors<T, Scale, false, 4, HasTerms, Clamps>(rows, columns, c);
    }
    if (c + 48 < rows.m_Columns)
    {
        RequantizeVectors<T, Scale, false, 4, HasTerms, Clamps>(rows, columns, c);
    }
    else if (c + 32 < rows.m_Columns)
    {
        RequantizeVectors<T, Scale, false, 3, HasTerms, Clamps>(rows, columns, c);
    }
    else if (c + 16 < rows.m_Columns)
    {
        RequantizeVectors<T, Scale, false, 2, HasTerms, Clamps>(rows, columns, c);
    }
    else if (c < rows.m_Columns)
    {
        RequantizeFewColumns<T, Scale, HasTerms, Clamps>(rows, columns, c);
    }
}

/// AnyScale for sums plus `Offset`, which are never negative: products are unsigned then, 2^31 taken away by doubling
/// need not be given back, and one bit says which sums were negative.
struct OffsetScale : SixteenLaneScale
{
    static constexpr ScaleInt8 Kind = ScaleInt8::Any;
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
    static constexpr ScaleInt8 Kind = ScaleInt8::Positive;
    static constexpr int32_t Offset = 0;

    HWY_INLINE PlainScale(const RequantizeColumns& columns, size_t c) : PositiveScale(columns, c) {}

    static HWY_INLINE __m512i Product(__m512i x, __m512i multiplier) { return _mm512_mul_epi32(x, multiplier); }
    static HWY_INLINE __m512i Round(__m512i units, __m512i) { return units; }
};

template <typename Scale>
void PrepareScales(const RequantizeColumns& columns, const int32_t* bias, size_t count,
                   PreparedRequantizationInt8& prepared)
{
    static_assert(sizeof(Scale) <= PreparedRequantizationInt8::VectorBytes);
    prepared.m_IsLastVectorHalf = IsLastVectorHalf(count);
    for (size_t v = 0; 16 * v < count; ++v)
    {
        Scale scale(columns, 16 * v);
        __m512i sums = _mm512_add_epi32(_mm512_load_si512(bias + 16 * v), _mm512_set1_epi32(Scale::Offset));
        if (prepared.m_IsLastVectorHalf && 16 * v + 16 > count)
        {
            sums = RepeatLower(sums);
            scale.RepeatLowerHalf();
        }
        std::memcpy(prepared.m_Scales + v * sizeof(scale), &scale, sizeof(scale));
        _mm512_store_si512(prepared.m_Bias + 16 * v, sums);
    }
}

/// See MicrokernelsInt8::m_PrepareRequantization. Outputs are computed as int8; uint8 outputs are 128 more.
inline void PrepareRequantization(const RequantizeColumns& columns, const int32_t* bias, size_t count, bool isSigned,
                                  PreparedRequantizationInt8& prepared)
{
    RequantizeColumns ofSigned = columns;
    const int32_t shift = isSigned ? 0 : 128;
    ofSigned.m_ZeroPoint -= shift;
    _mm512_store_si512(prepared.m_Min, _mm512_set1_epi8(static_cast<char>(columns.m_Min - shift)));
    _mm512_store_si512(prepared.m_Max, _mm512_set1_epi8(static_cast<char>(columns.m_Max - shift)));
    _mm512_store_si512(prepared.m_SignXor, _mm512_set1_epi8(isSigned ? 0 : static_cast<char>(0x80)));
    prepared.m_IsPlain = isSigned && columns.m_Min == INT8_MIN && columns.m_Max == INT8_MAX;
    prepared.m_Mask = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    switch (columns.GetScale())
    {
    case ScaleInt8::Any: return PrepareScales<OffsetScale>(ofSigned, bias, count, prepared);
    case ScaleInt8::Positive: return PrepareScales<PlainScale>(ofSigned, bias, count, prepared);
    case ScaleInt8::Float: return PrepareScales<FloatScale>(ofSigned, bias, count, prepared);
    }
}

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

HWY_INLINE __m512i ScaleOne(const FloatScale& scale, __m512i x)
{
    return FloatScale::Scale(x, scale.m_Factor, scale.m_ZeroPoint);
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

HWY_INLINE void ScaleTwo(const FloatScale& scale, __m512i& x, __m512i& y)
{
    const __m512 factor = _mm512_castsi512_ps(LoadOnce(&scale.m_Factor));
    const __m512i zeroPoint = LoadOnce(&scale.m_ZeroPoint);
    x = FloatScale::Scale(x, factor, zeroPoint);
    y = FloatScale::Scale(y, factor, zeroPoint);
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
    const __m512i lowest = _mm512_load_si512(columns.m_Min);
    const __m512i highest = _mm512_load_si512(columns.m_Max);
    return _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(bytes, lowest), highest),
                            _mm512_load_si512(columns.m_SignXor));
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
