// SPDX-License-Identifier: Apache-2.0
// Permutations of the bytes of two 64-byte vectors with AVX-512 VBMI (vpermt2b, CpuFeatures::m_Avx512Vbmi). For sources
// with Foreach.hpp.
#if defined(TENON_PERMUTE_BYTES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_PERMUTE_BYTES_INL
#undef TENON_PERMUTE_BYTES_INL
#else
#define TENON_PERMUTE_BYTES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

using Line = hn::FixedTag<uint8_t, 64>;
using LineVec = hn::Vec<Line>;

/// Bytes of `first` (indices 0 to 63) and of `second` (indices 64 to 127).
HWY_INLINE LineVec PermuteBytes(LineVec first, LineVec second, LineVec indices)
{
    asm("vpermt2b %2, %1, %0" : "+v"(first.raw) : "v"(indices.raw), "v"(second.raw));
    return first;
}

/// The same with `second` in memory, so that it takes no register.
HWY_INLINE LineVec PermuteBytes(LineVec first, const uint8_t* second, LineVec indices)
{
    asm("vpermt2b %2, %1, %0" : "+v"(first.raw) : "v"(indices.raw), "m"(*reinterpret_cast<const __m512i_u*>(second)));
    return first;
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
