// SPDX-License-Identifier: Apache-2.0
// Multi-target compilation: a source of CpuAcc with vector code is compiled once for each of Highway's targets. Such a
// source has
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "backends/cpu/<its own path>"
//   #include "backends/cpu/simd/Foreach.hpp"
// Its vector code follows in namespace tenon::cpu::HWY_NAMESPACE between HWY_BEFORE_NAMESPACE() and
// HWY_AFTER_NAMESPACE(), its other code, compiled once, in `#if HWY_ONCE`. The interface to other sources is a function
// or a table of functions, which TENON_CHOOSE returns for the processor when a kernel is prepared.
//
// Highway's own dispatch is not used: its library measures the processor's clock when it is loaded, which takes longer
// than loading a small network.
#ifndef TENON_KERNELS
#error "This source has vectors since cmake was run: run it again, so that it is optimized as a kernel"
#endif
#include <hwy/foreach_target.h>
// Included last: the vectors of the current target.
#include <hwy/highway.h>

#ifndef TENON_CHOOSE
#include "backends/cpu/simd/Isa.hpp"

/// A pointer to the function of this name in the best target that the source is compiled for, the processor has, and
/// TENON_FORCE_ISA allows. Precondition: the processor has the lowest of these targets, in most cases that of
/// CpuFeatures::m_Simd.
#define TENON_CHOOSE(function)                                                                                         \
    ::tenon::cpu::Choose(HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_SSE4(function),              \
                         HWY_CHOOSE_NEON(function))

namespace tenon::cpu
{

/// The choice by target. Functions of targets that are not compiled (see src/backends/cpu/CMakeLists.txt) are null.
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
