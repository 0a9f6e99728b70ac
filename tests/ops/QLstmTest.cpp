// SPDX-License-Identifier: Apache-2.0
// LSTM cells on int8 data (QLstm, and UnidirectionalSequenceLstm of such data) against the LSTM on real numbers, and
// the fixed-point functions in them against real ones. Exactness is what the conformance cases check.
#include "backends/common/FixedPoint16.hpp"
#include "ops/LstmOracle.hpp"

namespace tenon::test::q_lstm_test
{

namespace
{

constexpr LstmSlots Slots = GetLstmSlots();

/// An int8 cell, and the same numbers as a float one for the oracle.
struct IntegerCell
{
    LstmSetup m_Setup;
    QLstmDescriptor m_Descriptor;
    RecurrentLayer m_Layer;

    explicit IntegerCell(const LstmSetup& setup) : m_Setup(setup)
    {
        m_Descriptor.m_CifgEnabled = setup.m_HasCifg;
        m_Descriptor.m_PeepholeEnabled = setup.m_HasPeephole;
        m_Descriptor.m_ProjectionEnabled = setup.m_HasProjection;
        m_Descriptor.m_LayerNormEnabled = setup.m_HasLayerNorm;
        m_Descriptor.m_InputIntermediateScale = m_Descriptor.m_ForgetIntermediateScale =
            m_Descriptor.m_CellIntermediateScale = m_Descriptor.m_OutputIntermediateScale = 1.0f / 4096.0f;
        // Without a projection the hidden state is the output.
        m_Descriptor.m_HiddenStateScale = setup.m_HasProjection ? 1.0f / 127.0f : 1.0f / 100.0f;
        m_Descriptor.m_HiddenStateZeroPoint = setup.m_HasProjection ? 3 : -5;
        m_Layer.m_Type = LayerType::QLstm;
        m_Layer.m_Descriptor = MakeDescriptor(m_Descriptor);
        std::vector<TestTensor>& inputs = m_Layer.m_Inputs;
        inputs.assign(24, NotConnected());
        const TensorInfo data({setup.m_Batches, setup.m_Inputs}, DataType::QAsymmS8, 1.0f / 100.0f, 4);
        inputs[0] = Random(data, 1, -1, 1);
        FillCell(inputs, setup, Slots, TensorInfo({1}, DataType::QAsymmS8, 0.6f / 127.0f, 0), 30);
        const TensorInfo output({setup.m_Batches, setup.m_Outputs}, DataType::QAsymmS8, 1.0f / 100.0f, -5);
        const TensorInfo cell({setup.m_Batches, setup.m_Units}, DataType::QSymmS16, 1.0f / 2048.0f, 0);
        inputs[1] = Values(output, RealValues(inputs[1]));
        inputs[2] = Values(cell, RealValues(inputs[2]));
        for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
        {
            Requantize(Slots.m_Peephole[gate], DataType::QSymmS16, 1.0 / 32768.0);
            Requantize(Slots.m_LayerNorm[gate], DataType::QSymmS16, 1.2 / 32768.0);
            // Biases have the scale of the data's products, or of what is added to normalized values.
            m_BiasScale = setup.m_HasLayerNorm ? 1.2 / 32768.0 / 1024.0 : 0.01 * 0.6 / 127.0;
            Requantize(Slots.m_Bias[gate], DataType::Signed32, m_BiasScale);
        }
        Requantize(Slots.m_ProjectionBias, DataType::Signed32, 0.6 / 127.0 / 127.0);
        m_Layer.m_Outputs = {output, cell, output};
    }

