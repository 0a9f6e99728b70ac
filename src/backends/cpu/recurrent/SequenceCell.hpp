// SPDX-License-Identifier: Apache-2.0
// The pointwise part of a cell of RecurrentSequence, of floats (ONNX's RNN, GRU and LSTM with any activations):
//     RNN   h' = f(sums)
//     GRU   z, r = f(sums);  h~ = g(x + r * (R h + b));  h' = (1 - z) * h~ + z * h       (linear before reset)
//     LSTM  i, o, f = f(sums), c~ = g(sums);  c' = f * c + i * c~;  h' = o * h(c')
// A GRU that resets before multiplying takes two products a step: RunGates, then RunHidden. Cells with the default
// functions, no clip, no peepholes and no coupled gates run the vectors of SequenceGates.
#pragma once

#include "backends/reference/kernels/RecurrentSequence.hpp"

#include <array>
#include <cstddef>

namespace tenon::cpu
{

/// The pointwise parts of cells with the default functions, sigmoid and tanh, with SIMD, for one row
/// (SequenceGates.cpp). A row of sums has the units of one gate after those of the other. `ofData`: the sums that come
/// from the data, with all biases; `ofState`: those that come from the state.
struct SequenceGates
{
    /// state = tanh(ofData + ofState)
    void (*m_Rnn)(const float* ofData, const float* ofState, size_t units, float* state) = nullptr;
    /// LSTM with gates i, o, f and c.
    void (*m_Lstm)(const float* ofData, const float* ofState, size_t units, float* cell, float* state) = nullptr;
    /// GRU with gates z, r and h, linear before reset: the recurrent sums of h plus `bias` are multiplied by r.
    void (*m_Gru)(const float* ofData, const float* ofState, const float* bias, size_t units, float* state) = nullptr;
    /// First part of a GRU that resets its state before the product: gate z overwrites its sums in `ofState`, and
    /// resetState = r * state.
    void (*m_GruResets)(const float* ofData, float* ofState, const float* state, size_t units,
                        float* resetState) = nullptr;
    /// Second part, for gate h: state = (1 - update) * tanh(ofData + ofState) + update * state.
    void (*m_GruHidden)(const float* ofData, const float* ofState, const float* update, size_t units,
                        float* state) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const SequenceGates& GetSequenceGates();

class SequenceCell
{
public:
    /// `hiddenBias`: the recurrent bias of gate h of a GRU that is linear before reset, one a unit; `peepholes`: those
    /// of an LSTM, or null. Both must outlive this object.
    SequenceCell(const RecurrentSequenceDescriptor& descriptor, const ref::SequenceGeometry& geometry, size_t direction,
                 const float* hiddenBias, const float* peepholes);

    /// Whether the state is reset before it is multiplied: then RunGates and RunHidden are called, else Run.
    bool ResetsBefore() const { return m_Kind == RecurrentCell::Gru && !m_LinearBeforeReset; }

    /// `ofData`: the sums that come from the data, all gates, with their biases; `ofState`: the sums that come from the
    /// state, which are overwritten.
    void Run(const float* ofData, float* ofState, float* cell, float* state) const;
    /// `ofState`: the sums of gates z and r; gate z is written to it. `resetState` is only written.
    void RunGates(const float* ofData, float* ofState, const float* state, float* resetState) const;
    /// `ofReset`: the sums of gate h, which are overwritten; `update`: gate z.
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
    const SequenceGates* m_Gates = nullptr; ///< null: the cell has other functions, a clip, peepholes or coupled gates
};

} // namespace tenon::cpu
