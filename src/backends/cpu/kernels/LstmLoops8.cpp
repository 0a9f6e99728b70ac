// SPDX-License-Identifier: Apache-2.0
// See LstmLoops8.hpp.
#include "backends/cpu/kernels/LstmLoops8.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/LstmLoops8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/Fixed16-inl.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"
#include "backends/cpu/simd/Shorts-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using Multiplier = AnyFixedPointMultiplier<IntTag>;
/// As many as there are shorts in a vector.
using ByteHalfTag = hn::Rebind<int8_t, ShortTag>;

/// Integer bits of gates before their function.
constexpr int GateBits = 3;
/// Fraction bits of gates behind it.
constexpr int FractionBits = 15;

/// The sums of a gate as what its function is of.
class GateSums
{
public:
    explicit GateSums(const LstmGate8& gate)
        : m_Column(gate.m_Column), m_Weights(gate.m_PeepholeWeights), m_Data(gate.m_Data), m_State(gate.m_State),
          m_Peephole(gate.m_Peephole)
    {
    }

    /// Of a vector of units from `unit` on.
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
        // Each of the two sums is rounded to 16 bits; the caller does the second.
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

/// forget * cell + input * update
template <bool IsUpper>
HWY_INLINE Ints UpdateHalf(Shorts cell, Shorts forget, Shorts input, Shorts update, int exponent)
{
    return hn::Add(DivideByPot(MultiplyWide<IsUpper>(forget, cell), FractionBits),
                   DivideByPot(MultiplyWide<IsUpper>(input, update), 2 * FractionBits + exponent));
}

void RunStep(const LstmCell8& cell, const LstmRow8& first, const size_t (&strides)[4], size_t rows)
{
    const ShortTag d;
    const IntTag dInts;
    const GateSums input(cell.m_Gates[LstmSlots::Input]);
    const GateSums forget(cell.m_Gates[LstmSlots::Forget]);
    const GateSums update(cell.m_Gates[LstmSlots::Cell]);
    const GateSums output(cell.m_Gates[LstmSlots::Output]);
    const Multiplier toHidden(cell.m_Hidden);
    const Ints zeroPoint = hn::Set(dInts, cell.m_HiddenZeroPoint);
    const Shorts most = hn::Set(d, cell.m_CellClip > 0 ? cell.m_CellClip : int16_t{INT16_MAX});
    const Shorts least = hn::Set(d, cell.m_CellClip > 0 ? static_cast<int16_t>(-cell.m_CellClip) : int16_t{INT16_MIN});
    const int cellBits = FractionBits + cell.m_CellExponent;
    LstmRow8 row = first;
    for (size_t r = 0; r < rows; ++r)
    {
        for (size_t unit = 0; unit < cell.m_Units; unit += hn::Lanes(d))
        {
            const Shorts before = hn::LoadU(d, row.m_Cell + unit);
            const Shorts kept = Sigmoid16(GateBits, forget.Get(row, unit, before));
            const Shorts taken = cell.m_HasInputGate ? Sigmoid16(GateBits, input.Get(row, unit, before))
                                                     : hn::Sub(hn::Set(d, INT16_MAX), kept);
            const Shorts news = Tanh16(GateBits, update.Get(row, unit, before));
            const Shorts sum = NarrowPair(d, UpdateHalf<false>(before, kept, taken, news, cell.m_CellExponent),
                                          UpdateHalf<true>(before, kept, taken, news, cell.m_CellExponent));
            const Shorts after = hn::Max(hn::Min(sum, most), least);
            hn::StoreU(after, d, row.m_Cell + unit);
            const Shorts shown = Sigmoid16(GateBits, output.Get(row, unit, after));
            const Shorts activated = Tanh16(cellBits, after);
            const Shorts hidden = NarrowPair(d, hn::Add(toHidden(MultiplyWide<false>(shown, activated)), zeroPoint),
                                             hn::Add(toHidden(MultiplyWide<true>(shown, activated)), zeroPoint));
            hn::StoreU(hn::DemoteTo(ByteHalfTag(), hidden), ByteHalfTag(), row.m_Hidden + unit);
        }
        row.m_Data += strides[0];
        row.m_State += strides[1];
        row.m_Cell += strides[2];
        row.m_Hidden += strides[3];
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
    return {RunStep, RunProject, RunToShorts};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const LstmLoops8& GetLstmLoops8()
{
    static const LstmLoops8 loops = TENON_CHOOSE(MakeLstmLoops8)();
    return loops;
}

} // namespace tenon::cpu
#endif
