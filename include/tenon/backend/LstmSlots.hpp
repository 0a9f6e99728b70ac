// SPDX-License-Identifier: Apache-2.0
// LstmSlots: which inputs of a layer belong to an LSTM cell. Cells of all LSTM layers with weights per gate are alike;
// a bidirectional layer has two of them. Read by shape inference and by the kernels.
#pragma once

#include <array>
#include <cstddef>

namespace tenon
{

struct LstmSlots
{
    /// The number in place of a slot where the layer has no such input.
    static constexpr size_t None = static_cast<size_t>(-1);
    enum Gate : size_t
    {
        Input,
        Forget,
        Cell,
        Output,
        NumGates
    };
    using PerGate = std::array<size_t, NumGates>;

    size_t m_Data = 0;
    size_t m_OutputState = None;
    size_t m_CellState = None;
    PerGate m_InputWeights = {None, None, None, None};
    PerGate m_RecurrentWeights = {None, None, None, None};
    PerGate m_Peephole = {None, None, None, None}; ///< the cell gate never has one
    PerGate m_Bias = {None, None, None, None};
    PerGate m_LayerNorm = {None, None, None, None};
    PerGate m_AuxWeights = {None, None, None, None};
    size_t m_Projection = None;
    size_t m_ProjectionBias = None;
    size_t m_Aux = None; ///< a second sequence that has weights of its own
};

/// The slots of Lstm, QLstm and UnidirectionalSequenceLstm: data, the two states, then LstmInputParams in the order of
/// its fields.
constexpr LstmSlots GetLstmSlots()
{
    LstmSlots slots;
    slots.m_OutputState = 1;
    slots.m_CellState = 2;
    slots.m_InputWeights = {3, 4, 5, 6};
    slots.m_RecurrentWeights = {7, 8, 9, 10};
    slots.m_Peephole = {11, 12, LstmSlots::None, 13};
    slots.m_Bias = {14, 15, 16, 17};
    slots.m_Projection = 18;
    slots.m_ProjectionBias = 19;
    slots.m_LayerNorm = {20, 21, 22, 23};
    return slots;
}

/// The slots of BidirectionalSequenceLstm, whose inputs have TFLite's order: data, forward weights, backward weights,
/// forward states, backward states, auxiliary data, forward auxiliary weights, backward auxiliary weights.
constexpr LstmSlots GetBidirectionalLstmSlots(bool isBackward)
{
    const size_t weights = isBackward ? 18 : 1;
    const size_t states = isBackward ? 37 : 35;
    const size_t aux = isBackward ? 44 : 40;
    LstmSlots slots;
    slots.m_OutputState = states;
    slots.m_CellState = states + 1;
    slots.m_InputWeights = {weights, weights + 1, weights + 2, weights + 3};
    slots.m_RecurrentWeights = {weights + 4, weights + 5, weights + 6, weights + 7};
    slots.m_Peephole = {weights + 8, weights + 9, LstmSlots::None, weights + 10};
    slots.m_Bias = {weights + 11, weights + 12, weights + 13, weights + 14};
    slots.m_Projection = weights + 15;
    slots.m_ProjectionBias = weights + 16;
    slots.m_Aux = 39;
    slots.m_AuxWeights = {aux, aux + 1, aux + 2, aux + 3};
    return slots;
}

} // namespace tenon
