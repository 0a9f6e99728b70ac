// SPDX-License-Identifier: Apache-2.0
// The loops of conversions. QuantizeLoops.cpp has those of quantization and requantization.
#include "backends/cpu/elementwise/ConversionLoops.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/ConversionLoops.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/F16-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

// Casts from and to Booleans, and between integers of 32 and 64 bits.

/// Any 8-bit type to 0 and 1: Booleans, or numbers of any 8-bit type.
void BytesToOnes(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const auto one = hn::Set(TagUint8(), uint8_t{1});
    MapEach(TagUint8(), static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out), count,
            [&](VecUint8 x) HWY_ATTR { return hn::Min(x, one); });
}

/// Booleans to 32 bits.
template <typename Out>
void FromBoolean(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const hn::Rebind<uint8_t, TagInt32> d;
    const auto one = hn::Set(d, uint8_t{1});
    MapEach(d, static_cast<const uint8_t*>(in), static_cast<Out*>(out), count,
            [&](auto x) HWY_ATTR
            {
                const VecInt32 number = hn::PromoteTo(TagInt32(), hn::Min(x, one));
                if constexpr (std::is_same_v<Out, float>)
                {
                    return hn::ConvertTo(TagF32(), number);
                }
                else
                {
                    return number;
                }
            });
}

/// 32-bit numbers to Booleans. Floats are tested by bits: only 0 and -0 are false. NaN and subnormal numbers are true,
/// whatever the processor's float mode is.
template <typename In>
void ToBoolean(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const TagInt32 d;
    const size_t lanes = hn::Lanes(d);
    const auto* from = static_cast<const int32_t*>(in);
    auto* to = static_cast<uint8_t*>(out);
    const VecInt32 one = hn::Set(d, 1);
    const auto isNotZero = [&](VecInt32 x) HWY_ATTR
    {
        const VecInt32 bits = std::is_same_v<In, float> ? hn::Add(x, x) : x;
        return hn::IfThenZeroElse(hn::Eq(bits, hn::Zero(d)), one);
    };
    size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes)
    {
        const VecUint8 joined =
            JoinInOrder(isNotZero(hn::LoadU(d, from + i)), isNotZero(hn::LoadU(d, from + i + lanes)),
                        isNotZero(hn::LoadU(d, from + i + 2 * lanes)), isNotZero(hn::LoadU(d, from + i + 3 * lanes)));
        hn::StoreU(joined, TagUint8(), to + i);
    }
    MapEach(d, from + i, to + i, count - i,
            [&](VecInt32 x) HWY_ATTR { return hn::DemoteTo(hn::Rebind<uint8_t, TagInt32>(), isNotZero(x)); });
}

/// 64-bit integers to their lower 32 bits.
void NarrowInts(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const TagInt32 d;
    const hn::Repartition<int64_t, TagInt32> dWide;
    const size_t lanes = hn::Lanes(d);
    const auto* from = static_cast<const int64_t*>(in);
    auto* to = static_cast<int32_t*>(out);
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        const VecInt32 lower = hn::BitCast(d, hn::LoadU(dWide, from + i));
        const VecInt32 upper = hn::BitCast(d, hn::LoadU(dWide, from + i + lanes / 2));
        hn::StoreU(hn::ConcatEven(d, upper, lower), d, to + i);
    }
    for (; i < count; ++i)
    {
        to[i] = static_cast<int32_t>(from[i]);
    }
}

void WidenInts(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const hn::Repartition<int64_t, TagInt32> dWide;
    MapEach(hn::Half<TagInt32>(), static_cast<const int32_t*>(in), static_cast<int64_t*>(out), count,
            [&](auto x) HWY_ATTR { return hn::PromoteTo(dWide, x); });
}

// Dequantization, and casts between floats and integers.

template <typename In>
void Dequantize(const void* in, void* out, size_t count, const QuantizeParameters& numbers)
{
    const TagF32 d;
    const VecF32 scale = hn::Set(d, numbers.m_Scale);
    const VecInt32 zero = hn::Set(TagInt32(), numbers.m_ZeroPoint);
    MapEach(hn::Rebind<In, TagF32>(), static_cast<const In*>(in), static_cast<float*>(out), count,
            [&](auto x) HWY_ATTR
            { return hn::Mul(scale, hn::ConvertTo(d, hn::Sub(hn::PromoteTo(TagInt32(), x), zero))); });
}

