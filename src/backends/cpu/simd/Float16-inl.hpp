// SPDX-License-Identifier: Apache-2.0
// float16, in uint16_t, in vectors of float32: the instructions for it, or integer arithmetic where there are none, as
// Highway's own conversions round towards zero then. For sources that are compiled once for each target, after
// simd/Foreach.hpp.
#if defined(TENON_CPU_FLOAT16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_FLOAT16_INL
#undef TENON_CPU_FLOAT16_INL
#else
#define TENON_CPU_FLOAT16_INL
#endif

#include "backends/cpu/simd/Bf16-inl.hpp"

#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
HWY_INLINE Floats WidenFloat16(hn::Vec<HalfWordTag> halves)
{
    return hn::PromoteTo(FloatTag(), hn::BitCast(hn::Rebind<hwy::float16_t, FloatTag>(), halves));
}

/// The nearest float16, of two as near ones the even one.
HWY_INLINE hn::Vec<HalfWordTag> RoundToFloat16(Floats values)
{
    return hn::BitCast(HalfWordTag(), hn::DemoteTo(hn::Rebind<hwy::float16_t, FloatTag>(), values));
}
#else
/// As bits of float32: 2^-14, the smallest normal float16; 2^16, above all of them; infinity; and what is between the
/// exponents of both types.
constexpr int32_t LeastNormalFloat16 = 113 << 23;
constexpr int32_t AboveFloat16 = 143 << 23;
constexpr int32_t InfinityOfFloats = 255 << 23;
constexpr int32_t Float16ExponentStep = (127 - 15) << 23;

HWY_INLINE Floats WidenFloat16(hn::Vec<HalfWordTag> halves)
{
    const IntTag d;
    const Ints bits = hn::PromoteTo(d, halves);
    const Ints magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d, 0x7FFF)));
    const Ints exponent = hn::And(magnitude, hn::Set(d, 0x7C00 << 13));
    const Ints step = hn::Set(d, Float16ExponentStep);
    const Ints normal = hn::Add(magnitude, step);
    // Below the normal numbers the leading one is missing: it is added as bits, and taken off as a number.
    const Floats above = hn::BitCast(FloatTag(), hn::Add(normal, hn::Set(d, 1 << 23)));
    const Ints small = hn::BitCast(d, hn::Sub(above, hn::BitCast(FloatTag(), hn::Set(d, LeastNormalFloat16))));
    const Ints finite = hn::IfThenElse(hn::Eq(exponent, hn::Zero(d)), small, normal);
    const Ints value = hn::IfThenElse(hn::Eq(exponent, hn::Set(d, 0x7C00 << 13)), hn::Add(normal, step), finite);
    return hn::BitCast(FloatTag(), hn::Or(value, hn::ShiftLeft<16>(hn::And(bits, hn::Set(d, 0x8000)))));
}

/// The nearest float16, of two as near ones the even one.
HWY_INLINE hn::Vec<HalfWordTag> RoundToFloat16(Floats values)
{
    const IntTag d;
    const Ints bits = hn::BitCast(d, values);
    const Ints sign = hn::And(bits, hn::Set(d, std::numeric_limits<int32_t>::min()));
    const Ints magnitude = hn::Xor(bits, sign);
    const Ints odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1));
    const Ints normal = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, odd), hn::Set(d, 0xFFF - Float16ExponentStep)));
    // A number whose last bit is worth as much as that of the smallest float16: the sum is rounded to it.
    const Ints unit = hn::Set(d, ((127 - 15) + (23 - 10) + 1) << 23);
    const Floats sum = hn::Add(hn::BitCast(FloatTag(), magnitude), hn::BitCast(FloatTag(), unit));
    const Ints small = hn::Sub(hn::BitCast(d, sum), unit);
    const Ints finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, LeastNormalFloat16)), small, normal);
    const auto isNaN = hn::Gt(magnitude, hn::Set(d, InfinityOfFloats));
    const Ints special = hn::IfThenElse(isNaN, hn::Set(d, 0x7E00), hn::Set(d, 0x7C00));
    const Ints half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, AboveFloat16)), finite, special);
    const Ints upper = hn::And(hn::ShiftRight<16>(sign), hn::Set(d, 0x8000));
    return hn::DemoteTo(HalfWordTag(), hn::Or(half, upper)); // these are below 2^16
}
#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
