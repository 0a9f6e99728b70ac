// SPDX-License-Identifier: Apache-2.0
// Loops of unary functions of 16-bit tensors.
#include "backends/cpu/elementwise/UnaryLoopsInt16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/UnaryLoopsInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// All bits set, or none.
HWY_INLINE VecInt32 Mask(bool isSet)
{
    return hn::Set(TagInt32(), isSet ? -1 : 0);
}

/// -x where all bits of the mask are set, else x.
HWY_INLINE VecInt32 Negated(VecInt32 x, VecInt32 mask)
{
    return hn::Sub(hn::Xor(x, mask), mask);
}

class Clamp
{
public:
    explicit Clamp(const UnaryScaleInt16& scale)
        : m_Min(hn::Set(TagInt16(), scale.m_Min)), m_Max(hn::Set(TagInt16(), scale.m_Max))
    {
    }

    HWY_INLINE VecInt16 operator()(VecInt16 x) const { return hn::Min(hn::Max(x, m_Min), m_Max); }

private:
    VecInt16 m_Min;
    VecInt16 m_Max;
};

void RunClamp(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    MapEach(TagInt16(), in, out, count, [&](VecInt16 x) HWY_ATTR { return clamp(x); });
}

void RunScale(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    const BoundedMultiplier<TagInt32> multiplier(scale.m_Positive);
    const VecInt32 negatesPositive = Mask(scale.m_NegatesPositive);
    const VecInt32 negatesOther = Mask(scale.m_NegatesPositive != scale.m_NegatesNegative);
    MapEach(TagInt16(), in, out, count,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return clamp(MapHalves(shorts,
                                       [&](VecInt32 x) HWY_ATTR
                                       {
                                           const VecInt32 isNegative = hn::ShiftRight<31>(x);
                                           const VecInt32 negates =
                                               hn::Xor(negatesPositive, hn::And(isNegative, negatesOther));
                                           return multiplier(Negated(x, negates));
                                       }));
            });
}

void RunScaleSigns(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    const BoundedMultiplier<TagInt32> positive(scale.m_Positive);
    const BoundedMultiplier<TagInt32> negative(scale.m_Negative);
    const VecInt32 negates = Mask(scale.m_NegatesScaled);
    MapEach(TagInt16(), in, out, count,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return clamp(MapHalves(shorts,
                                       [&](VecInt32 x) HWY_ATTR
                                       {
                                           const auto isNegative = hn::Lt(x, hn::Zero(TagInt32()));
                                           return hn::IfThenElse(isNegative, Negated(negative(x), negates),
                                                                 positive(x));
                                       }));
            });
}

void RunInterpolate(const int16_t* entries, const int16_t* in, int16_t* out, size_t count)
{
    MapEach(TagInt16(), in, out, count, [entries](VecInt16 x) HWY_ATTR { return Interpolate(entries, x); });
}

/// FractionBits: the fraction bits of the scaled input, for interpolation within an entry. `epilogue`(result,
/// isNegative).
template <int FractionBits, typename F>
HWY_INLINE void RunTable(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count,
                         const F& epilogue)
{
    const TagInt32 d;
    const uint16_t* entries = table.GetValues().data();
    const int shift = table.GetShift();
    const VecInt32 multiplier = hn::Set(d, static_cast<int32_t>(table.GetMultiplier()));
    const VecInt32 rounding = hn::Set(d, shift > 0 ? int32_t{1} << (shift - 1) : 0);
    const VecInt32 last = hn::Set(d, 254);
    const VecInt32 fractionMask = hn::Set(d, (1 << FractionBits) - 1);
    const VecInt32 lowMask = hn::Set(d, 0xFFFF);
    const VecInt32 beyond = hn::Set(d, (FractionBits == 9 ? 0x7FFF << 10 : 0xFFFF << 8));
    MapEach(TagInt16(), in, out, count,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return MapHalves(
                    shorts,
                    [&](VecInt32 x) HWY_ATTR
                    {
                        const VecInt32 scaled = hn::ShiftRightSame(hn::Add(hn::Mul(x, multiplier), rounding), shift);
                        const VecInt32 isNegative = hn::ShiftRight<31>(scaled);
                        const VecInt32 magnitude = Negated(scaled, isNegative);
                        const VecInt32 entry = hn::ShiftRight<FractionBits>(magnitude);
                        const VecInt32 pair = GatherPairs(entries, hn::Min(entry, last));
                        const VecInt32 low = hn::And(pair, lowMask);
                        const VecInt32 high =
                            hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<TagInt32>(), pair)));
                        const VecInt32 line = hn::Add(hn::ShiftLeft<FractionBits>(low),
                                                      hn::Mul(hn::And(magnitude, fractionMask), hn::Sub(high, low)));
                        return epilogue(hn::IfThenElse(hn::Gt(entry, last), beyond, line), isNegative);
                    });
            });
}

void RunSigmoid(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count)
{
    const VecInt32 rounding = hn::Set(TagInt32(), 1 << 9);
    const VecInt32 one = hn::Set(TagInt32(), 1 << 25);
    RunTable<9>(table, in, out, count,
                [&](VecInt32 result, VecInt32 isNegative) HWY_ATTR
                {
                    // 1 - result for negative inputs, less 1 in the last place for the rounding.
                    const VecInt32 value = hn::Add(Negated(result, isNegative), hn::And(one, isNegative));
                    return hn::ShiftRight<10>(hn::Add(hn::Add(value, rounding), isNegative));
                });
}

void RunTanH(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count)
{
    const VecInt32 rounding = hn::Set(TagInt32(), 1 << 7);
    const VecInt32 half = hn::Set(TagInt32(), 1 << 23);
    RunTable<8>(table, in, out, count,
                [&](VecInt32 result, VecInt32 isNegative) HWY_ATTR
                {
                    const VecInt32 value = Negated(hn::Sub(result, half), isNegative);
                    return hn::ShiftRight<8>(hn::Add(hn::Add(value, rounding), isNegative));
                });
}

UnaryLoopsInt16 MakeLoops()
{
    return {RunClamp, RunScale, RunScaleSigns, RunInterpolate, RunSigmoid, RunTanH};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const UnaryLoopsInt16& GetUnaryLoopsInt16()
{
    static constinit PerIsa<UnaryLoopsInt16> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

bool HasSigmoidInt16(const ref::SigmoidTable& table)
{
    // The bound for a product, with the rounding of a right shift by 31, that fits 32 bits.
    return table.GetMultiplier() <= INT16_MAX;
}

} // namespace tenon::cpu
#endif
