// SPDX-License-Identifier: Apache-2.0
// Recurrent layers of CpuAcc other than LSTMs of one direction, beside CpuRef: the bytes of integer layers, and the
// numbers of floats, as far as the rounding of states goes.
#include "ops/LstmOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <cmath>

namespace tenon::test::recurrent_parity_test
{

namespace
{

TensorInfo Float(const TensorShape& shape)
{
    return {shape, DataType::Float32};
}

/// All inputs but these become constant.
void MakeConstant(RecurrentLayer& layer, const std::vector<size_t>& others)
{
    for (size_t i = 0; i < layer.m_Inputs.size(); ++i)
    {
        layer.m_Inputs[i].m_Constant =
            layer.m_Inputs[i].m_Connected && std::find(others.begin(), others.end(), i) == others.end();
    }
}

void ExpectAsCpuRef(const RecurrentLayer& layer, double tolerance, const char* kernel)
{
    const std::vector<TestTensor> want = RunRecurrent(layer);
    const std::vector<TestTensor> got = RunRecurrent(layer, FindTestBackend(Compute::CpuAcc));
    for (size_t i = 0; i < want.size(); ++i)
    {
        ASSERT_NO_FATAL_FAILURE(
            ExpectNear(RealValues(got[i]), RealValues(want[i]), tolerance, "output " + std::to_string(i)));
    }
    EXPECT_TRUE(!cpu::GetCpuFeatures().m_Simd || GetRunKernels().count(kernel) != 0);
}

/// Weights of floats or of bytes.
TensorInfo Weights(const TensorShape& shape, bool isInt8)
{
    return isInt8 ? TensorInfo(shape, DataType::QAsymmS8, 0.6f / 127.0f, 0) : Float(shape);
}

struct SvdfSetup
{
    unsigned int m_Batches = 1;
    unsigned int m_Columns = 1;
    unsigned int m_Units = 1;
    unsigned int m_Rank = 1;
    unsigned int m_Memory = 1;
    bool m_HasBias = true;
};

SvdfDescriptor MakeSvdf(const SvdfSetup& setup, uint32_t activation)
{
    SvdfDescriptor descriptor;
    descriptor.m_Rank = setup.m_Rank;
    descriptor.m_ActivationFunc = activation;
    return descriptor;
}

std::vector<SvdfSetup> GetSvdfSetups()
{
    return {{1, 1, 1, 1, 1, true},    {1, 40, 64, 1, 10, true}, {3, 17, 20, 2, 9, false}, {2, 3, 5, 3, 1, true},
            {1, 67, 33, 1, 31, true}, {5, 128, 12, 2, 8, true}, {1, 5, 1, 7, 2, false},   {1, 392, 128, 1, 16, false}};
}

/// `gain`: of the sums, in the range of the state.
OpCase MakeSvdfOfBytes(const SvdfSetup& setup, float gain, uint32_t seed)
{
    const unsigned int filters = setup.m_Units * setup.m_Rank;
    const TensorInfo state({setup.m_Batches, filters * setup.m_Memory}, DataType::QSymmS16, 1.0f / 32768.0f, 0);
    const TensorInfo output({setup.m_Batches, setup.m_Units}, DataType::QAsymmS8, 0.02f / gain, -7);
    const float dataScale = gain / (75.0f * 75.0f * 0.01f * std::sqrt(static_cast<float>(setup.m_Columns)));
    std::vector<TestTensor> inputs = {
        Random({{setup.m_Batches, setup.m_Columns}, DataType::QAsymmS8, dataScale, 5}, seed),
        Constant(Random({{filters, setup.m_Columns}, DataType::QSymmS8, 0.01f, 0}, seed + 1)),
        Constant(Random({{filters, setup.m_Memory}, DataType::QSymmS16, 1.0f / 32768.0f, 0}, seed + 2)),
        setup.m_HasBias ? Constant(Random({{setup.m_Units}, DataType::Signed32}, seed + 3, -1e8, 1e8)) : NotConnected(),
        Random(state, seed + 4)};
    OpCase op = ReferenceCase("gain " + std::to_string(gain), LayerType::Svdf, MakeSvdf(setup, 1), inputs, state);
    op.m_MoreOutputs = {output};
    return op;
}

} // namespace

ISA_TEST(RecurrentParity, Rnn)
{
    uint32_t seed = 1;
    for (const unsigned int units : {1U, 3U, 17U, 20U, 67U})
    {
        for (unsigned int bits = 0; bits < 16; ++bits)
        {
            const bool isTimeMajor = (bits & 1) != 0;
            const bool isStep = (bits & 2) != 0;
            const bool isInt8 = (bits & 4) != 0;
            const unsigned int batches = 1 + seed % 3;
            const unsigned int columns = 1 + 5 * (seed % 6);
            const auto shape = [&](unsigned int count)
            {
                return isStep        ? TensorShape({batches, count})
                       : isTimeMajor ? TensorShape({4, batches, count})
                                     : TensorShape({batches, 4, count});
            };
            RnnDescriptor descriptor;
            descriptor.m_TimeMajor = isTimeMajor;
            descriptor.m_AsymmetricQuantizeInputs = (bits & 8) != 0;
            descriptor.m_ActivationFunc = seed % 7;
            RecurrentLayer layer;
            layer.m_Type = LayerType::Rnn;
            layer.m_Descriptor = MakeDescriptor(descriptor);
            layer.m_Inputs = {Random(Float(shape(columns)), seed, -1, 1),
                              Random(Weights({units, columns}, isInt8), seed + 1, -0.6, 0.6),
                              Random(Weights({units, units}, isInt8), seed + 2, -0.1, 0.1),
                              Random(Float({units}), seed + 3, -0.3, 0.3),
                              Random(Float({batches, units}), seed + 4, -0.5, 0.5)};
            layer.m_Outputs = {Float({batches, units}), Float(shape(units))};
            MakeConstant(layer, {0, 4});
            // The fifth activation is a step: what is near 0 has either value.
            if (descriptor.m_ActivationFunc != 5)
            {
                ASSERT_NO_FATAL_FAILURE(ExpectAsCpuRef(layer, isInt8 ? 1e-2 : 2e-5, "CpuRnn"));
            }
            ++seed;
        }
    }
}

// With time in front, sequences beside 8-bit weights are run as often as they have steps. Auxiliary weights are the
// reference kernel's.
ISA_TEST(RecurrentParity, BidirectionalSequenceRnn)
{
    uint32_t seed = 1;
    for (const auto& [columns, units] : {std::pair(1U, 1U), {3U, 5U}, {21U, 17U}, {40U, 64U}, {128U, 256U}})
    {
        for (unsigned int bits = 0; bits < 32; ++bits)
        {
            BidirectionalSequenceRnnDescriptor descriptor;
            descriptor.m_TimeMajor = (bits & 1) != 0;
            descriptor.m_MergeOutputs = (bits & 2) != 0;
            descriptor.m_AsymmetricQuantizeInputs = (bits & 16) != 0;
            descriptor.m_ActivationFunc = seed % 5;
            const bool isInt8 = (bits & 4) != 0;
            const bool hasAux = (bits & 8) != 0;
            const bool hasAuxWeights = hasAux && seed % 3 == 0;
            const unsigned int batches = 1 + seed % 3;
            const unsigned int backwardUnits = units + 2;
            const auto sequence = [&](unsigned int count) {
                return Float(descriptor.m_TimeMajor ? TensorShape({4, batches, count})
                                                    : TensorShape({batches, 4, count}));
            };
            std::vector<TestTensor> inputs = {Random(sequence(columns), seed, -1, 1)};
            for (const unsigned int own : {units, backwardUnits})
            {
                // Sums as large as those of few numbers.
                const double most = 0.6 / std::sqrt(static_cast<double>(units));
                inputs.push_back(Constant(Random(Weights({own, columns}, isInt8), seed + own, -0.6, 0.6)));
                inputs.push_back(Constant(Random(Weights({own, own}, isInt8), seed + own + 1, -most, most)));
                inputs.push_back(Constant(Random(Float({own}), seed + own + 2, -0.3, 0.3)));
                inputs.push_back(Random(Float({batches, own}), seed + own + 3, -0.5, 0.5));
            }
            inputs.resize(12, NotConnected());
            if (hasAux)
            {
                inputs[9] = Random(sequence(columns), seed + 20, -1, 1);
            }
            if (hasAuxWeights)
            {
                inputs[10] = Constant(Random(Weights({units, columns}, isInt8), seed + 21, -0.6, 0.6));
                inputs[11] = Constant(Random(Weights({backwardUnits, columns}, isInt8), seed + 22, -0.6, 0.6));
            }
            OpCase op = ReferenceCase("units " + std::to_string(units) + " " + std::to_string(bits),
                                      LayerType::BidirectionalSequenceRnn, descriptor, std::move(inputs),
                                      Float({batches, units}));
            op.m_Absolute = isInt8 ? 1e-2 : 2e-5;
            op.m_MoreOutputs = {Float({batches, backwardUnits}),
                                sequence(descriptor.m_MergeOutputs ? units + backwardUnits : units)};
            if (!descriptor.m_MergeOutputs)
            {
                op.m_MoreOutputs.push_back(sequence(backwardUnits));
            }
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(op, hasAuxWeights ? "RefBidirectionalSequenceRnn" : "CpuBidirectionalSequenceRnn"));
            ++seed;
        }
    }
}

