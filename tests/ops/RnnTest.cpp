// SPDX-License-Identifier: Apache-2.0
// Rnn and BidirectionalSequenceRnn against a cell in double precision.
#include "ops/RecurrentRunner.hpp"

namespace tenon::test::rnn_test
{

namespace
{

constexpr unsigned int Batches = 2;
constexpr unsigned int Steps = 4;
constexpr unsigned int Columns = 5;
constexpr unsigned int Units = 3;

TensorInfo Float(const TensorShape& shape)
{
    return {shape, DataType::Float32};
}

TensorShape Sequence(bool isTimeMajor, unsigned int columns)
{
    return isTimeMajor ? TensorShape({Steps, Batches, columns}) : TensorShape({Batches, Steps, columns});
}

size_t Row(bool isTimeMajor, size_t batch, size_t step)
{
    return isTimeMajor ? step * Batches + batch : batch * Steps + step;
}

struct Cell
{
    size_t m_Data;
    size_t m_Weights; ///< then recurrent weights, bias and state
    size_t m_Aux = 0; ///< 0: none
    size_t m_AuxWeights = 0;
};

struct Result
{
    std::vector<double> m_State;
    std::vector<double> m_Output;
};

Result RunOracle(const std::vector<TestTensor>& inputs, const Cell& cell, bool isTimeMajor, bool isBackward,
                 size_t steps)
{
    const auto values = [&](size_t i) { return RealValues(inputs[i]); };
    const auto bias = values(cell.m_Weights + 2);
    Result result{values(cell.m_Weights + 3), std::vector<double>(Batches * steps * Units)};
    const auto product = [&](size_t weights, size_t unit, const std::vector<double>& data, size_t row)
    {
        const std::vector<double> all = values(weights);
        const size_t columns = all.size() / Units;
        double sum = 0.0;
        for (size_t i = 0; i < columns; ++i)
        {
            sum += all[unit * columns + i] * data[row * columns + i];
        }
        return sum;
    };
    for (size_t batch = 0; batch < Batches; ++batch)
    {
        for (size_t t = 0; t < steps; ++t)
        {
            const size_t step = isBackward ? steps - 1 - t : t;
            const size_t row = steps == 1 ? batch : Row(isTimeMajor, batch, step);
            std::vector<double> next(Units);
            for (size_t unit = 0; unit < Units; ++unit)
            {
                double sum = bias[unit] + product(cell.m_Weights, unit, values(cell.m_Data), row) +
                             product(cell.m_Weights + 1, unit, result.m_State, batch);
                sum += cell.m_Aux == 0 ? 0.0 : product(cell.m_AuxWeights, unit, values(cell.m_Aux), row);
                next[unit] = std::tanh(sum);
            }
            std::copy(next.begin(), next.end(), result.m_State.begin() + static_cast<ptrdiff_t>(batch * Units));
            std::copy(next.begin(), next.end(), result.m_Output.begin() + static_cast<ptrdiff_t>(row * Units));
        }
    }
    return result;
}

void AddCell(std::vector<TestTensor>& inputs, const TensorInfo& weights, uint32_t seed)
{
    TensorInfo info = weights;
    info.SetShape({Units, Columns});
    inputs.push_back(Random(info, seed, -0.6, 0.6));
    info.SetShape({Units, Units});
    inputs.push_back(Random(info, seed + 1, -0.6, 0.6));
    inputs.push_back(Random(Float({Units}), seed + 2, -0.3, 0.3));
    inputs.push_back(Random(Float({Batches, Units}), seed + 3, -0.5, 0.5));
}

RecurrentLayer MakeRnn(bool isTimeMajor, bool isStep, const TensorInfo& weights)
{
    RnnDescriptor descriptor;
    descriptor.m_TimeMajor = isTimeMajor;
    RecurrentLayer layer;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    layer.m_Inputs = {
        Random(Float(isStep ? TensorShape({Batches, Columns}) : Sequence(isTimeMajor, Columns)), 1, -1.0, 1.0)};
    AddCell(layer.m_Inputs, weights, 7);
    layer.m_Outputs = {Float({Batches, Units}),
                       Float(isStep ? TensorShape({Batches, Units}) : Sequence(isTimeMajor, Units))};
    return layer;
}

const TensorInfo ByteWeights({1}, DataType::QAsymmS8, 0.6f / 127.0f, 0);

} // namespace

ISA_TEST(Rnn, SequencesAndSteps)
{
    for (unsigned int bits = 0; bits < 8; ++bits)
    {
        const bool isTimeMajor = (bits & 1) != 0;
        const bool isStep = (bits & 2) != 0;
        const bool isHybrid = (bits & 4) != 0;
        RecurrentLayer layer = MakeRnn(isTimeMajor, isStep, isHybrid ? ByteWeights : Float({1}));
        for (int run = 0; run < 3; ++run)
        {
            const Result want = RunOracle(layer.m_Inputs, {0, 1}, isTimeMajor, false, isStep ? 1 : Steps);
            const std::vector<TestTensor> got = RunRecurrent(layer);
            // The oracle does not quantize the data: a 127th of its range, five times.
            const double tolerance = isHybrid ? 2e-2 : 1e-5;
            ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[0]), want.m_State, tolerance, "state"));
            ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[1]), want.m_Output, tolerance, "output"));
            layer.m_Inputs[4] = got[0];
        }
    }
}

