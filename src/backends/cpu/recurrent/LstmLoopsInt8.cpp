// SPDX-License-Identifier: Apache-2.0
// See LstmLoopsInt8.hpp.
#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"

#include "backends/common/FixedPoint16.hpp"
#include "backends/reference/kernels/BasicLstm.hpp"
#include "backends/reference/kernels/LstmScales.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent/LstmLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

// Sigmoid and tanh of vectors in 16-bit fixed point (gemmlowp's algorithms), bit for bit as
// backends/common/FixedPoint16.hpp. A number with n integer bits has 15 - n fraction bits.

/// A 16-bit constant from its 31-bit form.
HWY_INLINE VecInt16 SetWide(int32_t raw)
{
    return hn::Set(TagInt16(), backends::Fixed16<0>::FromWide(raw).m_Raw);
}

/// The product of fixed-point numbers; its integer bits are the sum of both. The operands are never both -1 without
/// integer bits, so nothing saturates.
HWY_INLINE VecInt16 MultiplyInt16(VecInt16 a, VecInt16 b)
{
    return hn::MulFixedPoint15(a, b);
}

/// x / 2^Exponent, rounded to nearest, half away from zero. Preconditions: Exponent >= 1; x is not the smallest int16.
template <int Exponent>
HWY_INLINE VecInt16 DivideByPot(VecInt16 x)
{
    // The rounding multiplication adds the half without overflow.
    return hn::MulFixedPoint15(hn::Add(x, hn::ShiftRight<15>(x)), hn::Set(TagInt16(), 1 << (15 - Exponent)));
}

/// 2 * x, saturated.
HWY_INLINE VecInt16 Twice(VecInt16 x)
{
    return hn::SaturatedAdd(x, x);
}

/// See backends::ExpNearZero.
HWY_INLINE VecInt16 ExpNearZero(VecInt16 x)
{
    const VecInt16 expOfCentre = SetWide(1895147668);
    const VecInt16 oneThird = SetWide(715827883);
    const VecInt16 y = hn::Add(x, hn::Set(TagInt16(), 1 << 12));
    const VecInt16 y2 = MultiplyInt16(y, y);
    const VecInt16 y3 = MultiplyInt16(y2, y);
    const VecInt16 y4Over4 = DivideByPot<2>(MultiplyInt16(y2, y2));
    const VecInt16 tail = DivideByPot<1>(hn::Add(MultiplyInt16(hn::Add(y4Over4, y3), oneThird), y2));
    return hn::SaturatedAdd(expOfCentre, MultiplyInt16(expOfCentre, hn::Add(y, tail)));
}

/// exp(x) for x <= 0. The result has no integer bits. See backends::ExpOfNonPositive.
HWY_INLINE VecInt16 ExpOfNonPositive(int integerBits, VecInt16 x)
{
    constexpr int32_t Factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int numFactors = integerBits + 2 < 7 ? integerBits + 2 : 7;
    const int fractionBits = 15 - integerBits;
    const TagInt16 d;
    const VecInt16 quarter = hn::Set(d, static_cast<int16_t>(1 << (fractionBits - 2)));
    const VecInt16 fine = hn::Sub(hn::And(x, hn::Sub(quarter, hn::Set(d, 1))), quarter);
    const VecInt16 steps = hn::Sub(fine, x);
    VecInt16 result = ExpNearZero(hn::ShiftLeftSame(fine, integerBits));
    VecInt16 bit = quarter;
    for (int i = 0; i < numFactors; ++i)
    {
        result = hn::IfThenElse(hn::TestBit(steps, bit), MultiplyInt16(result, SetWide(Factors[i])), result);
        bit = hn::Add(bit, bit);
    }
    if (integerBits > 5)
    {
        // The loop above has no factor for the bits below this bound.
        const auto isZero = hn::Lt(x, hn::Set(d, static_cast<int16_t>(-(1 << (fractionBits + 5)))));
        result = hn::IfThenElse(isZero, hn::Zero(d), result);
    }
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, INT16_MAX), result);
}

/// 1 / ((1 + x) / 2) for x in [0, 1], with two integer bits. See backends::TwiceReciprocalOfOnePlus.
HWY_INLINE VecInt16 TwiceReciprocalOfOnePlus(VecInt16 x)
{
    const TagInt16 d;
    const hn::RebindToUnsigned<TagInt16> dUnsigned;
    const VecInt16 one = hn::Set(d, backends::Fixed16<2>::One().m_Raw);
    const VecInt16 half =
        hn::BitCast(d, hn::AverageRound(hn::BitCast(dUnsigned, x), hn::Set(dUnsigned, uint16_t{INT16_MAX})));
    VecInt16 y = hn::Add(SetWide(1515870810), MultiplyInt16(half, SetWide(-1010580540)));
    for (int i = 0; i < 3; ++i)
    {
        y = hn::Add(y, Twice(Twice(MultiplyInt16(y, hn::Sub(one, MultiplyInt16(half, y))))));
    }
    return y;
}

