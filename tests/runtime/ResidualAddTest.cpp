// SPDX-License-Identifier: Apache-2.0
// Layers that run together with the sum behind them: which ones, and that they give what they give one after the other,
// as they run while a debug callback looks on, and what the reference backend gives, where none waits.
#include "backends/cpu/simd/IsaForTests.hpp"
#include "runtime/ConcatNetworks.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <gmock/gmock.h>

namespace tenon::test::residual_add_test
{

namespace
{

/// Random numbers for an input of a layer.
void AddConstant(INetwork& network, IConnectableLayer* layer, unsigned int input, const TensorShape& shape)
{
    TensorInfo info(shape, DataType::Float32);
    info.SetConstant();
    const auto values = std::make_shared<Floats>(info.GetNumElements());
    std::mt19937 random(info.GetNumElements());
    std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
    std::generate(values->begin(), values->end(), [&] { return distribution(random); });
    Connect(network.AddConstantLayer(ConstTensor(info, values->data()), values), layer, input);
}

/// More outputs than those whose weights products read where they are, which add nothing.
constexpr unsigned int Channels = 12;

/// A convolution of 3x3 points that keeps the image's size, or of `kernel` points.
IConnectableLayer* AddConvolution(INetwork& network, IConnectableLayer* from, unsigned int inputs, unsigned int outputs,
                                  unsigned int kernel = 3)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = kernel / 2;
    d.m_BiasEnabled = true;
    IConnectableLayer* layer = network.AddConvolution2dLayer(d, "convolution");
    Connect(from, layer);
    AddConstant(network, layer, 1, {outputs, kernel, kernel, inputs});
    AddConstant(network, layer, 2, {outputs});
    return layer;
}

IConnectableLayer* AddClamp(INetwork& network, IConnectableLayer* from)
{
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::BoundedReLu;
    relu.m_A = 1.5f;
    relu.m_B = -0.25f;
    IConnectableLayer* layer = network.AddActivationLayer(relu, "clamp");
    Connect(from, layer);
    return layer;
}

/// The same shape, by way of tensors of eight times as many bytes.
IConnectableLayer* AddThroughWide(INetwork& network, IConnectableLayer* from)
{
    return AddConvolution(network, AddClamp(network, AddConvolution(network, from, Channels, 8 * Channels, 1)),
                          8 * Channels, Channels, 1);
}

IConnectableLayer* AddImage(INetwork& network, LayerBindingId id, unsigned int channels)
{
    return AddInput(network, id, FloatInfo({2, 9, 7, channels}));
}

/// The same in bfloat16, where conversions may lie between layers.
size_t CountSumsInBf16(const INetwork& network)
{
    const cpu::ScopedBf16Dots reduces;
    OptimizerOptionsOpaque options;
    options.SetReduceFp32ToBf16(true);
    const std::vector<Floats> expected = RunNetwork(network, "CpuAcc", 1, false, options);
    for (const unsigned int threads : {1u, 3u})
    {
        EXPECT_EQ(RunNetwork(network, "CpuAcc", threads, true, options), expected) << "bfloat16, " << threads;
    }
    return Planned(network, "CpuAcc", options).Get().GetResidualAdds().size();
}

/// How many sums run together with the layer before; all of them give what they give on their own, and so they do where
/// the backend's threads are limited.
size_t CountSums(const INetwork& network)
{
    const std::vector<Floats> expected = RunNetwork(network, "CpuAcc", 1, false);
    const std::vector<Floats> reference = RunNetwork(network, "CpuRef", 1, true);
    EXPECT_EQ(expected.size(), reference.size());
    for (size_t output = 0; output < expected.size(); ++output)
    {
        float largest = 1.0f; // sums of numbers as large may be small
        for (const float value : reference[output])
        {
            largest = std::max(largest, std::abs(value));
        }
        EXPECT_THAT(expected[output], testing::Pointwise(testing::FloatNear(1e-5f * largest), reference[output]));
    }
    for (const unsigned int threads : {1u, 2u, 3u})
    {
        EXPECT_EQ(RunNetwork(network, "CpuAcc", threads, true), expected) << threads << " threads";
    }
    const size_t sums = Planned(network, "CpuAcc").Get().GetResidualAdds().size();
    const OptimizerOptionsOpaque limited = LimitedThreads(2);
    EXPECT_EQ(RunNetwork(network, "CpuAcc", 3, true, limited), expected) << "2 of 3 threads";
    EXPECT_EQ(Planned(network, "CpuAcc", limited).Get().GetResidualAdds().size(), sums);
    return sums;
}

/// Whether CpuAcc's float products are at hand: else the reference kernels run, which add nothing.
size_t OnVectors(size_t sums)
{
    return std::string(Planned(
                           *[]
                           {
                               INetworkPtr network = INetwork::Create();
                               AddOutputs(*network, {AddConvolution(*network, AddImage(*network, 0, 3), 3, 5)});
                               return network;
                           }(),
                           "CpuAcc")
                           .Get()
                           .Steps()[0]
                           .m_KernelName) == "CpuConvolution2dF32"
               ? sums
               : 0;
}

} // namespace