    /// The inputs as the real numbers that they stand for.
    std::vector<TestTensor> GetReal() const
    {
        std::vector<TestTensor> real = m_Layer.m_Inputs;
        const auto scaleBias = [&](size_t slot, double scale)
        {
            if (slot != LstmSlots::None && real[slot].m_Connected)
            {
                std::vector<double> values = GetStored(real[slot].m_Info, real[slot].m_Bytes.data());
                std::transform(values.begin(), values.end(), values.begin(), [&](double v) { return v * scale; });
                real[slot] = Values(TensorInfo(real[slot].m_Info.GetShape(), DataType::Float32), values);
            }
        };
        for (const size_t slot : Slots.m_Bias)
        {
            scaleBias(slot, m_BiasScale);
        }
        scaleBias(Slots.m_ProjectionBias, 0.6 / 127.0 / 127.0);
        return real;
    }

private:
    void Requantize(size_t slot, DataType type, double scale)
    {
        if (slot == LstmSlots::None || !m_Layer.m_Inputs[slot].m_Connected)
        {
            return;
        }
        TestTensor& input = m_Layer.m_Inputs[slot];
        std::vector<double> steps = RealValues(input);
        std::transform(steps.begin(), steps.end(), steps.begin(), [&](double v) { return std::round(v / scale); });
        const TensorShape shape = input.m_Info.GetShape();
        input = Stored(type == DataType::Signed32 ? TensorInfo(shape, type)
                                                  : TensorInfo(shape, type, static_cast<float>(scale), 0),
                       steps);
    }

    double m_BiasScale = 1.0;
};

LstmSetup MakeSetup(unsigned int bits)
{
    LstmSetup setup;
    setup.m_IsStep = true;
    setup.m_HasCifg = (bits & 1) != 0;
    setup.m_HasPeephole = (bits & 2) != 0;
    setup.m_HasProjection = (bits & 4) != 0;
    setup.m_HasLayerNorm = (bits & 8) != 0;
    // TFLite's peephole weights are shifted where a projection makes fewer outputs than units.
    setup.m_Outputs = setup.m_HasProjection && !setup.m_HasPeephole ? 4 : setup.m_Units;
    return setup;
}

} // namespace

ISA_TEST(FixedPoint16, SigmoidAndTanh)
{
    for (int raw = -32768; raw <= 32767; raw += 7)
    {
        const auto x = static_cast<int16_t>(raw);
        const double real = raw / 4096.0;
        ASSERT_NEAR(backends::Sigmoid(backends::Fixed16<3>{x}).m_Raw / 32768.0, 1.0 / (1.0 + std::exp(-real)), 5e-4);
        ASSERT_NEAR(backends::TanhInt16(x, 3) / 32768.0, std::tanh(real), 1e-3);
        ASSERT_NEAR(backends::TanhInt16(x, 0) / 32768.0, std::tanh(raw / 32768.0), 1e-3);
        ASSERT_NEAR(backends::TanhInt16(x, 6) / 32768.0, std::tanh(raw / 512.0), 1e-3);
    }
    EXPECT_EQ(backends::Sigmoid(backends::Fixed16<3>{0}).m_Raw, 16384);
    EXPECT_EQ(backends::TanhInt16(0, 4), 0);
}

ISA_TEST(QLstm, Steps)
{
    for (unsigned int bits = 0; bits < 16; ++bits)
    {
        SCOPED_TRACE(bits);
        IntegerCell cell(MakeSetup(bits));
        for (int run = 0; run < 3; ++run)
        {
            const LstmResult want = RunLstmOracle(cell.GetReal(), cell.m_Setup, Slots);
            std::vector<TestTensor> got;
            ASSERT_NO_THROW(got = RunRecurrent(cell.m_Layer));
            ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[0]), want.m_OutputState, 0.025, "output state"));
            ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[1]), want.m_CellState, 0.01, "cell state"));
            ASSERT_TRUE(got[2].m_Bytes == got[0].m_Bytes);
            cell.m_Layer.m_Inputs[1] = got[0];
            cell.m_Layer.m_Inputs[2] = got[1];
        }
    }
}