/// 1 / (1 + exp(-x)), in [0, 1) without integer bits.
HWY_INLINE VecInt16 SigmoidInt16(int integerBits, VecInt16 x)
{
    const TagInt16 d;
    const auto isPositive = hn::Gt(x, hn::Zero(d));
    const VecInt16 negative = hn::IfThenElse(isPositive, hn::Neg(x), x);
    const VecInt16 ofPositive = Twice(TwiceReciprocalOfOnePlus(ExpOfNonPositive(integerBits, negative)));
    const VecInt16 result = hn::IfThenElse(isPositive, ofPositive, hn::Sub(hn::Set(d, INT16_MAX), ofPositive));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1 << 14), result);
}

/// tanh(x), in (-1, 1) without integer bits.
HWY_INLINE VecInt16 TanhInt16(int integerBits, VecInt16 x)
{
    const TagInt16 d;
    const auto isPositive = hn::Gt(x, hn::Zero(d));
    const VecInt16 negative = hn::IfThenElse(isPositive, hn::Neg(x), x);
    const VecInt16 one = hn::Set(d, backends::Fixed16<2>::One().m_Raw);
    const VecInt16 y = TwiceReciprocalOfOnePlus(ExpOfNonPositive(integerBits + 1, negative));
    const VecInt16 magnitude = Twice(Twice(hn::Sub(y, one)));
    const VecInt16 result = hn::IfThenElse(isPositive, magnitude, hn::Neg(magnitude));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Zero(d), result);
}

namespace
{

// A step: the arguments of the gates' functions, the functions, and the next states.

using Multiplier = AnyBoundedMultiplier<TagInt32>;
/// int8, with as many lanes as a vector of int16.
using HalfTagInt8 = hn::Rebind<int8_t, TagInt16>;

/// Integer bits of gates before their function.
constexpr int GateBits = 3;
/// Fraction bits of gates after their function.
constexpr int FractionBits = 15;

/// The argument of a gate's function: scaled sums of data and state, and the peephole term, as int16.
class GatePreactivation
{
public:
    explicit GatePreactivation(const LstmGateInt8& gate)
        : m_Column(gate.m_Column), m_Weights(gate.m_PeepholeWeights), m_Data(gate.m_Data), m_State(gate.m_State),
          m_Peephole(gate.m_Peephole)
    {
    }

    /// The arguments for a vector of units from `unit` on.
    HWY_INLINE VecInt16 Get(const LstmRowInt8& row, size_t unit, VecInt16 cell) const
    {
        const TagInt16 d;
        const size_t at = m_Column + unit;
        const VecInt16 values = NarrowInOrder(Sum(row, at), Sum(row, at + hn::Lanes(TagInt32())));
        if (m_Weights == nullptr)
        {
            return values;
        }
        const VecInt16 weights = hn::LoadU(d, m_Weights + unit);
        const VecInt32 low = hn::Add(m_Peephole(MultiplyWide<false>(weights, cell)), Widen<false>(values));
        const VecInt32 high = hn::Add(m_Peephole(MultiplyWide<true>(weights, cell)), Widen<true>(values));
        return NarrowPair(d, low, high);
    }

private:
    HWY_INLINE VecInt32 Sum(const LstmRowInt8& row, size_t at) const
    {
        const TagInt32 d;
        // Each of the two sums is rounded to 16 bits: the data's here, the total by the caller.
        const VecInt32 ofData = m_Data(hn::LoadU(d, row.m_Data + at));
        const VecInt32 saturated = hn::Min(hn::Max(ofData, hn::Set(d, INT16_MIN)), hn::Set(d, INT16_MAX));
        return hn::Add(m_State(hn::LoadU(d, row.m_State + at)), saturated);
    }