TEST(ResidualAdd, OfConvolutionsAndOthers)
{
    for (const unsigned int channels : {1u, 5u, 8u, 17u, 64u})
    {
        for (const bool swaps : {false, true})
        {
            for (const bool clamps : {false, true})
            {
                SCOPED_TRACE(std::to_string(channels) + " channels" + (swaps ? ", swapped" : "") +
                             (clamps ? ", clamped" : ""));
                INetworkPtr network = INetwork::Create();
                // Of few outputs, larger windows read their weights where they are, and add nothing.
                IConnectableLayer* image = AddImage(*network, 0, 1);
                IConnectableLayer* other = AddUnary(*network, AddImage(*network, 1, channels));
                IConnectableLayer* convolved = AddConvolution(*network, image, 1, channels);
                IConnectableLayer* sum =
                    AddBinary(*network, BinaryOperation::Add, swaps ? other : convolved, swaps ? convolved : other);
                AddOutputs(*network, {clamps ? AddClamp(*network, sum) : sum});
                EXPECT_EQ(CountSums(*network), OnVectors(1));
                EXPECT_EQ(CountSumsInBf16(*network), OnVectors(1));
            }
        }
    }
}

TEST(ResidualAdd, ChainsOfResiduals)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* value = AddConvolution(*network, AddImage(*network, 0, 3), 3, 16);
    for (int block = 0; block < 4; ++block)
    {
        IConnectableLayer* wide = AddClamp(*network, AddConvolution(*network, value, 16, 48, 1));
        value = AddBinary(*network, BinaryOperation::Add, AddConvolution(*network, wide, 48, 16, 1), value);
    }
    AddOutputs(*network, {value});
    EXPECT_EQ(CountSums(*network), OnVectors(4));
}

// What the layer reads and what it is added to are one: the sum must not lie in its place.
TEST(ResidualAdd, OfALayerAndItsOwnInput)
{
    for (const unsigned int kernel : {1u, 3u})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* value = AddUnary(*network, AddImage(*network, 0, Channels));
        IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, value,
                                           AddConvolution(*network, value, Channels, Channels, kernel));
        AddOutputs(*network, {AddUnary(*network, sum)});
        EXPECT_EQ(CountSums(*network), OnVectors(1));
    }
}

// What the layer reads is kept while it waits, although others that are done in the meantime read it last. That must
// not take much memory: here it does not, if tensors that came before are larger.
TEST(ResidualAdd, WaitForOtherLayers)
{
    for (const bool isWide : {true, false})
    {
        for (const int between : {0, 1, 3, 4})
        {
            INetworkPtr network = INetwork::Create();
            IConnectableLayer* value = AddUnary(*network, AddImage(*network, 0, Channels));
            value = isWide ? AddThroughWide(*network, value) : value;
            IConnectableLayer* convolved = AddConvolution(*network, value, Channels, Channels);
            IConnectableLayer* other = value;
            for (int i = 0; i < between; ++i)
            {
                other = AddUnary(*network, other);
            }
            IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, convolved, other);
            AddOutputs(*network, {AddUnary(*network, AddUnary(*network, sum))});
            const bool waits = between == 0 || (isWide && between < 4);
            EXPECT_EQ(CountSums(*network), OnVectors(waits ? 1 : 0)) << between << " layers between";
        }
    }
}

