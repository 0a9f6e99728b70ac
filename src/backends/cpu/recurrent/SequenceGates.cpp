// SPDX-License-Identifier: Apache-2.0
// SequenceGates of SequenceCell.hpp.
#include "backends/cpu/recurrent/SequenceCell.hpp"
#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent/SequenceGates.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Calls f(load, store) for each vector of units: load(from) and store(value, to) address the units of this vector.
template <typename F>
HWY_INLINE void ForUnits(size_t units, const F& f)
{
    const TagF32 d;
    size_t i = 0;
    for (; i + hn::Lanes(d) <= units; i += hn::Lanes(d))
    {
        f([d, i](const float* from) HWY_ATTR { return hn::LoadU(d, from + i); },
          [d, i](VecF32 value, float* to) HWY_ATTR { hn::StoreU(value, d, to + i); });
    }
    if (const size_t rest = units - i; rest != 0)
    {
        f([rest, i](const float* from) HWY_ATTR { return LoadFew(from + i, rest); },
          [rest, i](VecF32 value, float* to) HWY_ATTR { StoreFew(value, to + i, rest); });
    }
}

/// (1 - update) * hidden + update * state
HWY_INLINE VecF32 NextState(VecF32 update, VecF32 hidden, VecF32 state)
{
    return hn::MulAdd(update, hn::Sub(state, hidden), hidden);
}

void Rnn(const float* ofData, const float* ofState, size_t units, float* state)
{
    ForUnits(units, [=](const auto& load, const auto& store) HWY_ATTR
             { store(TanHOf(TagF32(), hn::Add(load(ofData), load(ofState))), state); });
}

void Lstm(const float* ofData, const float* ofState, size_t units, float* cell, float* state)
{
    const TagF32 d;
    ForUnits(units,
             [=](const auto& load, const auto& store) HWY_ATTR
             {
                 const auto sum = [&](size_t gate) HWY_ATTR
                 { return hn::Add(load(ofData + gate * units), load(ofState + gate * units)); };
                 const VecF32 input = SigmoidOf(d, sum(0));
                 const VecF32 output = SigmoidOf(d, sum(1));
                 const VecF32 forget = SigmoidOf(d, sum(2));
                 const VecF32 update = TanHOf(d, sum(3));
                 const VecF32 next = hn::MulAdd(forget, load(cell), hn::Mul(input, update));
                 store(next, cell);
                 store(hn::Mul(output, TanHOf(d, next)), state);
             });
}

void Gru(const float* ofData, const float* ofState, const float* bias, size_t units, float* state)
{
    const TagF32 d;
    ForUnits(units,
             [=](const auto& load, const auto& store) HWY_ATTR
             {
                 const VecF32 update = SigmoidOf(d, hn::Add(load(ofData), load(ofState)));
                 const VecF32 reset = SigmoidOf(d, hn::Add(load(ofData + units), load(ofState + units)));
                 const VecF32 recurrent = hn::Add(load(ofState + 2 * units), load(bias));
                 const VecF32 hidden = TanHOf(d, hn::MulAdd(reset, recurrent, load(ofData + 2 * units)));
                 store(NextState(update, hidden, load(state)), state);
             });
}

void GruResets(const float* ofData, float* ofState, const float* state, size_t units, float* resetState)
{
    const TagF32 d;
    ForUnits(units,
             [=](const auto& load, const auto& store) HWY_ATTR
             {
                 const VecF32 reset = SigmoidOf(d, hn::Add(load(ofData + units), load(ofState + units)));
                 store(SigmoidOf(d, hn::Add(load(ofData), load(ofState))), ofState);
                 store(hn::Mul(reset, load(state)), resetState);
             });
}

void GruHidden(const float* ofData, const float* ofState, const float* update, size_t units, float* state)
{
    ForUnits(units,
             [=](const auto& load, const auto& store) HWY_ATTR
             {
                 const VecF32 hidden = TanHOf(TagF32(), hn::Add(load(ofData), load(ofState)));
                 store(NextState(load(update), hidden, load(state)), state);
             });
}

SequenceGates MakeSequenceGates()
{
    SequenceGates gates;
    gates.m_Rnn = Rnn;
    gates.m_Lstm = Lstm;
    gates.m_Gru = Gru;
    gates.m_GruResets = GruResets;
    gates.m_GruHidden = GruHidden;
    return gates;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const SequenceGates& GetSequenceGates()
{
    static constinit PerIsa<SequenceGates> gates;
    return gates.Get([] { return TENON_CHOOSE(MakeSequenceGates)(); });
}

} // namespace tenon::cpu
#endif
