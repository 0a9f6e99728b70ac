// SPDX-License-Identifier: Apache-2.0
// The pointwise part of an LSTM cell of floats, from the sums of its gates to its states:
//     i, f, o = sigmoid(sums + peephole * c), g = tanh(sums);   c' = clip(f * c + i * g),   h = o * tanh(c')
// A cell without an input gate (CIFG) has i = 1 - f. With layer normalization the sums of a gate are brought to mean 0
// and variance 1, times a weight plus the bias, before the function. The output gate's peephole sees c'.
//     a row of sums: [ input | forget | output | cell ], each `units` wide; the three sigmoids are one call
#pragma once

#include "backends/cpu/elementwise/UnaryFloat.hpp"

#include <tenon/backend/LstmSlots.hpp>

#include <array>
#include <cstddef>

namespace tenon::cpu
{

class LstmCellF32
{
public:
    /// The order of gates in rows of sums. The gates with a sigmoid are neighbours, and the input gate, which a cell
    /// may lack (its values are then 1 less those of the forget gate), comes first.
    static constexpr std::array<LstmSlots::Gate, LstmSlots::NumGates> Order = {LstmSlots::Input, LstmSlots::Forget,
                                                                               LstmSlots::Output, LstmSlots::Cell};

    /// Further weights of a gate, null if it has none.
    struct Gate
    {
        const float* m_Peephole = nullptr;
        const float* m_LayerNorm = nullptr; ///< not null: the sums have no bias
        const float* m_Bias = nullptr;      ///< with layer normalization
    };
    using Gates = std::array<Gate, LstmSlots::NumGates>; ///< by LstmSlots::Gate

    LstmCellF32(size_t units, bool hasInputGate, float clip, const Gates& gates);

    size_t GetUnits() const { return m_Units; }
    size_t GetNumGates() const { return m_HasInputGate ? 4 : 3; }

    /// Runs one row: `sums` of all gates, which are overwritten, and the states; `hidden` is only written.
    void Run(float* sums, float* cell, float* hidden) const;

private:
    /// Adds the peephole term and normalizes: the result is the argument of the gate's function.
    void AddPeepholeAndNormalize(LstmSlots::Gate gate, const float* cell, float* sums) const;

    size_t m_Units;
    bool m_HasInputGate;
    float m_Clip;
    Gates m_Gates;
    UnaryLoopF32 m_Sigmoid;
    UnaryLoopF32 m_TanH;
};

} // namespace tenon::cpu