// With symmetric and with asymmetric quantization, on rows that it keeps as they are.
ISA_TEST(Rnn, ExactBytes)
{
    for (const bool isAsymmetric : {false, true})
    {
        RnnDescriptor descriptor;
        descriptor.m_ActivationFunc = 0;
        descriptor.m_AsymmetricQuantizeInputs = isAsymmetric;
        RecurrentLayer layer;
        layer.m_Descriptor = MakeDescriptor(descriptor);
        const std::vector<double> data =
            isAsymmetric ? std::vector<double>{0, 3, 255} : std::vector<double>{-127, 3, 64};
        layer.m_Inputs = {Values(Float({1, 3}), data),
                          Stored(TensorInfo({2, 3}, DataType::QAsymmS8, 0.5f, 0), {1, -2, 3, 127, 0, -128}),
                          Stored(TensorInfo({2, 2}, DataType::QAsymmS8, 0.25f, 0), {1, 2, 3, 4}),
                          Values(Float({2}), {0.5, -0.5}), Values(Float({1, 2}), {0, 0})};
        layer.m_Outputs = {Float({1, 2}), Float({1, 2})};
        const std::vector<double> want =
            isAsymmetric ? std::vector<double>{0.5 + 0.5 * (-6 + 765), -0.5 - 64.0 * 255}
                         : std::vector<double>{0.5 + 0.5 * (-127 - 6 + 192), -0.5 + 0.5 * (-127 * 127 - 128 * 64)};
        ExpectNear(RealValues(RunRecurrent(layer)[1]), want, 0.0, isAsymmetric ? "asymmetric" : "symmetric");
    }
}

ISA_TEST(Rnn, Refused)
{
    RecurrentLayer layer = MakeRnn(false, false, Float({1}));
    layer.m_Inputs[2] = Random(TensorInfo({Units, Units}, DataType::QAsymmS8, 0.1f, 0), 1, -1, 1);
    EXPECT_NE(GetRefusal(layer).find("all weights"), std::string::npos);
    layer.m_Inputs[2] = NotConnected();
    EXPECT_NE(GetRefusal(layer).find("input 2 is not connected"), std::string::npos);
    layer = MakeRnn(false, false, TensorInfo({1}, DataType::QSymmS8, std::vector<float>{0.1f, 0.2f, 0.3f}, 0));
    EXPECT_NE(GetRefusal(layer).find("must have one scale"), std::string::npos);
}

ISA_TEST(BidirectionalSequenceRnn, Directions)
{
    for (unsigned int bits = 0; bits < 12; ++bits)
    {
        const bool isTimeMajor = (bits & 1) != 0;
        const bool isMerged = (bits & 2) != 0;
        const unsigned int aux = bits >> 2; // none, with weights, the backward direction's data
        SCOPED_TRACE(bits);
        BidirectionalSequenceRnnDescriptor descriptor;
        descriptor.m_TimeMajor = isTimeMajor;
        descriptor.m_MergeOutputs = isMerged;
        RecurrentLayer layer;
        layer.m_Type = LayerType::BidirectionalSequenceRnn;
        layer.m_Descriptor = MakeDescriptor(descriptor);
        layer.m_Inputs = {Random(Float(Sequence(isTimeMajor, Columns)), 1, -1.0, 1.0)};
        AddCell(layer.m_Inputs, Float({1}), 10);
        AddCell(layer.m_Inputs, Float({1}), 20);
        layer.m_Inputs.resize(12, NotConnected());
        Cell cells[] = {{0, 1}, {0, 5}};
        if (aux != 0)
        {
            layer.m_Inputs[9] = Random(Float(Sequence(isTimeMajor, aux == 1 ? 2 : Columns)), 2, -1.0, 1.0);
        }
        if (aux == 1)
        {
            layer.m_Inputs[10] = Random(Float({Units, 2}), 3, -0.6, 0.6);
            layer.m_Inputs[11] = Random(Float({Units, 2}), 4, -0.6, 0.6);
            cells[0].m_Aux = cells[1].m_Aux = 9;
            cells[0].m_AuxWeights = 10;
            cells[1].m_AuxWeights = 11;
        }
        // As TFLite: only with time in front.
        cells[1].m_Data = aux == 2 && isTimeMajor ? 9 : 0;
        layer.m_Outputs = {Float({Batches, Units}), Float({Batches, Units}),
                           Float(Sequence(isTimeMajor, isMerged ? 2 * Units : Units))};
        if (!isMerged)
        {
            layer.m_Outputs.push_back(Float(Sequence(isTimeMajor, Units)));
        }
        const std::vector<TestTensor> got = RunRecurrent(layer);
        for (size_t direction = 0; direction < 2; ++direction)
        {
            const Result want = RunOracle(layer.m_Inputs, cells[direction], isTimeMajor, direction == 1, Steps);
            ExpectNear(RealValues(got[direction]), want.m_State, 1e-5, "state");
            std::vector<double> output = RealValues(got[isMerged ? 2 : 2 + direction]);
            std::vector<double> part;
            for (size_t i = 0; i < output.size(); ++i)
            {
                if (!isMerged || i / Units % 2 == direction)
                {
                    part.push_back(output[i]);
                }
            }
            ExpectNear(part, want.m_Output, 1e-5, "output");
        }
    }
}

