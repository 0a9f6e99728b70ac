// SPDX-License-Identifier: Apache-2.0
// Functions of one float, on vectors, and the functions of activations and unary operations. See UnaryFloat.hpp.
#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/UnaryF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/elementwise/FloatFunctions-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename Function>
void Run(const float* in, float* out, size_t count, float a, float b)
{
    const TagF32 d;
    const VecF32 vectorA = hn::Set(d, a);
    const VecF32 vectorB = hn::Set(d, b);
    constexpr size_t AtOnce = std::is_base_of_v<FewSteps, Function> ? 2 : 1;
    MapEach<AtOnce>(d, in, out, count, [&](VecF32 x) HWY_ATTR { return Function()(x, vectorA, vectorB); });
}

struct Loops
{
    template <typename Function>
    static UnaryLoopF32 Of()
    {
        return Run<Function>;
    }
};

UnaryLoopF32 FindLoop(FloatFunction function)
{
    return FindLoopOf<Loops>(function);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

UnaryLoopF32 FindUnaryLoopF32(FloatFunction function)
{
    return TENON_CHOOSE(FindLoop)(function);
}

FloatFunction ToFunction(const ActivationDescriptor& descriptor)
{
    switch (descriptor.m_Function)
    {
    case ActivationFunction::Sigmoid: return FloatFunction::Sigmoid;
    case ActivationFunction::TanH:
        return descriptor.m_A == 1.0f && descriptor.m_B == 1.0f ? FloatFunction::TanH : FloatFunction::ScaledTanH;
    case ActivationFunction::Linear: return FloatFunction::Linear;
    case ActivationFunction::ReLu: return FloatFunction::ReLu;
    case ActivationFunction::BoundedReLu: return FloatFunction::BoundedReLu;
    case ActivationFunction::SoftReLu: return FloatFunction::SoftReLu;
    case ActivationFunction::LeakyReLu: return FloatFunction::LeakyReLu;
    case ActivationFunction::Abs: return FloatFunction::Abs;
    case ActivationFunction::Sqrt: return FloatFunction::Sqrt;
    case ActivationFunction::Square: return FloatFunction::Square;
    case ActivationFunction::Elu: return FloatFunction::Elu;
    case ActivationFunction::HardSwish: return FloatFunction::HardSwish;
    case ActivationFunction::Swish: return FloatFunction::Swish;
    case ActivationFunction::Mish: return FloatFunction::Mish;
    case ActivationFunction::Gelu: break;
    }
    return descriptor.m_A != 0.0f ? FloatFunction::GeluTanH : FloatFunction::Gelu;
}

std::optional<FloatFunction> ToFunction(UnaryOperation operation)
{
    switch (operation)
    {
    case UnaryOperation::Abs: return FloatFunction::Abs;
    case UnaryOperation::Exp: return FloatFunction::Exp;
    case UnaryOperation::Sqrt: return FloatFunction::Sqrt;
    case UnaryOperation::Rsqrt: return FloatFunction::InverseSqrt;
    case UnaryOperation::Neg: return FloatFunction::Negate;
    case UnaryOperation::Log: return FloatFunction::Log;
    case UnaryOperation::Ceil: return FloatFunction::Ceil;
    case UnaryOperation::Round: return FloatFunction::Round;
    case UnaryOperation::Sign: return FloatFunction::Sign;
    case UnaryOperation::Sin: return FloatFunction::Sin;
    case UnaryOperation::Cos: return FloatFunction::Cos;
    case UnaryOperation::Erf: return FloatFunction::Erf;
    default: return std::nullopt; // by the reference kernel
    }
}

} // namespace tenon::cpu
#endif
