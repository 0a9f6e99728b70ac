// SPDX-License-Identifier: Apache-2.0
// What the cells of a RecurrentSequence do with the sums of their gates, of a row with the functions that are the
// default, sigmoid and tanh, on vectors. Used by SequenceCell.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Sums of a row have one gate's units behind the other's: those of what comes from the data, with all biases, and
/// those of what comes from the state.
struct SequenceGates
{
    /// state = tanh(ofData + ofState)
    void (*m_Rnn)(const float* ofData, const float* ofState, size_t units, float* state) = nullptr;
    /// Gates i, o, f and c.
    void (*m_Lstm)(const float* ofData, const float* ofState, size_t units, float* cell, float* state) = nullptr;
    /// Gates z, r and h, whose sums of the state, with their bias, are multiplied by r.
    void (*m_Gru)(const float* ofData, const float* ofState, const float* bias, size_t units, float* state) = nullptr;
    /// Of a GRU that resets its state before: the gates z, which take the place of their sums of the state, and
    /// resetState = r * state.
    void (*m_GruResets)(const float* ofData, float* ofState, const float* state, size_t units,
                        float* resetState) = nullptr;
    /// Then state = (1 - update) * tanh(ofData + ofState) + update * state, of the gate h.
    void (*m_GruHidden)(const float* ofData, const float* ofState, const float* update, size_t units,
                        float* state) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const SequenceGates& GetSequenceGates();

} // namespace tenon::cpu
