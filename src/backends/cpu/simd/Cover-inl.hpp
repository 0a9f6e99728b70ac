// SPDX-License-Identifier: Apache-2.0
// Vectors that cover [0, count) without reads or writes past the ends: the last vector overlaps its neighbour, or is
// narrower if there are fewer elements than one vector has. For sources with Foreach.hpp.
#if defined(TENON_COVER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_COVER_INL
#undef TENON_COVER_INL
#else
#define TENON_COVER_INL
#endif

#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(tag, i) for vectors at i that cover [0, count). Vectors have `Lanes` elements or, if `count` is smaller, the
/// next lower power of two. The last vector overlaps its neighbour unless it fits, so f must not read what it writes.
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

/// The same with the widest vectors of the target.
template <typename T, typename F>
HWY_INLINE void Cover(size_t count, const F& f)
{
    CoverBy<T, HWY_LANES(T)>(count, f);
}

/// Loads the first `count` lanes from memory and sets the other lanes to `rest`.
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
