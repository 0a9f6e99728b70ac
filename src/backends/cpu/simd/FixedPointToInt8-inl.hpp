// SPDX-License-Identifier: Apache-2.0
// Numbers in fixed point that become bytes, where the last bits say whether rounding is sure: without a division, or in
// another order of steps, a number is off by some of the last bits at most, and where it is not that close to where the
// byte changes, the byte is the same. Included by sources with vector code after simd/Foreach.hpp, once for each
// target.
#if defined(TENON_FIXED_BYTES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_FIXED_BYTES_INL
#undef TENON_FIXED_BYTES_INL
#else
#define TENON_FIXED_BYTES_INL
#endif

#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// A vector of bytes. Numbers have FractionBits bits after the point, which are cut off, so that halves have to be
/// added before. Of the 24 bits of a float below 2^8 that leaves three that are smaller.
class FixedBytes
{
public:
    static constexpr int FractionBits = 13;
    static constexpr float One = 1 << FractionBits;
    static constexpr size_t Lanes = hn::MaxLanes(ByteTag());
    static constexpr size_t QuarterLanes = Lanes / 4;

    /// What to add to numbers that are off by less than 2^(offBits - 1) last bits: close to where the byte changes all
    /// bits of GetSureBits are zeros then.
    static constexpr float GetOffset(int offBits) { return 0.5f * static_cast<float>((1 << offBits) - 1); }
    static constexpr int32_t GetSureBits(int offBits) { return (1 << FractionBits) - (1 << offBits); }

    HWY_INLINE FixedBytes(Ints q0, Ints q1, Ints q2, Ints q3) : m_0(q0), m_1(q1), m_2(q2), m_3(q3) {}

    /// Whether each of the numbers has one of these bits.
    HWY_INLINE bool HaveAll(Ints bits) const
    {
        const IntTag d;
        const Ints least =
            hn::Min(hn::Min(hn::And(m_0, bits), hn::And(m_1, bits)), hn::Min(hn::And(m_2, bits), hn::And(m_3, bits)));
        return hn::AllFalse(d, hn::Eq(least, hn::Zero(d)));
    }

    /// Those bits of each number.
    HWY_INLINE void StoreBits(Ints bits, int32_t* to) const
    {
        const IntTag d;
        hn::StoreU(hn::And(m_0, bits), d, to);
        hn::StoreU(hn::And(m_1, bits), d, to + QuarterLanes);
        hn::StoreU(hn::And(m_2, bits), d, to + 2 * QuarterLanes);
        hn::StoreU(hn::And(m_3, bits), d, to + 3 * QuarterLanes);
    }

    /// Saturated to unsigned bytes.
    HWY_INLINE Bytes Join() const
    {
        return JoinInOrder(hn::ShiftRight<FractionBits>(m_0), hn::ShiftRight<FractionBits>(m_1),
                           hn::ShiftRight<FractionBits>(m_2), hn::ShiftRight<FractionBits>(m_3));
    }

private:
    Ints m_0;
    Ints m_1;
    Ints m_2;
    Ints m_3;
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