/// Integers to float.
template <typename In>
void ToFloat(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    MapEach(hn::Rebind<In, TagF32>(), static_cast<const In*>(in), static_cast<float*>(out), count,
            [](auto x) HWY_ATTR
            {
                if constexpr (sizeof(In) == sizeof(float))
                {
                    return hn::ConvertTo(TagF32(), x);
                }
                else
                {
                    return hn::ConvertTo(TagF32(), hn::PromoteTo(TagInt32(), x));
                }
            });
}

/// 8-bit numbers to 32 bits.
template <typename In>
void ToInt(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    MapEach(hn::Rebind<In, TagInt32>(), static_cast<const In*>(in), static_cast<int32_t*>(out), count,
            [](auto x) HWY_ATTR { return hn::PromoteTo(TagInt32(), x); });
}

/// Float to integers, towards zero, saturated; NaN becomes the maximum.
template <typename Out>
void FromFloat(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const TagF32 d;
    // The first number above the range, and the lowest one: both are powers of two.
    const VecF32 above = hn::Set(d, 2.0f * static_cast<float>(std::numeric_limits<Out>::max() / 2 + 1));
    const VecF32 lowest = hn::Set(d, static_cast<float>(std::numeric_limits<Out>::min()));
    const VecInt32 highest = hn::Set(TagInt32(), int32_t{std::numeric_limits<Out>::max()});
    MapEach(d, static_cast<const float*>(in), static_cast<Out*>(out), count,
            [&](VecF32 x) HWY_ATTR
            {
                const auto fits = hn::RebindMask(TagInt32(), hn::Lt(x, above)); // false for NaN
                const VecInt32 number = hn::IfThenElse(fits, Truncated(hn::Max(x, lowest)), highest);
                if constexpr (sizeof(Out) == sizeof(int32_t))
                {
                    return number;
                }
                else
                {
                    return hn::DemoteTo(hn::Rebind<Out, TagF32>(), number);
                }
            });
}

void FromBFloat16(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    MapEach(hn::Rebind<uint16_t, TagInt32>(), static_cast<const uint16_t*>(in), static_cast<int32_t*>(out), count,
            [](auto x) HWY_ATTR { return hn::ShiftLeft<16>(hn::PromoteTo(TagInt32(), x)); });
}

#if HWY_TARGET == HWY_AVX3
/// By the instruction of AVX512-BF16. One test for four vectors says whether it rounds all their numbers correctly.
void ToBFloat16Fast(const float* in, uint16_t* out, size_t count)
{
    const TagF32 d;
    const TagUint16 dHalf;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes)
    {
        const VecF32 a = hn::LoadU(d, in + i);
        const VecF32 b = hn::LoadU(d, in + i + lanes);
        const VecF32 c = hn::LoadU(d, in + i + 2 * lanes);
        const VecF32 e = hn::LoadU(d, in + i + 3 * lanes);
        const bool isNormal = (FindNotNormal(a) | FindNotNormal(b) | FindNotNormal(c) | FindNotNormal(e)) == 0;
        hn::StoreU(isNormal ? RoundNormalToBf16(a) : RoundToBf16(a), dHalf, out + i);
        hn::StoreU(isNormal ? RoundNormalToBf16(b) : RoundToBf16(b), dHalf, out + i + lanes);
        hn::StoreU(isNormal ? RoundNormalToBf16(c) : RoundToBf16(c), dHalf, out + i + 2 * lanes);
        hn::StoreU(isNormal ? RoundNormalToBf16(e) : RoundToBf16(e), dHalf, out + i + 3 * lanes);
    }
    MapEach(d, in + i, out + i, count - i, [](VecF32 x) HWY_ATTR { return RoundMostToBf16(x); });
}
#endif

void ToBFloat16(const void* in, void* out, size_t count, const QuantizeParameters&)
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Bf16)
    {
        ToBFloat16Fast(static_cast<const float*>(in), static_cast<uint16_t*>(out), count);
        return;
    }
