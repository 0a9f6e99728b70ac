// SPDX-License-Identifier: Apache-2.0
// What an LSTM cell of floats does with the sums of its gates.
#pragma once

#include "backends/cpu/elementwise/UnaryF32.hpp"

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

    /// What a gate has beside its sums, null where it has none.
    struct Gate
    {
        const float* m_Peephole = nullptr;
        const float* m_LayerNorm = nullptr; ///< then sums have no bias
        const float* m_Bias = nullptr;      ///< with layer normalization
    };
    using Gates = std::array<Gate, LstmSlots::NumGates>; ///< by LstmSlots::Gate

    FloatLstmCell(size_t units, bool hasInputGate, float clip, const Gates& gates);

    size_t GetUnits() const { return m_Units; }
    size_t GetNumGates() const { return m_HasInputGate ? 4 : 3; }

    /// One row: `sums` of all gates, which are overwritten, and the states; `hidden` is only written.
    void Run(float* sums, float* cell, float* hidden) const;

private:
    /// What the gate's function is of.
    void Finish(LstmSlots::Gate gate, const float* cell, float* sums) const;

    size_t m_Units;
    bool m_HasInputGate;
    float m_Clip;
    Gates m_Gates;
    FloatLoop m_Sigmoid;
    FloatLoop m_TanH;
};

} // namespace tenon::cpu
