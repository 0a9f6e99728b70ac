// SPDX-License-Identifier: Apache-2.0
// CellMembers: the weights and biases of LSTM cells, which parameters of layers, infos of them and queue descriptors
// have under the same names.
#pragma once

#include <cstddef>

namespace tenon
{

/// The first input of a layer with a cell that is one of these members.
constexpr size_t FirstCellSlot = 3;

/// Calls f(member, slot) for each weight and bias of an Lstm, QLstm or UnidirectionalSequenceLstm, in the order of the
/// layer's inputs.
template <typename Cell, typename F>
void ForEachCellMember(Cell& cell, F f)
{
    decltype(&cell.m_InputToInputWeights)
        const members[] = {&cell.m_InputToInputWeights,     &cell.m_InputToForgetWeights,
                           &cell.m_InputToCellWeights,      &cell.m_InputToOutputWeights,
                           &cell.m_RecurrentToInputWeights, &cell.m_RecurrentToForgetWeights,
                           &cell.m_RecurrentToCellWeights,  &cell.m_RecurrentToOutputWeights,
                           &cell.m_CellToInputWeights,      &cell.m_CellToForgetWeights,
                           &cell.m_CellToOutputWeights,     &cell.m_InputGateBias,
                           &cell.m_ForgetGateBias,          &cell.m_CellBias,
                           &cell.m_OutputGateBias,          &cell.m_ProjectionWeights,
                           &cell.m_ProjectionBias,          &cell.m_InputLayerNormWeights,
                           &cell.m_ForgetLayerNormWeights,  &cell.m_CellLayerNormWeights,
                           &cell.m_OutputLayerNormWeights};
    size_t slot = FirstCellSlot;
    for (const auto member : members)
    {
        f(*member, slot++);
    }
}

/// The same for a QuantizedLstm.
template <typename Cell, typename F>
void ForEachQuantizedCellMember(Cell& cell, F f)
{
    decltype(&cell.m_InputToInputWeights) const members[] = {&cell.m_InputToInputWeights,
                                                             &cell.m_InputToForgetWeights,
                                                             &cell.m_InputToCellWeights,
                                                             &cell.m_InputToOutputWeights,
                                                             &cell.m_RecurrentToInputWeights,
                                                             &cell.m_RecurrentToForgetWeights,
                                                             &cell.m_RecurrentToCellWeights,
                                                             &cell.m_RecurrentToOutputWeights,
                                                             &cell.m_InputGateBias,
                                                             &cell.m_ForgetGateBias,
                                                             &cell.m_CellBias,
                                                             &cell.m_OutputGateBias};
    size_t slot = FirstCellSlot;
    for (const auto member : members)
    {
        f(*member, slot++);
    }
}

} // namespace tenon
