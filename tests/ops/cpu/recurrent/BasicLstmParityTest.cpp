// SPDX-License-Identifier: Apache-2.0
// BasicLstm and QuantizedLstm of CpuAcc beside CpuRef: of uint8 data its bytes, at the ends of what sums, states and
// scales may be, of floats its numbers.
#include "ops/cpu/CompareWithReference.hpp"

#include <cmath>

namespace tenon::test::basic_lstm_parity_test
{

namespace
{

constexpr float CellScale = 1.0f / 2048.0f;

struct StepSetup
{
    unsigned int m_Batches = 1;
    unsigned int m_Inputs = 1;
    unsigned int m_Units = 1;
    float m_Gain = 1.0f;   ///< of data and states in the gates: from 4 on most of them saturate
    int m_ZeroPoint = 120; ///< of the weights
    double m_MaxBias = 3e4;
};

TensorInfo Bytes(const TensorShape& shape)
{
    return {shape, DataType::QAsymmU8, 1.0f / 128.0f, 128};
}

/// The scale at which sums of all values that there are, are about as large as `m_Gain` says.
float GetWeightScale(const StepSetup& setup)
{
    return setup.m_Gain * 128.0f / (75.0f * 75.0f * std::sqrt(static_cast<float>(setup.m_Inputs + setup.m_Units)));
}

/// Data, output state and cell state.
std::vector<TestTensor> MakeStates(const StepSetup& setup, uint32_t seed)
{
    const TensorShape units({setup.m_Batches, setup.m_Units});
    return {Random(Bytes({setup.m_Batches, setup.m_Inputs}), seed), Random(Bytes(units), seed + 1),
            Random({units, DataType::QSymmS16, CellScale, 0}, seed + 2)};
}

OpCase MakeBytes(const StepSetup& setup, uint32_t seed)
{
    const unsigned int columns = setup.m_Inputs + setup.m_Units;
    const unsigned int sums = 4 * setup.m_Units;
    const float scale = GetWeightScale(setup);
    const std::vector<TestTensor> states = MakeStates(setup, seed);
    const std::vector<TestTensor> inputs = {
        states[0], states[1],
        Constant(Random({{sums, columns}, DataType::QAsymmU8, scale, setup.m_ZeroPoint}, seed + 3)),
        Constant(Random({{sums}, DataType::Signed32, scale / 128.0f, 0}, seed + 4, -setup.m_MaxBias, setup.m_MaxBias)),
        states[2]};
    OpCase op = ReferenceCase("units " + std::to_string(setup.m_Units) + " inputs " + std::to_string(setup.m_Inputs),
                              LayerType::BasicLstm, NullDescriptor(), inputs, states[1].m_Info);
    op.m_MoreOutputs = {states[2].m_Info, Bytes({setup.m_Batches, columns}),
                        TensorInfo({setup.m_Batches, sums}, seed % 2 == 0 ? DataType::QSymmS16 : DataType::Signed16,
                                   1.0f / 4096.0f, 0)};
    return op;
}

OpCase MakeQuantized(const StepSetup& setup, uint32_t seed)
{
    const std::vector<TestTensor> states = MakeStates(setup, seed);
    std::vector<TestTensor> inputs = {states[0], states[2], states[1]};
    for (const unsigned int columns : {setup.m_Inputs, setup.m_Units})
    {
        for (int gate = 0; gate < 4; ++gate)
        {
            inputs.push_back(Constant(Random(
                {{setup.m_Units, columns}, DataType::QAsymmU8, GetWeightScale(setup), setup.m_ZeroPoint}, ++seed)));
        }
    }
    for (int gate = 0; gate < 4; ++gate)
    {
        inputs.push_back(
            Constant(Random({{setup.m_Units}, DataType::Signed32}, ++seed, -setup.m_MaxBias, setup.m_MaxBias)));
    }
    OpCase op = ReferenceCase("quantized units " + std::to_string(setup.m_Units), LayerType::QuantizedLstm,
                              NullDescriptor(), std::move(inputs), states[2].m_Info);
    op.m_MoreOutputs = {states[1].m_Info};
    return op;
}

void ExpectBytes(const StepSetup& setup, uint32_t seed)
{
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeBytes(setup, seed), "CpuBasicLstmInt8"));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeQuantized(setup, seed), "CpuQuantizedLstmInt8"));
}

} // namespace

ISA_TEST(BasicLstmParity, BytesOfAllSizes)
{
    uint32_t seed = 1;
    for (const unsigned int units : {1U, 3U, 5U, 8U, 16U, 17U, 33U, 64U, 67U, 130U})
    {
        for (const unsigned int batches : {1U, 2U, 4U, 5U, 17U})
        {
            StepSetup setup;
            setup.m_Batches = batches;
            setup.m_Inputs = seed % 3 == 0 ? 3 : 1 + 13 * (seed % 7);
            setup.m_Units = units;
            setup.m_ZeroPoint = std::vector<int>{120, 128, 0, 255}[seed % 4];
            ASSERT_NO_FATAL_FAILURE(ExpectBytes(setup, ++seed));
        }
    }
}

