// SPDX-License-Identifier: Apache-2.0
// BasicLstm against its definition in double precision; QuantizedLstm against BasicLstm, bit for bit.
#include "ops/RecurrentRunner.hpp"

namespace tenon::test::basic_lstm_test
{

namespace
{

constexpr unsigned int Batches = 2;
constexpr unsigned int Columns = 3;
constexpr unsigned int Units = 4;

double Sigmoid(double x)
{
    return 1.0 / (1.0 + std::exp(-x));
}

struct Result
{
    std::vector<double> m_Output;
    std::vector<double> m_State;
};

Result RunOracle(const RecurrentLayer& layer)
{
    const auto values = [&](size_t i) { return RealValues(layer.m_Inputs[i]); };
    const auto data = values(0);
    const auto output = values(1);
    const auto weights = values(2);
    Result result;
    for (size_t i = 0; i < Batches * Units; ++i)
    {
        const size_t batch = i / Units;
        double sums[4] = {};
        for (size_t gate = 0; gate < 4; ++gate)
        {
            const size_t row = gate * Units + i % Units;
            sums[gate] = values(3)[row];
            for (size_t c = 0; c < Columns + Units; ++c)
            {
                sums[gate] += weights[row * (Columns + Units) + c] *
                              (c < Columns ? data[batch * Columns + c] : output[batch * Units + c - Columns]);
            }
        }
        const double state = Sigmoid(sums[0]) * std::tanh(sums[1]) + Sigmoid(sums[2]) * values(4)[i];
        result.m_State.push_back(state);
        result.m_Output.push_back(Sigmoid(sums[3]) * std::tanh(state));
    }
    return result;
}

RecurrentLayer MakeBasic(bool isQuantized)
{
    const DataType byte = isQuantized ? DataType::QAsymmU8 : DataType::Float32;
    const DataType word = isQuantized ? DataType::QSymmS16 : DataType::Float32;
    const auto bytes = [&](const TensorShape& shape) { return TensorInfo(shape, byte, 1.0f / 128.0f, 128); };
    const auto state = [&](const TensorShape& shape) { return TensorInfo(shape, word, 1.0f / 2048.0f, 0); };
    const TensorInfo weights({4 * Units, Columns + Units}, byte, 0.01f, 120);
    const TensorInfo bias({4 * Units}, isQuantized ? DataType::Signed32 : DataType::Float32, 0.01f / 128.0f, 0);
    RecurrentLayer layer;
    layer.m_Type = LayerType::BasicLstm;
    layer.m_Descriptor = MakeDescriptor(NullDescriptor());
    layer.m_Inputs = {Random(bytes({Batches, Columns}), 1, -1, 0.99), Random(bytes({Batches, Units}), 2, -1, 0.99),
                      Random(weights, 3, -1, 1),
                      isQuantized ? Random(bias, 4, -4000, 4000) : Random(bias, 4, -0.5, 0.5),
                      Random(state({Batches, Units}), 5, -1, 1)};
    layer.m_Outputs = {bytes({Batches, Units}), state({Batches, Units}), bytes({Batches, Columns + Units}),
                       TensorInfo({Batches, 4 * Units}, word, 1.0f / 4096.0f, 0)};
    return layer;
}

} // namespace

ISA_TEST(BasicLstm, Float)
{
    RecurrentLayer layer = MakeBasic(false);
    for (int run = 0; run < 3; ++run)
    {
        const Result want = RunOracle(layer);
        const std::vector<TestTensor> got = RunRecurrent(layer);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[0]), want.m_Output, 1e-5, "output"));
        ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[1]), want.m_State, 1e-5, "cell state"));
        layer.m_Inputs[1] = got[0];
        layer.m_Inputs[4] = got[1];
    }
}