// Of two layers that are added up, one waits for the other.
TEST(ResidualAdd, OfTwoLayers)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* value = AddUnary(*network, AddImage(*network, 0, Channels));
    IConnectableLayer* convolved = AddConvolution(*network, value, Channels, Channels);
    IConnectableLayer* other = AddConvolution(*network, value, Channels, Channels, 1);
    AddOutputs(*network, {AddUnary(*network, AddBinary(*network, BinaryOperation::Add, convolved, other))});
    EXPECT_EQ(CountSums(*network), OnVectors(1));
}

// Products fill such outputs with zeros before, but not where these hold what is to be added.
TEST(ResidualAdd, OfOutputsLargerThanCaches)
{
    constexpr unsigned int Outputs = 135; // rows that begin within cache lines, in bfloat16 too
    INetworkPtr network = INetwork::Create();
    const TensorInfo image = FloatInfo({1, 180, 180, Channels});
    IConnectableLayer* other = AddUnary(*network, AddInput(*network, 1, FloatInfo({1, 180, 180, Outputs})));
    IConnectableLayer* convolved = AddConvolution(*network, AddInput(*network, 0, image), Channels, Outputs, 1);
    // Which writes to the memory of its first input.
    IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, other, convolved);
    AddOutputs(*network, {AddConvolution(*network, sum, Outputs, 2, 1)});
    EXPECT_EQ(CountSums(*network), OnVectors(1));
    EXPECT_EQ(CountSumsInBf16(*network), OnVectors(1));
}

TEST(ResidualAdd, OfRandomNetworks)
{
    size_t found = 0;
    size_t foundInBf16 = 0;
    for (unsigned int seed = 0; seed < 60; ++seed)
    {
        std::mt19937 random(seed);
        const auto pick = [&](size_t count) { return random() % count; };
        INetworkPtr network = INetwork::Create();
        std::vector<IConnectableLayer*> values = {AddImage(*network, 0, Channels), AddImage(*network, 1, Channels)};
        values.push_back(AddThroughWide(*network, AddBinary(*network, BinaryOperation::Mul, values[0], values[1])));
        for (size_t layers = 4 + pick(12); layers != 0; --layers)
        {
            const auto recent = [&] { return values[values.size() - 1 - pick(std::min<size_t>(values.size(), 4))]; };
            switch (pick(5))
            {
            case 0: values.push_back(AddUnary(*network, recent())); break;
            case 1:
            case 2:
                values.push_back(AddConvolution(*network, recent(), Channels, Channels, pick(2) == 0 ? 1 : 3));
                break;
            default: values.push_back(AddBinary(*network, BinaryOperation::Add, recent(), recent()));
            }
        }
        AddOutputs(*network, {values.back(), values[values.size() - 1 - pick(3)]});
        found += CountSums(*network);
        foundInBf16 += CountSumsInBf16(*network);
    }
    EXPECT_GE(found, OnVectors(30));
    EXPECT_GE(foundInBf16, OnVectors(30));
}

TEST(ResidualAdd, OfConnectedLayersOfAnyDepth)
{
    for (const unsigned int depth : {3u, 256u, 20000u}) // the last one takes the data in slices
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* other = AddUnary(*network, AddInput(*network, 1, FloatInfo({9, 21})));
        FullyConnectedDescriptor d;
        d.m_TransposeWeightMatrix = true;
        IConnectableLayer* layer = network->AddFullyConnectedLayer(d);
        Connect(AddInput(*network, 0, FloatInfo({9, depth})), layer);
        AddConstant(*network, layer, 1, {21, depth});
        AddOutputs(*network, {AddBinary(*network, BinaryOperation::Add, layer, other)});
        EXPECT_LE(CountSums(*network), OnVectors(1));
        if (depth == 256)
        {
            EXPECT_EQ(CountSums(*network), OnVectors(1));
        }
        EXPECT_EQ(CountSumsInBf16(*network), OnVectors(1));
    }
}

