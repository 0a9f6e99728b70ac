// SPDX-License-Identifier: Apache-2.0
// Random, Multinomial, RngBitGenerator: the published test vectors of the generators, the same numbers each time, and
// distributions.
#include "backends/reference/RandomBits.hpp"
#include "harness/Networks.hpp"
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Random.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace tenon::test::random_test
{

namespace
{

using testing::ElementsAre;
using Words = std::vector<uint32_t>;

std::vector<float> Draw(RandomDistribution distribution, unsigned int count, int64_t seed, int64_t seed2)
{
    RandomDescriptor descriptor;
    descriptor.m_Distribution = distribution;
    descriptor.m_Seed = seed;
    descriptor.m_Seed2 = seed2;
    const OpCase op{"random",
                    LayerType::Random,
                    MakeDescriptor(descriptor),
                    {Constant(Values(TensorInfo(TensorShape({1}), DataType::Signed32), {static_cast<double>(count)}))},
                    TensorInfo(TensorShape({count}), DataType::Float32),
                    {}};
    const std::vector<std::byte> bytes = RunOp(*GetTestBackends().front(), op, RunVariant());
    std::vector<float> values(count);
    if (count != 0)
    {
        std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return values;
}

std::vector<double> DrawClasses(const TestTensor& logits, unsigned int count, int64_t seed,
                                DataType type = DataType::Signed64)
{
    MultinomialDescriptor descriptor;
    descriptor.m_Seed = seed;
    const TensorInfo output(TensorShape({logits.m_Info.GetShape()[0], count}), type);
    const OpCase op{
        "multinomial",
        LayerType::Multinomial,
        MakeDescriptor(descriptor),
        {logits, Constant(Values(TensorInfo(TensorShape({1}), DataType::Signed32), {static_cast<double>(count)}))},
        output,
        {}};
    return GetStored(output, RunOp(*GetTestBackends().front(), op, RunVariant()).data());
}

struct Bits
{
    std::vector<uint64_t> m_State;
    Words m_Words;
};

/// The layer in a network, since it has two outputs.
Bits Generate(RngAlgorithm algorithm, std::vector<uint64_t> state, unsigned int words)
{
    const TensorInfo stateInfo({static_cast<unsigned int>(state.size())}, DataType::Unsigned64, 0.0f, 0, true);
    const TensorInfo valuesInfo({words}, DataType::Unsigned32, 0.0f, 0, true);
    RngBitGeneratorDescriptor descriptor;
    descriptor.m_Algorithm = algorithm;
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = network->AddRngBitGeneratorLayer(descriptor, "bits");
    Connect(AddInput(*network, 0, stateInfo), layer);
    layer->GetOutputSlot(1).SetTensorInfo(valuesInfo);
    Connect(layer, network->AddOutputLayer(0, "state"), 0, 0);
    Connect(layer, network->AddOutputLayer(1, "values"), 0, 1);
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    Bits bits{std::vector<uint64_t>(state.size()), Words(words)};
    runtime->EnqueueWorkload(
        id, {{0, ConstTensor(stateInfo, state.data())}},
        {{0, Tensor(stateInfo, bits.m_State.data())}, {1, Tensor(valuesInfo, bits.m_Words.data())}});
    return bits;
}

} // namespace

// The vectors of Random123, the authors' own implementation.
ISA_TEST(RandomBits, KnownAnswers)
{
    using ref::Philox;
    using ref::ThreeFry;
    constexpr uint32_t Ones = 0xFFFFFFFF;
    EXPECT_THAT(Philox({0, 0}, {0, 0, 0, 0}), ElementsAre(0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8));
    EXPECT_THAT(Philox({Ones, Ones}, {Ones, Ones, Ones, Ones}),
                ElementsAre(0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD));
    EXPECT_THAT(Philox({0xA4093822, 0x299F31D0}, {0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}),
                ElementsAre(0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1));
    EXPECT_THAT(ThreeFry({0, 0}, {0, 0}), ElementsAre(0x6B200159, 0x99BA4EFE));
    EXPECT_THAT(ThreeFry({Ones, Ones}, {Ones, Ones}), ElementsAre(0x1CB996FC, 0xBB002BE7));
    EXPECT_THAT(ThreeFry({0x13198A2E, 0x03707344}, {0x243F6A88, 0x85A308D3}), ElementsAre(0xC4923A9C, 0x483DF7A0));
}

ISA_TEST(RandomBits, TheCounterCarries)
{
    // The second seed is the upper half of the counter.
    ref::PhiloxSequence sequence(int64_t{1} << 32 | 2, int64_t{3} << 32 | 4);
    EXPECT_EQ(sequence.Next(), ref::Philox({2, 1}, {0, 0, 4, 3}));
    EXPECT_EQ(sequence.Next(), ref::Philox({2, 1}, {1, 0, 4, 3}));
}

ISA_TEST(RngBitGenerator, BlocksAndStates)
{
    const Bits philox = Generate(RngAlgorithm::Philox, {0, 0, 0}, 6);
    EXPECT_THAT(std::vector<uint32_t>(philox.m_Words.begin(), philox.m_Words.begin() + 4),
                ElementsAre(0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8));
    EXPECT_EQ(philox.m_Words[4], ref::Philox({0, 0}, {1, 0, 0, 0})[0]);
    EXPECT_THAT(philox.m_State, ElementsAre(0, 2, 0));

    // In a state of two the key is the upper half of the counter too. The lower half wraps.
    const Bits wrapped = Generate(RngAlgorithm::Default, {5, ~uint64_t{0}}, 8);
    EXPECT_EQ(wrapped.m_Words[0], ref::Philox({5, 0}, {0xFFFFFFFF, 0xFFFFFFFF, 5, 0})[0]);
    EXPECT_EQ(wrapped.m_Words[4], ref::Philox({5, 0}, {0, 0, 5, 0})[0]);
    EXPECT_THAT(wrapped.m_State, ElementsAre(5, 1));

    const Bits threeFry = Generate(RngAlgorithm::ThreeFry, {0, 0xFFFFFFFF}, 3);
    EXPECT_EQ(threeFry.m_Words[0], ref::ThreeFry({0, 0}, {0xFFFFFFFF, 0})[0]);
    EXPECT_EQ(threeFry.m_Words[2], ref::ThreeFry({0, 0}, {0, 1})[0]);
    EXPECT_THAT(threeFry.m_State, ElementsAre(0, uint64_t{1} << 32 | 1));
}

ISA_TEST(Random, FollowsFromTheSeedsAlone)
{
    for (const RandomDistribution distribution : {RandomDistribution::Uniform, RandomDistribution::StandardNormal})
    {
        const std::vector<float> values = Draw(distribution, 7, 1234, 5678);
        EXPECT_EQ(values, Draw(distribution, 7, 1234, 5678));
        EXPECT_NE(values, Draw(distribution, 7, 1234, 5679));
        EXPECT_NE(values, Draw(distribution, 7, 1235, 5678));
        EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 3), Draw(distribution, 3, 1234, 5678));
        EXPECT_TRUE(Draw(distribution, 0, 1, 2).empty());
    }
    // The low 23 bits of the generator's words.
    const std::vector<float> uniform = Draw(RandomDistribution::Uniform, 2, 0, 0);
    EXPECT_EQ(uniform[0], static_cast<float>(0x6627E8D5 & 0x7FFFFF) / 8388608.0f);
    EXPECT_EQ(uniform[1], static_cast<float>(0xE169C58D & 0x7FFFFF) / 8388608.0f);
}

