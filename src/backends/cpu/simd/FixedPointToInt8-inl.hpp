// SPDX-License-Identifier: Apache-2.0
// Rounding of scaled numbers to bytes without a division, with a check. Numbers are int32 in fixed point with 13
// fraction bits; one half and an offset have been added. A reciprocal instead of a division, or another order of steps,
// changes the last bits only: the byte is certain unless all upper fraction bits are 0 (GetSureBits). Callers compute
// vectors with an uncertain number again in the exact way. For sources with Foreach.hpp.
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

/// A vector of bytes as four vectors of int32, with FractionBits fraction bits each. The conversion truncates, so
/// callers add the half before. A float below 2^8 has 24 bits, so three bits are left below the last fraction bit.
class FixedBytes
{
public:
    static constexpr int FractionBits = 13;
    static constexpr float One = 1 << FractionBits;
    static constexpr size_t Lanes = hn::MaxLanes(ByteTag());
    static constexpr size_t QuarterLanes = Lanes / 4;

    /// The offset to add to numbers with an error below 2^(offBits - 1) units of the last fraction bit. Numbers that
    /// are so close to the next byte then have zeros in all bits of GetSureBits.
    static constexpr float GetOffset(int offBits) { return 0.5f * static_cast<float>((1 << offBits) - 1); }
    static constexpr int32_t GetSureBits(int offBits) { return (1 << FractionBits) - (1 << offBits); }

    HWY_INLINE FixedBytes(Ints q0, Ints q1, Ints q2, Ints q3) : m_0(q0), m_1(q1), m_2(q2), m_3(q3) {}

    /// True if each of the numbers has at least one of these bits.
    HWY_INLINE bool HaveAll(Ints bits) const
    {
        const IntTag d;
        const Ints least =
            hn::Min(hn::Min(hn::And(m_0, bits), hn::And(m_1, bits)), hn::Min(hn::And(m_2, bits), hn::And(m_3, bits)));
        return hn::AllFalse(d, hn::Eq(least, hn::Zero(d)));
    }

    /// Stores each number, masked by these bits.
    HWY_INLINE void StoreBits(Ints bits, int32_t* to) const
    {
        const IntTag d;
        hn::StoreU(hn::And(m_0, bits), d, to);
        hn::StoreU(hn::And(m_1, bits), d, to + QuarterLanes);
        hn::StoreU(hn::And(m_2, bits), d, to + 2 * QuarterLanes);
        hn::StoreU(hn::And(m_3, bits), d, to + 3 * QuarterLanes);
    }

    /// The bytes, saturated to uint8.
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