ISA_TEST(BasicLstm, Bytes)
{
    RecurrentLayer layer = MakeBasic(true);
    for (int run = 0; run < 3; ++run)
    {
        RecurrentLayer real = layer;
        // A bias has the scale of data times weights.
        real.m_Inputs[3].m_Info = TensorInfo({4 * Units}, DataType::Signed32);
        std::vector<double> bias = GetStored(real.m_Inputs[3].m_Info, real.m_Inputs[3].m_Bytes.data());
        for (double& value : bias)
        {
            value *= 0.01 / 128.0;
        }
        real.m_Inputs[3] = Values(TensorInfo({4 * Units}, DataType::Float32), bias);
        const Result want = RunOracle(real);
        const std::vector<TestTensor> got = RunRecurrent(layer);
        // A step of the output, four of the cell state.
        ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[0]), want.m_Output, 1.1 / 128.0, "output"));
        ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[1]), want.m_State, 4.0 / 2048.0, "cell state"));
        layer.m_Inputs[1] = got[0];
        layer.m_Inputs[4] = got[1];
    }
}

ISA_TEST(BasicLstm, Refused)
{
    RecurrentLayer layer = MakeBasic(true);
    layer.m_Inputs[0].m_Info.SetQuantizationOffset(127);
    EXPECT_NE(GetRefusal(layer).find("it must be 128"), std::string::npos);
    layer = MakeBasic(true);
    layer.m_Inputs[4].m_Info.SetQuantizationScale(1.0f / 1024.0f);
    EXPECT_NE(GetRefusal(layer).find("power of two"), std::string::npos);
    layer = MakeBasic(false);
    layer.m_Inputs[4] = Random(TensorInfo({Batches, Units}, DataType::QSymmS16, 1.0f / 2048.0f, 0), 1, -1, 1);
    EXPECT_NE(GetRefusal(layer).find("input 4"), std::string::npos);
}

ISA_TEST(QuantizedLstm, AsBasicLstm)
{
    const RecurrentLayer basic = MakeBasic(true);
    RecurrentLayer layer;
    layer.m_Type = LayerType::QuantizedLstm;
    layer.m_Descriptor = basic.m_Descriptor;
    layer.m_Inputs = {basic.m_Inputs[0], basic.m_Inputs[4], basic.m_Inputs[1]};
    layer.m_Outputs = {basic.m_Outputs[1], basic.m_Outputs[0]};
    const auto stored = [&](size_t i) { return GetStored(basic.m_Inputs[i].m_Info, basic.m_Inputs[i].m_Bytes.data()); };
    const size_t rows[] = {0, 2, 1, 3}; // input, forget, cell, output as blocks of BasicLstm
    const auto cut = [&](unsigned int first, unsigned int count)
    {
        for (const size_t block : rows)
        {
            std::vector<double> part;
            for (size_t i = 0; i < size_t{Units} * count; ++i)
            {
                part.push_back(stored(2)[(block * Units + i / count) * (Columns + Units) + first + i % count]);
            }
            layer.m_Inputs.push_back(Stored(TensorInfo({Units, count}, DataType::QAsymmU8, 0.01f, 120), part));
        }
    };
    cut(0, Columns);
    cut(Columns, Units);
    for (const size_t block : rows)
    {
        const std::vector<double> all = stored(3);
        const auto from = all.begin() + static_cast<ptrdiff_t>(block * Units);
        layer.m_Inputs.push_back(
            Stored(TensorInfo({Units}, DataType::Signed32), std::vector<double>(from, from + Units)));
    }
    const std::vector<TestTensor> want = RunRecurrent(basic);
    const std::vector<TestTensor> got = RunRecurrent(layer);
    EXPECT_TRUE(got[0].m_Bytes == want[1].m_Bytes);
    EXPECT_TRUE(got[1].m_Bytes == want[0].m_Bytes);
    layer.m_Inputs[5].m_Info.SetQuantizationOffset(3);
    EXPECT_NE(GetRefusal(layer).find("must be alike"), std::string::npos);
}

} // namespace tenon::test::basic_lstm_test