#endif
    MapEach(TagF32(), static_cast<const float*>(in), static_cast<uint16_t*>(out), count,
            [](VecF32 x) HWY_ATTR { return RoundToBf16(x); });
}

void FromFloat16(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    MapEach(TagUint16(), static_cast<const uint16_t*>(in), static_cast<float*>(out), count,
            [](auto x) HWY_ATTR { return WidenF16(x); });
}

void ToFloat16(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    MapEach(TagF32(), static_cast<const float*>(in), static_cast<uint16_t*>(out), count,
            [](VecF32 x) HWY_ATTR { return RoundToF16(x); });
}

/// The class of types in a table of casts.
enum class Width
{
    Boolean,
    Signed8,
    Unsigned8,
    Signed32,
    Signed64,
    Float32,
    Float16,
    BFloat16,
    Other
};

Width GetWidth(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: return Width::Signed8;
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return Width::Unsigned8;
    case DataType::Boolean: return Width::Boolean;
    case DataType::Signed32: return Width::Signed32;
    case DataType::Signed64: return Width::Signed64;
    case DataType::Float32: return Width::Float32;
    case DataType::Float16: return Width::Float16;
    case DataType::BFloat16: return Width::BFloat16;
    default: return Width::Other;
    }
}

ConversionLoop FindFromFloat(Width to)
{
    switch (to)
    {
    case Width::Boolean: return ToBoolean<float>;
    case Width::Signed8: return FromFloat<int8_t>;
    case Width::Unsigned8: return FromFloat<uint8_t>;
    case Width::Signed32: return FromFloat<int32_t>;
    case Width::BFloat16: return ToBFloat16;
    case Width::Float16: return ToFloat16;
    default: return nullptr;
    }
}

ConversionLoop FindToFloat(Width from)
{
    switch (from)
    {
    case Width::Boolean: return FromBoolean<float>;
    case Width::Signed8: return ToFloat<int8_t>;
    case Width::Unsigned8: return ToFloat<uint8_t>;
    case Width::Signed32: return ToFloat<int32_t>;
    case Width::BFloat16: return FromBFloat16;
    case Width::Float16: return FromFloat16;
    default: return nullptr;
    }
}

ConversionLoop FindToInt(Width from)
{
    switch (from)
    {
    case Width::Boolean: return FromBoolean<int32_t>;
    case Width::Signed8: return ToInt<int8_t>;
    case Width::Unsigned8: return ToInt<uint8_t>;
    case Width::Signed64: return NarrowInts;
    default: return nullptr;
    }
}

ConversionLoop FindCastLoop(DataType from, DataType to)
{
    const Width in = GetWidth(from);
    const Width out = GetWidth(to);
    if (in == Width::Float32)
    {
        return FindFromFloat(out);
    }
    if (out == Width::Float32)
    {
        return FindToFloat(in);
    }
    if (out == Width::Signed32)
    {
        return FindToInt(in);
    }
    if (in == Width::Signed32)
    {
        return out == Width::Boolean ? ToBoolean<int32_t> : out == Width::Signed64 ? WidenInts : nullptr;
    }
    const auto isByte = [](Width width)
    { return width == Width::Boolean || width == Width::Signed8 || width == Width::Unsigned8; };
    const bool isBoolean = in == Width::Boolean || out == Width::Boolean;
    return isBoolean && isByte(in) && isByte(out) ? BytesToOnes : nullptr;
}

ConversionLoop FindDequantizeLoop(DataType from)
{
    switch (from)
    {
    case DataType::QAsymmU8: return Dequantize<uint8_t>;
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return Dequantize<int8_t>;
    case DataType::QSymmS16: return Dequantize<int16_t>;
    default: return nullptr;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

ConversionLoop FindDequantize(DataType from)
{
    return TENON_CHOOSE(FindDequantizeLoop)(from);
}

ConversionLoop FindCast(DataType from, DataType to)
{
    return TENON_CHOOSE(FindCastLoop)(from, to);
}

} // namespace tenon::cpu
#endif
