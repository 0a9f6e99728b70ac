// SPDX-License-Identifier: Apache-2.0
// LSTM cells of CpuAcc beside 8-bit weights: of int8 data the bytes of CpuRef, for all that such a cell can have, at
// the ends of what gates, states and scales may be; of floats its numbers, as far as the rounding of states goes.
#include "backends/common/FixedPoint16.hpp"
#include "ops/LstmOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <cmath>

namespace tenon::test::lstm_parity_test
{

namespace
{

constexpr LstmSlots Slots = GetLstmSlots();
constexpr size_t NumInputs = 24;

struct ByteSetup
{
    LstmSetup m_Cell;
    float m_Gain = 1.0f;                ///< of the data and states in the gates: from 4 on most of them saturate
    float m_GateScale = 1.0f / 4096.0f; ///< before layer normalization
    int m_CellExponent = -11;
    float m_NormScale = 1.0f / 16384.0f; ///< of the weights of layer normalization
    float m_HiddenScale = 1.0f / 127.0f;
    int m_ZeroPoint = -5;
    DataType m_Weights = DataType::QAsymmS8;
};

LstmDescriptor MakeDescription(const ByteSetup& setup)
{
    LstmDescriptor descriptor;
    descriptor.m_ActivationFunc = 4;
    descriptor.m_ClippingThresCell = static_cast<float>(setup.m_Cell.m_CellClip);
    descriptor.m_ClippingThresProj = static_cast<float>(setup.m_Cell.m_ProjectionClip);
    descriptor.m_CifgEnabled = setup.m_Cell.m_HasCifg;
    descriptor.m_PeepholeEnabled = setup.m_Cell.m_HasPeephole;
    descriptor.m_ProjectionEnabled = setup.m_Cell.m_HasProjection;
    descriptor.m_LayerNormEnabled = setup.m_Cell.m_HasLayerNorm;
    descriptor.m_InputIntermediateScale = descriptor.m_ForgetIntermediateScale = setup.m_GateScale;
    descriptor.m_CellIntermediateScale = descriptor.m_OutputIntermediateScale = 2.0f * setup.m_GateScale;
    descriptor.m_TimeMajor = setup.m_Cell.m_IsTimeMajor;
    descriptor.m_HiddenStateScale = setup.m_HiddenScale;
    descriptor.m_HiddenStateZeroPoint = setup.m_Cell.m_HasProjection ? 7 : setup.m_ZeroPoint;
    return descriptor;
}

/// All values that the types can hold, at scales at which sums of them are about as large as `m_Gain` says.
OpCase MakeBytes(const ByteSetup& setup, uint32_t seed)
{
    const LstmSetup& cell = setup.m_Cell;
    const float weightScale = 0.01f;
    const auto scaleFor = [&](unsigned int depth)
    { return setup.m_Gain / (75.0f * 75.0f * weightScale * std::sqrt(static_cast<float>(depth))); };
    std::vector<TestTensor> inputs(NumInputs, NotConnected());
    const auto put = [&](size_t slot, const TensorInfo& info)
    { inputs[slot] = Constant(Random(info, seed + static_cast<uint32_t>(slot))); };
    const auto putWide = [&](size_t slot, unsigned int count, double most) {
        inputs[slot] = Constant(Random({{count}, DataType::Signed32}, seed + static_cast<uint32_t>(slot), -most, most));
    };
    for (size_t gate = cell.m_HasCifg ? 1 : 0; gate < LstmSlots::NumGates; ++gate)
    {
        const float scale = weightScale * (1.0f + 0.1f * static_cast<float>(gate));
        put(Slots.m_InputWeights[gate], {{cell.m_Units, cell.m_Inputs}, setup.m_Weights, scale, 0});
        put(Slots.m_RecurrentWeights[gate], {{cell.m_Units, cell.m_Outputs}, setup.m_Weights, 0.9f * scale, 0});
        putWide(Slots.m_Bias[gate], cell.m_Units, cell.m_HasLayerNorm ? 1e7 : 3e4);
        if (cell.m_HasLayerNorm)
        {
            put(Slots.m_LayerNorm[gate], {{cell.m_Units}, DataType::QSymmS16, setup.m_NormScale, 0});
        }
        if (cell.m_HasPeephole && gate != LstmSlots::Cell)
        {
            put(Slots.m_Peephole[gate], {{cell.m_Units}, DataType::QSymmS16, 1.0f / 32768.0f, 0});
        }
    }
    if (cell.m_HasProjection)
    {
        put(Slots.m_Projection, {{cell.m_Outputs, cell.m_Units}, setup.m_Weights, weightScale, 0});
        putWide(Slots.m_ProjectionBias, cell.m_Outputs, 2e3);
    }
    const float stateScale = scaleFor(cell.m_Outputs);
    inputs[0] = Random({cell.Sequence(cell.m_Inputs), DataType::QAsymmS8, scaleFor(cell.m_Inputs), 3}, seed);
    const TensorInfo state({cell.m_Batches, cell.m_Outputs}, DataType::QAsymmS8, stateScale, setup.m_ZeroPoint);
    const TensorInfo cells({cell.m_Batches, cell.m_Units}, DataType::QSymmS16, std::ldexp(1.0f, setup.m_CellExponent),
                           0);
    inputs[1] = Random(state, seed + 1);
    inputs[2] = Random(cells, seed + 2);
    OpCase op = ReferenceCase("units " + std::to_string(cell.m_Units), LayerType::UnidirectionalSequenceLstm,
                              MakeDescription(setup), std::move(inputs), state);
    op.m_MoreOutputs = {cells, Shaped(state, cell.Sequence(cell.m_Outputs))};
    return op;
}

void ExpectBytes(const ByteSetup& setup, uint32_t seed)
{
    ExpectAsReference(MakeBytes(setup, seed), "CpuUnidirectionalSequenceLstmInt8");
}

LstmSetup MakeCell(unsigned int batches, unsigned int steps, unsigned int inputs, unsigned int units)
{
    LstmSetup cell;
    cell.m_Batches = batches;
    cell.m_Steps = steps;
    cell.m_Inputs = inputs;
    cell.m_Units = cell.m_Outputs = units;
    return cell;
}

/// Float data beside bytes.
RecurrentLayer MakeHybrid(const LstmSetup& setup, bool isAsymmetric, uint32_t seed)
{
    RecurrentLayer layer;
    layer.m_Type = LayerType::UnidirectionalSequenceLstm;
    LstmDescriptor descriptor = MakeDescription({setup});
    descriptor.m_AsymmetricQuantizeInputs = isAsymmetric;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    layer.m_Inputs.assign(NumInputs, NotConnected());
    const TensorInfo weights({1}, DataType::QSymmS8, 0.6f / 127.0f, 0);
    FillCell(layer.m_Inputs, setup, Slots, weights, seed);
    std::for_each(layer.m_Inputs.begin() + 3, layer.m_Inputs.end(),
                  [](TestTensor& input) { input.m_Constant = input.m_Connected; });
    const auto floats = [](const TensorShape& shape) { return TensorInfo(shape, DataType::Float32); };
    layer.m_Inputs[0] = Random(floats(setup.Sequence(setup.m_Inputs)), seed, -1.0, 1.0);
    layer.m_Outputs = {floats({setup.m_Batches, setup.m_Outputs}), floats({setup.m_Batches, setup.m_Units}),
                       floats(setup.Sequence(setup.m_Outputs))};
    return layer;
}

/// Whether cases have run by this kernel, on a processor that has vectors.
bool HasRun(const char* kernel)
{
    return !cpu::GetCpuFeatures().m_Simd || GetRunKernels().count(kernel) != 0;
}

} // namespace

ISA_TEST(LstmParity, BytesOfAllSizes)
{
    uint32_t seed = 1;
    for (const unsigned int units : {1U, 3U, 8U, 16U, 17U, 20U, 33U, 64U, 67U, 130U})
    {
        for (const unsigned int batches : {1U, 2U, 4U, 5U})
        {
            ByteSetup setup;
            setup.m_Cell = MakeCell(batches, 1 + seed % 4, 1 + 40 * (seed % 5), units);
            setup.m_Cell.m_IsTimeMajor = seed % 2 == 0;
            ASSERT_NO_FATAL_FAILURE(ExpectBytes(setup, ++seed));
        }
    }
}

// Products of which each thread takes a part, of data and of states.
ISA_TEST(LstmParity, LargeBytes)
{
    for (const bool isTimeMajor : {false, true})
    {
        ByteSetup setup;
        setup.m_Cell = MakeCell(2, 12, 300, 450);
        setup.m_Cell.m_IsTimeMajor = isTimeMajor;
        ASSERT_NO_FATAL_FAILURE(ExpectBytes(setup, isTimeMajor ? 1 : 2));
    }
}

ISA_TEST(LstmParity, BytesOfAllKinds)
{
    for (unsigned int bits = 0; bits < 64; ++bits)
    {
        SCOPED_TRACE(bits);
        ByteSetup setup;
        setup.m_Cell = MakeCell(3, 3, 9, 21);
        setup.m_Cell.m_HasLayerNorm = (bits & 32) != 0;
        setup.m_Cell.m_HasCifg = (bits & 1) != 0;
        setup.m_Cell.m_HasPeephole = (bits & 2) != 0;
        setup.m_Cell.m_HasProjection = (bits & 4) != 0;
        setup.m_Cell.m_IsTimeMajor = (bits & 8) != 0;
        setup.m_Cell.m_CellClip = (bits & 16) != 0 ? 1.5 : 0.0;
        setup.m_Cell.m_ProjectionClip = (bits & 16) != 0 ? 0.05 : 0.0;
        setup.m_Cell.m_Outputs = !setup.m_Cell.m_HasProjection ? 21 : setup.m_Cell.m_HasPeephole ? 37 : 10;
        setup.m_Weights = (bits & 1) != 0 ? DataType::QAsymmU8 : DataType::QSymmS8;
        ASSERT_NO_FATAL_FAILURE(ExpectBytes(setup, 100 * bits));
    }
}

// Sums from far below a step to such as all saturate, all scales of cell states, hidden states that are clamped.
ISA_TEST(LstmParity, BytesOfAllScales)
{
    uint32_t seed = 7;
    for (const float gain : {1e-6f, 0.01f, 0.5f, 4.0f, 300.0f, 1e6f})
    {
        for (int exponent = -15; exponent <= -9; ++exponent)
        {
            ByteSetup setup;
            setup.m_Cell = MakeCell(2, 3, 12, 40);
            setup.m_Cell.m_HasPeephole = seed % 2 == 0;
            setup.m_Gain = gain;
            setup.m_CellExponent = exponent;
            setup.m_HiddenScale = seed % 3 == 0 ? 1.0f / 400.0f : seed % 3 == 1 ? 2e-10f : 1.0f / 100.0f;
            setup.m_ZeroPoint = exponent % 2 == 0 ? 127 : -128;
            ASSERT_NO_FATAL_FAILURE(ExpectBytes(setup, ++seed));
        }
    }
}

// Gates and cells that pass through all numbers. Multipliers are 1, so that a gate's number is its bias plus data.
ISA_TEST(LstmParity, AllValuesOfGatesAndCells)
{
    constexpr unsigned int Units = 64;
    constexpr unsigned int Batches = 512;
    for (int variant = 0; variant < 14; ++variant)
    {
        ByteSetup setup;
        setup.m_Cell = MakeCell(Batches, 1, 1, Units);
        setup.m_CellExponent = -15 + variant / 2;
        OpCase op = MakeBytes(setup, 3);
        std::vector<double> data(Batches);
        for (unsigned int batch = 0; batch < Batches; ++batch)
        {
            data[batch] = static_cast<double>(batch % 256) - 128.0;
        }
        op.m_Inputs[0] = Stored({{Batches, 1, 1}, DataType::QAsymmS8, 1.0f, 0}, data);
        for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
        {
            const TensorInfo input({Units, 1}, DataType::QAsymmS8, 1.0f / 4096.0f, 0);
            const TensorInfo recurrent({Units, Units}, DataType::QAsymmS8, 1.0f, 0);
            std::vector<double> bias(Units);
            for (unsigned int i = 0; i < Units; ++i)
            {
                bias[i] = (static_cast<double>(i) - Units / 2) * 1024 + 512 + (variant + static_cast<int>(gate)) % 4;
            }
            op.m_Inputs[Slots.m_InputWeights[gate]] = Constant(Stored(input, std::vector<double>(Units, 4.0)));
            op.m_Inputs[Slots.m_RecurrentWeights[gate]] =
                Constant(Stored(recurrent, std::vector<double>(size_t{Units} * Units, 0.0)));
            op.m_Inputs[Slots.m_Bias[gate]] = Constant(Stored({{Units}, DataType::Signed32}, bias));
        }
        std::vector<double> cells(size_t{Batches} * Units);
        for (size_t i = 0; i < cells.size(); ++i)
        {
            cells[i] = static_cast<double>(i) * 2 + variant % 2 - 32768.0;
        }
        op.m_Inputs[2] = Stored(op.m_Inputs[2].m_Info, cells);
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuUnidirectionalSequenceLstmInt8"));
    }
}

// Values that are all alike, some that vary by a step, and such as saturate before and behind the normalization.
ISA_TEST(LstmParity, NormalizedBytesOfAllScales)
{
    uint32_t seed = 11;
    for (const float gain : {1e-6f, 0.002f, 0.1f, 2.0f, 1e3f})
    {
        for (const float scale : {1e-9f, 1.0f / 65536.0f, 1.0f / 4096.0f, 0.5f, 1e5f})
        {
            for (const unsigned int units : {1U, 20U, 67U})
            {
                ByteSetup setup;
                setup.m_Cell = MakeCell(2, 3, 12, units);
                setup.m_Cell.m_HasLayerNorm = true;
                setup.m_Cell.m_HasPeephole = seed % 2 == 0;
                setup.m_Cell.m_HasCifg = seed % 3 == 0;
                setup.m_Gain = gain;
                setup.m_NormScale = scale;
                setup.m_GateScale = seed % 5 == 0 ? 1e-8f : 1.0f / 3000.0f;
                ASSERT_NO_FATAL_FAILURE(ExpectBytes(setup, ++seed));
            }
        }
    }
}

ISA_TEST(LstmParity, OneStepOfBytes)
{
    for (const bool hasProjection : {false, true})
    {
        ByteSetup setup;
        setup.m_Cell = MakeCell(3, 1, 10, 19);
        setup.m_Cell.m_IsStep = true;
        setup.m_Cell.m_HasProjection = hasProjection;
        setup.m_Cell.m_Outputs = hasProjection ? 6 : 19;
        OpCase op = MakeBytes(setup, 5);
        const LstmDescriptor sequence = MakeDescription(setup);
        QLstmDescriptor descriptor;
        descriptor.m_CifgEnabled = false;
        descriptor.m_ProjectionEnabled = hasProjection;
        descriptor.m_HiddenStateScale = sequence.m_HiddenStateScale;
        descriptor.m_HiddenStateZeroPoint = sequence.m_HiddenStateZeroPoint;
        op.m_Type = LayerType::QLstm;
        op.m_Descriptor = MakeDescriptor(descriptor);
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuQLstmInt8"));
    }
}

// Shifted peephole weights are the reference kernel's.
ISA_TEST(LstmParity, BytesOfOtherKinds)
{
    ByteSetup setup;
    setup.m_Cell = MakeCell(2, 2, 5, 8);
    setup.m_Cell.m_HasPeephole = setup.m_Cell.m_HasProjection = true;
    setup.m_Cell.m_Outputs = 5;
    ExpectAsReference(MakeBytes(setup, 1), "RefUnidirectionalSequenceLstm");
}

// A value near the middle of two steps may fall to the other one than in CpuRef, whose functions round otherwise.
ISA_TEST(LstmParity, FloatsBesideBytes)
{
    uint32_t seed = 20;
    for (const unsigned int units : {1U, 3U, 16U, 17U, 20U, 67U, 130U})
    {
        for (unsigned int bits = 0; bits < 16; ++bits)
        {
            LstmSetup setup = MakeCell(1 + seed % 3, 1 + seed % 2, 1 + 20 * (seed % 7), units);
            setup.m_IsTimeMajor = (bits & 1) != 0;
            setup.m_HasCifg = (bits & 2) != 0;
            setup.m_HasProjection = (bits & 4) != 0;
            setup.m_Outputs = setup.m_HasProjection ? 1 + units / 2 : units;
            setup.m_CellClip = setup.m_ProjectionClip = seed % 4 == 0 ? 0.3 : 0.0;
            const RecurrentLayer layer = MakeHybrid(setup, (bits & 8) != 0, ++seed);
            const std::vector<TestTensor> want = RunRecurrent(layer);
            const std::vector<TestTensor> got = RunRecurrent(layer, FindTestBackend(Compute::CpuAcc));
            for (size_t i = 0; i < want.size(); ++i)
            {
                ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[i]), RealValues(want[i]), 5e-3, "output"));
            }
        }
    }
    EXPECT_TRUE(HasRun("CpuUnidirectionalSequenceLstmHybrid"));
}

// One step has no states that were rounded: sums are those of CpuRef, and functions nearly so.
ISA_TEST(LstmParity, OneStepOfFloatsBesideBytes)
{
    for (const bool isAsymmetric : {false, true})
    {
        LstmSetup setup = MakeCell(3, 1, 33, 41);
        setup.m_IsStep = true;
        RecurrentLayer layer = MakeHybrid(setup, isAsymmetric, 3);
        layer.m_Type = LayerType::Lstm;
        layer.m_Outputs.insert(layer.m_Outputs.begin(), TensorInfo({3, 4 * 41}, DataType::Float32));
        const std::vector<TestTensor> want = RunRecurrent(layer);
        const std::vector<TestTensor> got = RunRecurrent(layer, FindTestBackend(Compute::CpuAcc));
        for (size_t i = 0; i < want.size(); ++i)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[i]), RealValues(want[i]), 2e-6, "output"));
        }
    }
    EXPECT_TRUE(HasRun("CpuLstmHybrid"));
}

} // namespace tenon::test::lstm_parity_test