    size_t m_Column;
    const int16_t* m_Weights;
    Multiplier m_Data;
    Multiplier m_State;
    Multiplier m_Peephole;
};

/// x / 2^shift, rounded to nearest, half away from zero. |x| is at most 2^30, `shift` from 15 to 21.
HWY_INLINE VecInt32 DivideByPotInt32(VecInt32 x, int shift)
{
    const VecInt32 half = hn::Set(TagInt32(), int32_t{1} << (shift - 1));
    return hn::ShiftRightSame(hn::Add(hn::Add(x, half), hn::ShiftRight<31>(x)), shift);
}

/// From the arguments of the gates' functions to the next states.
class CellFunctions
{
public:
    explicit CellFunctions(const LstmCellInt8& cell)
        : m_HasInputGate(cell.m_HasInputGate), m_Exponent(cell.m_CellExponent),
          m_CellMax(hn::Set(TagInt16(), cell.m_CellClip > 0 ? cell.m_CellClip : int16_t{INT16_MAX})),
          m_CellMin(
              hn::Set(TagInt16(), cell.m_CellClip > 0 ? static_cast<int16_t>(-cell.m_CellClip) : int16_t{INT16_MIN})),
          m_ToHidden(cell.m_Hidden), m_ZeroPoint(hn::Set(TagInt32(), cell.m_HiddenZeroPoint))
    {
    }

    /// The next cell state. Without an input gate, `input` is not read.
    HWY_INLINE VecInt16 Update(VecInt16 cell, VecInt16 input, VecInt16 forget, VecInt16 update) const
    {
        const VecInt16 kept = SigmoidInt16(GateBits, forget);
        const VecInt16 taken =
            m_HasInputGate ? SigmoidInt16(GateBits, input) : hn::Sub(hn::Set(TagInt16(), INT16_MAX), kept);
        const VecInt16 news = TanhInt16(GateBits, update);
        const VecInt16 sum = NarrowPair(TagInt16(), UpdateHalf<false>(cell, kept, taken, news),
                                        UpdateHalf<true>(cell, kept, taken, news));
        return hn::Max(hn::Min(sum, m_CellMax), m_CellMin);
    }

    HWY_INLINE void StoreHidden(VecInt16 cell, VecInt16 output, int8_t* hidden) const
    {
        const VecInt16 shown = SigmoidInt16(GateBits, output);
        const VecInt16 activated = TanhInt16(FractionBits + m_Exponent, cell);
        const VecInt16 values =
            NarrowPair(TagInt16(), hn::Add(m_ToHidden(MultiplyWide<false>(shown, activated)), m_ZeroPoint),
                       hn::Add(m_ToHidden(MultiplyWide<true>(shown, activated)), m_ZeroPoint));
        hn::StoreU(hn::DemoteTo(HalfTagInt8(), values), HalfTagInt8(), hidden);
    }

private:
    /// forget * cell + input * update
    template <bool IsUpper>
    HWY_INLINE VecInt32 UpdateHalf(VecInt16 cell, VecInt16 forget, VecInt16 input, VecInt16 update) const
    {
        return hn::Add(DivideByPotInt32(MultiplyWide<IsUpper>(forget, cell), FractionBits),
                       DivideByPotInt32(MultiplyWide<IsUpper>(input, update), 2 * FractionBits + m_Exponent));
    }

