// SPDX-License-Identifier: Apache-2.0
// Runs of elements as vectors, without a read or a write past their ends. Included, after Foreach.hpp, by sources that
// are compiled once for each target.
#if defined(TENON_CPU_SIMD_SPANS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_SIMD_SPANS_INL
#undef TENON_CPU_SIMD_SPANS_INL
#else
#define TENON_CPU_SIMD_SPANS_INL
#endif

#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(tag, i) for vectors at i that cover [0, count): vectors of `Lanes` elements or, where there are fewer, of
/// the next lower power of two. The last one overlaps its neighbour unless it fits, so what f writes must not change
/// what it reads.
template <typename T, size_t Lanes, typename F>
HWY_INLINE void CoverBy(size_t count, const F& f)
{
    if (count >= Lanes)
    {
        const hn::CappedTag<T, Lanes> d;
        size_t i = 0;
        for (; i + Lanes <= count; i += Lanes)
        {
            f(d, i);
        }
        if (i < count)
        {
            f(d, count - Lanes);
        }
        return;
    }
    if constexpr (Lanes > 1)
    {
        CoverBy<T, Lanes / 2>(count, f);
    }
}

/// The same with vectors as wide as there are.
template <typename T, typename F>
HWY_INLINE void Cover(size_t count, const F& f)
{
    CoverBy<T, HWY_LANES(T)>(count, f);
}

/// The first `count` lanes from memory, the others `rest`.
template <class D, typename T>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const T* from, size_t count, T rest)
{
    T buffer[HWY_LANES(T)];
    hn::StoreU(hn::Set(d, rest), d, buffer);
    std::memcpy(buffer, from, count * sizeof(T));
    return hn::LoadU(d, buffer);
}

/// Stores the first `count` lanes.
template <class D, typename T>
HWY_INLINE void StoreFirst(hn::Vec<D> v, D d, T* to, size_t count)
{
    T buffer[HWY_LANES(T)];
    hn::StoreU(v, d, buffer);
    std::memcpy(to, buffer, count * sizeof(T));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
