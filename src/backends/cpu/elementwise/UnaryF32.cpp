// SPDX-License-Identifier: Apache-2.0
// Functions of one float, on vectors.
#include "backends/cpu/elementwise/UnaryF32.hpp"

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

} // namespace tenon::cpu
#endif
