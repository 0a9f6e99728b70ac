// SPDX-License-Identifier: Apache-2.0
// Float numbers to whole numbers of steps of a scale, with the rounding of the hybrid reference kernels:
//   trunc(x * inverse + copysign(0.5, x))
// For sources with Foreach.hpp.
#if defined(TENON_QUANTIZE_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_QUANTIZE_F32_INL
#undef TENON_QUANTIZE_F32_INL
#else
#define TENON_QUANTIZE_F32_INL
#endif

#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// x / scale plus the half with the sign of x, in float; the whole part is the number of steps.
HWY_INLINE VecF32 UnboundedStepsOf(VecF32 value, VecF32 inverse)
{
    const VecF32 scaled = hn::Mul(value, inverse);
    // The half is added in float, as the reference kernels do.
    const VecF32 half = hn::CopySign(hn::Set(TagF32(), 0.5f), scaled);
    return hn::Add(scaled, half);
}

/// The same, clamped. The bounds are whole numbers, so a zero point may be added later. NaN becomes the lower bound.
HWY_INLINE VecF32 StepsOf(VecF32 value, VecF32 inverse, VecF32 minimum, VecF32 maximum)
{
    return LessOf(GreaterOf(UnboundedStepsOf(value, inverse), minimum), maximum);
}

/// The same, truncated to whole floats.
HWY_INLINE VecF32 QuantizedAsF32(VecF32 value, VecF32 inverse, VecF32 minimum, VecF32 maximum)
{
    return hn::Trunc(StepsOf(value, inverse, minimum, maximum));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