    bool m_HasInputGate;
    int m_Exponent;
    VecInt16 m_CellMax;
    VecInt16 m_CellMin;
    Multiplier m_ToHidden;
    VecInt32 m_ZeroPoint;
};

void RunLstmStep(const LstmCellInt8& cell, const LstmRowInt8& first, const size_t (&strides)[4], size_t rows)
{
    const TagInt16 d;
    const GatePreactivation input(cell.m_Gates[LstmSlots::Input]);
    const GatePreactivation forget(cell.m_Gates[LstmSlots::Forget]);
    const GatePreactivation update(cell.m_Gates[LstmSlots::Cell]);
    const GatePreactivation output(cell.m_Gates[LstmSlots::Output]);
    const CellFunctions functions(cell);
    LstmRowInt8 row = first;
    for (size_t r = 0; r < rows; ++r)
    {
        for (size_t unit = 0; unit < cell.m_Units; unit += hn::Lanes(d))
        {
            const VecInt16 before = hn::LoadU(d, row.m_Cell + unit);
            const VecInt16 ofInput = cell.m_HasInputGate ? input.Get(row, unit, before) : before;
            const VecInt16 after =
                functions.Update(before, ofInput, forget.Get(row, unit, before), update.Get(row, unit, before));
            hn::StoreU(after, d, row.m_Cell + unit);
            functions.StoreHidden(after, output.Get(row, unit, after), row.m_Hidden + unit);
        }
        row.m_Data += strides[0];
        row.m_State += strides[1];
        row.m_Cell += strides[2];
        row.m_Hidden += strides[3];
    }
}

/// The argument of a gate's function after layer normalization, in natural order: see the reference kernel.
HWY_INLINE VecInt32 NormalizeInts(const LstmGateInt8& gate, const Multiplier& inverse, const Multiplier& toGate,
                                  VecInt32 mean, const int16_t* values, size_t unit)
{
    constexpr int Bits = ref::GateMoments::Bits;
    const TagInt32 d;
    const hn::Rebind<int16_t, TagInt32> dShorts;
    const hn::RebindToUnsigned<TagInt32> dUnsigned;
    const VecInt32 value = hn::PromoteTo(d, hn::LoadU(dShorts, values + unit));
    const VecInt32 weight = hn::PromoteTo(d, hn::LoadU(dShorts, gate.m_LayerNormWeights + unit));
    const VecInt32 scaled = inverse(hn::Sub(hn::ShiftLeft<Bits>(value), mean));
    const VecInt32 weighted = hn::Add(hn::Mul(scaled, weight), hn::LoadU(d, gate.m_Bias + unit));
    // Rounded half away from zero, of magnitudes up to 2^31.
    const VecInt32 isNegative = hn::ShiftRight<31>(weighted);
    const auto magnitude = hn::BitCast(dUnsigned, hn::Sub(hn::Xor(weighted, isNegative), isNegative));
    const VecInt32 rounded =
        hn::BitCast(d, hn::ShiftRight<Bits>(hn::Add(magnitude, hn::Set(dUnsigned, 1U << (Bits - 1)))));
    return toGate(hn::Sub(hn::Xor(rounded, isNegative), isNegative));
}

void RunNormalizedGate(const LstmGateInt8& gate, size_t units, const LstmRowInt8& row, int16_t* values)
{
    const TagInt16 d;
    const GatePreactivation sums(gate);
    for (size_t unit = 0; unit < units; unit += hn::Lanes(d))
    {
        hn::StoreU(sums.Get(row, unit, hn::LoadU(d, row.m_Cell + unit)), d, values + unit);
    }
    const ref::GateMoments moments(values, units, gate.m_MinVariance);
    const Multiplier inverse(moments.m_Inverse);
    const Multiplier toGate(gate.m_LayerNorm);
    const VecInt32 mean = hn::Set(TagInt32(), moments.m_Mean);
    for (size_t unit = 0; unit < units; unit += hn::Lanes(d))
    {
        const VecInt32 low = NormalizeInts(gate, inverse, toGate, mean, values, unit);
        const VecInt32 high = NormalizeInts(gate, inverse, toGate, mean, values, unit + hn::Lanes(TagInt32()));
        hn::StoreU(NarrowInOrder(low, high), d, values + unit);
    }
}

void RunNormalizedStep(const LstmCellInt8& cell, const LstmRowInt8& row, int16_t* values)
{
    const TagInt16 d;
    const size_t stride = cell.m_Units + LstmLoopsInt8::ExtraUnits;
    int16_t* const input = values;
    int16_t* const forget = input + stride;
    int16_t* const update = forget + stride;
    int16_t* const output = update + stride;
    if (cell.m_HasInputGate)
    {
        RunNormalizedGate(cell.m_Gates[LstmSlots::Input], cell.m_Units, row, input);
    }
    RunNormalizedGate(cell.m_Gates[LstmSlots::Forget], cell.m_Units, row, forget);
    RunNormalizedGate(cell.m_Gates[LstmSlots::Cell], cell.m_Units, row, update);
    const CellFunctions functions(cell);
    for (size_t unit = 0; unit < cell.m_Units; unit += hn::Lanes(d))
    {
        const VecInt16 before = hn::LoadU(d, row.m_Cell + unit);
        const VecInt16 ofInput = cell.m_HasInputGate ? hn::LoadU(d, input + unit) : before;
        const VecInt16 after =
            functions.Update(before, ofInput, hn::LoadU(d, forget + unit), hn::LoadU(d, update + unit));
        hn::StoreU(after, d, row.m_Cell + unit);
    }
    RunNormalizedGate(cell.m_Gates[LstmSlots::Output], cell.m_Units, row, output);
    for (size_t unit = 0; unit < cell.m_Units; unit += hn::Lanes(d))
    {
        functions.StoreHidden(hn::LoadU(d, row.m_Cell + unit), hn::LoadU(d, output + unit), row.m_Hidden + unit);
    }
}

void RunProject(const LstmProjectionInt8& projection, const int32_t* sums, size_t count, int8_t* state)
{
    const TagInt16 d;
    const TagInt32 dInts;
    const Multiplier multiplier(projection.m_Multiplier);
    const VecInt32 zeroPoint = hn::Set(dInts, projection.m_ZeroPoint);
    const VecInt16 minimum = hn::Set(d, projection.m_Min);
    const VecInt16 maximum = hn::Set(d, projection.m_Max);
    for (size_t i = 0; i < count; i += hn::Lanes(d))
    {
        const VecInt32 low = hn::Add(multiplier(hn::LoadU(dInts, sums + i)), zeroPoint);
        const VecInt32 high = hn::Add(multiplier(hn::LoadU(dInts, sums + i + hn::Lanes(dInts))), zeroPoint);
        const VecInt16 values = hn::Max(hn::Min(NarrowInOrder(low, high), maximum), minimum);
        hn::StoreU(hn::DemoteTo(HalfTagInt8(), values), HalfTagInt8(), state + i);
    }
}

void RunToInt16(const backends::QuantizedMultiplier& by, const int32_t* sums, size_t count, int16_t* values)
{
    const TagInt16 d;
    const TagInt32 dInts;
    const Multiplier multiplier(by);
    for (size_t i = 0; i < count; i += hn::Lanes(d))
    {
        const VecInt32 low = multiplier(hn::LoadU(dInts, sums + i));
        const VecInt32 high = multiplier(hn::LoadU(dInts, sums + i + hn::Lanes(dInts)));
        hn::StoreU(NarrowInOrder(low, high), d, values + i);
    }
}

LstmLoopsInt8 MakeLstmLoopsInt8()
{
    static_assert(HWY_LANES(int16_t) <= LstmLoopsInt8::ExtraUnits);
    return {RunLstmStep, RunNormalizedStep, RunProject, RunToInt16};
}

void RunBasicLstmStep(const int16_t* sums, size_t units, int16_t* cell, uint8_t* output)
{
    using Gates = ref::BasicLstmGates;
    constexpr int CellBits = GateBits + 1;  // twice the cell state has as many integer bits as gates
    constexpr int FewerOutputBits = 16 - 8; // the fraction bits that uint8 lacks
    const TagInt16 d;
    const hn::Rebind<uint8_t, TagInt16> dBytes;
    const VecInt16 zeroPoint = hn::Set(d, int16_t{ref::LstmZeroPointInt8});
    for (size_t unit = 0; unit < units; unit += hn::Lanes(d))
    {
        const auto load = [&](Gates::Gate gate) { return hn::LoadU(d, sums + gate * units + unit); };
        const VecInt16 added =
            MultiplyInt16(SigmoidInt16(GateBits, load(Gates::Input)), TanhInt16(GateBits, load(Gates::Update)));
        const VecInt16 kept = MultiplyInt16(SigmoidInt16(GateBits, load(Gates::Forget)), hn::LoadU(d, cell + unit));
        const VecInt16 state = hn::SaturatedAdd(DivideByPot<CellBits>(added), kept);
        hn::StoreU(state, d, cell + unit);
        const VecInt16 result =
            MultiplyInt16(SigmoidInt16(GateBits, load(Gates::Output)), TanhInt16(GateBits, Twice(state)));
        hn::StoreU(hn::DemoteTo(dBytes, hn::Add(DivideByPot<FewerOutputBits>(result), zeroPoint)), dBytes,
                   output + unit);
    }
}

using Int16Tag = hn::CappedTag<int16_t, RowDotsInt16::Unit>;
using SumsTag = hn::Repartition<int32_t, Int16Tag>;

void RunDots(const RowDotsInt16& dots)
{
    const Int16Tag d;
    const SumsTag dSums;
    const size_t stride = (dots.m_Depth + RowDotsInt16::Unit - 1) / RowDotsInt16::Unit * RowDotsInt16::Unit;
    const int16_t* data = dots.m_Data;
    const int16_t* weights = dots.m_Weights;
    for (size_t row = 0; row < dots.m_Rows; ++row, data += dots.m_Depth, weights += stride)
    {
        auto even = hn::Zero(dSums);
        auto odd = hn::Zero(dSums);
        for (size_t i = 0; i < stride; i += RowDotsInt16::Unit)
        {
            even = hn::ReorderWidenMulAccumulate(dSums, hn::LoadU(d, data + i), hn::LoadU(d, weights + i), even, odd);
        }
        dots.m_Sums[row] =
            hn::GetLane(hn::Add(hn::SumOfLanes(dSums, hn::Add(even, odd)), hn::Set(dSums, dots.m_Bias[row])));
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const LstmLoopsInt8& GetLstmLoopsInt8()
{
    static constinit PerIsa<LstmLoopsInt8> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLstmLoopsInt8)(); });
}

BasicLstmCellInt8 GetBasicLstmCellInt8()
{
    return TENON_CHOOSE(RunBasicLstmStep);
}

void RunRowDotsInt16(const RowDotsInt16& dots)
{
    TENON_CHOOSE(RunDots)(dots);
}

} // namespace tenon::cpu
#endif
