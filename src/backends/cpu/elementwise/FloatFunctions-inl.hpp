// SPDX-License-Identifier: Apache-2.0
// Functions of one float and two parameters, on vectors, see FloatFunction. For sources with Foreach.hpp.
#if defined(TENON_FLOAT_FUNCTIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_FLOAT_FUNCTIONS_INL
#undef TENON_FLOAT_FUNCTIONS_INL
#else
#define TENON_FLOAT_FUNCTIONS_INL
#endif

#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Marks functions of so few instructions that the loop overhead counts.
struct FewSteps
{
};

struct Sigmoid
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return SigmoidOf(TagF32(), x); }
};

struct TanH
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return TanHOf(TagF32(), x); }
};

struct ScaledTanH
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32 a, VecF32 b) const
    {
        return hn::Mul(a, TanHOf(TagF32(), hn::Mul(b, x)));
    }
};

struct Linear : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32 a, VecF32 b) const { return hn::Add(hn::Mul(a, x), b); }
};

struct ReLu : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return GreaterOf(hn::Zero(TagF32()), x); }
};

struct BoundedReLu : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32 a, VecF32 b) const { return Clamped(x, b, a); }
};

struct SoftReLu
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        const TagF32 d;
        // max(x, 0) + log(1 + exp(-|x|)); the exponential is in (0, 1]
        const VecF32 rest = hn::Log1p(d, ExpUpTo88(d, hn::Neg(hn::Abs(x))));
        return KeepNaN(x, hn::Add(hn::Max(x, hn::Zero(d)), rest));
    }
};

struct LeakyReLu : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32 a, VecF32) const
    {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(TagF32())), x, hn::Mul(a, x));
    }
};

struct Absolute : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return hn::Abs(x); }
};

struct SquareRoot
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return RootOf(x); }
};

struct Square : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return hn::Mul(x, x); }
};

struct Elu
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32 a, VecF32) const
    {
        const TagF32 d;
        return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), x, hn::Mul(a, Expm1Below0(d, x)));
    }
};

struct HardSwish : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        const TagF32 d;
        const VecF32 ramp = hn::Mul(hn::Add(x, hn::Set(d, 3.0f)), hn::Set(d, 1.0f / 6.0f));
        return hn::Mul(x, Clamped(ramp, hn::Zero(d), hn::Set(d, 1.0f)));
    }
};

struct GeluTanH
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        // (1 + tanh(y)) / 2 = 1 / (1 + exp(-2y)), without cancellation.
        constexpr float TwiceSqrtTwoOverPi = 1.5957691216f;
        const VecF32 cube = hn::Mul(hn::Mul(hn::Mul(hn::Set(TagF32(), 0.044715f), x), x), x);
        const VecF32 y = hn::Mul(hn::Set(TagF32(), TwiceSqrtTwoOverPi), hn::Add(x, cube));
        return hn::Mul(x, SigmoidOf(TagF32(), y));
    }
};

/// Below 0 the error is absolute, up to 7e-7: 1/2 + erf / 2 cancels there.
struct Gelu
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        return hn::Mul(x, hn::Add(NormalFrom0(TagF32(), x), hn::Set(TagF32(), 0.5f)));
    }
};

struct Swish
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32 a, VecF32) const
    {
        return hn::Mul(x, SigmoidOf(TagF32(), hn::Mul(a, x)));
    }
};

struct Mish
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        // tanh(log(1 + e)) is n / (n + 2) with n = e * (e + 2); above 20 it is 1.
        const TagF32 d;
        const VecF32 two = hn::Set(d, 2.0f);
        const VecF32 e = ExpUpTo88(d, hn::Min(x, hn::Set(d, 20.0f)));
        const VecF32 n = hn::Mul(e, hn::Add(e, two));
        return hn::Mul(x, Quotient(n, hn::Add(n, two)));
    }
};

struct Negate : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return hn::Neg(x); }
};

struct InverseSqrt : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return InverseRootOf(TagF32(), x); }
};

struct Exp
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return ExpOf(TagF32(), x); }
};

struct Log
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return LogOf(TagF32(), x); }
};

struct Sin
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return SinOf(TagF32(), x); }
};

struct Cos
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return CosOf(TagF32(), x); }
};

struct Erf
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return ErfOf(TagF32(), x); }
};

struct Ceil : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return KeepSign(x, hn::Ceil(x)); }
};

struct Floor : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return KeepSign(x, hn::Floor(x)); }
};

struct Round : FewSteps
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const { return KeepSign(x, hn::Round(x)); }
};

struct Sign
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        const TagF32 d;
        const VecF32 one = hn::CopySign(hn::Set(TagF32(), 1.0f), x);
        // +0 for both zeros. The test is by bits, because float vectors of 32-bit Arm take subnormal numbers for zero.
        const auto isZero = hn::Eq(hn::BitCast(TagInt32(), hn::Abs(x)), hn::Zero(TagInt32()));
        return KeepNaN(x, hn::IfThenElse(hn::RebindMask(d, isZero), hn::Zero(d), one));
    }
};

/// Loops::Of<Function>() of the class of the function: a loop that runs it.
template <typename Loops>
HWY_INLINE auto FindLoopOf(FloatFunction function)
{
    switch (function)
    {
    case FloatFunction::Sigmoid: return Loops::template Of<Sigmoid>();
    case FloatFunction::TanH: return Loops::template Of<TanH>();
    case FloatFunction::ScaledTanH: return Loops::template Of<ScaledTanH>();
    case FloatFunction::Linear: return Loops::template Of<Linear>();
    case FloatFunction::ReLu: return Loops::template Of<ReLu>();
    case FloatFunction::BoundedReLu: return Loops::template Of<BoundedReLu>();
    case FloatFunction::SoftReLu: return Loops::template Of<SoftReLu>();
    case FloatFunction::LeakyReLu: return Loops::template Of<LeakyReLu>();
    case FloatFunction::Abs: return Loops::template Of<Absolute>();
    case FloatFunction::Sqrt: return Loops::template Of<SquareRoot>();
    case FloatFunction::Square: return Loops::template Of<Square>();
    case FloatFunction::Elu: return Loops::template Of<Elu>();
    case FloatFunction::HardSwish: return Loops::template Of<HardSwish>();
    case FloatFunction::GeluTanH: return Loops::template Of<GeluTanH>();
    case FloatFunction::Gelu: return Loops::template Of<Gelu>();
    case FloatFunction::Swish: return Loops::template Of<Swish>();
    case FloatFunction::Mish: return Loops::template Of<Mish>();
    case FloatFunction::Negate: return Loops::template Of<Negate>();
    case FloatFunction::InverseSqrt: return Loops::template Of<InverseSqrt>();
    case FloatFunction::Exp: return Loops::template Of<Exp>();
    case FloatFunction::Log: return Loops::template Of<Log>();
    case FloatFunction::Sin: return Loops::template Of<Sin>();
    case FloatFunction::Cos: return Loops::template Of<Cos>();
    case FloatFunction::Erf: return Loops::template Of<Erf>();
    case FloatFunction::Ceil: return Loops::template Of<Ceil>();
    case FloatFunction::Floor: return Loops::template Of<Floor>();
    case FloatFunction::Round: return Loops::template Of<Round>();
    case FloatFunction::Sign: break;
    }
    return Loops::template Of<Sign>();
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
