// SPDX-License-Identifier: Apache-2.0
// How CpuAcc's sources with vector code are compiled once for each of Highway's targets. Such a source reads
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "backends/cpu/<its own path>"
//   #include "backends/cpu/simd/Foreach.hpp"
// then has its vector code in namespace tenon::cpu::HWY_NAMESPACE between HWY_BEFORE_NAMESPACE() and
// HWY_AFTER_NAMESPACE(), and its other code, once, in `#if HWY_ONCE`. What is called from outside is a function or a
// table of functions, which TENON_CHOOSE gives for the processor at hand when a kernel is prepared.
//
// Highway's own dispatch is not used: it lives in a library whose load measures the processor's clock, for longer than
// it takes to load a small network.
#ifndef TENON_KERNELS
#error "This source has vectors since cmake was run: run it again, so that it is optimized as a kernel"
#endif
#include <hwy/foreach_target.h>
// After it: the vectors of the target at hand.
#include <hwy/highway.h>

#ifndef TENON_CHOOSE
#include "backends/cpu/simd/Isa.hpp"

/// The function of this name in the best of the targets that the source is compiled for, the processor has, and
/// TENON_FORCE_ISA lets through; a pointer. Precondition: the processor has the lowest of them, mostly that of
/// CpuFeatures::m_Simd.
#define TENON_CHOOSE(function)                                                                                         \
    ::tenon::cpu::Choose(HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_SSE4(function),              \
                         HWY_CHOOSE_NEON(function))

namespace tenon::cpu
{

/// Functions of targets that are not compiled (src/backends/cpu/CMakeLists.txt says which are) are null.
template <typename Avx3, typename Avx2, typename Sse4, typename Neon>
auto Choose(Avx3 avx3, Avx2 avx2, Sse4 sse4, Neon neon)
{
    if constexpr (!std::is_null_pointer_v<Neon>)
    {
        return neon;
    }
    else if constexpr (std::is_null_pointer_v<Sse4>)
    {
        static_assert(std::is_null_pointer_v<Avx2>, "sources are compiled for all targets above their lowest one");
        return avx3;
    }
    else
    {
        const CpuFeatures& features = GetCpuFeatures();
        return features.m_Avx512 ? avx3 : features.m_Avx2 ? avx2 : sse4;
    }
}

} // namespace tenon::cpu
#endif
