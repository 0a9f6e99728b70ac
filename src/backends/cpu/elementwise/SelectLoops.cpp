// SPDX-License-Identifier: Apache-2.0
// The loops of Select.
#include "backends/cpu/elementwise/SelectLoops.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/SelectLoops.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// A mask that is true for bytes other than 0, for as many elements as `d` has.
template <class D>
HWY_INLINE hn::Mask<D> LoadMask(D d, const uint8_t* condition)
{
    using T = hn::TFromD<D>;
    const hn::Rebind<uint8_t, D> d8;
    const auto bytes = hn::LoadU(d8, condition);
    if constexpr (sizeof(T) == 1)
    {
        return hn::Ne(bytes, hn::Zero(d8));
    }
    else if constexpr (sizeof(T) < 8)
    {
        return hn::Ne(hn::PromoteTo(d, bytes), hn::Zero(d));
    }
    else
    {
        // There is no promotion from 8 to 64 bits in one step, but masks can be sign-extended in two.
        const hn::Rebind<int32_t, D> d32;
        const auto halves = hn::VecFromMask(d32, hn::Ne(hn::PromoteTo(d32, bytes), hn::Zero(d32)));
        return hn::MaskFromVec(hn::BitCast(d, hn::PromoteTo(hn::Rebind<int64_t, D>(), halves)));
    }
}

/// `Moves`: copies `count` elements; otherwise repeats the element *from.
template <typename T, bool Moves>
void Copy(const T* from, T* out, size_t count)
{
    Cover<T>(count,
             [&](auto d, size_t i) HWY_ATTR
             {
                 if constexpr (Moves)
                 {
                     hn::StoreU(hn::LoadU(d, from + i), d, out + i);
                 }
                 else
                 {
                     hn::StoreU(hn::Set(d, *from), d, out + i);
                 }
             });
}

template <typename T, bool MoveCondition, bool MoveX, bool MoveY>
void Select(const uint8_t* condition, const void* x, const void* y, void* out, size_t count)
{
    const T* first = static_cast<const T*>(x);
    const T* second = static_cast<const T*>(y);
    T* to = static_cast<T*>(out);
    if constexpr (!MoveCondition && MoveX == MoveY)
    {
        Copy<T, MoveX>(*condition != 0 ? first : second, to, count); // without a branch, as rows may be short
    }
    else if constexpr (!MoveCondition)
    {
        *condition != 0 ? Copy<T, MoveX>(first, to, count) : Copy<T, MoveY>(second, to, count);
    }
    else
    {
        Cover<T>(count,
                 [&](auto d, size_t i) HWY_ATTR
                 {
                     const auto a = MoveX ? hn::LoadU(d, first + i) : hn::Set(d, *first);
                     const auto b = MoveY ? hn::LoadU(d, second + i) : hn::Set(d, *second);
                     hn::StoreU(hn::IfThenElse(LoadMask(d, condition + i), a, b), d, to + i);
                 });
    }
}

template <typename T, bool MoveCondition>
SelectLoop ForMoves(bool moveX, bool moveY)
{
    if (moveX)
    {
        return moveY ? Select<T, MoveCondition, true, true> : Select<T, MoveCondition, true, false>;
    }
    return moveY ? Select<T, MoveCondition, false, true> : Select<T, MoveCondition, false, false>;
}

template <typename T>
SelectLoop ForCondition(bool moveCondition, bool moveX, bool moveY)
{
    return moveCondition ? ForMoves<T, true>(moveX, moveY) : ForMoves<T, false>(moveX, moveY);
}

SelectLoop FindLoop(size_t elementBytes, bool moveCondition, bool moveX, bool moveY)
{
    switch (elementBytes)
    {
    case 1: return ForCondition<uint8_t>(moveCondition, moveX, moveY);
    case 2: return ForCondition<uint16_t>(moveCondition, moveX, moveY);
    case 4: return ForCondition<uint32_t>(moveCondition, moveX, moveY);
    case 8: return ForCondition<uint64_t>(moveCondition, moveX, moveY);
    default: return nullptr;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

SelectLoop FindSelect(size_t elementBytes, bool moveCondition, bool moveX, bool moveY)
{
    return TENON_CHOOSE(FindLoop)(elementBytes, moveCondition, moveX, moveY);
}

} // namespace tenon::cpu
#endif
