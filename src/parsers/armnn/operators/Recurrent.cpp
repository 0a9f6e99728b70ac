// SPDX-License-Identifier: Apache-2.0
// Rows of LSTMs. As in Arm NN, the flags of the descriptor say which of the weights that a layer holds count.
#include "parsers/armnn/operators/Rows.hpp"

#include <deque>

namespace tenon::arm_nn
{

namespace
{

/// Weights as INetwork's methods take them, by pointer.
class Weights
{
public:
    Weights(const LayerView& op, NetworkBuilder& network) : m_Op(op), m_Network(network) {}

    const ConstTensor* Get(const char* name) { return &m_Tensors.emplace_back(m_Network.Keep(m_Op.Constant(name))); }
    /// Null where the layer does not hold it.
    const ConstTensor* Find(const char* name) { return m_Op.FindConstant(name) != nullptr ? Get(name) : nullptr; }

private:
    const LayerView& m_Op;
    NetworkBuilder& m_Network;
    std::deque<ConstTensor> m_Tensors;
};

template <typename Descriptor>
LstmInputParams ReadParams(const Descriptor& descriptor, Weights& weights)
{
    LstmInputParams params;
    params.m_InputToForgetWeights = weights.Get("inputToForgetWeights");
    params.m_InputToCellWeights = weights.Get("inputToCellWeights");
    params.m_InputToOutputWeights = weights.Get("inputToOutputWeights");
    params.m_RecurrentToForgetWeights = weights.Get("recurrentToForgetWeights");
    params.m_RecurrentToCellWeights = weights.Get("recurrentToCellWeights");
    params.m_RecurrentToOutputWeights = weights.Get("recurrentToOutputWeights");
    params.m_ForgetGateBias = weights.Get("forgetGateBias");
    params.m_CellBias = weights.Get("cellBias");
    params.m_OutputGateBias = weights.Get("outputGateBias");
    if (!descriptor.m_CifgEnabled)
    {
        params.m_InputToInputWeights = weights.Get("inputToInputWeights");
        params.m_RecurrentToInputWeights = weights.Get("recurrentToInputWeights");
        params.m_InputGateBias = weights.Get("inputGateBias");
    }
    if (descriptor.m_PeepholeEnabled)
    {
        params.m_CellToInputWeights = descriptor.m_CifgEnabled ? nullptr : weights.Get("cellToInputWeights");
        params.m_CellToForgetWeights = weights.Get("cellToForgetWeights");
        params.m_CellToOutputWeights = weights.Get("cellToOutputWeights");
    }
    if (descriptor.m_ProjectionEnabled)
    {
        params.m_ProjectionWeights = weights.Get("projectionWeights");
        params.m_ProjectionBias = weights.Find("projectionBias");
    }
    if (descriptor.m_LayerNormEnabled)
    {
        params.m_InputLayerNormWeights = descriptor.m_CifgEnabled ? nullptr : weights.Get("inputLayerNormWeights");
        params.m_ForgetLayerNormWeights = weights.Get("forgetLayerNormWeights");
        params.m_CellLayerNormWeights = weights.Get("cellLayerNormWeights");
        params.m_OutputLayerNormWeights = weights.Get("outputLayerNormWeights");
    }
    return params;
}

template <typename Descriptor>
void ReadFlags(const LayerView& op, Descriptor& descriptor)
{
    descriptor.m_CifgEnabled = op.Bool("cifgEnabled", true);
    descriptor.m_PeepholeEnabled = op.Bool("peepholeEnabled", false);
    descriptor.m_ProjectionEnabled = op.Bool("projectionEnabled", false);
    descriptor.m_LayerNormEnabled = op.Bool("layerNormEnabled", false);
}

LstmDescriptor ReadLstm(const LayerView& op)
{
    LstmDescriptor descriptor;
    ReadFlags(op, descriptor);
    descriptor.m_ActivationFunc = op.Number("activationFunc");
    descriptor.m_ClippingThresCell = op.Float("clippingThresCell", 0.0f);
    descriptor.m_ClippingThresProj = op.Float("clippingThresProj", 0.0f);
    return descriptor;
}

IConnectableLayer* AddLstm(const LayerView& op, NetworkBuilder& network)
{
    const LstmDescriptor descriptor = ReadLstm(op);
    Weights weights(op, network);
    return network->AddLstmLayer(descriptor, ReadParams(descriptor, weights), op.LayerName());
}

IConnectableLayer* AddUnidirectionalSequenceLstm(const LayerView& op, NetworkBuilder& network)
{
    LstmDescriptor descriptor = ReadLstm(op);
    descriptor.m_TimeMajor = op.Bool("timeMajor", false);
    Weights weights(op, network);
    return network->AddUnidirectionalSequenceLstmLayer(descriptor, ReadParams(descriptor, weights), op.LayerName());
}

IConnectableLayer* AddQLstm(const LayerView& op, NetworkBuilder& network)
{
    QLstmDescriptor descriptor;
    ReadFlags(op, descriptor);
    descriptor.m_CellClip = op.Float("cellClip", 0.0f);
    descriptor.m_ProjectionClip = op.Float("projectionClip", 0.0f);
    descriptor.m_InputIntermediateScale = op.Float("inputIntermediateScale", 0.0f);
    descriptor.m_ForgetIntermediateScale = op.Float("forgetIntermediateScale", 0.0f);
    descriptor.m_CellIntermediateScale = op.Float("cellIntermediateScale", 0.0f);
    descriptor.m_OutputIntermediateScale = op.Float("outputIntermediateScale", 0.0f);
    descriptor.m_HiddenStateZeroPoint = op.Int("hiddenStateZeroPoint", 0);
    descriptor.m_HiddenStateScale = op.Float("hiddenStateScale", 0.0f);
    Weights weights(op, network);
    return network->AddQLstmLayer(descriptor, ReadParams(descriptor, weights), op.LayerName());
}

IConnectableLayer* AddQuantizedLstm(const LayerView& op, NetworkBuilder& network)
{
    Weights weights(op, network);
    QuantizedLstmInputParams params;
    params.m_InputToInputWeights = weights.Get("inputToInputWeights");
    params.m_InputToForgetWeights = weights.Get("inputToForgetWeights");
    params.m_InputToCellWeights = weights.Get("inputToCellWeights");
    params.m_InputToOutputWeights = weights.Get("inputToOutputWeights");
    params.m_RecurrentToInputWeights = weights.Get("recurrentToInputWeights");
    params.m_RecurrentToForgetWeights = weights.Get("recurrentToForgetWeights");
    params.m_RecurrentToCellWeights = weights.Get("recurrentToCellWeights");
    params.m_RecurrentToOutputWeights = weights.Get("recurrentToOutputWeights");
    params.m_InputGateBias = weights.Get("inputGateBias");
    params.m_ForgetGateBias = weights.Get("forgetGateBias");
    params.m_CellBias = weights.Get("cellBias");
    params.m_OutputGateBias = weights.Get("outputGateBias");
    return network->AddQuantizedLstmLayer(params, op.LayerName());
}

constexpr LayerRow RecurrentRows[] = {
    {"Lstm", AddLstm},
    {"QLstm", AddQLstm},
    {"QuantizedLstm", AddQuantizedLstm},
    {"UnidirectionalSequenceLstm", AddUnidirectionalSequenceLstm},
};

} // namespace

Span<const LayerRow> GetRecurrentRows()
{
    return {RecurrentRows, std::size(RecurrentRows)};
}

} // namespace tenon::arm_nn
