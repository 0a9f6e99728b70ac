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

using TagUint32 = hn::RebindToUnsigned<TagF32>;
using VecUint32 = hn::Vec<TagUint32>;
using TagUint16 = hn::Rebind<uint16_t, TagF32>;

/// Floats of bfloat16 numbers.
HWY_INLINE VecF32 WidenBf16(hn::Vec<TagUint16> halves)
{
    return hn::BitCast(TagF32(), hn::ShiftLeft<16>(hn::PromoteTo(TagUint32(), halves)));
}

/// One vector of floats from as many bfloat16 numbers in memory.
HWY_INLINE VecF32 LoadBf16(const uint16_t* from)
{
    return WidenBf16(hn::LoadU(TagUint16(), from));
}

#if HWY_TARGET == HWY_AVX3 // masks of 16 bits

/// Loads the first `count` 16-bit numbers (fewer than a vector of floats has lanes), each zero-extended to 32 bits. The
/// other lanes are zeros. Reads nothing past the last number.
HWY_INLINE VecUint32 LoadFewUint16(const uint16_t* from, size_t count)
{
    return hn::PromoteTo(TagUint32(), hn::MaskedLoad(hn::FirstN(TagUint16(), count), TagUint16(), from));
}

/// Stores the first `count` 16-bit numbers (fewer than a vector of floats has lanes) and writes nothing past them.
HWY_INLINE void StoreFewUint16(hn::Vec<TagUint16> halves, uint16_t* to, size_t count)
{
    hn::BlendedStore(halves, hn::FirstN(TagUint16(), count), TagUint16(), to);
}

#else

HWY_NOINLINE inline VecUint32 LoadFewUint16(const uint16_t* from, size_t count)
{
    HWY_ALIGN uint16_t buffer[hn::MaxLanes(TagF32())] = {};
    std::memcpy(buffer, from, count * sizeof(uint16_t));
    return hn::PromoteTo(TagUint32(), hn::Load(TagUint16(), buffer));
}

HWY_NOINLINE inline void StoreFewUint16(hn::Vec<TagUint16> halves, uint16_t* to, size_t count)
{
    HWY_ALIGN uint16_t buffer[hn::MaxLanes(TagF32())];
    hn::Store(halves, TagUint16(), buffer);
    std::memcpy(to, buffer, count * sizeof(uint16_t));
}

#endif

/// Loads the first `count` 16-bit numbers, each zero-extended to 32 bits. The other lanes are zeros. Reads nothing past
/// the last number.
HWY_INLINE VecUint32 LoadSomeUint16(const uint16_t* from, size_t count)
{
    return count >= hn::Lanes(TagF32()) ? hn::PromoteTo(TagUint32(), hn::LoadU(TagUint16(), from))
                                        : LoadFewUint16(from, count);
}

/// Loads the first `count` bfloat16 numbers as floats. The other lanes are zeros. Reads nothing past the last number.
HWY_INLINE VecF32 LoadSomeBf16(const uint16_t* from, size_t count)
{
    return hn::BitCast(TagF32(), hn::ShiftLeft<16>(LoadSomeUint16(from, count)));
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

HWY_INLINE hn::Vec<TagUint16> RoundToBf16(VecF32 values)
{
    return RoundToBf16(TagF32(), values);
}

#if HWY_TARGET == HWY_AVX3
/// The same by one instruction of AVX512-BF16, with two differences: subnormal numbers become zeros, as they do in its
/// products, and NaN keeps its bits.
HWY_INLINE hn::Vec<TagUint16> RoundNormalToBf16(VecF32 values)
{
    hn::Vec<TagUint16> halves;
    asm("vcvtneps2bf16 %1, %0" : "=v"(halves.raw) : "v"(values.raw));
    return halves;
}

/// A mask with a bit for each number that this instruction rounds differently: signaling and quiet NaN, and subnormal
/// numbers.
HWY_INLINE unsigned int FindNotNormal(VecF32 values)
{
    constexpr int Classes = 0xA1;
    return _mm512_fpclass_ps_mask(values.raw, Classes);
}

/// The results of RoundToBf16, by the instruction in most cases.
HWY_INLINE hn::Vec<TagUint16> RoundMostToBf16(VecF32 values)
{
    return FindNotNormal(values) == 0 ? RoundNormalToBf16(values) : RoundToBf16(values);
}
#endif

/// Stores the first `count` numbers and writes nothing past them.
HWY_INLINE void StoreSomeUint16(hn::Vec<TagUint16> halves, uint16_t* to, size_t count)
{
    if (count >= hn::Lanes(TagF32()))
    {
        hn::StoreU(halves, TagUint16(), to);
        return;
    }
    StoreFewUint16(halves, to, count);
}

HWY_INLINE void StoreSomeBf16(VecF32 values, uint16_t* to, size_t count)
{
    StoreSomeUint16(RoundToBf16(values), to, count);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