// Products of which each thread takes a part.
ISA_TEST(BasicLstmParity, LargeBytes)
{
    for (const unsigned int batches : {1U, 6U})
    {
        ASSERT_NO_FATAL_FAILURE(ExpectBytes({batches, 128, 256}, batches));
        ASSERT_NO_FATAL_FAILURE(ExpectBytes({batches, 300, 450}, batches));
    }
}

// Sums from far below a step to such as all saturate, and such as wrap.
ISA_TEST(BasicLstmParity, BytesOfAllScales)
{
    uint32_t seed = 7;
    for (const float gain : {1e-9f, 0.01f, 0.5f, 4.0f, 300.0f, 1e6f})
    {
        for (const double bias : {0.0, 3e3, 1e6, 2147483647.0})
        {
            for (const int zeroPoint : {0, 97, 128, 255})
            {
                ASSERT_NO_FATAL_FAILURE(ExpectBytes({2, 40, 64, gain, zeroPoint, bias}, ++seed));
            }
        }
    }
}

// Gates and cells that pass through all numbers. The multiplier is 1, so that a gate's number is its bias plus data.
ISA_TEST(BasicLstmParity, AllValuesOfGatesAndCells)
{
    constexpr unsigned int Units = 64;
    constexpr unsigned int Batches = 512;
    for (int variant = 0; variant < 8; ++variant)
    {
        SCOPED_TRACE(variant);
        OpCase op = MakeBytes({Batches, 1, Units}, 3);
        std::vector<double> data(Batches);
        for (unsigned int batch = 0; batch < Batches; ++batch)
        {
            data[batch] = batch % 256;
        }
        std::vector<double> weights;
        std::vector<double> bias;
        for (unsigned int gate = 0; gate < 4; ++gate)
        {
            for (unsigned int unit = 0; unit < Units; ++unit)
            {
                weights.push_back(4.0);
                weights.insert(weights.end(), Units, 0.0); // of the output state
                // Each gate has its numbers in another order.
                const unsigned int block = (unit * (2 * gate + 1) + static_cast<unsigned int>(variant)) % Units;
                bias.push_back((static_cast<double>(block) - Units / 2) * 1024 + 512 +
                               (variant + static_cast<int>(gate)) % 4);
            }
        }
        std::vector<double> cells(size_t{Batches} * Units);
        for (size_t i = 0; i < cells.size(); ++i)
        {
            cells[i] = static_cast<double>(i) * 2 + variant % 2 - 32768.0;
        }
        op.m_Inputs[0] = Stored(op.m_Inputs[0].m_Info, data);
        op.m_Inputs[2] = Constant(Stored({{4 * Units, 1 + Units}, DataType::QAsymmU8, 1.0f / 32.0f, 0}, weights));
        op.m_Inputs[3] = Constant(Stored({{4 * Units}, DataType::Signed32, 1.0f / 4096.0f, 0}, bias));
        op.m_Inputs[4] = Stored(op.m_Inputs[4].m_Info, cells);
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuBasicLstmInt8"));
    }
}

// Sums that may not fit are the reference kernel's.
ISA_TEST(BasicLstmParity, DeepBytes)
{
    ExpectAsReference(MakeBytes({1, 100000, 2, 0.3f}, 1), "RefBasicLstm");
    ExpectAsReference(MakeQuantized({1, 100000, 2, 0.3f}, 2), "RefQuantizedLstm");
}

ISA_TEST(BasicLstmParity, Floats)
{
    uint32_t seed = 1;
    const auto floats = [](const TensorShape& shape) { return TensorInfo(shape, DataType::Float32); };
    for (const auto& [inputs, units] : {std::pair(1U, 1U), {3U, 5U}, {21U, 17U}, {40U, 64U}, {128U, 256U}})
    {
        for (const unsigned int batches : {1U, 2U, 3U, 9U})
        {
            const double most = 3.0 / std::sqrt(static_cast<double>(inputs + units));
            OpCase op = ReferenceCase("units " + std::to_string(units), LayerType::BasicLstm, NullDescriptor(),
                                      {Random(floats({batches, inputs}), seed, -1, 1),
                                       Random(floats({batches, units}), seed + 1, -1, 1),
                                       Constant(Random(floats({4 * units, inputs + units}), seed + 2, -most, most)),
                                       Constant(Random(floats({4 * units}), seed + 3, -1, 1)),
                                       Random(floats({batches, units}), seed + 4, -2, 2)},
                                      floats({batches, units}));
            op.m_Absolute = 2e-5;
            op.m_MoreOutputs = {floats({batches, units}), floats({batches, inputs + units}),
                                floats({batches, 4 * units})};
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuBasicLstmF32"));
            ++seed;
        }
    }
}

} // namespace tenon::test::basic_lstm_parity_test
