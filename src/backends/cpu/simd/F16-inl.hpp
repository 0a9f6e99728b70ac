// SPDX-License-Identifier: Apache-2.0
// float16 numbers, stored in uint16_t, in vectors of float32. Targets without conversion instructions use arithmetic on
// bits, because Highway's own conversions round towards zero there. For sources with Foreach.hpp.
#if defined(TENON_SIMD_F16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_SIMD_F16_INL
#undef TENON_SIMD_F16_INL
#else
#define TENON_SIMD_F16_INL
#endif

#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
HWY_INLINE VecF32 WidenF16(hn::Vec<TagUint16> halves)
{
    return hn::PromoteTo(TagF32(), hn::BitCast(hn::Rebind<hwy::float16_t, TagF32>(), halves));
}

/// Rounds to the nearest float16, ties to even.
HWY_INLINE hn::Vec<TagUint16> RoundToF16(VecF32 values)
{
    return hn::BitCast(TagUint16(), hn::DemoteTo(hn::Rebind<hwy::float16_t, TagF32>(), values));
}
#else
HWY_INLINE VecF32 WidenF16(hn::Vec<TagUint16> halves)
{
    const TagUint32 d;
    const TagF32 f;
    const VecUint32 bits = hn::ShiftLeft<16>(hn::PromoteTo(d, halves));
    const VecUint32 twice = hn::Add(bits, bits); // without the sign
    const VecUint32 number = hn::ShiftRight<4>(twice);
    // The exponent is too large by a constant, chosen so that infinities and NaN have their float32 exponent already.
    // One multiplication corrects all other numbers.
    const VecF32 normal = hn::Mul(hn::BitCast(f, hn::Add(number, hn::Set(d, 0xE0U << 23))), hn::Set(f, 0x1p-112f));
    // Subnormal float16 numbers are multiples of the last bit of the float32 numbers in [0.5, 1).
    const VecUint32 last = hn::Or(hn::ShiftRight<17>(twice), hn::Set(d, 126U << 23));
    const VecF32 small = hn::Sub(hn::BitCast(f, last), hn::Set(f, 0.5f));
    const auto isSmall = hn::Lt(hn::BitCast(TagInt32(), number), hn::Set(TagInt32(), 1 << 23));
    const VecF32 value = hn::IfThenElse(hn::RebindMask(f, isSmall), small, normal);
    return hn::Or(value, hn::BitCast(f, hn::And(bits, hn::Set(d, 0x80000000U))));
}

/// Rounds to the nearest float16, ties to even.
HWY_INLINE hn::Vec<TagUint16> RoundToF16(VecF32 values)
{
    const TagUint32 d;
    const TagF32 f;
    const VecUint32 bits = hn::BitCast(d, values);
    const VecUint32 exponent = hn::And(hn::Add(bits, bits), hn::Set(d, 0xFF000000U));
    // The magic number is a power of two whose last bit has the weight of the float16's last bit, so the sum is rounded
    // to it. Numbers beyond the range become infinity first.
    const VecUint32 minNormal = hn::Set(d, 0x71000000U); // the smallest normal float16
    const VecUint32 power = hn::Add(hn::ShiftRight<1>(hn::Max(exponent, minNormal)), hn::Set(d, 0x07800000U));
    const VecF32 scaled = hn::Mul(hn::Mul(hn::Abs(values), hn::Set(f, 0x1p112f)), hn::Set(f, 0x1p-110f));
    const VecUint32 sum = hn::BitCast(d, hn::Add(hn::BitCast(f, power), scaled));
    const VecUint32 number =
        hn::Add(hn::And(hn::ShiftRight<13>(sum), hn::Set(d, 0x7C00U)), hn::And(sum, hn::Set(d, 0xFFFU)));
    const auto isNumber = hn::RebindMask(d, hn::Eq(values, values));
    const VecUint32 half = hn::IfThenElse(isNumber, number, hn::Set(d, 0x7E00U));
    const VecUint32 sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000U));
    return hn::DemoteTo(TagUint16(), hn::BitCast(TagInt32(), hn::Or(half, sign))); // all numbers are below 2^16
}
#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
