// SPDX-License-Identifier: Apache-2.0
// See LstmLoopsInt8.hpp.
#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"

#include "backends/reference/kernels/LstmScales.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent/LstmLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/FixedPointInt16-inl.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using Multiplier = AnyBoundedMultiplier<IntTag>;
/// int8, with as many lanes as a vector of int16.
using ByteHalfTag = hn::Rebind<int8_t, ShortTag>;

/// Integer bits of gates before their function.
constexpr int GateBits = 3;
/// Fraction bits of gates after their function.
constexpr int FractionBits = 15;

/// The argument of a gate's function: scaled sums of data and state, and the peephole term, as int16.
class GateSums
{
public:
    explicit GateSums(const LstmGate8& gate)
        : m_Column(gate.m_Column), m_Weights(gate.m_PeepholeWeights), m_Data(gate.m_Data), m_State(gate.m_State),
          m_Peephole(gate.m_Peephole)
    {
    }

    /// The arguments for a vector of units from `unit` on.
    HWY_INLINE Shorts Get(const LstmRow8& row, size_t unit, Shorts cell) const
    {
        const ShortTag d;
        const size_t at = m_Column + unit;
        const Shorts values = NarrowInOrder(Sum(row, at), Sum(row, at + hn::Lanes(IntTag())));
        if (m_Weights == nullptr)
        {
            return values;
        }
        const Shorts weights = hn::LoadU(d, m_Weights + unit);
        const Ints low = hn::Add(m_Peephole(MultiplyWide<false>(weights, cell)), Widen<false>(values));
        const Ints high = hn::Add(m_Peephole(MultiplyWide<true>(weights, cell)), Widen<true>(values));
        return NarrowPair(d, low, high);
    }

private:
    HWY_INLINE Ints Sum(const LstmRow8& row, size_t at) const
    {
        const IntTag d;
        // Each of the two sums is rounded to 16 bits: the data's here, the total by the caller.
        const Ints ofData = m_Data(hn::LoadU(d, row.m_Data + at));
        const Ints saturated = hn::Min(hn::Max(ofData, hn::Set(d, INT16_MIN)), hn::Set(d, INT16_MAX));
        return hn::Add(m_State(hn::LoadU(d, row.m_State + at)), saturated);
    }

    size_t m_Column;
    const int16_t* m_Weights;
    Multiplier m_Data;
    Multiplier m_State;
    Multiplier m_Peephole;
};

/// x / 2^shift, rounded to nearest, half away from zero. |x| is at most 2^30, `shift` from 15 to 21.
HWY_INLINE Ints DivideByPot(Ints x, int shift)
{
    const Ints half = hn::Set(IntTag(), int32_t{1} << (shift - 1));
    return hn::ShiftRightSame(hn::Add(hn::Add(x, half), hn::ShiftRight<31>(x)), shift);
}

/// From the arguments of the gates' functions to the next states.
class CellFunctions
{
public:
    explicit CellFunctions(const LstmCell8& cell)
        : m_HasInputGate(cell.m_HasInputGate), m_Exponent(cell.m_CellExponent),
          m_Most(hn::Set(ShortTag(), cell.m_CellClip > 0 ? cell.m_CellClip : int16_t{INT16_MAX})),
          m_Least(
              hn::Set(ShortTag(), cell.m_CellClip > 0 ? static_cast<int16_t>(-cell.m_CellClip) : int16_t{INT16_MIN})),
          m_ToHidden(cell.m_Hidden), m_ZeroPoint(hn::Set(IntTag(), cell.m_HiddenZeroPoint))
    {
    }

    /// The next cell state. Without an input gate, `input` is not read.
    HWY_INLINE Shorts Update(Shorts cell, Shorts input, Shorts forget, Shorts update) const
    {
        const Shorts kept = Sigmoid16(GateBits, forget);
        const Shorts taken =
            m_HasInputGate ? Sigmoid16(GateBits, input) : hn::Sub(hn::Set(ShortTag(), INT16_MAX), kept);
        const Shorts news = Tanh16(GateBits, update);
        const Shorts sum = NarrowPair(ShortTag(), UpdateHalf<false>(cell, kept, taken, news),
                                      UpdateHalf<true>(cell, kept, taken, news));
        return hn::Max(hn::Min(sum, m_Most), m_Least);
    }

