// SPDX-License-Identifier: Apache-2.0
// Copies of a compile-time number of bytes by vectors. For sources with Foreach.hpp.
#if defined(TENON_COPY_FIXED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_COPY_FIXED_INL
#undef TENON_COPY_FIXED_INL
#else
#define TENON_COPY_FIXED_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Copies by vectors as long as they fit, then by smaller moves. Vectors of 64 bytes are used only if N is a multiple
/// of 64: otherwise each store would cross cache lines.
template <size_t N, size_t Widest = (N != 0 && N % 64 == 0 ? 64 : 32)>
HWY_INLINE void CopyFixed(std::byte* to, const std::byte* from)
{
    constexpr size_t Lanes = std::clamp<size_t>(HWY_LANES(uint8_t), 16, Widest);
    if constexpr (N >= Lanes)
    {
        const hn::FixedTag<uint8_t, Lanes> d;
        hn::StoreU(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from)), d, reinterpret_cast<uint8_t*>(to));
        CopyFixed<N - Lanes, Widest>(to + Lanes, from + Lanes);
    }
    else if constexpr (N != 0)
    {
        std::memcpy(to, from, N);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
