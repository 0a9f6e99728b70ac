// SPDX-License-Identifier: Apache-2.0
// Weights of the LSTM layers, as INetwork's methods take them, and their infos alone, as LayerQueries takes them. Null
// pointers stand for absent weights.
#pragma once

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace tenon
{

namespace detail
{
template <typename T>
const T& DerefWeights(const T* weights)
{
    if (weights == nullptr)
    {
        throw InvalidArgumentException("weights of an LSTM layer that are absent were asked for; compare the pointer "
                                       "with nullptr first");
    }
    return *weights;
}

/// The first input of an LSTM layer that is one of its weights.
constexpr std::size_t FirstLstmWeight = 3;

/// Calls f(member, input) for each of `members`, with the inputs of the layer that they are.
template <typename Member, std::size_t N, typename F>
void ForEachLstmMember(Member* const (&members)[N], F f)
{
    for (std::size_t i = 0; i < N; ++i)
    {
        f(*members[i], FirstLstmWeight + i);
    }
}

/// Calls f(member, input) for each weight and bias of an Lstm, QLstm or UnidirectionalSequenceLstm, in the order of the
/// layer's inputs. `cell` is LstmParams or has members of the same names.
template <typename Cell, typename F>
void ForEachLstmWeight(Cell& cell, F f)
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
    ForEachLstmMember(members, f);
}

/// The same for a QuantizedLstm, as QuantizedLstmParams has them.
template <typename Cell, typename F>
void ForEachQuantizedLstmWeight(Cell& cell, F f)
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
    ForEachLstmMember(members, f);
}
} // namespace detail

/// The weights of Lstm, QLstm and UnidirectionalSequenceLstm. Weights of a gate are [units, inputs]; recurrent ones
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

    /// Each throws InvalidArgumentException where the pointer is null.
    const T& GetInputToInputWeights() const { return Deref(m_InputToInputWeights); }
    const T& GetInputToForgetWeights() const { return Deref(m_InputToForgetWeights); }
    const T& GetInputToCellWeights() const { return Deref(m_InputToCellWeights); }
    const T& GetInputToOutputWeights() const { return Deref(m_InputToOutputWeights); }
    const T& GetRecurrentToInputWeights() const { return Deref(m_RecurrentToInputWeights); }
    const T& GetRecurrentToForgetWeights() const { return Deref(m_RecurrentToForgetWeights); }
    const T& GetRecurrentToCellWeights() const { return Deref(m_RecurrentToCellWeights); }
    const T& GetRecurrentToOutputWeights() const { return Deref(m_RecurrentToOutputWeights); }
    const T& GetCellToInputWeights() const { return Deref(m_CellToInputWeights); }
    const T& GetCellToForgetWeights() const { return Deref(m_CellToForgetWeights); }
    const T& GetCellToOutputWeights() const { return Deref(m_CellToOutputWeights); }
    const T& GetInputGateBias() const { return Deref(m_InputGateBias); }
    const T& GetForgetGateBias() const { return Deref(m_ForgetGateBias); }
    const T& GetCellBias() const { return Deref(m_CellBias); }
    const T& GetOutputGateBias() const { return Deref(m_OutputGateBias); }
    const T& GetProjectionWeights() const { return Deref(m_ProjectionWeights); }
    const T& GetProjectionBias() const { return Deref(m_ProjectionBias); }
    const T& GetInputLayerNormWeights() const { return Deref(m_InputLayerNormWeights); }
    const T& GetForgetLayerNormWeights() const { return Deref(m_ForgetLayerNormWeights); }
    const T& GetCellLayerNormWeights() const { return Deref(m_CellLayerNormWeights); }
    const T& GetOutputLayerNormWeights() const { return Deref(m_OutputLayerNormWeights); }
    static const T& Deref(const T* weights) { return detail::DerefWeights(weights); }

    /// In the order of the layer's inputs, from 3 on.
    std::vector<const T*> GetInputs() const
    {
        std::vector<const T*> inputs;
        detail::ForEachLstmWeight(*this, [&](const T* weights, std::size_t) { inputs.push_back(weights); });
        return inputs;
    }
};

/// The weights of QuantizedLstm. Weights are [units, inputs] or [units, units], biases [units]; all must be there.
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

    /// Each throws InvalidArgumentException where the pointer is null.
    const T& GetInputToInputWeights() const { return Deref(m_InputToInputWeights); }
    const T& GetInputToForgetWeights() const { return Deref(m_InputToForgetWeights); }
    const T& GetInputToCellWeights() const { return Deref(m_InputToCellWeights); }
    const T& GetInputToOutputWeights() const { return Deref(m_InputToOutputWeights); }
    const T& GetRecurrentToInputWeights() const { return Deref(m_RecurrentToInputWeights); }
    const T& GetRecurrentToForgetWeights() const { return Deref(m_RecurrentToForgetWeights); }
    const T& GetRecurrentToCellWeights() const { return Deref(m_RecurrentToCellWeights); }
    const T& GetRecurrentToOutputWeights() const { return Deref(m_RecurrentToOutputWeights); }
    const T& GetInputGateBias() const { return Deref(m_InputGateBias); }
    const T& GetForgetGateBias() const { return Deref(m_ForgetGateBias); }
    const T& GetCellBias() const { return Deref(m_CellBias); }
    const T& GetOutputGateBias() const { return Deref(m_OutputGateBias); }
    static const T& Deref(const T* weights) { return detail::DerefWeights(weights); }

    /// In the order of the layer's inputs, from 3 on.
    std::vector<const T*> GetInputs() const
    {
        std::vector<const T*> inputs;
        detail::ForEachQuantizedLstmWeight(*this, [&](const T* weights, std::size_t) { inputs.push_back(weights); });
        return inputs;
    }
};

using LstmInputParams = LstmParams<ConstTensor>;
using LstmInputParamsInfo = LstmParams<TensorInfo>;
using QuantizedLstmInputParams = QuantizedLstmParams<ConstTensor>;
using QuantizedLstmInputParamsInfo = QuantizedLstmParams<TensorInfo>;

} // namespace tenon