ISA_TEST(RecurrentParity, BidirectionalSequenceLstm)
{
    for (unsigned int bits = 0; bits < 64; ++bits)
    {
        SCOPED_TRACE(bits);
        LstmSetup setup;
        setup.m_Batches = 1 + bits % 3;
        setup.m_Units = bits % 3 == 0 ? 66 : 17; // weights for one row stay where they are, if columns are deep
        setup.m_HasPeephole = (bits & 1) != 0;
        setup.m_HasProjection = (bits & 2) != 0;
        setup.m_Outputs = setup.m_HasProjection ? 10 : setup.m_Units;
        setup.m_IsTimeMajor = (bits & 4) != 0;
        const bool isMerged = (bits & 8) != 0;
        const bool isInt8 = (bits & 16) != 0;
        LstmSetup backward = setup;
        backward.m_HasCifg = true;
        BidirectionalSequenceLstmDescriptor descriptor;
        descriptor.m_MergeOutputs = isMerged;
        descriptor.m_TimeMajor = setup.m_IsTimeMajor;
        RecurrentLayer layer;
        layer.m_Type = LayerType::BidirectionalSequenceLstm;
        layer.m_Descriptor = MakeDescriptor(descriptor);
        layer.m_Inputs.assign(48, NotConnected());
        layer.m_Inputs[0] = Random(Float(setup.Sequence(setup.m_Inputs)), bits, -1.0, 1.0);
        if ((bits & 32) != 0)
        {
            layer.m_Inputs[39] = Random(Float(setup.Sequence(setup.m_Inputs)), bits + 1, -1.0, 1.0);
        }
        FillCell(layer.m_Inputs, setup, GetBidirectionalLstmSlots(false), Weights({1}, isInt8), bits + 20);
        FillCell(layer.m_Inputs, backward, GetBidirectionalLstmSlots(true), Weights({1}, isInt8), bits + 80);
        const TensorInfo state = Float({setup.m_Batches, setup.m_Outputs});
        const TensorInfo cell = Float({setup.m_Batches, setup.m_Units});
        layer.m_Outputs = {state, cell, state, cell,
                           Float(setup.Sequence(isMerged ? 2 * setup.m_Outputs : setup.m_Outputs))};
        if (!isMerged)
        {
            layer.m_Outputs.push_back(Float(setup.Sequence(setup.m_Outputs)));
        }
        MakeConstant(layer, {0, 35, 36, 37, 38, 39});
        ASSERT_NO_FATAL_FAILURE(ExpectAsCpuRef(layer, isInt8 ? 1e-2 : 2e-5, "CpuBidirectionalSequenceLstm"));
    }
}