// A sequence is its steps, in both orders of time and batch.
ISA_TEST(UnidirectionalSequenceLstm, IntegerSequenceIsItsSteps)
{
    IntegerCell cell(MakeSetup(4));
    const LstmSetup& setup = cell.m_Setup;
    constexpr unsigned int Steps = 3;
    for (const bool isTimeMajor : {false, true})
    {
        LstmDescriptor descriptor;
        descriptor.m_ActivationFunc = 4;
        descriptor.m_CifgEnabled = false;
        descriptor.m_ProjectionEnabled = true;
        descriptor.m_TimeMajor = isTimeMajor;
        descriptor.m_HiddenStateScale = cell.m_Descriptor.m_HiddenStateScale;
        descriptor.m_HiddenStateZeroPoint = cell.m_Descriptor.m_HiddenStateZeroPoint;
        RecurrentLayer sequence = cell.m_Layer;
        sequence.m_Type = LayerType::UnidirectionalSequenceLstm;
        sequence.m_Descriptor = MakeDescriptor(descriptor);
        const auto shape = [&](unsigned int columns)
        {
            return isTimeMajor ? TensorShape({Steps, setup.m_Batches, columns})
                               : TensorShape({setup.m_Batches, Steps, columns});
        };
        TensorInfo data = cell.m_Layer.m_Inputs[0].m_Info;
        data.SetShape(shape(setup.m_Inputs));
        sequence.m_Inputs[0] = Random(data, 77, -1, 1);
        sequence.m_Outputs[2].SetShape(shape(setup.m_Outputs));
        const std::vector<TestTensor> got = RunRecurrent(sequence);

        RecurrentLayer step = cell.m_Layer;
        std::vector<TestTensor> states;
        for (unsigned int t = 0; t < Steps; ++t)
        {
            for (unsigned int batch = 0; batch < setup.m_Batches; ++batch)
            {
                const size_t row = isTimeMajor ? t * setup.m_Batches + batch : batch * Steps + t;
                std::copy_n(sequence.m_Inputs[0].m_Bytes.begin() + static_cast<ptrdiff_t>(row * setup.m_Inputs),
                            setup.m_Inputs, step.m_Inputs[0].m_Bytes.begin() + batch * setup.m_Inputs);
            }
            states = RunRecurrent(step);
            step.m_Inputs[1] = states[0];
            step.m_Inputs[2] = states[1];
        }
        EXPECT_TRUE(got[0].m_Bytes == states[0].m_Bytes);
        EXPECT_TRUE(got[1].m_Bytes == states[1].m_Bytes);
    }
}

ISA_TEST(QLstm, Refused)
{
    IntegerCell cell(MakeSetup(0));
    RecurrentLayer layer = cell.m_Layer;
    layer.m_Inputs[2].m_Info.SetQuantizationScale(1.0f / 100.0f);
    layer.m_Outputs[1].SetQuantizationScale(1.0f / 100.0f);
    EXPECT_NE(GetRefusal(layer).find("power of two"), std::string::npos);
    layer = cell.m_Layer;
    QLstmDescriptor descriptor = cell.m_Descriptor;
    descriptor.m_HiddenStateScale = 0.0f;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    EXPECT_NE(GetRefusal(layer).find("hidden state's scale"), std::string::npos);
    layer = cell.m_Layer;
    layer.m_Inputs[15] = Random(TensorInfo({cell.m_Setup.m_Units}, DataType::Float32), 1, -1, 1);
    EXPECT_NE(GetRefusal(layer).find("bias"), std::string::npos);
    LstmDescriptor products;
    products.m_CifgEnabled = false;
    products.m_HiddenStateScale = 0.1f;
    products.m_ProductScales = {1.0f};
    layer = cell.m_Layer;
    layer.m_Type = LayerType::UnidirectionalSequenceLstm;
    layer.m_Descriptor = MakeDescriptor(products);
    EXPECT_NE(GetRefusal(layer).find("give 12 or none"), std::string::npos);
}

} // namespace tenon::test::q_lstm_test
