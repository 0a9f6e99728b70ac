// SPDX-License-Identifier: Apache-2.0
// The functions of one float, on vectors.
#include "backends/cpu/elementwise/FloatUnary.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/FloatUnary.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/Bytes-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"
#include "backends/cpu/simd/Select-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

HWY_INLINE Floats Set(float x)
{
    return hn::Set(FloatTag(), x);
}

struct Sigmoid
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return SigmoidOf(FloatTag(), x); }
};

struct TanH
{
    HWY_INLINE Floats operator()(Floats x, Floats a, Floats b) const
    {
        return hn::Mul(a, TanHOf(FloatTag(), hn::Mul(b, x)));
    }
};

struct Linear
{
    HWY_INLINE Floats operator()(Floats x, Floats a, Floats b) const { return hn::Add(hn::Mul(a, x), b); }
};

struct ReLu
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return GreaterOf(x, hn::Zero(FloatTag())); }
};

struct BoundedReLu
{
    HWY_INLINE Floats operator()(Floats x, Floats a, Floats b) const { return Clamped(x, b, a); }
};

struct SoftReLu
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const
    {
        const FloatTag d;
        // max(x, 0) + log(1 + exp(-|x|)), the latter of a number in (0, 1]
        const Floats rest = hn::Log1p(d, ExpUpTo88(d, hn::Neg(hn::Abs(x))));
        return KeepNaN(x, hn::Add(hn::Max(x, hn::Zero(d)), rest));
    }
};

struct LeakyReLu
{
    HWY_INLINE Floats operator()(Floats x, Floats a, Floats) const
    {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(FloatTag())), x, hn::Mul(a, x));
    }
};

struct Absolute
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return hn::Abs(x); }
};

struct SquareRoot
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return RootOf(x); }
};

struct Square
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return hn::Mul(x, x); }
};

struct Elu
{
    HWY_INLINE Floats operator()(Floats x, Floats a, Floats) const
    {
        const FloatTag d;
        return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), x, hn::Mul(a, Expm1Below0(d, x)));
    }
};

struct HardSwish
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const
    {
        const Floats six = Set(6.0f);
        const Floats ramp = Clamped(hn::Add(x, Set(3.0f)), hn::Zero(FloatTag()), six);
        return Quotient(hn::Mul(x, ramp), six);
    }
};

struct GeluTanH
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const
    {
        // (1 + tanh(y)) / 2 = 1 / (1 + exp(-2y)), where nothing cancels out.
        constexpr float TwiceSqrtTwoOverPi = 1.5957691216f;
        const Floats cube = hn::Mul(hn::Mul(hn::Mul(Set(0.044715f), x), x), x);
        const Floats y = hn::Mul(Set(TwiceSqrtTwoOverPi), hn::Add(x, cube));
        return hn::Mul(x, SigmoidOf(FloatTag(), y));
    }
};

struct Gelu
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const
    {
        const FloatTag d;
        const Floats tail = NormalTail(d, hn::Abs(x));
        return hn::Mul(x, hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Sub(Set(1.0f), tail), tail));
    }
};

struct Negate
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return hn::Neg(x); }
};

struct InverseSqrt
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return Quotient(Set(1.0f), RootOf(x)); }
};

struct Exp
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return ExpOf(FloatTag(), x); }
};

struct Log
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return LogOf(FloatTag(), x); }
};

struct Ceil
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return KeepSign(x, hn::Ceil(x)); }
};

struct Floor
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return KeepSign(x, hn::Floor(x)); }
};

struct Round
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const { return KeepSign(x, hn::Round(x)); }
};

struct Sign
{
    HWY_INLINE Floats operator()(Floats x, Floats, Floats) const
    {
        const FloatTag d;
        const Floats one = hn::CopySign(Set(1.0f), x);
        // 0, not -0, of both zeros. By its bits, as floats of 32-bit Arm's vectors take subnormal numbers for zero.
        const auto isZero = hn::Eq(hn::BitCast(IntTag(), hn::Abs(x)), hn::Zero(IntTag()));
        return KeepNaN(x, hn::IfThenElse(hn::RebindMask(d, isZero), hn::Zero(d), one));
    }
};

template <typename Function>
void Run(const float* in, float* out, size_t count, float a, float b)
{
    const Floats vectorA = Set(a);
    const Floats vectorB = Set(b);
    MapEach(FloatTag(), in, out, count, [&](Floats x) HWY_ATTR { return Function()(x, vectorA, vectorB); });
}

FloatLoop FindLoop(FloatFunction function)
{
    switch (function)
    {
    case FloatFunction::Sigmoid: return Run<Sigmoid>;
    case FloatFunction::TanH: return Run<TanH>;
    case FloatFunction::Linear: return Run<Linear>;
    case FloatFunction::ReLu: return Run<ReLu>;
    case FloatFunction::BoundedReLu: return Run<BoundedReLu>;
    case FloatFunction::SoftReLu: return Run<SoftReLu>;
    case FloatFunction::LeakyReLu: return Run<LeakyReLu>;
    case FloatFunction::Abs: return Run<Absolute>;
    case FloatFunction::Sqrt: return Run<SquareRoot>;
    case FloatFunction::Square: return Run<Square>;
    case FloatFunction::Elu: return Run<Elu>;
    case FloatFunction::HardSwish: return Run<HardSwish>;
    case FloatFunction::GeluTanH: return Run<GeluTanH>;
    case FloatFunction::Gelu: return Run<Gelu>;
    case FloatFunction::Negate: return Run<Negate>;
    case FloatFunction::InverseSqrt: return Run<InverseSqrt>;
    case FloatFunction::Exp: return Run<Exp>;
    case FloatFunction::Log: return Run<Log>;
    case FloatFunction::Ceil: return Run<Ceil>;
    case FloatFunction::Floor: return Run<Floor>;
    case FloatFunction::Round: return Run<Round>;
    case FloatFunction::Sign: break;
    }
    return Run<Sign>;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

FloatLoop FindFloatLoop(FloatFunction function)
{
    return TENON_CHOOSE(FindLoop)(function);
}

} // namespace tenon::cpu
#endif
