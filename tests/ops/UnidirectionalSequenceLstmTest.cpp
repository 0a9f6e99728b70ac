// SPDX-License-Identifier: Apache-2.0
// UnidirectionalSequenceLstm on float data, and Lstm, against the LSTM oracle: all combinations of what a cell can
// have, float and 8-bit weights, states fed from run to run; and layers that must be refused.
#include "ops/LstmOracle.hpp"

namespace tenon::test::unidirectional_sequence_lstm_test
{

namespace
{

constexpr LstmSlots Slots = GetLstmSlots();
constexpr size_t NumInputs = 24;

LstmDescriptor MakeLstm(const LstmSetup& setup)
{
    LstmDescriptor descriptor;
    descriptor.m_ActivationFunc = 4;
    descriptor.m_ClippingThresCell = static_cast<float>(setup.m_CellClip);
    descriptor.m_ClippingThresProj = static_cast<float>(setup.m_ProjectionClip);
    descriptor.m_CifgEnabled = setup.m_HasCifg;
    descriptor.m_PeepholeEnabled = setup.m_HasPeephole;
    descriptor.m_ProjectionEnabled = setup.m_HasProjection;
    descriptor.m_LayerNormEnabled = setup.m_HasLayerNorm;
    descriptor.m_TimeMajor = setup.m_IsTimeMajor;
    return descriptor;
}

TensorInfo Float(const TensorShape& shape)
{
    return {shape, DataType::Float32};
}

RecurrentLayer MakeLayer(const LstmSetup& setup, const TensorInfo& weights, uint32_t seed)
{
    RecurrentLayer layer;
    layer.m_Type = LayerType::UnidirectionalSequenceLstm;
    layer.m_Descriptor = MakeDescriptor(MakeLstm(setup));
    layer.m_Inputs.assign(NumInputs, NotConnected());
    layer.m_Inputs[0] = Random(Float(setup.Sequence(setup.m_Inputs)), seed, -1.0, 1.0);
    FillCell(layer.m_Inputs, setup, Slots, weights, seed);
    layer.m_Outputs = {Float({setup.m_Batches, setup.m_Outputs}), Float({setup.m_Batches, setup.m_Units}),
                       Float(setup.Sequence(setup.m_Outputs))};
    return layer;
}

void ExpectResult(const std::vector<TestTensor>& got, size_t first, const LstmResult& want, double tolerance,
                  const std::string& name)
{
    ExpectNear(RealValues(got[first]), want.m_OutputState, tolerance, name + ": output state");
    ExpectNear(RealValues(got[first + 1]), want.m_CellState, tolerance, name + ": cell state");
    ExpectNear(RealValues(got[first + 2]), want.m_Output, tolerance, name + ": output");
}

/// All but the data and the states.
void MakeWeightsConstant(RecurrentLayer& layer)
{
    std::for_each(layer.m_Inputs.begin() + 3, layer.m_Inputs.end(),
                  [](TestTensor& input) { input.m_Constant = input.m_Connected; });
}

/// Runs three times, each from the states of the time before, on one backend, with constant weights.
void CheckSetupOn(const IBackend& backend, const LstmSetup& setup, const TensorInfo& weights, const RoundRow& round,
                  double tolerance, const std::string& name, const std::function<void(LstmDescriptor&)>& change)
{
    RecurrentLayer layer = MakeLayer(setup, weights, 11);
    MakeWeightsConstant(layer);
    LstmDescriptor descriptor = MakeLstm(setup);
    if (change)
    {
        change(descriptor);
    }
    layer.m_Descriptor = MakeDescriptor(descriptor);
    for (int run = 0; run < 3; ++run)
    {
        const LstmResult want = RunLstmOracle(layer.m_Inputs, setup, Slots, false, round);
        std::vector<TestTensor> got;
        ASSERT_NO_THROW(got = RunRecurrent(layer, backend)) << name;
        ASSERT_NO_FATAL_FAILURE(ExpectResult(got, 0, want, tolerance, name + ", run " + std::to_string(run)));
        layer.m_Inputs[Slots.m_OutputState] = got[0];
        layer.m_Inputs[Slots.m_CellState] = got[1];
    }
}

void CheckSetup(const LstmSetup& setup, const TensorInfo& weights, const RoundRow& round, double tolerance,
                const std::string& name, const std::function<void(LstmDescriptor&)>& change = nullptr)
{
    for (const auto& backend : GetTestBackends())
    {
        SCOPED_TRACE(backend->GetId().Get());
        ASSERT_NO_FATAL_FAILURE(CheckSetupOn(*backend, setup, weights, round, tolerance, name, change));
    }
}

std::vector<std::pair<std::string, LstmSetup>> GetSetups()
{
    std::vector<std::pair<std::string, LstmSetup>> setups;
    for (unsigned int bits = 0; bits < 64; ++bits)
    {
        LstmSetup setup;
        setup.m_HasCifg = (bits & 1) != 0;
        setup.m_HasPeephole = (bits & 2) != 0;
        setup.m_HasProjection = (bits & 4) != 0;
        setup.m_HasLayerNorm = (bits & 8) != 0;
        setup.m_Outputs = setup.m_HasProjection ? 4 : setup.m_Units;
        setup.m_IsTimeMajor = (bits & 16) != 0;
        setup.m_CellClip = (bits & 32) != 0 ? 0.4 : 0.0;
        setup.m_ProjectionClip = (bits & 32) != 0 ? 0.2 : 0.0;
        setups.emplace_back("bits " + std::to_string(bits), setup);
    }
    LstmSetup step;
    step.m_IsStep = true;
    setups.emplace_back("one step", step);
    LstmSetup diagonal;
    diagonal.m_IsDiagonal = true;
    diagonal.m_HasPeephole = true;
    setups.emplace_back("diagonal", diagonal);
    return setups;
}

/// The value that a quantization over the row's range, or around zero, keeps of each element.
std::vector<double> RoundBytes(const std::vector<double>& row, bool isAsymmetric)
{
    const auto [least, most] = std::minmax_element(row.begin(), row.end());
    double scale = std::max(std::abs(*least), std::abs(*most)) / 127.0;
    double zeroPoint = 0.0;
    if (isAsymmetric)
    {
        const double low = std::min(*least, 0.0);
        const double high = std::max(*most, 0.0);
        scale = (high - low) / 255.0;
        zeroPoint = scale == 0.0 ? 0.0 : std::round(-128.0 - low / scale);
    }
    std::vector<double> rounded = row;
    for (double& value : rounded)
    {
        const double steps = scale == 0.0 ? 0.0 : std::round(value / scale) + zeroPoint;
        value = scale * (std::clamp(steps, -128.0, 127.0) - zeroPoint);
    }
    return rounded;
}

} // namespace

ISA_TEST(UnidirectionalSequenceLstm, Float)
{
    for (const auto& [name, setup] : GetSetups())
    {
        ASSERT_NO_FATAL_FAILURE(CheckSetup(setup, Float({}), nullptr, 2e-5, name));
    }
}

// A value near the middle of two steps may fall to the other one than in the oracle: one step of one operand.
ISA_TEST(UnidirectionalSequenceLstm, BytesBesideFloat)
{
    for (const DataType type : {DataType::QAsymmS8, DataType::QSymmS8})
    {
        for (const auto& [name, setup] : GetSetups())
        {
            const TensorInfo weights(TensorShape({1}), type, 0.6f / 127.0f, 0);
            for (const bool isAsymmetric : {false, true})
            {
                const auto change = [&](LstmDescriptor& d) { d.m_AsymmetricQuantizeInputs = isAsymmetric; };
                const auto round = [&](const std::vector<double>& row) { return RoundBytes(row, isAsymmetric); };
                const double tolerance = setup.m_HasLayerNorm ? 2e-2 : 5e-3;
                ASSERT_NO_FATAL_FAILURE(CheckSetup(setup, weights, round, tolerance, name, change));
            }
        }
    }
}

ISA_TEST(UnidirectionalSequenceLstm, EmptySequencesKeepTheState)
{
    LstmSetup setup;
    setup.m_Steps = 0;
    const RecurrentLayer layer = MakeLayer(setup, Float({}), 3);
    const std::vector<TestTensor> got = RunRecurrent(layer);
    EXPECT_TRUE(got[0].m_Bytes == layer.m_Inputs[1].m_Bytes);
    EXPECT_TRUE(got[1].m_Bytes == layer.m_Inputs[2].m_Bytes);
    setup.m_Batches = 0;
    EXPECT_TRUE(RunRecurrent(MakeLayer(setup, Float({}), 3))[0].m_Bytes.empty());
}

ISA_TEST(UnidirectionalSequenceLstm, Refused)
{
    const LstmSetup setup;
    const RecurrentLayer good = MakeLayer(setup, Float({}), 5);
    const auto refusal = [&](size_t slot, const TestTensor& input)
    {
        RecurrentLayer layer = good;
        layer.m_Inputs[slot] = input;
        return GetRefusal(layer);
    };
    EXPECT_EQ(GetRefusal(good), "");
    const TensorInfo bytes({setup.m_Units, setup.m_Inputs}, DataType::QAsymmS8, 0.1f, 0);
    EXPECT_NE(refusal(4, Random(bytes, 1, -1, 1)).find("input 4, the weights"), std::string::npos);
    EXPECT_NE(refusal(6, NotConnected()).find("input 6 is not connected"), std::string::npos);
    EXPECT_NE(refusal(1, NotConnected()).find("input 1 is not connected"), std::string::npos);
    EXPECT_NE(refusal(15, Random({{setup.m_Units}, DataType::Signed32}, 1, -1, 1)).find("bias"), std::string::npos);
    LstmDescriptor descriptor = MakeLstm(setup);
    descriptor.m_ActivationFunc = 7;
    RecurrentLayer layer = good;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    EXPECT_NE(GetRefusal(layer).find("activation 7"), std::string::npos);
    descriptor = MakeLstm(setup);
    descriptor.m_ClippingThresCell = -1.0f;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    EXPECT_NE(GetRefusal(layer).find("clipping"), std::string::npos);
}

ISA_TEST(Lstm, OneStep)
{
    for (const bool hasPeephole : {true, false})
    {
        LstmSetup setup;
        setup.m_IsStep = true;
        setup.m_HasPeephole = hasPeephole;
        RecurrentLayer layer = MakeLayer(setup, Float({}), 9);
        const LstmResult want = RunLstmOracle(layer.m_Inputs, setup, Slots);
        layer.m_Type = LayerType::Lstm;
        layer.m_Outputs.insert(layer.m_Outputs.begin(), Float({setup.m_Batches, 4 * setup.m_Units}));
        MakeWeightsConstant(layer);
        for (const auto& backend : GetTestBackends())
        {
            ExpectResult(RunRecurrent(layer, *backend), 1, want, 2e-5, "Lstm on " + backend->GetId().Get());
        }
    }
}

} // namespace tenon::test::unidirectional_sequence_lstm_test
