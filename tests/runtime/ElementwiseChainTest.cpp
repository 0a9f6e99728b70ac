// SPDX-License-Identifier: Apache-2.0
// Elementwise layers in chains: which ones, and that they give what they give one after the other, as they run while a
// debug callback looks on.
#include "runtime/ConcatNetworks.hpp"
#include "runtime/PlannedNetwork.hpp"
#include "runtime/fusions/ElementChain.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

namespace tenon::test::elementwise_chain_test
{

namespace
{

using testing::HasSubstr;
using testing::StartsWith;

IConnectableLayer* AddActivation(INetwork& network, IConnectableLayer* from, ActivationFunction function)
{
    ActivationDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_A = 1.0f;
    descriptor.m_B = -1.0f;
    IConnectableLayer* layer = network.AddActivationLayer(descriptor, "activation");
    Connect(from, layer);
    return layer;
}

IConnectableLayer* AddReshape(INetwork& network, IConnectableLayer* from, const TensorShape& shape)
{
    IConnectableLayer* layer = network.AddReshapeLayer(ReshapeDescriptor(shape), "reshape");
    Connect(from, layer);
    return layer;
}

/// The same with a shape that arrives as a constant tensor, as a parser writes it. The optimizer makes it a parameter,
/// so that input 1 is left unconnected.
IConnectableLayer* AddReshapeByTensor(INetwork& network, IConnectableLayer* from, const std::vector<int32_t>& sizes)
{
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* layer = network.AddReshapeLayer(descriptor, "reshape");
    const TensorInfo info({static_cast<unsigned int>(sizes.size())}, DataType::Signed32, 0.0f, 0, true);
    const auto owner = std::make_shared<const std::vector<int32_t>>(sizes);
    Connect(from, layer);
    Connect(network.AddConstantLayer(ConstTensor(info, owner->data()), owner, "sizes"), layer, 1);
    return layer;
}

TensorInfo InfoOf(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}

IConnectableLayer* Typed(IConnectableLayer* layer, const TensorInfo& info)
{
    layer->GetOutputSlot(0).SetTensorInfo(info);
    return layer;
}

/// The steps of all chains of the network on CpuAcc.
std::vector<size_t> CountSteps(const INetwork& network, const OptimizerOptionsOpaque& options = {})
{
    const Planned plan(network, "CpuAcc", options);
    std::vector<size_t> counts;
    for (const auto& run : plan.Get().GetFusedRuns())
    {
        if (dynamic_cast<const ElementChain*>(run->m_Fused.m_Workload.get()) != nullptr)
        {
            EXPECT_THAT(run->m_Label, StartsWith("Chain of Cpu"));
            counts.push_back(run->m_Steps.size());
        }
    }
    return counts;
}

void ExpectSame(const INetwork& network, const std::string& what = "")
{
    const std::vector<Floats> expected = RunNetwork(network, "CpuAcc", 1, false);
    for (const unsigned int threads : {1u, 2u, 5u})
    {
        ASSERT_EQ(RunNetwork(network, "CpuAcc", threads, true), expected) << what << " on " << threads << " threads";
    }
}

/// Numbers that can be compared: NaN are all the same.
std::vector<Floats> Comparable(std::vector<Floats> tensors)
{
    for (Floats& tensor : tensors)
    {
        std::replace_if(
            tensor.begin(), tensor.end(), [](float x) { return std::isnan(x); }, 12345.0f);
    }
    return tensors;
}

/// sigmoid(-(x + other)) * x, of inputs 0 and 1.
INetworkPtr MakeChain(const TensorShape& shape, const TensorShape& other)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, InfoOf(shape));
    IConnectableLayer* y = AddInput(*network, 1, InfoOf(other));
    IConnectableLayer* negative = AddUnary(*network, AddBinary(*network, BinaryOperation::Add, x, y));
    IConnectableLayer* sigmoid = AddActivation(*network, negative, ActivationFunction::Sigmoid);
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Mul, sigmoid, x)});
    return network;
}

using testing::ElementsAre;
using testing::IsEmpty;

} // namespace

TEST(ElementwiseChain, AreOneWorkloadForAnyNumberOfThreads)
{
    const INetworkPtr network = MakeChain({3, 50, 41, 7}, {3, 50, 41, 7});
    EXPECT_THAT(CountSteps(*network), ElementsAre(4u));
    ExpectSame(*network);
}

