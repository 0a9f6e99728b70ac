// SPDX-License-Identifier: Apache-2.0
// Float numbers to whole numbers of steps of a scale, with the rounding of the hybrid reference kernels:
//   trunc(x * inverse + copysign(0.5, x))
// For sources with Foreach.hpp.
#if defined(TENON_CPU_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_STEPS_INL
#undef TENON_CPU_STEPS_INL
#else
#define TENON_CPU_STEPS_INL
#endif

#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// x / scale plus the half with the sign of x, in float; the whole part is the number of steps.
HWY_INLINE Floats UnboundedStepsOf(Floats value, Floats inverse)
{
    const Floats scaled = hn::Mul(value, inverse);
    // The half is added in float, as the reference kernels do.
    const Floats half = hn::CopySign(hn::Set(FloatTag(), 0.5f), scaled);
    return hn::Add(scaled, half);
}

/// The same, clamped. The bounds are whole numbers, so a zero point may be added later. NaN becomes the lower bound.
HWY_INLINE Floats StepsOf(Floats value, Floats inverse, Floats least, Floats most)
{
    return LessOf(GreaterOf(UnboundedStepsOf(value, inverse), least), most);
}

/// The same, truncated to whole floats.
HWY_INLINE Floats QuantizedToFloats(Floats value, Floats inverse, Floats least, Floats most)
{
    return hn::Trunc(StepsOf(value, inverse, least, most));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