ISA_TEST(RecurrentParity, SvdfOfFloats)
{
    uint32_t seed = 1;
    for (const SvdfSetup& setup : GetSvdfSetups())
    {
        for (const bool isInt8 : {false, true})
        {
            const unsigned int filters = setup.m_Units * setup.m_Rank;
            SvdfDescriptor descriptor = MakeSvdf(setup, seed % 2);
            descriptor.m_AsymmetricQuantizeInputs = seed % 3 == 0;
            RecurrentLayer layer;
            layer.m_Type = LayerType::Svdf;
            layer.m_Descriptor = MakeDescriptor(descriptor);
            const TensorInfo state = Float({setup.m_Batches, filters * setup.m_Memory});
            layer.m_Inputs = {Random(Float({setup.m_Batches, setup.m_Columns}), seed, -1, 1),
                              Random(Weights({filters, setup.m_Columns}, isInt8), seed + 1, -0.6, 0.6),
                              Random(Weights({filters, setup.m_Memory}, isInt8), seed + 2, -0.6, 0.6),
                              setup.m_HasBias ? Random(Float({setup.m_Units}), seed + 3, -1, 1) : NotConnected(),
                              Random(state, seed + 4, -1, 1)};
            layer.m_Outputs = {state, Float({setup.m_Batches, setup.m_Units})};
            MakeConstant(layer, {0, 4});
            ASSERT_NO_FATAL_FAILURE(ExpectAsCpuRef(layer, 2e-5, "CpuSvdf"));
            ++seed;
        }
    }
}

// At scales from such as all states round to nothing to such as all of them saturate.
ISA_TEST(RecurrentParity, SvdfOfBytes)
{
    uint32_t seed = 1;
    for (const SvdfSetup& setup : GetSvdfSetups())
    {
        for (const float gain : {1e-4f, 0.3f, 20.0f})
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeSvdfOfBytes(setup, gain, seed), "CpuSvdf"));
            ++seed;
        }
    }
}

// Sums that may not fit, and weights that would take many times their memory, are the reference kernel's.
ISA_TEST(RecurrentParity, SvdfOfManyBytes)
{
    ExpectAsReference(MakeSvdfOfBytes({1, 200000, 2, 1, 3, true}, 0.3f, 1), "RefSvdf");
    ExpectAsReference(MakeSvdfOfBytes({1, 1000000, 1, 1, 2, true}, 0.3f, 2), "RefSvdf");
}

} // namespace tenon::test::recurrent_parity_test