// As TFLite: 8-bit weights and time in front run the sequence as often as it has steps.
ISA_TEST(BidirectionalSequenceRnn, RepeatsHybridSequences)
{
    BidirectionalSequenceRnnDescriptor descriptor;
    descriptor.m_TimeMajor = true;
    RecurrentLayer layer;
    layer.m_Type = LayerType::BidirectionalSequenceRnn;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    layer.m_Inputs = {Random(Float(Sequence(true, Columns)), 1, -1.0, 1.0)};
    AddCell(layer.m_Inputs, ByteWeights, 10);
    AddCell(layer.m_Inputs, ByteWeights, 20);
    layer.m_Outputs = {Float({Batches, Units}), Float({Batches, Units}), Float(Sequence(true, Units)),
                       Float(Sequence(true, Units))};
    RecurrentLayer forward = MakeRnn(true, false, ByteWeights);
    forward.m_Inputs = {layer.m_Inputs.begin(), layer.m_Inputs.begin() + 5};
    std::vector<TestTensor> want;
    for (unsigned int i = 0; i < Steps; ++i)
    {
        want = RunRecurrent(forward);
        forward.m_Inputs[4] = want[0];
    }
    const std::vector<TestTensor> got = RunRecurrent(layer);
    EXPECT_TRUE(got[0].m_Bytes == want[0].m_Bytes);
    EXPECT_TRUE(got[2].m_Bytes == want[1].m_Bytes);
}

// A quarter of a turn in each step: states come back after four passes. Were each pass run, this would take a minute.
ISA_TEST(BidirectionalSequenceRnn, LongHybridSequencesWhoseStatesTurn)
{
    for (const unsigned int steps : {1U, 2U, 3U, 5U, 6U, 7U, 13U, 20013U})
    {
        SCOPED_TRACE(steps);
        BidirectionalSequenceRnnDescriptor descriptor;
        descriptor.m_TimeMajor = true;
        descriptor.m_ActivationFunc = 0;
        RecurrentLayer layer;
        layer.m_Type = LayerType::BidirectionalSequenceRnn;
        layer.m_Descriptor = MakeDescriptor(descriptor);
        const TensorInfo bytes({2, 1}, DataType::QSymmS8, 1.0f);
        const TensorInfo square({2, 2}, DataType::QSymmS8, 1.0f);
        layer.m_Inputs = {Values(Float({steps, 1, 1}), std::vector<double>(steps, 0.0))};
        for (const double sign : {1.0, -1.0}) // forward turns left, backward right
        {
            layer.m_Inputs.push_back(Constant(Stored(bytes, {1, 1})));
            layer.m_Inputs.push_back(Constant(Stored(square, {0, -sign, sign, 0})));
            layer.m_Inputs.push_back(Constant(Values(Float({2}), {0, 0})));
            layer.m_Inputs.push_back(Values(Float({1, 2}), {127, 0}));
        }
        layer.m_Outputs = {Float({1, 2}), Float({1, 2}), Float({steps, 1, 2}), Float({steps, 1, 2})};
        for (const auto& backend : GetTestBackends())
        {
            SCOPED_TRACE(backend->GetId().Get());
            const std::vector<TestTensor> got = RunRecurrent(layer, *backend);
            const uint64_t quarters = uint64_t{steps} * steps % 4;
            const double x[] = {127, 0, -127, 0};
            const double y[] = {0, 127, 0, -127};
            ExpectNear(RealValues(got[0]), {x[quarters], y[quarters]}, 0.0, "forward state");
            ExpectNear(RealValues(got[1]), {x[quarters], -y[quarters]}, 0.0, "backward state");
            const std::vector<double> outputs = RealValues(got[2]);
            for (unsigned int step = 0; step < steps; ++step)
            {
                const uint64_t turned = (uint64_t{steps} * (steps - 1) + step + 1) % 4;
                ASSERT_EQ(outputs[2 * step], x[turned]) << step;
                ASSERT_EQ(outputs[2 * step + 1], y[turned]) << step;
            }
        }
    }
}

} // namespace tenon::test::rnn_test
