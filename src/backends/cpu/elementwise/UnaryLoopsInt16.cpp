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
HWY_INLINE Ints Mask(bool isSet)
{
    return hn::Set(IntTag(), isSet ? -1 : 0);
}

/// -x where all bits of the mask are set, else x.
HWY_INLINE Ints Negated(Ints x, Ints mask)
{
    return hn::Sub(hn::Xor(x, mask), mask);
}

class Clamp
{
public:
    explicit Clamp(const ShortScale& scale)
        : m_Min(hn::Set(ShortTag(), scale.m_Min)), m_Max(hn::Set(ShortTag(), scale.m_Max))
    {
    }

    HWY_INLINE Shorts operator()(Shorts x) const { return hn::Min(hn::Max(x, m_Min), m_Max); }

private:
    Shorts m_Min;
    Shorts m_Max;
};

void RunClamp(const ShortScale& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    MapEach(ShortTag(), in, out, count, [&](Shorts x) HWY_ATTR { return clamp(x); });
}

void RunScale(const ShortScale& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    const BoundedMultiplier<IntTag> multiplier(scale.m_Positive);
    const Ints flipsPositive = Mask(scale.m_FlipsPositive);
    const Ints flipsOther = Mask(scale.m_FlipsPositive != scale.m_FlipsNegative);
    MapEach(ShortTag(), in, out, count,
            [&](Shorts shorts) HWY_ATTR
            {
                return clamp(MapHalves(shorts,
                                       [&](Ints x) HWY_ATTR
                                       {
                                           const Ints isNegative = hn::ShiftRight<31>(x);
                                           const Ints flips = hn::Xor(flipsPositive, hn::And(isNegative, flipsOther));
                                           return multiplier(Negated(x, flips));
                                       }));
            });
}

void RunScaleSigns(const ShortScale& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    const BoundedMultiplier<IntTag> positive(scale.m_Positive);
    const BoundedMultiplier<IntTag> negative(scale.m_Negative);
    const Ints flips = Mask(scale.m_FlipsScaled);
    MapEach(ShortTag(), in, out, count,
            [&](Shorts shorts) HWY_ATTR
            {
                return clamp(MapHalves(shorts,
                                       [&](Ints x) HWY_ATTR
                                       {
                                           const auto isNegative = hn::Lt(x, hn::Zero(IntTag()));
                                           return hn::IfThenElse(isNegative, Negated(negative(x), flips), positive(x));
                                       }));
            });
}

void RunInterpolate(const int16_t* entries, const int16_t* in, int16_t* out, size_t count)
{
    MapEach(ShortTag(), in, out, count, [entries](Shorts x) HWY_ATTR { return Interpolate(entries, x); });
}

/// FractionBits: the fraction bits of the scaled input, for interpolation within an entry. `epilogue`(result,
/// isNegative).
template <int FractionBits, typename F>
HWY_INLINE void RunTable(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count, const F& finish)
{
    const IntTag d;
    const uint16_t* entries = table.GetValues().data();
    const int shift = table.GetShift();
    const Ints multiplier = hn::Set(d, static_cast<int32_t>(table.GetMultiplier()));
    const Ints rounding = hn::Set(d, shift > 0 ? int32_t{1} << (shift - 1) : 0);
    const Ints last = hn::Set(d, 254);
    const Ints fractionMask = hn::Set(d, (1 << FractionBits) - 1);
    const Ints lowMask = hn::Set(d, 0xFFFF);
    const Ints beyond = hn::Set(d, (FractionBits == 9 ? 0x7FFF << 10 : 0xFFFF << 8));
    MapEach(ShortTag(), in, out, count,
            [&](Shorts shorts) HWY_ATTR
            {
                return MapHalves(
                    shorts,
                    [&](Ints x) HWY_ATTR
                    {
                        const Ints scaled = hn::ShiftRightSame(hn::Add(hn::Mul(x, multiplier), rounding), shift);
                        const Ints isNegative = hn::ShiftRight<31>(scaled);
                        const Ints magnitude = Negated(scaled, isNegative);
                        const Ints entry = hn::ShiftRight<FractionBits>(magnitude);
                        const Ints pair = GatherPairs(entries, hn::Min(entry, last));
                        const Ints low = hn::And(pair, lowMask);
                        const Ints high =
                            hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<IntTag>(), pair)));
                        const Ints line = hn::Add(hn::ShiftLeft<FractionBits>(low),
                                                  hn::Mul(hn::And(magnitude, fractionMask), hn::Sub(high, low)));
                        return finish(hn::IfThenElse(hn::Gt(entry, last), beyond, line), isNegative);
                    });
            });
}

void RunSigmoid(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count)
{
    const Ints rounding = hn::Set(IntTag(), 1 << 9);
    const Ints one = hn::Set(IntTag(), 1 << 25);
    RunTable<9>(table, in, out, count,
                [&](Ints result, Ints isNegative) HWY_ATTR
                {
                    // 1 - result for negative inputs, less 1 in the last place for the rounding.
                    const Ints value = hn::Add(Negated(result, isNegative), hn::And(one, isNegative));
                    return hn::ShiftRight<10>(hn::Add(hn::Add(value, rounding), isNegative));
                });
}

void RunTanH(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count)
{
    const Ints rounding = hn::Set(IntTag(), 1 << 7);
    const Ints half = hn::Set(IntTag(), 1 << 23);
    RunTable<8>(table, in, out, count,
                [&](Ints result, Ints isNegative) HWY_ATTR
                {
                    const Ints value = Negated(hn::Sub(result, half), isNegative);
                    return hn::ShiftRight<8>(hn::Add(hn::Add(value, rounding), isNegative));
                });
}

ShortLoops MakeLoops()
{
    return {RunClamp, RunScale, RunScaleSigns, RunInterpolate, RunSigmoid, RunTanH};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const ShortLoops& GetShortLoops()
{
    static constinit PerIsa<ShortLoops> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

bool HasShortSigmoid(const ref::SigmoidTable& table)
{
    // The bound for a product, with the rounding of a right shift by 31, that fits 32 bits.
    return table.GetMultiplier() <= INT16_MAX;
}

} // namespace tenon::cpu
#endif