// In the body of a loop, which runs more than once over the same memory, and reads what it gave before.
TEST(ResidualAdd, InABodyThatRepeats)
{
    const auto addConstant = [](INetwork& network, std::vector<float> values)
    {
        TensorInfo info({static_cast<unsigned int>(values.size())}, DataType::Float32);
        info.SetConstant();
        const auto kept = std::make_shared<Floats>(std::move(values));
        return network.AddConstantLayer(ConstTensor(info, kept->data()), kept);
    };
    INetworkPtr condition = INetwork::Create();
    IConnectableLayer* left = condition->AddCastLayer("is any left");
    left->GetOutputSlot(0).SetTensorInfo(TensorInfo({1}, DataType::Boolean));
    Connect(AddInput(*condition, 0, FloatInfo({1})), left);
    Connect(left, condition->AddOutputLayer(0));
    AddImage(*condition, 1, Channels);

    INetworkPtr body = INetwork::Create();
    IConnectableLayer* count = AddInput(*body, 0, FloatInfo({1}));
    IConnectableLayer* value = AddImage(*body, 1, Channels);
    IConnectableLayer* sum =
        AddBinary(*body, BinaryOperation::Add, value, AddConvolution(*body, value, Channels, Channels));
    AddOutputs(*body,
               {AddBinary(*body, BinaryOperation::Sub, count, addConstant(*body, {1.0f})), AddClamp(*body, sum)});

    INetworkPtr network = INetwork::Create();
    IConnectableLayer* loop = network->AddWhileLayer(*condition, *body, "loop");
    Connect(addConstant(*network, {3.0f}), loop, 0);
    Connect(AddImage(*network, 0, Channels), loop, 1);
    Connect(loop, network->AddOutputLayer(0), 0, 1);
    EXPECT_EQ(CountSums(*network), 0U); // but in the body
}

TEST(ResidualAdd, AreNotForWhatIsReadElsewhereOrBroadcast)
{
    const auto count = [](auto build)
    {
        INetworkPtr network = INetwork::Create();
        AddOutputs(*network, build(*network, AddConvolution(*network, AddImage(*network, 0, 3), 3, 8)));
        return CountSums(*network);
    };
    using Layers = std::vector<IConnectableLayer*>;
    const auto add = [](INetwork& network, IConnectableLayer* a, IConnectableLayer* b)
    { return AddBinary(network, BinaryOperation::Add, a, b); };
    EXPECT_EQ(count([&](INetwork& network, IConnectableLayer* convolved)
                    { return Layers{add(network, convolved, convolved)}; }),
              0U);
    EXPECT_EQ(count([&](INetwork& network, IConnectableLayer* convolved)
                    { return Layers{add(network, convolved, AddInput(network, 1, FloatInfo({8})))}; }),
              0U);
    EXPECT_EQ(count(
                  [&](INetwork& network, IConnectableLayer* convolved) {
                      return Layers{add(network, convolved, AddInput(network, 1, FloatInfo({3, 2, 9, 7, 8})))};
                  }),
              0U);
    EXPECT_EQ(count(
                  [&](INetwork& network, IConnectableLayer* convolved) {
                      return Layers{add(network, convolved, AddImage(network, 1, 8)), convolved};
                  }),
              0U);
    EXPECT_EQ(count([&](INetwork& network, IConnectableLayer* convolved)
                    { return Layers{add(network, AddClamp(network, convolved), AddImage(network, 1, 8))}; }),
              0U);
    EXPECT_EQ(count([&](INetwork& network, IConnectableLayer* convolved)
                    { return Layers{AddBinary(network, BinaryOperation::Sub, convolved, AddImage(network, 1, 8))}; }),
              0U);
}

TEST(ResidualAdd, AreNamedAfterAllThatRuns)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* convolved = AddConvolution(*network, AddImage(*network, 0, 3), 3, 8);
    IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, convolved, AddImage(*network, 1, 8));
    AddOutputs(*network, {AddClamp(*network, sum)});
    for (const OptimizerOptionsOpaque& options : {OptimizerOptionsOpaque(), LimitedThreads(1)})
    {
        const Planned plan(*network, "CpuAcc", options);
        if (OnVectors(1) == 1)
        {
            ASSERT_EQ(plan.Get().GetResidualAdds().size(), 1U);
            EXPECT_STREQ(plan.Get().GetResidualAdds()[0].m_KernelName, "CpuConvolution2dF32+Add+Activation");
        }
    }
}

} // namespace tenon::test::residual_add_test
