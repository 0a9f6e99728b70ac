// SPDX-License-Identifier: Apache-2.0
// Pointwise parts of the cells of RecurrentSequence with the default functions, sigmoid and tanh, with SIMD.
// SequenceCell calls them for one row.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// A row of sums has the units of one gate after those of the other. `ofData`: the sums that come from the data, with
/// all biases; `ofState`: those that come from the state.
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

} // namespace tenon::cpu
