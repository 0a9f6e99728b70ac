// SPDX-License-Identifier: Apache-2.0
// Rounding of scaled numbers to bytes without a division, with a check. Numbers are int32 in fixed point with 13
// fraction bits; one half and an offset have been added. A reciprocal instead of a division, or another order of steps,
// changes the last bits only: the byte is certain unless all upper fraction bits are 0 (GetSureBits). Callers compute
// vectors with an uncertain number again in the exact way. For sources with Foreach.hpp.
#if defined(TENON_FIXED_POINT_TO_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_FIXED_POINT_TO_INT8_INL
#undef TENON_FIXED_POINT_TO_INT8_INL
#else
#define TENON_FIXED_POINT_TO_INT8_INL
#endif

#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// A vector of bytes as four vectors of int32, with FractionBits fraction bits each. The conversion truncates, so
/// callers add the half before. A float below 2^8 has 24 bits, so three bits are left below the last fraction bit.
class FixedPointToInt8
{
public:
    static constexpr int FractionBits = 13;
    static constexpr float One = 1 << FractionBits;
    static constexpr size_t Lanes = hn::MaxLanes(TagUint8());
    static constexpr size_t QuarterLanes = Lanes / 4;

    /// The offset to add to numbers with an error below 2^(offBits - 1) units of the last fraction bit. Numbers that
    /// are so close to the next byte then have zeros in all bits of GetSureBits.
    static constexpr float GetOffset(int offBits) { return 0.5f * static_cast<float>((1 << offBits) - 1); }
    static constexpr int32_t GetSureBits(int offBits) { return (1 << FractionBits) - (1 << offBits); }

    HWY_INLINE FixedPointToInt8(VecInt32 q0, VecInt32 q1, VecInt32 q2, VecInt32 q3) : m_0(q0), m_1(q1), m_2(q2), m_3(q3)
    {
    }

    /// True if each of the numbers has at least one of these bits.
    HWY_INLINE bool HasAll(VecInt32 bits) const
    {
        const TagInt32 d;
        const VecInt32 minimum =
            hn::Min(hn::Min(hn::And(m_0, bits), hn::And(m_1, bits)), hn::Min(hn::And(m_2, bits), hn::And(m_3, bits)));
        return hn::AllFalse(d, hn::Eq(minimum, hn::Zero(d)));
    }

    /// Stores each number, masked by these bits.
    HWY_INLINE void StoreBits(VecInt32 bits, int32_t* to) const
    {
        const TagInt32 d;
        hn::StoreU(hn::And(m_0, bits), d, to);
        hn::StoreU(hn::And(m_1, bits), d, to + QuarterLanes);
        hn::StoreU(hn::And(m_2, bits), d, to + 2 * QuarterLanes);
        hn::StoreU(hn::And(m_3, bits), d, to + 3 * QuarterLanes);
    }

    /// The bytes, saturated to uint8.
    HWY_INLINE VecUint8 Join() const
    {
        return JoinInOrder(hn::ShiftRight<FractionBits>(m_0), hn::ShiftRight<FractionBits>(m_1),
                           hn::ShiftRight<FractionBits>(m_2), hn::ShiftRight<FractionBits>(m_3));
    }

private:
    VecInt32 m_0;
    VecInt32 m_1;
    VecInt32 m_2;
    VecInt32 m_3;
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
