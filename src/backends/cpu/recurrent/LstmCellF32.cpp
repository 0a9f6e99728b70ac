// SPDX-License-Identifier: Apache-2.0
// See LstmCellF32.hpp.
#include "backends/cpu/recurrent/LstmCellF32.hpp"

#include "backends/reference/kernels/GateProduct.hpp"

#include <cmath>

namespace tenon::cpu
{

namespace
{

/// Subtracts the mean and divides by the standard deviation, in the reference kernel's order.
void Normalize(float* values, size_t count)
{
    float sum = 0.0f;
    for (size_t i = 0; i < count; ++i)
    {
        sum += values[i];
    }
    const float mean = sum / static_cast<float>(count);
    float squares = 0.0f;
    for (size_t i = 0; i < count; ++i)
    {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    constexpr float MinVariance = 1e-8f;
    const float inverse = 1.0f / std::sqrt(squares / static_cast<float>(count) + MinVariance);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = (values[i] - mean) * inverse;
    }
}

} // namespace

LstmCellF32::LstmCellF32(size_t units, bool hasInputGate, float clip, const Gates& gates)
    : m_Units(units), m_HasInputGate(hasInputGate), m_Clip(clip), m_Gates(gates),
      m_Sigmoid(FindUnaryLoopF32(FloatFunction::Sigmoid)), m_TanH(FindUnaryLoopF32(FloatFunction::TanH))
{
}

void LstmCellF32::Run(float* sums, float* cell, float* hidden) const
{
    float* const forget = sums + (m_HasInputGate ? m_Units : 0);
    float* const output = forget + m_Units;
    float* const update = output + m_Units;
    if (m_HasInputGate)
    {
        AddPeepholeAndNormalize(LstmSlots::Input, cell, sums);
    }
    AddPeepholeAndNormalize(LstmSlots::Forget, cell, forget);
    AddPeepholeAndNormalize(LstmSlots::Cell, cell, update);
    // Without peephole and normalization the output gate does not depend on the next cell state: one call runs all
    // sigmoids.
    const Gate& last = m_Gates[LstmSlots::Output];
    const bool isPlain = last.m_Peephole == nullptr && last.m_LayerNorm == nullptr;
    m_Sigmoid(sums, sums, (GetNumGates() - (isPlain ? 1 : 2)) * m_Units, 0.0f, 0.0f);
    m_TanH(update, update, m_Units, 0.0f, 0.0f);
    if (m_HasInputGate)
    {
        for (size_t i = 0; i < m_Units; ++i)
        {
            cell[i] = forget[i] * cell[i] + update[i] * sums[i];
        }
    }
    else
    {
        for (size_t i = 0; i < m_Units; ++i)
        {
            cell[i] = forget[i] * cell[i] + update[i] * (1.0f - forget[i]);
        }
    }
    ref::ClipValues(cell, m_Units, m_Clip);
    if (!isPlain)
    {
        AddPeepholeAndNormalize(LstmSlots::Output, cell, output);
        m_Sigmoid(output, output, m_Units, 0.0f, 0.0f);
    }
    m_TanH(cell, hidden, m_Units, 0.0f, 0.0f);
    for (size_t i = 0; i < m_Units; ++i)
    {
        hidden[i] *= output[i];
    }
}

void LstmCellF32::AddPeepholeAndNormalize(LstmSlots::Gate gate, const float* cell, float* sums) const
{
    const Gate& has = m_Gates[gate];
    if (has.m_Peephole != nullptr)
    {
        for (size_t i = 0; i < m_Units; ++i)
        {
            sums[i] += has.m_Peephole[i] * cell[i];
        }
    }
    if (has.m_LayerNorm != nullptr)
    {
        Normalize(sums, m_Units);
        for (size_t i = 0; i < m_Units; ++i)
        {
            sums[i] = sums[i] * has.m_LayerNorm[i] + has.m_Bias[i];
        }
    }
}

} // namespace tenon::cpu
