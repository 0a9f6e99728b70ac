// SPDX-License-Identifier: Apache-2.0
// The cell of one direction of a RecurrentSequence, of floats: from the sums of a row's gates to its next state.
#pragma once

#include "backends/cpu/recurrent/SequenceGates.hpp"
#include "backends/reference/kernels/RecurrentSequence.hpp"

#include <array>
#include <cstddef>

namespace tenon::cpu
{

class SequenceCell
{
public:
    /// `hiddenBias`: of a GRU that is linear before reset, the recurrent bias of the gate h, one for each unit;
    /// `peepholes`: of an LSTM, or null. Both outlive this.
    SequenceCell(const RecurrentSequenceDescriptor& descriptor, const ref::SequenceGeometry& geometry, size_t direction,
                 const float* hiddenBias, const float* peepholes);

    /// Whether it resets the state before it is multiplied: then RunGates and RunHidden, else Run is called.
    bool ResetsBefore() const { return m_Kind == RecurrentCell::Gru && !m_LinearBeforeReset; }

    /// `ofData`: sums of all gates, with their biases; `ofState`: likewise, which is overwritten.
    void Run(const float* ofData, float* ofState, float* cell, float* state) const;
    /// `ofState`: sums of the gates z and r; then z is there. `resetState` is only written.
    void RunGates(const float* ofData, float* ofState, const float* state, float* resetState) const;
    /// `ofReset`: sums of the gate h, which are overwritten; `update`: the gate z.
    void RunHidden(const float* ofData, float* ofReset, const float* update, float* state) const;

private:
    void RunRnn(const float* ofData, float* ofState, float* state) const;
    void RunLstm(const float* ofData, float* ofState, float* cell, float* state) const;
    void RunGru(const float* ofData, float* ofState, float* state) const;
    void Activate(size_t function, float* values, size_t count) const;
    void AddPeephole(size_t gate, const float* cell, float* sums) const;

    RecurrentCell m_Kind;
    size_t m_Units;
    float m_Clip;
    bool m_LinearBeforeReset;
    bool m_CoupledInputForget;
    const float* m_HiddenBias;
    const float* m_Peepholes;
    std::array<ref::GateFunction, 3> m_Functions;
    const SequenceGates* m_Gates = nullptr; ///< null: the cell is not the plain one that these are for
};

} // namespace tenon::cpu
