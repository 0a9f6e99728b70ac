// SPDX-License-Identifier: Apache-2.0
// BidirectionalSequenceLstm against the LSTM oracle in both directions: merged outputs, auxiliary data with weights and
// without.
#include "ops/LstmOracle.hpp"

namespace tenon::test::bidirectional_sequence_lstm_test
{

namespace
{

enum class Aux
{
    None,
    WithWeights,
    BackwardData
};

void Check(bool isMerged, bool isTimeMajor, Aux aux, bool hasProjection)
{
    LstmSetup setup;
    setup.m_IsTimeMajor = isTimeMajor;
    setup.m_HasPeephole = true;
    setup.m_HasProjection = hasProjection;
    setup.m_Outputs = hasProjection ? 4 : 6;
    setup.m_AuxInputs = aux == Aux::WithWeights ? 3 : 0;
    LstmSetup backward = setup;
    backward.m_HasCifg = true;

    RecurrentLayer layer;
    layer.m_Type = LayerType::BidirectionalSequenceLstm;
    BidirectionalSequenceLstmDescriptor descriptor;
    descriptor.m_MergeOutputs = isMerged;
    descriptor.m_TimeMajor = isTimeMajor;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    layer.m_Inputs.assign(48, NotConnected());
    const TensorInfo info({1}, DataType::Float32);
    const auto sequence = [&](unsigned int columns, uint32_t seed)
    { return Random(TensorInfo(setup.Sequence(columns), DataType::Float32), seed, -1.0, 1.0); };
    layer.m_Inputs[0] = sequence(setup.m_Inputs, 1);
    if (aux != Aux::None)
    {
        layer.m_Inputs[39] = sequence(aux == Aux::WithWeights ? setup.m_AuxInputs : setup.m_Inputs, 2);
    }
    const LstmSlots forwardSlots = GetBidirectionalLstmSlots(false);
    LstmSlots backwardSlots = GetBidirectionalLstmSlots(true);
    FillCell(layer.m_Inputs, setup, forwardSlots, info, 20);
    FillCell(layer.m_Inputs, backward, backwardSlots, info, 80);
    backwardSlots.m_Data = aux == Aux::BackwardData ? 39 : 0;

    const auto state = [&](unsigned int size) { return TensorInfo({setup.m_Batches, size}, DataType::Float32); };
    layer.m_Outputs = {state(setup.m_Outputs), state(setup.m_Units), state(setup.m_Outputs), state(setup.m_Units)};
    const unsigned int outputs = setup.m_Outputs;
    layer.m_Outputs.emplace_back(setup.Sequence(isMerged ? 2 * outputs : outputs), DataType::Float32);
    if (!isMerged)
    {
        layer.m_Outputs.emplace_back(setup.Sequence(outputs), DataType::Float32);
    }

    const LstmResult want[] = {RunLstmOracle(layer.m_Inputs, setup, forwardSlots),
                               RunLstmOracle(layer.m_Inputs, backward, backwardSlots, true)};
    std::vector<TestTensor> got;
    ASSERT_NO_THROW(got = RunRecurrent(layer));
    for (size_t direction = 0; direction < 2; ++direction)
    {
        ExpectNear(RealValues(got[2 * direction]), want[direction].m_OutputState, 2e-5, "output state");
        ExpectNear(RealValues(got[2 * direction + 1]), want[direction].m_CellState, 2e-5, "cell state");
        std::vector<double> output = RealValues(got[isMerged ? 4 : 4 + direction]);
        if (isMerged)
        {
            std::vector<double> half;
            for (size_t i = 0; i < output.size(); ++i)
            {
                if (i / outputs % 2 == direction)
                {
                    half.push_back(output[i]);
                }
            }
            output = half;
        }
        ExpectNear(output, want[direction].m_Output, 2e-5, "output");
    }
}

} // namespace

ISA_TEST(BidirectionalSequenceLstm, Float)
{
    for (unsigned int bits = 0; bits < 8; ++bits)
    {
        for (const Aux aux : {Aux::None, Aux::WithWeights, Aux::BackwardData})
        {
            SCOPED_TRACE("bits " + std::to_string(bits) + ", auxiliary data " + std::to_string(static_cast<int>(aux)));
            Check((bits & 1) != 0, (bits & 2) != 0, aux, (bits & 4) != 0);
        }
    }
}

} // namespace tenon::test::bidirectional_sequence_lstm_test
