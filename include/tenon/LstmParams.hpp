// SPDX-License-Identifier: Apache-2.0
// Weights of the LSTM layers, as INetwork's methods take them. Null pointers stand for absent weights.
#pragma once

#include <tenon/Tensor.hpp>

namespace tenon
{

/// Of Lstm, QLstm and UnidirectionalSequenceLstm. Weights of a gate are [units, inputs]; recurrent ones
/// [units, outputs]; peephole, bias and normalization ones [units]; the projection [outputs, units].
struct LstmInputParams
{
    const ConstTensor* m_InputToInputWeights = nullptr;
    const ConstTensor* m_InputToForgetWeights = nullptr;
    const ConstTensor* m_InputToCellWeights = nullptr;
    const ConstTensor* m_InputToOutputWeights = nullptr;
    const ConstTensor* m_RecurrentToInputWeights = nullptr;
    const ConstTensor* m_RecurrentToForgetWeights = nullptr;
    const ConstTensor* m_RecurrentToCellWeights = nullptr;
    const ConstTensor* m_RecurrentToOutputWeights = nullptr;
    const ConstTensor* m_CellToInputWeights = nullptr;
    const ConstTensor* m_CellToForgetWeights = nullptr;
    const ConstTensor* m_CellToOutputWeights = nullptr;
    const ConstTensor* m_InputGateBias = nullptr;
    const ConstTensor* m_ForgetGateBias = nullptr;
    const ConstTensor* m_CellBias = nullptr;
    const ConstTensor* m_OutputGateBias = nullptr;
    const ConstTensor* m_ProjectionWeights = nullptr;
    const ConstTensor* m_ProjectionBias = nullptr;
    const ConstTensor* m_InputLayerNormWeights = nullptr;
    const ConstTensor* m_ForgetLayerNormWeights = nullptr;
    const ConstTensor* m_CellLayerNormWeights = nullptr;
    const ConstTensor* m_OutputLayerNormWeights = nullptr;
};

/// Of QuantizedLstm. Weights are [units, inputs] or [units, units], biases [units]; all must be there.
struct QuantizedLstmInputParams
{
    const ConstTensor* m_InputToInputWeights = nullptr;
    const ConstTensor* m_InputToForgetWeights = nullptr;
    const ConstTensor* m_InputToCellWeights = nullptr;
    const ConstTensor* m_InputToOutputWeights = nullptr;
    const ConstTensor* m_RecurrentToInputWeights = nullptr;
    const ConstTensor* m_RecurrentToForgetWeights = nullptr;
    const ConstTensor* m_RecurrentToCellWeights = nullptr;
    const ConstTensor* m_RecurrentToOutputWeights = nullptr;
    const ConstTensor* m_InputGateBias = nullptr;
    const ConstTensor* m_ForgetGateBias = nullptr;
    const ConstTensor* m_CellBias = nullptr;
    const ConstTensor* m_OutputGateBias = nullptr;
};

} // namespace tenon
