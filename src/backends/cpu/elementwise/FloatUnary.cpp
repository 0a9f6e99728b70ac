// SPDX-License-Identifier: Apache-2.0
// The functions of one float, on vectors.
#include "backends/cpu/elementwise/FloatUnary.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/FloatUnary.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/elementwise/FloatFunctions-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename Function>
void Run(const float* in, float* out, size_t count, float a, float b)
{
    const FloatTag d;
    const Floats vectorA = hn::Set(d, a);
    const Floats vectorB = hn::Set(d, b);
    MapEach(d, in, out, count, [&](Floats x) HWY_ATTR { return Function()(x, vectorA, vectorB); });
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
