// SPDX-License-Identifier: Apache-2.0
// Weights of the LSTM layers, as INetwork's methods take them, and their infos alone, as LayerQueries takes them. Null
// pointers stand for absent weights.
#pragma once

#include <tenon/Tensor.hpp>

#include <vector>

namespace tenon
{

/// Of Lstm, QLstm and UnidirectionalSequenceLstm. Weights of a gate are [units, inputs]; recurrent ones
/// [units, outputs]; peephole, bias and normalization ones [units]; the projection [outputs, units].
template <typename T>
struct LstmParams
{
    const T* m_InputToInputWeights = nullptr;
    const T* m_InputToForgetWeights = nullptr;
    const T* m_InputToCellWeights = nullptr;
    const T* m_InputToOutputWeights = nullptr;
    const T* m_RecurrentToInputWeights = nullptr;
    const T* m_RecurrentToForgetWeights = nullptr;
    const T* m_RecurrentToCellWeights = nullptr;
    const T* m_RecurrentToOutputWeights = nullptr;
    const T* m_CellToInputWeights = nullptr;
    const T* m_CellToForgetWeights = nullptr;
    const T* m_CellToOutputWeights = nullptr;
    const T* m_InputGateBias = nullptr;
    const T* m_ForgetGateBias = nullptr;
    const T* m_CellBias = nullptr;
    const T* m_OutputGateBias = nullptr;
    const T* m_ProjectionWeights = nullptr;
    const T* m_ProjectionBias = nullptr;
    const T* m_InputLayerNormWeights = nullptr;
    const T* m_ForgetLayerNormWeights = nullptr;
    const T* m_CellLayerNormWeights = nullptr;
    const T* m_OutputLayerNormWeights = nullptr;

    /// In the order of the layer's inputs, from 3 on.
    std::vector<const T*> GetInputs() const
    {
        return {m_InputToInputWeights,     m_InputToForgetWeights,
                m_InputToCellWeights,      m_InputToOutputWeights,
                m_RecurrentToInputWeights, m_RecurrentToForgetWeights,
                m_RecurrentToCellWeights,  m_RecurrentToOutputWeights,
                m_CellToInputWeights,      m_CellToForgetWeights,
                m_CellToOutputWeights,     m_InputGateBias,
                m_ForgetGateBias,          m_CellBias,
                m_OutputGateBias,          m_ProjectionWeights,
                m_ProjectionBias,          m_InputLayerNormWeights,
                m_ForgetLayerNormWeights,  m_CellLayerNormWeights,
                m_OutputLayerNormWeights};
    }
};

/// Of QuantizedLstm. Weights are [units, inputs] or [units, units], biases [units]; all must be there.
template <typename T>
struct QuantizedLstmParams
{
    const T* m_InputToInputWeights = nullptr;
    const T* m_InputToForgetWeights = nullptr;
    const T* m_InputToCellWeights = nullptr;
    const T* m_InputToOutputWeights = nullptr;
    const T* m_RecurrentToInputWeights = nullptr;
    const T* m_RecurrentToForgetWeights = nullptr;
    const T* m_RecurrentToCellWeights = nullptr;
    const T* m_RecurrentToOutputWeights = nullptr;
    const T* m_InputGateBias = nullptr;
    const T* m_ForgetGateBias = nullptr;
    const T* m_CellBias = nullptr;
    const T* m_OutputGateBias = nullptr;

    /// In the order of the layer's inputs, from 3 on.
    std::vector<const T*> GetInputs() const
    {
        return {m_InputToInputWeights,
                m_InputToForgetWeights,
                m_InputToCellWeights,
                m_InputToOutputWeights,
                m_RecurrentToInputWeights,
                m_RecurrentToForgetWeights,
                m_RecurrentToCellWeights,
                m_RecurrentToOutputWeights,
                m_InputGateBias,
                m_ForgetGateBias,
                m_CellBias,
                m_OutputGateBias};
    }
};

using LstmInputParams = LstmParams<ConstTensor>;
using LstmInputParamsInfo = LstmParams<TensorInfo>;
using QuantizedLstmInputParams = QuantizedLstmParams<ConstTensor>;
using QuantizedLstmInputParamsInfo = QuantizedLstmParams<TensorInfo>;

} // namespace tenon
