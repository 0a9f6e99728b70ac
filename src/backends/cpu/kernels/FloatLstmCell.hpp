// SPDX-License-Identifier: Apache-2.0
// What an LSTM cell of floats without peepholes and layer normalization does with the sums of its gates.
#pragma once

#include "backends/cpu/elementwise/FloatUnary.hpp"
#include "backends/reference/kernels/GateProduct.hpp"

#include <tenon/backend/LstmSlots.hpp>

#include <array>
#include <cstddef>

namespace tenon::cpu
{

class FloatLstmCell
{
public:
    /// The order of the gates in rows of sums: those with a sigmoid stand together, and the one that a cell may lack,
    /// whose values are then 1 less those of the forget gate, comes first.
    static constexpr std::array<LstmSlots::Gate, LstmSlots::NumGates> Order = {LstmSlots::Input, LstmSlots::Forget,
                                                                               LstmSlots::Output, LstmSlots::Cell};

    FloatLstmCell(size_t units, bool hasInputGate, float clip)
        : m_Units(units), m_HasInputGate(hasInputGate), m_Clip(clip), m_Sigmoid(FindFloatLoop(FloatFunction::Sigmoid)),
          m_TanH(FindFloatLoop(FloatFunction::TanH))
    {
    }

    size_t GetUnits() const { return m_Units; }
    size_t GetNumGates() const { return m_HasInputGate ? 4 : 3; }

    /// One row: `sums` of all gates, which are overwritten, and the states; `hidden` is only written.
    void Run(float* sums, float* cell, float* hidden) const
    {
        float* const forget = sums + (m_HasInputGate ? m_Units : 0);
        float* const output = forget + m_Units;
        float* const update = output + m_Units;
        m_Sigmoid(sums, sums, (GetNumGates() - 1) * m_Units, 0.0f, 0.0f);
        m_TanH(update, update, m_Units, 1.0f, 1.0f);
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
        m_TanH(cell, hidden, m_Units, 1.0f, 1.0f);
        for (size_t i = 0; i < m_Units; ++i)
        {
            hidden[i] *= output[i];
        }
    }

private:
    size_t m_Units;
    bool m_HasInputGate;
    float m_Clip;
    FloatLoop m_Sigmoid;
    FloatLoop m_TanH;
};

} // namespace tenon::cpu