// The option NumberOfThreads takes no chain away, and limits the threads that work on one.
TEST(ElementwiseChain, KeepToTheThreadsOfTheBackend)
{
    const INetworkPtr network = MakeChain({64, 50, 41, 7}, {41, 7});
    const std::vector<Floats> expected = RunNetwork(*network, "CpuAcc", 1, false);
    for (const unsigned int limit : {1u, 2u, 3u, 64u})
    {
        const OptimizerOptionsOpaque options = LimitedThreads(limit);
        EXPECT_THAT(CountSteps(*network, options), ElementsAre(4u)) << limit;
        const Planned plan(*network, "CpuAcc", options);
        ASSERT_EQ(plan.Get().GetFusedRuns().size(), 1u);
        const FusedRun& run = *plan.Get().GetFusedRuns().front();
        const auto* const chain = dynamic_cast<const ElementChain*>(run.m_Fused.m_Workload.get());
        ASSERT_NE(chain, nullptr);
        EXPECT_EQ(chain->GetMaxThreads(), limit);
        for (const unsigned int threads : {1u, 4u, 16u})
        {
            EXPECT_EQ(RunNetwork(*network, "CpuAcc", threads, true, options), expected)
                << limit << " of " << threads << " threads";
        }
    }
}

// An RMS norm as JAX writes it, with a Reshape between the layers of a chain.
TEST(ElementwiseChain, OfAnRmsNormHaveAReshapeInside)
{
    for (const unsigned int rows : {8u, 1024u, 4099u})
    {
        constexpr unsigned int Depth = 16;
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* x = AddInput(*network, 0, FloatInfo({rows, Depth}));
        const auto add = [&](BinaryOperation operation, IConnectableLayer* from, float value)
        {
            const TensorInfo info({1}, DataType::Float32, 0.0f, 0, true);
            const auto owner = std::make_shared<const float>(value);
            return AddBinary(*network, operation, from,
                             network->AddConstantLayer(ConstTensor(info, owner.get()), owner, "constant"));
        };
        ReduceDescriptor descriptor;
        descriptor.m_ReduceOperation = ReduceOperation::Sum;
        descriptor.m_vAxis = {1};
        IConnectableLayer* sum = network->AddReduceLayer(descriptor, "sum");
        Connect(AddBinary(*network, BinaryOperation::Mul, x, x), sum);
        IConnectableLayer* mean = add(BinaryOperation::Add, add(BinaryOperation::Div, sum, Depth), 1e-6f);
        IConnectableLayer* column = AddReshapeByTensor(*network, mean, {static_cast<int32_t>(rows), 1});
        IConnectableLayer* root = AddUnary(*network, column, UnaryOperation::Rsqrt);
        AddOutputs(*network, {AddBinary(*network, BinaryOperation::Mul, x, root)});
        EXPECT_EQ(CountSteps(*network), rows > 8 ? std::vector<size_t>{4} : std::vector<size_t>()) << rows;
        ExpectSame(*network);
        const Floats result = RunNetwork(*network, "CpuAcc", 2, true).front();
        for (unsigned int row = 0; row < rows; ++row) // the mean square of a row is 1
        {
            double square = 0;
            for (unsigned int i = 0; i < Depth; ++i)
            {
                square += static_cast<double>(result[row * Depth + i]) * static_cast<double>(result[row * Depth + i]);
            }
            ASSERT_NEAR(square / Depth, 1.0, 1e-3) << "row " << row;
        }
    }
}

// Shorter than a block, as long as one, longer, and of no whole vectors; in blocks that such rows fill and do not.
TEST(ElementwiseChain, RepeatWhatIsBroadcast)
{
    for (const TensorShape& other : {TensorShape({1}), TensorShape({7}), TensorShape({1, 1, 1, 7}),
                                     TensorShape({41, 7}), TensorShape({50, 41, 7}), TensorShape({1, 50, 41, 7})})
    {
        const INetworkPtr network = MakeChain({3, 50, 41, 7}, other);
        EXPECT_THAT(CountSteps(*network), ElementsAre(4u)) << other.ToString();
        ExpectSame(*network);
    }
    for (const unsigned int row : {64u, 960u, 1000u, 1024u, 1025u, 2048u, 5000u})
    {
        const INetworkPtr network = MakeChain({37, row}, {row});
        EXPECT_THAT(CountSteps(*network), ElementsAre(4u)) << row;
        ExpectSame(*network, std::to_string(row));
    }
}

