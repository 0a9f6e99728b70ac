// SPDX-License-Identifier: Apache-2.0
// See BasicLstmCellInt8.hpp.
#include "backends/cpu/recurrent/BasicLstmCellInt8.hpp"

#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"
#include "backends/reference/kernels/BasicLstm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent/BasicLstmCellInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/FixedPointInt16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

void RunStep(const int16_t* sums, size_t units, int16_t* cell, uint8_t* output)
{
    using Gates = ref::BasicLstmGates;
    static_assert(HWY_LANES(int16_t) <= LstmLoopsInt8::ExtraUnits);
    constexpr int GateBits = 3;             // integer bits of gates before their function; results are fractions
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

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

BasicLstmCellInt8 GetBasicLstmCellInt8()
{
    return TENON_CHOOSE(RunStep);
}

} // namespace tenon::cpu
#endif
