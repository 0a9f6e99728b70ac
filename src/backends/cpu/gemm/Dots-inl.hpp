// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes and of pairs of int16 on vectors, for sources that are compiled for each target (Foreach.hpp):
// Tiles8.cpp and the depthwise convolutions. Included once a target.
//
// GCC 12 copies and spills the sums around the intrinsics of dot products, so these are written as assembly.
#if defined(TENON_CPU_DOTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DOTS_INL
#undef TENON_CPU_DOTS_INL
#else
#define TENON_CPU_DOTS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::ScalableTag<int32_t>;
using Vector = hn::Vec<Ints>;

#if HWY_TARGET == HWY_AVX3
/// acc += the dot products of four unsigned bytes with four signed ones.
struct VnniDataUnsigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(data.raw), "v"(weights.raw));
    }
};
struct VnniDataSigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(weights.raw), "v"(data.raw));
    }
};
/// acc += the dot products of two int16 with two int16.
struct VnniPairs
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(data.raw), "v"(weights.raw));
    }
};
#elif HWY_TARGET == HWY_AVX2
struct VnniDataUnsigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc.raw) : "x"(data.raw), "x"(weights.raw));
    }
};
struct VnniDataSigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc.raw) : "x"(weights.raw), "x"(data.raw));
    }
};
struct VnniPairs
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(acc.raw) : "x"(data.raw), "x"(weights.raw));
    }
};
#endif

/// acc += the dot products of two int16 with two int16.
struct WidePairs
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        const hn::Repartition<int16_t, Ints> d16;
        const auto x = hn::BitCast(d16, data);
        const auto w = hn::BitCast(d16, weights);
#if HWY_ARCH_X86
        Vector none = hn::Zero(Ints());
        acc = hn::ReorderWidenMulAccumulate(Ints(), x, w, acc, none);
#else
        // The low and the high int16 of each lane.
        const auto low = [](auto v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(Ints(), v))); };
        const auto high = [](auto v) { return hn::ShiftRight<16>(hn::BitCast(Ints(), v)); };
        acc = hn::Add(acc, hn::Add(hn::Mul(low(x), low(w)), hn::Mul(high(x), high(w))));
#endif
    }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
