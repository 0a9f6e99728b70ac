// SPDX-License-Identifier: Apache-2.0
// Reversal of elements in registers.
#include "backends/cpu/move/ReverseVectors.hpp"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/ReverseVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <class D>
HWY_INLINE hn::Vec<D> Reversed(D d, hn::Vec<D> v)
{
    if constexpr (sizeof(hn::TFromD<D>) == 1 && hn::MaxLanes(D()) > 1)
    {
        // Highway has no reversal of bytes: pairs are reversed, then the bytes of each pair.
        const hn::Repartition<uint16_t, D> pairs;
        const auto reversed = hn::Reverse(pairs, hn::BitCast(pairs, v));
        return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(reversed), hn::ShiftRight<8>(reversed)));
    }
    else if constexpr (hn::MaxLanes(D()) > 1)
    {
        return hn::Reverse(d, v);
    }
    return v;
}

template <typename T>
void ReverseElements(const std::byte* from, size_t count, std::byte* to)
{
    const T* in = reinterpret_cast<const T*>(from);
    T* out = reinterpret_cast<T*>(to);
    Cover<T>(count, [&](auto d, size_t i) HWY_ATTR
             { hn::StoreU(Reversed(d, hn::LoadU(d, in + count - i - hn::MaxLanes(d))), d, out + i); });
}

ReverseFunction FindReverseLoop(size_t elementBytes)
{
    switch (elementBytes)
    {
    case 1: return ReverseElements<uint8_t>;
    case 2: return ReverseElements<uint16_t>;
    case 4: return ReverseElements<uint32_t>;
    case 8: return ReverseElements<uint64_t>;
    default: return nullptr;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

ReverseFunction FindReverse(size_t elementBytes)
{
    return TENON_CHOOSE(FindReverseLoop)(elementBytes);
}

} // namespace tenon::cpu
#endif
