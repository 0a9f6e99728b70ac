// SPDX-License-Identifier: Apache-2.0
// Functions of one bfloat16, computed on vectors of floats.
#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/UnaryBf16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/elementwise/FloatFunctions-inl.hpp"
#include "backends/cpu/simd/Bf16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

HWY_INLINE VecF32 Set(float x)
{
    return hn::Set(TagF32(), x);
}

/// 1 / x, with a relative error of 2^-14. Precondition: x is from 1 to 2^126.
HWY_INLINE VecF32 ApproximateInverse(VecF32 x)
{
#if HWY_TARGET == HWY_AVX3
    return hn::ApproximateReciprocal(x);
#else // the estimate has fewer bits
    return hn::Div(Set(1.0f), x);
#endif
}

/// 2^x, with a relative error of 8e-5. Precondition: x is from -126 to 127.
HWY_INLINE VecF32 ApproximateExp2(VecF32 x)
{
    const TagF32 d;
    const VecF32 shifter = Set(ExponentShifter);
    const VecF32 shifted = hn::Add(x, shifter);
    const VecF32 rest = hn::Sub(x, hn::Sub(shifted, shifter));
    // The polynomial with the smallest maximum relative error on [-0.5, 0.5].
    VecF32 sum = hn::MulAdd(rest, Set(0.0551716758f), Set(0.242611172f));
    sum = hn::MulAdd(rest, sum, Set(0.693260989f));
    sum = hn::MulAdd(rest, sum, Set(0.999928071f));
    return hn::Mul(sum, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(TagInt32(), shifted))));
}

/// 1 / (1 + 2^x), and 2^-125 where it would be less. The result for NaN is unspecified.
HWY_INLINE VecF32 Logistic(VecF32 x)
{
    const VecF32 bounded = hn::Max(hn::Min(x, Set(125.0f)), Set(-125.0f));
    return ApproximateInverse(hn::Add(ApproximateExp2(bounded), Set(1.0f)));
}

struct ApproximateSigmoid
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        constexpr float OverLogTwo = 1.44269504f;
        return KeepNaN(x, Logistic(hn::Mul(x, Set(-OverLogTwo))));
    }
};

struct ApproximateGeluTanH
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        // x / (1 + exp(-2y)) with y = sqrt(2 / pi) (x + 0.044715 x^3)
        constexpr float First = -2.30220819f; // -2 sqrt(2 / pi) / log(2)
        constexpr float Third = 0.044715f * First;
        const VecF32 bounded = hn::Max(x, Set(-10.0f)); // the result is 2^-121
        const VecF32 y = hn::Mul(bounded, hn::MulAdd(hn::Mul(bounded, bounded), Set(Third), Set(First)));
        return KeepNaN(x, hn::Mul(bounded, Logistic(y)));
    }
};

struct ApproximateGelu
{
    HWY_INLINE VecF32 operator()(VecF32 x, VecF32, VecF32) const
    {
        // exp(z^2) erfc(z) (1 + z/2) / 2 with z = |x| / sqrt(2) as a polynomial of t = 1 / (1 + z/2), with the smallest
        // maximum relative error, 9.3e-5.
        constexpr float HalfOverSqrtTwo = 0.35355339059f;
        constexpr float HalfOverLogTwo = 0.72134752044f;
        const VecF32 bounded = hn::Min(hn::Abs(x), Set(12.9f)); // the result is 2^-121, too
        const VecF32 t = ApproximateInverse(hn::MulAdd(bounded, Set(HalfOverSqrtTwo), Set(1.0f)));
        VecF32 sum = hn::MulAdd(t, Set(-0.0835143692f), Set(0.231312829f));
        sum = hn::MulAdd(t, sum, Set(0.0578444758f));
        sum = hn::MulAdd(t, sum, Set(0.154321655f));
        sum = hn::MulAdd(t, sum, Set(0.140081703f));
        const VecF32 power = ApproximateExp2(hn::Mul(hn::Mul(bounded, Set(-HalfOverLogTwo)), bounded));
        const VecF32 tail = hn::Mul(hn::Mul(sum, t), power);
        return hn::NegMulAdd(bounded, tail, GreaterOf(hn::Zero(TagF32()), x));
    }
};

/// Runs MapEach with the function, followed by `round`.
template <typename Function, typename Round>
HWY_INLINE void RunWith(const uint16_t* in, uint16_t* out, size_t count, float a, float b, const Round& round)
{
    const VecF32 vectorA = Set(a);
    const VecF32 vectorB = Set(b);
    MapEach(TagUint16(), in, out, count,
            [&](auto halves) HWY_ATTR
            {
                const VecUint32 words = hn::ShiftLeft<16>(hn::PromoteTo(TagUint32(), halves));
                return round(Function()(hn::BitCast(TagF32(), words), vectorA, vectorB));
            });
}

template <typename Function>
void Run(const uint16_t* in, uint16_t* out, size_t count, float a, float b)
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Bf16)
    {
        RunWith<Function>(in, out, count, a, b, [](VecF32 x) HWY_ATTR { return RoundMostToBf16(x); });
        return;
    }
#endif
    RunWith<Function>(in, out, count, a, b, [](VecF32 x) HWY_ATTR { return RoundToBf16(x); });
}

/// The same for approximate functions: subnormal results may become zeros.
template <typename Function>
void RunApproximate(const uint16_t* in, uint16_t* out, size_t count, float a, float b)
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Bf16)
    {
        RunWith<Function>(in, out, count, a, b, [](VecF32 x) HWY_ATTR { return RoundNormalToBf16(x); });
        return;
    }
#endif
    RunWith<Function>(in, out, count, a, b, [](VecF32 x) HWY_ATTR { return RoundToBf16(x); });
}

struct Loops
{
    template <typename Function>
    static UnaryLoopBf16 Of()
    {
        if constexpr (std::is_same_v<Function, Sigmoid>)
        {
            return RunApproximate<ApproximateSigmoid>;
        }
        else if constexpr (std::is_same_v<Function, GeluTanH>)
        {
            return RunApproximate<ApproximateGeluTanH>;
        }
        else if constexpr (std::is_same_v<Function, Gelu>)
        {
            return RunApproximate<ApproximateGelu>;
        }
        else
        {
            return Run<Function>;
        }
    }
};

UnaryLoopBf16 FindLoop(FloatFunction function)
{
    return FindLoopOf<Loops>(function);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

UnaryLoopBf16 FindUnaryLoopBf16(FloatFunction function)
{
    return TENON_CHOOSE(FindLoop)(function);
}

} // namespace tenon::cpu
#endif
