// SPDX-License-Identifier: Apache-2.0
// Floats as numbers of steps, as the reference kernels of float data beside integer weights quantize them, for sources
// that are compiled for each target (Foreach.hpp). Included once a target.
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

/// Steps of 1 / inverse, of which the whole part is the number.
HWY_INLINE Floats UnboundedStepsOf(Floats value, Floats inverse)
{
    const Floats scaled = hn::Mul(value, inverse);
    // The half is added in float, as the reference kernels do it.
    const Floats half = hn::CopySign(hn::Set(FloatTag(), 0.5f), scaled);
    return hn::Add(scaled, half);
}

/// The same within bounds. These are whole, so that it makes no difference that a zero point is added later. NaN become
/// the lower one.
HWY_INLINE Floats StepsOf(Floats value, Floats inverse, Floats least, Floats most)
{
    return LessOf(GreaterOf(UnboundedStepsOf(value, inverse), least), most);
}

/// The same as whole floats.
HWY_INLINE Floats QuantizedToFloats(Floats value, Floats inverse, Floats least, Floats most)
{
    return hn::Trunc(StepsOf(value, inverse, least, most));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
