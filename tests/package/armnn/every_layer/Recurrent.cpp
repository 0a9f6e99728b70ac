// SPDX-License-Identifier: Apache-2.0
// Branches of recurrent layers.
#include "Graph.hpp"

#include <cmath>
#include <vector>

namespace layers
{

/// Recurrent layers whose weights are zero: every gate is half open, so that a cell halves with each step and the
/// output is half its hyperbolic tangent.
void AddRecurrent(Graph& graph)
{
    INetwork& network = graph.GetNetwork();
    const float half = 0.5f * std::tanh(0.5f);
    const float quarter = 0.5f * std::tanh(0.25f);
    const ConstTensor inputWeights = graph.Tensor(Floats({2, 2}), {0, 0, 0, 0});
    const ConstTensor gateBias = graph.Tensor(Floats({2}), {0, 0});
    LstmInputParams params;
    params.m_InputToForgetWeights = &inputWeights;
    params.m_InputToCellWeights = &inputWeights;
    params.m_InputToOutputWeights = &inputWeights;
    params.m_RecurrentToForgetWeights = &inputWeights;
    params.m_RecurrentToCellWeights = &inputWeights;
    params.m_RecurrentToOutputWeights = &inputWeights;
    params.m_ForgetGateBias = &gateBias;
    params.m_CellBias = &gateBias;
    params.m_OutputGateBias = &gateBias;
    LstmDescriptor lstmDescriptor;
    lstmDescriptor.m_ActivationFunc = 4;
    lstmDescriptor.m_CifgEnabled = true;
    IConnectableLayer* lstm =
        Graph::Connect(network.AddLstmLayer(lstmDescriptor, params, "lstm"),
                       {graph.Input({1, 2}, {1, 2}), graph.Input({1, 2}, {3, 4}), graph.Input({1, 2}, {1, 1})});
    lstm->GetOutputSlot(0).SetTensorInfo(Floats({1, 6}));
    graph.Expect(lstm, 1, Floats({1, 2}), {half, half});
    graph.Expect(lstm, 2, Floats({1, 2}), {0.5f, 0.5f});
    graph.Expect(lstm, 3, Floats({1, 2}), {half, half});

    UnidirectionalSequenceLstmDescriptor sequenceDescriptor = lstmDescriptor;
    sequenceDescriptor.m_TimeMajor = false;
    IConnectableLayer* sequence = Graph::Connect(
        network.AddUnidirectionalSequenceLstmLayer(sequenceDescriptor, params, "sequence lstm"),
        {graph.Input({1, 2, 2}, {1, 2, 3, 4}), graph.Input({1, 2}, {3, 4}), graph.Input({1, 2}, {1, 1})});
    sequence->GetOutputSlot(0).SetTensorInfo(Floats({1, 2}));
    sequence->GetOutputSlot(1).SetTensorInfo(Floats({1, 2}));
    graph.Expect(sequence, 2, Floats({1, 2, 2}), {half, half, quarter, quarter});

    // Stored zeros are the weights' offset, 100. A cell of 2048 is 1.
    const ConstTensor weights8 =
        graph.Tensor(TensorInfo({4, 2}, DataType::QAsymmU8, 0.01f, 100), std::vector<float>(8, 100.0f));
    const ConstTensor recurrent8 =
        graph.Tensor(TensorInfo({4, 4}, DataType::QAsymmU8, 0.01f, 100), std::vector<float>(16, 100.0f));
    const ConstTensor bias32 = graph.Tensor(TensorInfo({4}, DataType::Signed32, 0.01f / 128.0f, 0), {0, 0, 0, 0});
    QuantizedLstmInputParams quantizedParams;
    quantizedParams.m_InputToInputWeights = &weights8;
    quantizedParams.m_InputToForgetWeights = &weights8;
    quantizedParams.m_InputToCellWeights = &weights8;
    quantizedParams.m_InputToOutputWeights = &weights8;
    quantizedParams.m_RecurrentToInputWeights = &recurrent8;
    quantizedParams.m_RecurrentToForgetWeights = &recurrent8;
    quantizedParams.m_RecurrentToCellWeights = &recurrent8;
    quantizedParams.m_RecurrentToOutputWeights = &recurrent8;
    quantizedParams.m_InputGateBias = &bias32;
    quantizedParams.m_ForgetGateBias = &bias32;
    quantizedParams.m_CellBias = &bias32;
    quantizedParams.m_OutputGateBias = &bias32;
    const TensorInfo state8({1, 4}, DataType::QAsymmU8, 1.0f / 128.0f, 128);
    const TensorInfo cell16({1, 4}, DataType::QSymmS16, 1.0f / 2048.0f, 0);
    IConnectableLayer* quantizedLstm =
        Graph::Connect(network.AddQuantizedLstmLayer(quantizedParams, "quantized lstm"),
                       {graph.Input(TensorInfo({1, 2}, DataType::QAsymmU8, 1.0f / 128.0f, 128), {130, 140}),
                        graph.Input(cell16, {2048, 2048, 2048, 2048}), graph.Input(state8, {128, 128, 128, 128})});
    graph.Expect(quantizedLstm, 0, cell16, {1024, 1024, 1024, 1024}, 1.0f);
    graph.Expect(quantizedLstm, 1, state8, std::vector<float>(4, 128.0f + 128.0f * half), 1.0f);

    const ConstTensor weightsS8 =
        graph.Tensor(TensorInfo({4, 2}, DataType::QSymmS8, 0.01f, 0), std::vector<float>(8, 0.0f));
    const ConstTensor recurrentS8 =
        graph.Tensor(TensorInfo({4, 4}, DataType::QSymmS8, 0.01f, 0), std::vector<float>(16, 0.0f));
    const ConstTensor biasS32 = graph.Tensor(TensorInfo({4}, DataType::Signed32, 0.01f / 128.0f, 0), {0, 0, 0, 0});
    LstmInputParams qParams;
    qParams.m_InputToForgetWeights = &weightsS8;
    qParams.m_InputToCellWeights = &weightsS8;
    qParams.m_InputToOutputWeights = &weightsS8;
    qParams.m_RecurrentToForgetWeights = &recurrentS8;
    qParams.m_RecurrentToCellWeights = &recurrentS8;
    qParams.m_RecurrentToOutputWeights = &recurrentS8;
    qParams.m_ForgetGateBias = &biasS32;
    qParams.m_CellBias = &biasS32;
    qParams.m_OutputGateBias = &biasS32;
    QLstmDescriptor qDescriptor;
    qDescriptor.m_CifgEnabled = true;
    qDescriptor.m_InputIntermediateScale = 0.0001f;
    qDescriptor.m_ForgetIntermediateScale = 0.0001f;
    qDescriptor.m_CellIntermediateScale = 0.0001f;
    qDescriptor.m_OutputIntermediateScale = 0.0001f;
    qDescriptor.m_HiddenStateScale = 1.0f / 128.0f;
    qDescriptor.m_HiddenStateZeroPoint = 0;
    const TensorInfo stateS8({1, 4}, DataType::QAsymmS8, 1.0f / 128.0f, 0);
    IConnectableLayer* qLstm =
        Graph::Connect(network.AddQLstmLayer(qDescriptor, qParams, "qlstm"),
                       {graph.Input(TensorInfo({1, 2}, DataType::QAsymmS8, 1.0f / 128.0f, 0), {3, 4}),
                        graph.Input(stateS8, {0, 0, 0, 0}), graph.Input(cell16, {2048, 2048, 2048, 2048})});
    qLstm->GetOutputSlot(0).SetTensorInfo(stateS8);
    graph.Expect(qLstm, 1, cell16, {1024, 1024, 1024, 1024}, 1.0f);
    graph.Expect(qLstm, 2, stateS8, std::vector<float>(4, 128.0f * half), 1.0f);
}

} // namespace layers