// A factor for each pixel or image is no repeated row.
TEST(ElementwiseChain, LeaveOtherBroadcastsToTheirLayers)
{
    for (const TensorShape& other : {TensorShape({50, 41, 1}), TensorShape({3, 1, 1, 7}), TensorShape({50, 1, 7})})
    {
        const INetworkPtr network = MakeChain({3, 50, 41, 7}, other);
        EXPECT_THAT(CountSteps(*network), ElementsAre(3u)) << other.ToString(); // those after the sum
        ExpectSame(*network);
    }
}

TEST(ElementwiseChain, AreNotForOneLayerOrFewBytes)
{
    EXPECT_THAT(CountSteps(*MakeChain({16, 16}, {16, 16})), IsEmpty());
    EXPECT_THAT(CountSteps(*MakeChain({0, 1024}, {1024})), IsEmpty());
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({64, 64}));
    AddOutputs(*network, {AddActivation(*network, x, ActivationFunction::Sigmoid)});
    EXPECT_THAT(CountSteps(*network), IsEmpty());
}

// What is given or read by another layer is there as a whole.
TEST(ElementwiseChain, EndWhereOthersRead)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({64, 64}));
    IConnectableLayer* a = AddUnary(*network, x);
    IConnectableLayer* b = AddActivation(*network, a, ActivationFunction::TanH);
    IConnectableLayer* c = AddBinary(*network, BinaryOperation::Mul, b, a);
    IConnectableLayer* d = AddUnary(*network, c, UnaryOperation::Abs);
    IConnectableLayer* e = AddActivation(*network, d, ActivationFunction::Sigmoid);
    AddOutputs(*network, {e, c});
    EXPECT_THAT(CountSteps(*network), ElementsAre(3u, 2u));
    ExpectSame(*network);
}

TEST(ElementwiseChain, SeeThroughReshapes)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({6, 4, 500}));
    IConnectableLayer* a = AddReshape(*network, AddUnary(*network, x), {24, 500});
    IConnectableLayer* row = AddInput(*network, 1, FloatInfo({500}));
    IConnectableLayer* b = AddBinary(*network, BinaryOperation::Sub, row, a);
    AddOutputs(*network, {AddReshape(*network, b, {12000})}); // the last one is no link
    EXPECT_THAT(CountSteps(*network), ElementsAre(3u));
    ExpectSame(*network);
}

// A block is of whole rows of 4 or of 6, and not of both.
TEST(ElementwiseChain, HaveRowsThatFitIntoEachOther)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({400, 6}));
    IConnectableLayer* six = AddInput(*network, 1, FloatInfo({6}));
    IConnectableLayer* four = AddInput(*network, 2, FloatInfo({4}));
    IConnectableLayer* a = AddUnary(*network, AddBinary(*network, BinaryOperation::Add, x, six));
    IConnectableLayer* b = AddReshape(*network, a, {600, 4});
    IConnectableLayer* c = AddUnary(*network, AddBinary(*network, BinaryOperation::Mul, b, four), UnaryOperation::Abs);
    AddOutputs(*network, {c});
    EXPECT_THAT(CountSteps(*network), ElementsAre(2u, 2u));
    ExpectSame(*network);
}

// A residual is added in registers, by the layer before it: but not by products of few rows.
TEST(ElementwiseChain, LeaveSumsToProducts)
{
    for (const unsigned int rows : {64u, 2u})
    {
        constexpr unsigned int Depth = 64;
        constexpr unsigned int Columns = 1024;
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* x = AddInput(*network, 0, FloatInfo({rows, Depth}));
        IConnectableLayer* residual = AddInput(*network, 1, FloatInfo({rows, Columns}));
        const Floats weights(Columns * Depth, 0.125f);
        const TensorInfo weightsInfo({Columns, Depth}, DataType::Float32, 0.0f, 0, true);
        IConnectableLayer* constant = network->AddConstantLayer(ConstTensor(weightsInfo, weights.data()), "weights");
        FullyConnectedDescriptor descriptor;
        descriptor.m_TransposeWeightMatrix = true;
        IConnectableLayer* product = network->AddFullyConnectedLayer(descriptor, "product");
        Connect(x, product, 0);
        Connect(Typed(constant, weightsInfo), product, 1);
        IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, product, residual);
        IConnectableLayer* next = AddUnary(*network, AddActivation(*network, sum, ActivationFunction::TanH));
        AddOutputs(*network, {next});
        const Planned plan(*network, "CpuAcc");
        const bool isAdded = rows == 64;
        EXPECT_EQ(plan.Get().GetResidualAdds().size(), isAdded ? 1u : 0u);
        EXPECT_THAT(CountSteps(*network), ElementsAre(isAdded ? 2u : 3u));
        ExpectSame(*network);
    }
}

