// SPDX-License-Identifier: Apache-2.0
// See SequenceCell.hpp.
#include "backends/cpu/recurrent/SequenceCell.hpp"

#include "backends/cpu/elementwise/UnaryFloat.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tenon::cpu
{

namespace
{

void Add(const float* added, size_t count, float* values)
{
    std::transform(values, values + count, added, values, std::plus<>());
}

/// state = (1 - update) * hidden + update * state
void Mix(const float* update, const float* hidden, size_t units, float* state)
{
    for (size_t i = 0; i < units; ++i)
    {
        state[i] = (1.0f - update[i]) * hidden[i] + update[i] * state[i];
    }
}

void Apply(const ref::GateFunction& function, float* values, size_t count)
{
    const float a = function.m_Alpha;
    const auto run = [&](FloatFunction loop, float first = 0.0f, float second = 0.0f)
    { FindUnaryLoopF32(loop)(values, values, count, first, second); };
    switch (function.m_Function)
    {
    case RecurrentActivation::Relu: return run(FloatFunction::ReLu);
    case RecurrentActivation::Tanh: return run(FloatFunction::TanH);
    case RecurrentActivation::Sigmoid: return run(FloatFunction::Sigmoid);
    case RecurrentActivation::Affine: return run(FloatFunction::Linear, a, function.m_Beta);
    case RecurrentActivation::LeakyRelu: return run(FloatFunction::LeakyReLu, a);
    case RecurrentActivation::ThresholdedRelu:
        std::transform(values, values + count, values, [a](float x) { return x < a ? 0.0f : x; });
        return;
    case RecurrentActivation::ScaledTanh: return run(FloatFunction::ScaledTanH, a, function.m_Beta);
    case RecurrentActivation::HardSigmoid:
        run(FloatFunction::Linear, a, function.m_Beta);
        return run(FloatFunction::BoundedReLu, 1.0f, 0.0f);
    case RecurrentActivation::Elu: return run(FloatFunction::Elu, a);
    case RecurrentActivation::Softsign:
        std::transform(values, values + count, values, [](float x) { return x / (1.0f + std::abs(x)); });
        return;
    case RecurrentActivation::Softplus: return run(FloatFunction::SoftReLu);
    }
}

} // namespace

SequenceCell::SequenceCell(const RecurrentSequenceDescriptor& descriptor, const ref::SequenceGeometry& geometry,
                           size_t direction, const float* hiddenBias, const float* peepholes)
    : m_Kind(descriptor.m_Cell), m_Units(geometry.m_Units), m_Clip(descriptor.m_Clip),
      m_LinearBeforeReset(descriptor.m_LinearBeforeReset), m_CoupledInputForget(descriptor.m_CoupledInputForget),
      m_HiddenBias(hiddenBias), m_Peepholes(peepholes)
{
    std::copy_n(geometry.m_Functions.begin() + static_cast<std::ptrdiff_t>(3 * direction), 3, m_Functions.begin());
    bool isDefault = true;
    const size_t functions = m_Kind == RecurrentCell::Lstm ? 3 : m_Kind == RecurrentCell::Gru ? 2 : 1;
    for (size_t i = 0; i < functions; ++i)
    {
        const bool isGate = i == 0 && functions > 1;
        isDefault = isDefault &&
                    m_Functions[i].m_Function == (isGate ? RecurrentActivation::Sigmoid : RecurrentActivation::Tanh);
    }
    if (isDefault && m_Clip == 0.0f && m_Peepholes == nullptr && !m_CoupledInputForget)
    {
        m_Gates = &GetSequenceGates();
    }
}

void SequenceCell::Run(const float* ofData, float* ofState, float* cell, float* state) const
{
    switch (m_Kind)
    {
    case RecurrentCell::Rnn: return RunRnn(ofData, ofState, state);
    case RecurrentCell::Gru: return RunGru(ofData, ofState, state);
    case RecurrentCell::Lstm: return RunLstm(ofData, ofState, cell, state);
    }
}

void SequenceCell::RunRnn(const float* ofData, float* ofState, float* state) const
{
    if (m_Gates != nullptr)
    {
        m_Gates->m_Rnn(ofData, ofState, m_Units, state);
        return;
    }
    Add(ofData, m_Units, ofState);
    Activate(0, ofState, m_Units);
    std::copy_n(ofState, m_Units, state);
}

void SequenceCell::RunLstm(const float* ofData, float* ofState, float* cell, float* state) const
{
    if (m_Gates != nullptr)
    {
        m_Gates->m_Lstm(ofData, ofState, m_Units, cell, state);
        return;
    }
    Add(ofData, 4 * m_Units, ofState);
    float* const input = ofState;
    float* const output = input + m_Units;
    float* const forget = output + m_Units;
    float* const update = forget + m_Units;
    AddPeephole(0, cell, input);
    Activate(0, input, m_Units);
    if (m_CoupledInputForget)
    {
        std::transform(input, input + m_Units, forget, [](float x) { return 1.0f - x; });
    }
    else
    {
        AddPeephole(2, cell, forget);
        Activate(0, forget, m_Units);
    }
    Activate(1, update, m_Units);
    for (size_t i = 0; i < m_Units; ++i)
    {
        cell[i] = forget[i] * cell[i] + input[i] * update[i];
    }
    AddPeephole(1, cell, output);
    Activate(0, output, m_Units);
    std::copy_n(cell, m_Units, state);
    Apply(m_Functions[2], state, m_Units);
    std::transform(state, state + m_Units, output, state, std::multiplies<>());
}

void SequenceCell::RunGru(const float* ofData, float* ofState, float* state) const
{
    if (m_Gates != nullptr)
    {
        m_Gates->m_Gru(ofData, ofState, m_HiddenBias, m_Units, state);
        return;
    }
    Add(ofData, 2 * m_Units, ofState);
    Activate(0, ofState, 2 * m_Units);
    const float* const reset = ofState + m_Units;
    float* const hidden = ofState + 2 * m_Units;
    for (size_t i = 0; i < m_Units; ++i)
    {
        hidden[i] = ofData[2 * m_Units + i] + reset[i] * (hidden[i] + m_HiddenBias[i]);
    }
    Activate(1, hidden, m_Units);
    Mix(ofState, hidden, m_Units, state);
}

void SequenceCell::RunGates(const float* ofData, float* ofState, const float* state, float* resetState) const
{
    if (m_Gates != nullptr)
    {
        m_Gates->m_GruResets(ofData, ofState, state, m_Units, resetState);
        return;
    }
    Add(ofData, 2 * m_Units, ofState);
    Activate(0, ofState, 2 * m_Units);
    std::transform(state, state + m_Units, ofState + m_Units, resetState, std::multiplies<>());
}

void SequenceCell::RunHidden(const float* ofData, float* ofReset, const float* update, float* state) const
{
    if (m_Gates != nullptr)
    {
        m_Gates->m_GruHidden(ofData + 2 * m_Units, ofReset, update, m_Units, state);
        return;
    }
    Add(ofData + 2 * m_Units, m_Units, ofReset);
    Activate(1, ofReset, m_Units);
    Mix(update, ofReset, m_Units, state);
}

void SequenceCell::Activate(size_t function, float* values, size_t count) const
{
    if (m_Clip != 0.0f)
    {
        FindUnaryLoopF32(FloatFunction::BoundedReLu)(values, values, count, m_Clip, -m_Clip);
    }
    Apply(m_Functions[function], values, count);
}

void SequenceCell::AddPeephole(size_t gate, const float* cell, float* sums) const
{
    const float* const weights = m_Peepholes != nullptr ? m_Peepholes + gate * m_Units : nullptr;
    for (size_t i = 0; weights != nullptr && i < m_Units; ++i)
    {
        sums[i] += weights[i] * cell[i];
    }
}

} // namespace tenon::cpu