    HWY_INLINE void StoreHidden(Shorts cell, Shorts output, int8_t* hidden) const
    {
        const Shorts shown = Sigmoid16(GateBits, output);
        const Shorts activated = Tanh16(FractionBits + m_Exponent, cell);
        const Shorts values =
            NarrowPair(ShortTag(), hn::Add(m_ToHidden(MultiplyWide<false>(shown, activated)), m_ZeroPoint),
                       hn::Add(m_ToHidden(MultiplyWide<true>(shown, activated)), m_ZeroPoint));
        hn::StoreU(hn::DemoteTo(ByteHalfTag(), values), ByteHalfTag(), hidden);
    }

private:
    /// forget * cell + input * update
    template <bool IsUpper>
    HWY_INLINE Ints UpdateHalf(Shorts cell, Shorts forget, Shorts input, Shorts update) const
    {
        return hn::Add(DivideByPot(MultiplyWide<IsUpper>(forget, cell), FractionBits),
                       DivideByPot(MultiplyWide<IsUpper>(input, update), 2 * FractionBits + m_Exponent));
    }

    bool m_HasInputGate;
    int m_Exponent;
    Shorts m_Most;
    Shorts m_Least;
    Multiplier m_ToHidden;
    Ints m_ZeroPoint;
};

void RunStep(const LstmCell8& cell, const LstmRow8& first, const size_t (&strides)[4], size_t rows)
{
    const ShortTag d;
    const GateSums input(cell.m_Gates[LstmSlots::Input]);
    const GateSums forget(cell.m_Gates[LstmSlots::Forget]);
    const GateSums update(cell.m_Gates[LstmSlots::Cell]);
    const GateSums output(cell.m_Gates[LstmSlots::Output]);
    const CellFunctions functions(cell);
    LstmRow8 row = first;
    for (size_t r = 0; r < rows; ++r)
    {
        for (size_t unit = 0; unit < cell.m_Units; unit += hn::Lanes(d))
        {
            const Shorts before = hn::LoadU(d, row.m_Cell + unit);
            const Shorts ofInput = cell.m_HasInputGate ? input.Get(row, unit, before) : before;
            const Shorts after =
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
HWY_INLINE Ints NormalizeInts(const LstmGate8& gate, const Multiplier& inverse, const Multiplier& toGate, Ints mean,
                              const int16_t* values, size_t unit)
{
    constexpr int Bits = ref::GateMoments::Bits;
    const IntTag d;
    const hn::Rebind<int16_t, IntTag> dShorts;
    const hn::RebindToUnsigned<IntTag> dUnsigned;
    const Ints value = hn::PromoteTo(d, hn::LoadU(dShorts, values + unit));
    const Ints weight = hn::PromoteTo(d, hn::LoadU(dShorts, gate.m_LayerNormWeights + unit));
    const Ints scaled = inverse(hn::Sub(hn::ShiftLeft<Bits>(value), mean));
    const Ints weighted = hn::Add(hn::Mul(scaled, weight), hn::LoadU(d, gate.m_Bias + unit));
    // Rounded half away from zero, of magnitudes up to 2^31.
    const Ints isNegative = hn::ShiftRight<31>(weighted);
    const auto magnitude = hn::BitCast(dUnsigned, hn::Sub(hn::Xor(weighted, isNegative), isNegative));
    const Ints rounded = hn::BitCast(d, hn::ShiftRight<Bits>(hn::Add(magnitude, hn::Set(dUnsigned, 1U << (Bits - 1)))));
    return toGate(hn::Sub(hn::Xor(rounded, isNegative), isNegative));
}

void RunNormalizedGate(const LstmGate8& gate, size_t units, const LstmRow8& row, int16_t* values)
{
    const ShortTag d;
    const GateSums sums(gate);
    for (size_t unit = 0; unit < units; unit += hn::Lanes(d))
    {
        hn::StoreU(sums.Get(row, unit, hn::LoadU(d, row.m_Cell + unit)), d, values + unit);
    }
    const ref::GateMoments moments(values, units, gate.m_LeastVariance);
    const Multiplier inverse(moments.m_Inverse);
    const Multiplier toGate(gate.m_LayerNorm);
    const Ints mean = hn::Set(IntTag(), moments.m_Mean);
    for (size_t unit = 0; unit < units; unit += hn::Lanes(d))
    {
        const Ints low = NormalizeInts(gate, inverse, toGate, mean, values, unit);
        const Ints high = NormalizeInts(gate, inverse, toGate, mean, values, unit + hn::Lanes(IntTag()));
        hn::StoreU(NarrowInOrder(low, high), d, values + unit);
    }
}

void RunNormalizedStep(const LstmCell8& cell, const LstmRow8& row, int16_t* values)
{
    const ShortTag d;
    const size_t stride = cell.m_Units + LstmLoops8::PastUnits;
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
        const Shorts before = hn::LoadU(d, row.m_Cell + unit);
        const Shorts ofInput = cell.m_HasInputGate ? hn::LoadU(d, input + unit) : before;
        const Shorts after =
            functions.Update(before, ofInput, hn::LoadU(d, forget + unit), hn::LoadU(d, update + unit));
        hn::StoreU(after, d, row.m_Cell + unit);
    }
    RunNormalizedGate(cell.m_Gates[LstmSlots::Output], cell.m_Units, row, output);
    for (size_t unit = 0; unit < cell.m_Units; unit += hn::Lanes(d))
    {
        functions.StoreHidden(hn::LoadU(d, row.m_Cell + unit), hn::LoadU(d, output + unit), row.m_Hidden + unit);
    }
}

void RunProject(const LstmProjection8& projection, const int32_t* sums, size_t count, int8_t* state)
{
    const ShortTag d;
    const IntTag dInts;
    const Multiplier multiplier(projection.m_Multiplier);
    const Ints zeroPoint = hn::Set(dInts, projection.m_ZeroPoint);
    const Shorts least = hn::Set(d, projection.m_Min);
    const Shorts most = hn::Set(d, projection.m_Max);
    for (size_t i = 0; i < count; i += hn::Lanes(d))
    {
        const Ints low = hn::Add(multiplier(hn::LoadU(dInts, sums + i)), zeroPoint);
        const Ints high = hn::Add(multiplier(hn::LoadU(dInts, sums + i + hn::Lanes(dInts))), zeroPoint);
        const Shorts values = hn::Max(hn::Min(NarrowInOrder(low, high), most), least);
        hn::StoreU(hn::DemoteTo(ByteHalfTag(), values), ByteHalfTag(), state + i);
    }
}

void RunToShorts(const backends::QuantizedMultiplier& by, const int32_t* sums, size_t count, int16_t* values)
{
    const ShortTag d;
    const IntTag dInts;
    const Multiplier multiplier(by);
    for (size_t i = 0; i < count; i += hn::Lanes(d))
    {
        const Ints low = multiplier(hn::LoadU(dInts, sums + i));
        const Ints high = multiplier(hn::LoadU(dInts, sums + i + hn::Lanes(dInts)));
        hn::StoreU(NarrowInOrder(low, high), d, values + i);
    }
}

LstmLoops8 MakeLstmLoops8()
{
    static_assert(HWY_LANES(int16_t) <= LstmLoops8::PastUnits);
    return {RunStep, RunNormalizedStep, RunProject, RunToShorts};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const LstmLoops8& GetLstmLoops8()
{
    static constinit PerIsa<LstmLoops8> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLstmLoops8)(); });
}

} // namespace tenon::cpu
#endif
