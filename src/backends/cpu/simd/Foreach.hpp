// SPDX-License-Identifier: Apache-2.0
// How CpuAcc's sources with vector code are compiled once for each of Highway's targets. Such a source reads
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "backends/cpu/<its own path>"
//   #include "backends/cpu/simd/Foreach.hpp"
// then has its vector code in namespace tenon::cpu::HWY_NAMESPACE between HWY_BEFORE_NAMESPACE() and
// HWY_AFTER_NAMESPACE(), and its other code, once, in `#if HWY_ONCE`. What is called from outside is a table of
// functions, HWY_EXPORTed and taken with HWY_DYNAMIC_POINTER when a kernel is prepared.
//
// Without one of these targets (see CpuFeatures::m_Simd) nothing here is called: only reference kernels run.
#include <hwy/foreach_target.h>
// After it: the vectors of the target at hand.
#include <hwy/highway.h>
