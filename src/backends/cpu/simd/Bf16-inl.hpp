// SPDX-License-Identifier: Apache-2.0
// bfloat16 in vectors of float32. For sources that are compiled once for each target, after simd/Foreach.hpp.
#if defined(TENON_CPU_BF16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BF16_INL
#undef TENON_CPU_BF16_INL
#else
#define TENON_CPU_BF16_INL
#endif

#include "backends/cpu/simd/F32-inl.hpp"

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

using WordTag = hn::RebindToUnsigned<FloatTag>;
using Words = hn::Vec<WordTag>;
using HalfWordTag = hn::Rebind<uint16_t, FloatTag>;

/// One vector of floats from as many bfloat16 numbers in memory.
HWY_INLINE Floats LoadBf16(const uint16_t* from)
{
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(WordTag(), hn::LoadU(HalfWordTag(), from))));
}

#if HWY_TARGET == HWY_AVX3 // masks of 16 bits

/// Loads the first `count` 16-bit numbers (fewer than a vector of floats has lanes), each zero-extended to 32 bits. The
/// other lanes are zeros. Reads nothing past the last number.
HWY_INLINE Words LoadFewHalves(const uint16_t* from, size_t count)
{
    return hn::PromoteTo(WordTag(), hn::MaskedLoad(hn::FirstN(HalfWordTag(), count), HalfWordTag(), from));
}

/// Stores the first `count` 16-bit numbers (fewer than a vector of floats has lanes) and writes nothing past them.
HWY_INLINE void StoreFewHalves(hn::Vec<HalfWordTag> halves, uint16_t* to, size_t count)
{
    hn::BlendedStore(halves, hn::FirstN(HalfWordTag(), count), HalfWordTag(), to);
}

#else

HWY_NOINLINE inline Words LoadFewHalves(const uint16_t* from, size_t count)
{
    HWY_ALIGN uint16_t buffer[hn::MaxLanes(FloatTag())] = {};
    std::memcpy(buffer, from, count * sizeof(uint16_t));
    return hn::PromoteTo(WordTag(), hn::Load(HalfWordTag(), buffer));
}

HWY_NOINLINE inline void StoreFewHalves(hn::Vec<HalfWordTag> halves, uint16_t* to, size_t count)
{
    HWY_ALIGN uint16_t buffer[hn::MaxLanes(FloatTag())];
    hn::Store(halves, HalfWordTag(), buffer);
    std::memcpy(to, buffer, count * sizeof(uint16_t));
}

#endif

/// Loads the first `count` 16-bit numbers, each zero-extended to 32 bits. The other lanes are zeros. Reads nothing past
/// the last number.
HWY_INLINE Words LoadSomeHalves(const uint16_t* from, size_t count)
{
    return count >= hn::Lanes(FloatTag()) ? hn::PromoteTo(WordTag(), hn::LoadU(HalfWordTag(), from))
                                          : LoadFewHalves(from, count);
}

/// Loads the first `count` bfloat16 numbers as floats. The other lanes are zeros. Reads nothing past the last number.
HWY_INLINE Floats LoadSomeBf16(const uint16_t* from, size_t count)
{
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(LoadSomeHalves(from, count)));
}

/// Rounds to the nearest bfloat16, ties to even. NaN becomes a quiet NaN of its sign. `D`: the tag of the floats.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> RoundToBf16(D, hn::Vec<D> values)
{
    const hn::RebindToUnsigned<D> d;
    const auto bits = hn::BitCast(d, values);
    const auto upper = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(upper, hn::Set(d, 1U));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, odd), hn::Set(d, 0x7FFFU)));
    const auto quiet = hn::Or(hn::And(upper, hn::Set(d, 0x8000U)), hn::Set(d, 0x7FC0U));
    const auto words = hn::IfThenElse(hn::RebindMask(d, hn::Eq(values, values)), rounded, quiet);
    // All targets have the demotion from signed numbers; these numbers are below 2^16.
    return hn::DemoteTo(hn::Rebind<uint16_t, D>(), hn::BitCast(hn::RebindToSigned<D>(), words));
}

HWY_INLINE hn::Vec<HalfWordTag> RoundToBf16(Floats values)
{
    return RoundToBf16(FloatTag(), values);
}

#if HWY_TARGET == HWY_AVX3
/// The same by one instruction of AVX512-BF16, with two differences: subnormal numbers become zeros, as they do in its
/// products, and NaN keeps its bits.
HWY_INLINE hn::Vec<HalfWordTag> RoundNormalToBf16(Floats values)
{
    hn::Vec<HalfWordTag> halves;
    asm("vcvtneps2bf16 %1, %0" : "=v"(halves.raw) : "v"(values.raw));
    return halves;
}

/// A mask with a bit for each number that this instruction rounds differently: signaling and quiet NaN, and subnormal
/// numbers.
HWY_INLINE unsigned int FindNotNormal(Floats values)
{
    constexpr int Classes = 0xA1;
    return _mm512_fpclass_ps_mask(values.raw, Classes);
}

/// The results of RoundToBf16, by the instruction in most cases.
HWY_INLINE hn::Vec<HalfWordTag> RoundMostToBf16(Floats values)
{
    return FindNotNormal(values) == 0 ? RoundNormalToBf16(values) : RoundToBf16(values);
}
#endif

/// Stores the first `count` numbers and writes nothing past them.
HWY_INLINE void StoreSomeHalves(hn::Vec<HalfWordTag> halves, uint16_t* to, size_t count)
{
    if (count >= hn::Lanes(FloatTag()))
    {
        hn::StoreU(halves, HalfWordTag(), to);
        return;
    }
    StoreFewHalves(halves, to, count);
}

HWY_INLINE void StoreSomeBf16(Floats values, uint16_t* to, size_t count)
{
    StoreSomeHalves(RoundToBf16(values), to, count);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