// Elements of one, two and four bytes in one chain, by the bytes of TFLite's integer arithmetic.
TEST(ElementwiseChain, ChangeTypes)
{
    for (const DataType type : {DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS16})
    {
        INetworkPtr network = INetwork::Create();
        const float scale = type == DataType::QSymmS16 ? 1.0f / 8192 : 1.0f / 64;
        const int32_t zero = type == DataType::QAsymmU8 ? 128 : 0;
        const auto info = [&](float factor) { return TensorInfo({9, 70, 33}, type, factor * scale, zero); };
        IConnectableLayer* x = AddInput(*network, 0, FloatInfo({9, 70, 33}));
        IConnectableLayer* row = AddInput(*network, 1, FloatInfo({33}));
        IConnectableLayer* a = Typed(network->AddQuantizeLayer("quantize"), info(1));
        Connect(x, a);
        IConnectableLayer* b = Typed(network->AddQuantizeLayer("quantize row"), TensorInfo({33}, type, scale, zero));
        Connect(row, b);
        IConnectableLayer* product = Typed(AddBinary(*network, BinaryOperation::Mul, a, b), info(2));
        IConnectableLayer* sum = Typed(AddBinary(*network, BinaryOperation::Add, product, a), info(3));
        IConnectableLayer* leaky = Typed(AddActivation(*network, sum, ActivationFunction::LeakyReLu), info(2));
        IConnectableLayer* back = network->AddDequantizeLayer("dequantize");
        Connect(leaky, back);
        AddOutputs(*network, {AddUnary(*network, Typed(back, FloatInfo({9, 70, 33})), UnaryOperation::Abs)});
        const std::vector<size_t> counts = CountSteps(*network);
        EXPECT_GE(std::accumulate(counts.begin(), counts.end(), size_t{0}), 5u) << GetDataTypeName(type);
        ExpectSame(*network, GetDataTypeName(type));
        EXPECT_EQ(RunNetwork(*network, "CpuAcc", 1, true), RunNetwork(*network, "CpuRef", 1, true));
    }
}