ISA_TEST(Random, Moments)
{
    constexpr unsigned int Count = 100000;
    for (const RandomDistribution distribution : {RandomDistribution::Uniform, RandomDistribution::StandardNormal})
    {
        const bool isUniform = distribution == RandomDistribution::Uniform;
        double sum = 0;
        double squares = 0;
        for (const float value : Draw(distribution, Count, 7, 8))
        {
            EXPECT_TRUE(!isUniform || (value >= 0.0f && value < 1.0f)) << value;
            sum += double{value};
            squares += double{value} * double{value};
        }
        const double mean = sum / Count;
        EXPECT_NEAR(mean, isUniform ? 0.5 : 0.0, 0.02);
        EXPECT_NEAR(squares / Count - mean * mean, isUniform ? 1.0 / 12 : 1.0, 0.02);
    }
}

ISA_TEST(Multinomial, DrawsByProbability)
{
    constexpr unsigned int Count = 20000;
    const TensorInfo info(TensorShape({2, 3}), DataType::Float32);
    const double infinity = std::numeric_limits<double>::infinity();
    // 1/7, 2/7, 4/7; and one that is impossible.
    const TestTensor logits = Values(info, {std::log(1.0), std::log(2.0), std::log(4.0), 1000.0, -infinity, 1000.0});
    for (const DataType type : {DataType::Signed64, DataType::Signed32})
    {
        const std::vector<double> drawn = DrawClasses(logits, Count, 3, type);
        EXPECT_EQ(drawn, DrawClasses(logits, Count, 3, type));
        double counts[2][3] = {};
        for (size_t i = 0; i < drawn.size(); ++i)
        {
            ++counts[i / Count][static_cast<size_t>(drawn[i])];
        }
        EXPECT_NEAR(counts[0][0] / Count, 1.0 / 7, 0.02);
        EXPECT_NEAR(counts[0][1] / Count, 2.0 / 7, 0.02);
        EXPECT_NEAR(counts[1][0] / Count, 0.5, 0.02);
        EXPECT_EQ(counts[1][1], 0);
    }
}

ISA_TEST(Multinomial, RowsWithoutANumber)
{
    const double NaN = std::nan("");
    const TestTensor logits = Values(TensorInfo(TensorShape({2, 2}), DataType::Float32), {NaN, NaN, NaN, 1.0});
    EXPECT_THAT(DrawClasses(logits, 2, 3), ElementsAre(2, 2, 1, 1));
    EXPECT_TRUE(DrawClasses(logits, 0, 3).empty());
}

} // namespace tenon::test::random_test