TEST(ElementwiseChain, OfRandomLayersGiveWhatTheLayersGive)
{
    size_t found = 0;
    for (unsigned int seed = 0; seed < 150; ++seed)
    {
        std::mt19937 random(seed);
        const auto pick = [&](size_t count) { return random() % count; };
        const TensorShape full = {2 + static_cast<unsigned int>(pick(3)), 33, 9 + static_cast<unsigned int>(pick(60))};
        const unsigned int last = full[2];
        INetworkPtr network = INetwork::Create();
        std::vector<IConnectableLayer*> values = {AddInput(*network, 0, InfoOf(full)),
                                                  AddInput(*network, 1, InfoOf(full))};
        const std::vector<IConnectableLayer*> small = {
            AddInput(*network, 2, FloatInfo({last})), AddInput(*network, 3, FloatInfo({33, last})),
            AddInput(*network, 4, FloatInfo({1, 1, 1})), AddInput(*network, 5, FloatInfo({33, 1}))};
        for (IConnectableLayer* value : small) // all are read
        {
            values.push_back(AddBinary(*network, BinaryOperation::Maximum, values[pick(2)], value));
        }
        for (size_t layers = 4 + pick(16); layers != 0; --layers)
        {
            const auto recent = [&] { return values[values.size() - 1 - pick(std::min<size_t>(values.size(), 3))]; };
            constexpr BinaryOperation Operations[] = {BinaryOperation::Add,     BinaryOperation::Sub,
                                                      BinaryOperation::Mul,     BinaryOperation::Minimum,
                                                      BinaryOperation::Maximum, BinaryOperation::Power};
            const BinaryOperation operation = Operations[pick(6)];
            // Those that take other ways where some of a vector's numbers are not ordinary.
            constexpr UnaryOperation Functions[] = {UnaryOperation::Abs, UnaryOperation::Exp, UnaryOperation::Log,
                                                    UnaryOperation::Sin, UnaryOperation::Cos};
            const UnaryOperation function = Functions[pick(5)];
            switch (pick(6))
            {
            case 0: values.push_back(AddUnary(*network, recent(), function)); break;
            case 1: values.push_back(AddActivation(*network, recent(), ActivationFunction::TanH)); break;
            case 2: values.push_back(AddBinary(*network, operation, small[pick(4)], recent())); break;
            case 3: values.push_back(AddBinary(*network, operation, recent(), small[pick(4)])); break;
            case 4:
                values.push_back(AddReshape(
                    *network, AddUnary(*network, AddReshape(*network, recent(), {full[0] * 33, last})), full));
                break;
            default: values.push_back(AddBinary(*network, operation, recent(), recent()));
            }
        }
        std::vector<IConnectableLayer*> outputs = {values.back()};
        for (size_t i = 2; i + 1 < values.size(); ++i)
        {
            if (pick(5) == 0)
            {
                outputs.push_back(values[i]);
            }
        }
        AddOutputs(*network, outputs);
        found += CountSteps(*network).empty() ? 0 : 1;
        const unsigned int threads = 1 + static_cast<unsigned int>(pick(3));
        ASSERT_EQ(Comparable(RunNetwork(*network, "CpuAcc", threads, true)),
                  Comparable(RunNetwork(*network, "CpuAcc", threads, false)))
            << "seed " << seed;
    }
    EXPECT_GE(found, 120u);
}

// Of nine tensors from outside the ninth one is for the next chain, as no chain has more inputs than a workload.
TEST(ElementwiseChain, AreCutWhereTheyWouldHaveTooManyInputs)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, FloatInfo({64, 64}));
    for (LayerBindingId i = 1; i <= 12; ++i)
    {
        IConnectableLayer* other = AddInput(*network, i, i % 2 == 0 ? FloatInfo({64, 64}) : FloatInfo({64}));
        last = AddBinary(*network, i % 3 == 0 ? BinaryOperation::Sub : BinaryOperation::Mul, last, other);
    }
    AddOutputs(*network, {last});
    EXPECT_THAT(CountSteps(*network), ElementsAre(7u, 5u));
    ExpectSame(*network);
}

TEST(ElementChain, AsksForNoMoreBuffersThanItHas)
{
    const ElementLoop copy = [](const void* const* inputs, void* output, size_t count)
    { std::copy_n(static_cast<const float*>(inputs[0]), count, static_cast<float*>(output)); };
    const auto makeLinks = [&](size_t kept)
    {
        // All links but the last one are read by the last but one's successors: as many are alive.
        std::vector<ChainLink> links;
        for (size_t i = 0; i < 2 * kept; ++i)
        {
            ChainLink link;
            link.m_Run = copy;
            link.m_ElementBytes = sizeof(float);
            link.m_NumOperands = i < kept ? 1 : 2;
            link.m_Operands[0] = i < kept ? ChainOperand{true, 0} : ChainOperand{false, static_cast<uint32_t>(i - 1)};
            link.m_Operands[1] = {false, static_cast<uint32_t>(i < kept ? 0 : i - kept)};
            links.push_back(link);
        }
        return links;
    };
    const std::vector<ChainInput> input = {{sizeof(float), 0}};
    EXPECT_NE(ElementChain::Make(makeLinks(ElementChain::MaxBuffers - 1), input, 4096), nullptr);
    EXPECT_EQ(ElementChain::Make(makeLinks(ElementChain::MaxBuffers + 2), input, 4096), nullptr);
    // Repeated inputs have buffers too.
    const std::vector<ChainInput> repeated(ElementChain::MaxBuffers + 1, ChainInput{sizeof(float), 3});
    EXPECT_EQ(ElementChain::Make(makeLinks(1), repeated, 4096), nullptr);
    EXPECT_EQ(ElementChain::Make(makeLinks(1), {{sizeof(float), 4}, {sizeof(float), 6}}, 4096), nullptr);
}

} // namespace tenon::test::elementwise_chain_test
