// SPDX-License-Identifier: Apache-2.0
// Optimize(): validation, inference, assignment with reasons, copies, partitioning; the passes' effect on results.
#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "harness/FakeBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace tenon::test::optimize_test
{

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace
{

IRuntimePtr MakeRuntime(std::vector<std::shared_ptr<const IBackend>> backends = {})
{
    IRuntime::CreationOptions options;
    options.m_Backends = std::move(backends);
    return IRuntime::Create(options);
}

const Graph& GraphOf(const IOptimizedNetworkPtr& network)
{
    return static_cast<const OptimizedNetwork&>(*network).GetGraph();
}

std::vector<LayerType> TypesOf(const IOptimizedNetworkPtr& network)
{
    std::vector<LayerType> types;
    for (const auto& layer : GraphOf(network).Layers())
    {
        types.push_back(layer->GetType());
    }
    return types;
}

} // namespace

TEST(Optimize, InfersShapesAndTypesThatNobodyDeclared)
{
    const INetworkPtr network = MakeChain(3, FloatInfo({2, 5}));
    const IRuntimePtr runtime = MakeRuntime();
    const auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    for (const auto& layer : GraphOf(optimized).Layers())
    {
        for (const OutputSlot& output : layer->Outputs())
        {
            EXPECT_EQ(output.GetTensorInfo().GetShape(), TensorShape({2, 5}));
            EXPECT_EQ(output.GetTensorInfo().GetDataType(), DataType::Float32);
        }
    }
    EXPECT_EQ(optimized->GetNumInputs(), 1u);
    EXPECT_EQ(optimized->GetNumOutputs(), 1u);
}

TEST(Optimize, DeclaredShapeThatContradicts)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(AddInput(*network, 0, FloatInfo({2, 3})), floor);
    Connect(floor, network->AddOutputLayer(0));
    floor->GetOutputSlot(0).SetTensorInfo(FloatInfo({3, 2}));
    const IRuntimePtr runtime = MakeRuntime();
    const std::string message =
        MessageOf<LayerValidationException>([&] { Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()); });
    EXPECT_THAT(message, HasSubstr("'floor' (Floor)"));
    EXPECT_THAT(message, HasSubstr("[3,2]"));
    EXPECT_THAT(message, HasSubstr("[2,3]"));

    OptimizerOptionsOpaque options;
    options.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
    std::vector<std::string> messages;
    const auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), options,
                                    Optional<std::vector<std::string>&>(messages));
    EXPECT_EQ(GraphOf(optimized).Layers()[1]->Output(0).GetTensorInfo().GetShape(), TensorShape({2, 3}));
    EXPECT_THAT(messages, Contains(HasSubstr("the inferred shape is used")));
    EXPECT_EQ(floor->GetOutputSlot(0).GetTensorInfo().GetShape(), TensorShape({3, 2})) << "the source must not change";
}

TEST(Optimize, RefusesWhatIsMalformed)
{
    const IRuntimePtr runtime = MakeRuntime();
    const IDeviceSpec& spec = runtime->GetDeviceSpec();
    const INetworkPtr good = MakeChain(1, FloatInfo({1}));
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { Optimize(*good, {}, spec); }), HasSubstr("CpuRef, CpuAcc"));
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { Optimize(*good, {"NoSuch"}, spec); }), HasSubstr("NoSuch"));

    const INetworkPtr open = INetwork::Create();
    open->AddOutputLayer(0, "end");
    EXPECT_THROW(Optimize(*open, {"CpuRef"}, spec), LayerValidationException);

    const INetworkPtr noInfo = INetwork::Create();
    Connect(noInfo->AddInputLayer(0, "blank"), noInfo->AddOutputLayer(0));
    EXPECT_THAT(MessageOf<LayerValidationException>([&] { Optimize(*noInfo, {"CpuRef"}, spec); }), HasSubstr("blank"));

    const INetworkPtr badShapes = INetwork::Create();
    IConnectableLayer* add = badShapes->AddAdditionLayer("sum");
    Connect(AddInput(*badShapes, 0, FloatInfo({2})), add, 0);
    Connect(AddInput(*badShapes, 1, FloatInfo({3})), add, 1);
    Connect(add, badShapes->AddOutputLayer(0));
    EXPECT_THAT(MessageOf<LayerValidationException>([&] { Optimize(*badShapes, {"CpuRef"}, spec); }),
                HasSubstr("'sum' (ElementwiseBinary)"));

    const INetworkPtr noType = INetwork::Create();
    IConnectableLayer* cast = noType->AddCastLayer("cast");
    Connect(AddInput(*noType, 0, FloatInfo({2})), cast);
    Connect(cast, noType->AddOutputLayer(0));
    EXPECT_THROW(Optimize(*noType, {"CpuRef"}, spec), LayerValidationException);

    OptimizerOptionsOpaque limited;
    Limits limits;
    limits.m_MaxLayers = 2;
    limited.SetLimits(limits);
    const auto message = [&](const OptimizerOptionsOpaque& options)
    { return MessageOf<LimitExceededException>([&] { Optimize(*good, {"CpuRef"}, spec, options); }); };
    EXPECT_THAT(message(limited), AllOf(StartsWith("optimizing the network: "), HasSubstr("Limits::m_MaxLayers")));
    limits = Limits();
    limits.m_MaxTensorBytes = 3;
    limited.SetLimits(limits);
    EXPECT_THAT(message(limited), AllOf(StartsWith("optimizing the network: "), HasSubstr("Limits::m_MaxTensorBytes")));
    limits = Limits();
    limits.m_MaxRank = 0;
    limited.SetLimits(limits);
    EXPECT_THAT(message(limited), AllOf(StartsWith("optimizing the network: "), HasSubstr("Limits::m_MaxRank")));
    const INetworkPtr large = INetwork::Create(); // more elements than can be counted
    constexpr unsigned int Largest = std::numeric_limits<unsigned int>::max();
    IConnectableLayer* tile = large->AddTileLayer(TileDescriptor({Largest, Largest, Largest}), "tiles");
    Connect(AddInput(*large, 0, FloatInfo({1, 1, 1})), tile);
    Connect(tile, large->AddOutputLayer(0));
    EXPECT_THAT(MessageOf<LimitExceededException>([&] { Optimize(*large, {"CpuRef"}, spec); }),
                HasSubstr("'tiles' (Tile)"));
    OptimizerOptionsOpaque both;
    both.SetReduceFp32ToFp16(true);
    both.SetReduceFp32ToBf16(true);
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { Optimize(*good, {"CpuRef"}, spec, both); }),
                StartsWith("optimizing the network: "));
}

TEST(Optimize, RefusesAStateThatIsReadAndWrittenWithTwoTypes)
{
    for (const bool readsFirst : {false, true})
    {
        const INetworkPtr network = INetwork::Create();
        const auto addRead = [&]
        {
            IConnectableLayer* read = network->AddReadStateLayer(StateDescriptor("s"));
            read->GetOutputSlot(0).SetTensorInfo(FloatInfo({1}));
            Connect(read, network->AddOutputLayer(0));
        };
        const auto addWrite = [&]
        {
            Connect(AddInput(*network, 0, TensorInfo({1}, DataType::Signed32)),
                    network->AddWriteStateLayer(StateDescriptor("s")));
        };
        readsFirst ? addRead() : addWrite();
        readsFirst ? addWrite() : addRead();
        const IRuntimePtr runtime = MakeRuntime();
        EXPECT_THAT(
            MessageOf<GraphValidationException>([&] { Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()); }),
            testing::HasSubstr("state 's' is read as Float32 but written as Signed32"));
    }
}

TEST(Optimize, RefusesQuantizationThatATypeCannotHave)
{
    const IRuntimePtr runtime = MakeRuntime();
    const auto refusal = [&](float scale)
    {
        const TensorInfo info({4}, DataType::QAsymmU8, scale, 0); // takes anything
        const INetworkPtr network = INetwork::Create();
        IConnectableLayer* relu = network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu), "relu");
        Connect(AddInput(*network, 0, info), relu);
        relu->GetOutputSlot(0).SetTensorInfo(info);
        Connect(relu, network->AddOutputLayer(0));
        return MessageOf<UnimplementedException>([&] { Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()); });
    };
    for (const float scale : {-1.0f, 0.0f, std::numeric_limits<float>::infinity()})
    {
        EXPECT_THAT(refusal(scale), HasSubstr("positive and finite"));
    }
}

TEST(Optimize, NamesEveryUnsupportedLayerAtOnce)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({4}));
    for (const char* name : {"SVDF", "RNN"})
    {
        CustomDescriptor descriptor;
        descriptor.m_Name = name;
        descriptor.m_NumInputs = 1;
        descriptor.m_NumOutputs = 1;
        IConnectableLayer* layer = network->AddCustomLayer(descriptor, name);
        layer->GetOutputSlot(0).SetTensorInfo(FloatInfo({4}));
        Connect(input, layer);
        Connect(layer, network->AddOutputLayer(name[0], name));
    }
    const IRuntimePtr runtime = MakeRuntime();
    const std::string message = MessageOf<UnimplementedException>(
        [&] {
            Optimize(*network, {"CpuAcc", "CpuRef"}, runtime->GetDeviceSpec());
        });
    EXPECT_THAT(message, HasSubstr("2 of 2 layers"));
    EXPECT_THAT(message, HasSubstr("(Custom 'SVDF'): CpuAcc: "));
    EXPECT_THAT(message, HasSubstr("(Custom 'RNN'): CpuAcc: "));
    EXPECT_THAT(message, HasSubstr("; CpuRef: "));
}

TEST(Optimize, AFailureIsTheLastMessage)
{
    const INetworkPtr network = INetwork::Create();
    CustomDescriptor descriptor;
    descriptor.m_Name = "Unknown";
    descriptor.m_NumInputs = 1;
    descriptor.m_NumOutputs = 1;
    IConnectableLayer* layer = network->AddCustomLayer(descriptor, "custom");
    layer->GetOutputSlot(0).SetTensorInfo(FloatInfo({4}));
    Connect(AddInput(*network, 0, FloatInfo({4})), layer);
    Connect(layer, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    std::vector<std::string> messages{"from before"};
    const auto optimize = [&]
    {
        Optimize(*network, {"Missing", "CpuRef"}, runtime->GetDeviceSpec(), {},
                 Optional<std::vector<std::string>&>(messages));
    };
    // As Arm NN: of the type that its programs catch, with the text in the messages.
    const std::string text = MessageOf<InvalidArgumentException>(optimize);
    EXPECT_THAT(text, HasSubstr("(Custom 'Unknown'): CpuRef: "));
    ASSERT_EQ(messages.size(), 3u);
    EXPECT_EQ(messages[0], "from before");
    EXPECT_THAT(messages[1], AllOf(StartsWith("WARNING: "), HasSubstr("'Missing'")));
    EXPECT_EQ(messages[2], "ERROR: " + text);
    EXPECT_THROW(optimize(), UnimplementedException) << "of the type that says that nothing else is wrong";

    messages.clear();
    const std::string noBackend = MessageOf<InvalidArgumentException>(
        [&] {
            Optimize(*network, {"Missing"}, runtime->GetDeviceSpec(), {},
                     Optional<std::vector<std::string>&>(messages));
        });
    ASSERT_FALSE(messages.empty());
    EXPECT_EQ(messages.back(), "ERROR: " + noBackend);
}

namespace
{

/// What Optimize() says of a layer whose first `numConnected` inputs are connected.
template <typename AddLayer>
std::string RefusalOfOpenInput(AddLayer addLayer, unsigned int numConnected)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = addLayer(*network);
    for (unsigned int i = 0; i < numConnected; ++i)
    {
        Connect(AddInput(*network, static_cast<LayerBindingId>(i), FloatInfo({1, 4, 4, 4})), layer, i);
    }
    for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
    {
        layer->GetOutputSlot(i).SetTensorInfo(FloatInfo({1, 4, 4, 4}));
        layer->GetOutputSlot(i).Connect(network->AddOutputLayer(static_cast<LayerBindingId>(i))->GetInputSlot(0));
    }
    const IRuntimePtr runtime = MakeRuntime();
    return MessageOf<LayerValidationException>([&] { Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()); });
}

} // namespace

TEST(Optimize, RefusesLayersThatLackAnInputThatTheirParametersAskFor)
{
    const auto isOpen = [](unsigned int input)
    { return HasSubstr("input " + std::to_string(input) + " of layer 0 'l' ("); };
    const auto weighted = [&](auto descriptor, auto method)
    {
        const auto add = [&](INetwork& network) { return (network.*method)(descriptor, "l"); };
        descriptor.m_BiasEnabled = true;
        EXPECT_THAT(RefusalOfOpenInput(add, 2), isOpen(2));
        EXPECT_THAT(RefusalOfOpenInput(add, 1), isOpen(1));
        descriptor.m_BiasEnabled = false;
        EXPECT_THAT(RefusalOfOpenInput(add, 1), isOpen(1));
    };
    weighted(FullyConnectedDescriptor(), &INetwork::AddFullyConnectedLayer);
    weighted(Convolution2dDescriptor(), &INetwork::AddConvolution2dLayer);
    weighted(Convolution3dDescriptor(), &INetwork::AddConvolution3dLayer);
    weighted(DepthwiseConvolution2dDescriptor(), &INetwork::AddDepthwiseConvolution2dLayer);
    TransposeConvolution2dDescriptor transposed;
    const auto addTransposed = [&](INetwork& network)
    { return network.AddTransposeConvolution2dLayer(transposed, "l"); };
    transposed.m_BiasEnabled = true;
    EXPECT_THAT(RefusalOfOpenInput(addTransposed, 2), isOpen(2));
    transposed.m_ParametersAsInputs = true; // input 3 is the output's shape
    EXPECT_THAT(RefusalOfOpenInput(addTransposed, 2), isOpen(2));
    EXPECT_THAT(RefusalOfOpenInput(addTransposed, 3), isOpen(3));
    transposed.m_BiasEnabled = false;
    EXPECT_THAT(RefusalOfOpenInput(addTransposed, 2), isOpen(3));

    EXPECT_THAT(
        RefusalOfOpenInput([](INetwork& network) { return network.AddConcatLayer(ConcatDescriptor(3), "l"); }, 2),
        isOpen(2));
    EXPECT_THAT(RefusalOfOpenInput(
                    [](INetwork& network) {
                        return network.AddStackLayer(StackDescriptor(0, 2, TensorShape({1, 4, 4, 4})), "l");
                    },
                    1),
                isOpen(1));
    EXPECT_THAT(
        RefusalOfOpenInput([](INetwork& network) { return network.AddStandInLayer(StandInDescriptor(2, 1), "l"); }, 1),
        isOpen(1));
    ReshapeDescriptor reshape;
    reshape.m_ParametersAsInputs = true;
    EXPECT_THAT(RefusalOfOpenInput([&](INetwork& network) { return network.AddReshapeLayer(reshape, "l"); }, 1),
                isOpen(1));
}

TEST(Optimize, OptionalInputsMayStayOpen)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* normalized = network->AddLayerNormalizationLayer(LayerNormalizationDescriptor(), "normalized");
    Connect(AddInput(*network, 0, FloatInfo({1, 2})), normalized);
    Connect(normalized, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *network);
    const std::vector<float> values = RunFloat(*runtime, id, {1, 2}, {1.0f, 3.0f});
    EXPECT_NEAR(values.at(0), -1.0f, 1e-3f);
    EXPECT_NEAR(values.at(1), 1.0f, 1e-3f);
}

namespace
{

/// A Fill of sizes that come in, or are `sizes`, with a declared output.
INetworkPtr MakeFill(const TensorShape& declared, const std::vector<int32_t>& sizes = {})
{
    INetworkPtr network = INetwork::Create();
    const auto owned = std::make_shared<const std::vector<int32_t>>(sizes);
    const TensorInfo info({2}, DataType::Signed32, 0.0f, 0, !sizes.empty());
    IConnectableLayer* source = sizes.empty()
                                    ? AddInput(*network, 0, info)
                                    : network->AddConstantLayer(ConstTensor(info, owned->data()), owned, "sizes");
    IConnectableLayer* fill = network->AddFillLayer(FillDescriptor(7.0f), "fill");
    Connect(source, fill);
    fill->GetOutputSlot(0).SetTensorInfo(TensorInfo(declared, DataType::Float32));
    Connect(fill, network->AddOutputLayer(0, "out"));
    return network;
}

} // namespace

TEST(Optimize, DeclaredSizesOfAnOutputCountWhereInferenceKnowsNone)
{
    const IRuntimePtr runtime = MakeRuntime();
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(*MakeFill({2, 3}), {"CpuRef"}, runtime->GetDeviceSpec()));
    const TensorInfo info = runtime->GetOutputTensorInfo(id, 0);
    ASSERT_EQ(info.GetShape(), TensorShape({2, 3}));
    int32_t sizes[] = {2, 3};
    const InputTensors inputs{
        {0, ConstTensor(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), static_cast<const void*>(sizes))}};
    std::vector<float> values(7, -1.0f); // one more than the tensor
    const OutputTensors outputs{{0, Tensor(info, values.data())}};
    EXPECT_EQ(runtime->EnqueueWorkload(id, inputs, outputs), Status::Success);
    EXPECT_EQ(values, (std::vector<float>{7, 7, 7, 7, 7, 7, -1}));

    // A run of other sizes is an error for the tensor, and known to an allocator.
    sizes[0] = 4;
    values.assign(7, -1.0f);
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { runtime->EnqueueWorkload(id, inputs, outputs); }),
                AllOf(HasSubstr("output 0 'out' has 48 bytes"), HasSubstr("the tensor given has 24")));
    EXPECT_EQ(values, std::vector<float>(7, -1.0f));
    std::vector<float> allocated;
    runtime->EnqueueWorkload(id, inputs,
                             OutputAllocator(
                                 [&](LayerBindingId, const TensorInfo& output)
                                 {
                                     EXPECT_EQ(output.GetShape(), TensorShape({4, 3}));
                                     allocated.resize(output.GetNumElements());
                                     return allocated.data();
                                 }));
    EXPECT_EQ(allocated, std::vector<float>(12, 7.0f));
}

/// A model that was converted with data in which nothing was found declares no elements.
TEST(Optimize, DeclaredSizesOfAnOutputThatItsExecutionShapesDoNotCount)
{
    const IRuntimePtr runtime = MakeRuntime();
    for (const TensorShape& declared : {TensorShape({0, 1}), TensorShape({3, 1})})
    {
        const INetworkPtr network = INetwork::Create();
        IConnectableLayer* where = network->AddWhereLayer("where");
        Connect(AddInput(*network, 0, FloatInfo({4})), where);
        where->GetOutputSlot(0).SetTensorInfo(TensorInfo(declared, DataType::Signed64));
        Connect(where, network->AddOutputLayer(0));
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()));
        for (const std::vector<float>& values : {std::vector<float>{0, 1, 0, 2}, std::vector<float>(4)})
        {
            TensorInfo info = FloatInfo({4});
            info.SetConstant();
            std::vector<int64_t> found;
            runtime->EnqueueWorkload(id, {{0, ConstTensor(info, values)}},
                                     OutputAllocator(
                                         [&](LayerBindingId, const TensorInfo& output)
                                         {
                                             found.resize(output.GetNumElements());
                                             return found.data();
                                         }));
            EXPECT_EQ(found, values[1] == 1.0f ? (std::vector<int64_t>{1, 3}) : std::vector<int64_t>());
        }
    }
}

TEST(Optimize, DeclaredSizesFillInWhatInferenceLeavesOpen)
{
    const IRuntimePtr runtime = MakeRuntime();
    const auto shapeOf = [&](const INetwork& network)
    { return runtime->GetOutputTensorInfo(Load(*runtime, network), 0).GetShape(); };
    const TensorShape partly({0, 3}, {false, true});
    EXPECT_EQ(shapeOf(*MakeFill(partly)), partly);
    EXPECT_EQ(shapeOf(*MakeFill(TensorShape())), TensorShape());
    // Where inference knows the sizes they win, and a contradiction is refused.
    EXPECT_EQ(shapeOf(*MakeFill(partly, {4, 3})), TensorShape({4, 3}));
    EXPECT_THAT(MessageOf<LayerValidationException>(
                    [&] {
                        shapeOf(*MakeFill({2, 3}, {4, 3}));
                    }),
                AllOf(HasSubstr("'fill' (Fill)"), HasSubstr("[2,3]"), HasSubstr("[4,3]")));

    // A layer behind it does not take the declaration for the truth: the rank is known, the sizes are not.
    const INetworkPtr network = INetwork::Create();
    TensorInfo open = FloatInfo({1, 1});
    open.SetShape(TensorShape(2, false));
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(AddInput(*network, 0, open), floor);
    floor->GetOutputSlot(0).SetTensorInfo(FloatInfo({2, 3}));
    Connect(floor, network->AddOutputLayer(0));
    EXPECT_EQ(shapeOf(*network), TensorShape({2, 3}));
    floor->GetOutputSlot(0).SetTensorInfo(FloatInfo({6})); // of another rank than the layer gives
    EXPECT_EQ(shapeOf(*network), TensorShape(2, false));

    OptimizerOptionsOpaque options;
    Limits limits;
    limits.m_MaxTensorBytes = 1000;
    options.SetLimits(limits);
    EXPECT_THAT(MessageOf<LimitExceededException>(
                    [&] {
                        Optimize(*MakeFill({1000, 1000}), {"CpuRef"}, runtime->GetDeviceSpec(), options);
                    }),
                HasSubstr("m_MaxTensorBytes"));
}

TEST(Optimize, VisitorsSeeConstantsThatAnAddMethodTookWithTheirLayer)
{
    struct Visitor final : IStrategy
    {
        void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&,
                             const std::vector<ConstTensor>& constants, const char* name, LayerBindingId) override
        {
            m_Names.emplace_back(name);
            if (layer->GetType() == LayerType::BatchNormalization)
            {
                m_NumInputs = layer->GetNumInputSlots();
                for (const ConstTensor& tensor : constants)
                {
                    m_Values.push_back(static_cast<const float*>(tensor.GetMemoryArea())[0]);
                }
            }
        }
        std::vector<std::string> m_Names;
        std::vector<float> m_Values;
        unsigned int m_NumInputs = 0;
    };
    const std::vector<std::vector<float>> values{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    std::vector<ConstTensor> tensors;
    for (const std::vector<float>& list : values)
    {
        tensors.emplace_back(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), list);
    }
    BatchNormalizationDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* norm =
        network->AddBatchNormalizationLayer(descriptor, tensors[0], tensors[1], tensors[2], tensors[3], "norm");
    Connect(AddInput(*network, 0, FloatInfo({1, 1, 1, 2})), norm);
    Connect(norm, network->AddOutputLayer(0, "out"));
    const IRuntimePtr runtime = MakeRuntime();
    Visitor visitor;
    Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec())->ExecuteStrategy(visitor);
    EXPECT_THAT(visitor.m_Names, ElementsAre("input", "norm", "out"));
    EXPECT_THAT(visitor.m_Values, ElementsAre(1, 3, 5, 7));
    EXPECT_EQ(visitor.m_NumInputs, 1u);
}

TEST(Assignment, FollowsThePreferenceAndSaysWhy)
{
    auto fake = std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::Floor});
    const IRuntimePtr runtime = MakeRuntime({fake});
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(AddInput(*network, 0, FloatInfo({4})), floor);
    Connect(floor, abs);
    Connect(abs, network->AddOutputLayer(0, "out"));

    std::vector<std::string> messages;
    auto optimized = Optimize(*network, {"Missing", "Fake", "CpuRef"}, runtime->GetDeviceSpec(), {},
                              Optional<std::vector<std::string>&>(messages));
    std::vector<std::string> table;
    for (const LayerAssignment& layer : optimized->GetAssignment())
    {
        table.push_back(layer.m_Name + "|" + layer.m_Backend.Get() + "|" + layer.m_Reason);
    }
    EXPECT_THAT(table, ElementsAre("input|Fake|bound by the runtime", "floor|Fake|preferred",
                                   "abs|CpuRef|Fake: not in the fake's list", "out|CpuRef|bound by the runtime"));
    EXPECT_THAT(messages, Contains(HasSubstr("backend 'Missing' is not there")));
    EXPECT_THAT(messages, Contains(HasSubstr("falling back to CpuRef")));

    // Every workload comes from its own backend's factory.
    EXPECT_EQ(fake->NumWorkloads(), 0) << "asking for support must not make workloads";
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    EXPECT_EQ(fake->NumWorkloads(), 1);
    EXPECT_EQ(RunFloat(*runtime, id, {4}, {1.5f, -1.5f, 0.0f, 2.0f}), (std::vector<float>{1.0f, 2.0f, 0.0f, 2.0f}));
}

TEST(Assignment, QuantizationThatAKernelCannotRunGoesToTheNextBackend)
{
    const auto make = [](const TensorInfo& info, auto addLayer)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* layer = addLayer(*network);
        Connect(AddInput(*network, 0, info), layer);
        layer->GetOutputSlot(0).SetTensorInfo(info);
        Connect(layer, network->AddOutputLayer(0));
        return network;
    };
    const INetworkPtr perChannel =
        make(TensorInfo({2}, DataType::QSymmS16, std::vector<float>{0.5f, 0.25f}, 0), [](INetwork& network)
             { return network.AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu)); });
    const INetworkPtr noNumber = make(TensorInfo({2}, DataType::QAsymmS8, 0.5f, 0),
                                      [](INetwork& network)
                                      {
                                          SoftmaxDescriptor softmax;
                                          softmax.m_Beta = std::nanf("");
                                          return network.AddSoftmaxLayer(softmax);
                                      });
    auto fake = std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::Activation, LayerType::Softmax});
    const IRuntimePtr runtime = MakeRuntime({fake});
    for (const INetworkPtr* network : {&perChannel, &noNumber})
    {
        const auto alone = [&] { Optimize(**network, {"CpuRef"}, runtime->GetDeviceSpec()); };
        EXPECT_THROW(alone(), UnimplementedException);
        const auto optimized = Optimize(**network, {"CpuRef", "Fake"}, runtime->GetDeviceSpec());
        EXPECT_EQ(GraphOf(optimized).Layers()[1]->GetBackendId(), BackendId("Fake"));
    }
}

TEST(Assignment, HintComesBeforeThePreference)
{
    auto fake = std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::Floor});
    const IRuntimePtr runtime = MakeRuntime({fake});
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    floor->BackendSelectionHint(Optional<BackendId>(BackendId("Fake")));
    Connect(AddInput(*network, 0, FloatInfo({4})), floor);
    Connect(floor, network->AddOutputLayer(0));
    const auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    EXPECT_EQ(optimized->GetAssignment()[1].m_Backend, BackendId("Fake"));
}

TEST(Partition, NoSubgraphDependsOnItsOwnOutput)
{
    // a(F) -> b(ref) -> c(F), and a -> c directly: a and c must not become one subgraph.
    auto fake =
        std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::Floor, LayerType::ElementwiseBinary});
    const IRuntimePtr runtime = MakeRuntime({fake});
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* a = network->AddFloorLayer("a");
    IConnectableLayer* b = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "b");
    IConnectableLayer* c = network->AddAdditionLayer("c");
    IConnectableLayer* d = network->AddFloorLayer("d");
    Connect(AddInput(*network, 0, FloatInfo({1})), a);
    Connect(a, b);
    Connect(a, c, 0);
    Connect(b, c, 1);
    Connect(a, d);
    Connect(c, network->AddOutputLayer(0));
    Connect(d, network->AddOutputLayer(1));
    const auto optimized = Optimize(*network, {"Fake", "CpuRef"}, runtime->GetDeviceSpec());
    std::map<std::string, unsigned int> subgraph;
    for (const LayerAssignment& layer : optimized->GetAssignment())
    {
        subgraph[layer.m_Name] = layer.m_Subgraph;
    }
    EXPECT_EQ(subgraph["a"], subgraph["d"]);
    EXPECT_LT(subgraph["a"], subgraph["b"]);
    EXPECT_LT(subgraph["b"], subgraph["c"]);
}

TEST(Passes, PermuteBecomesTransposeWithTheInverseMapping)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* permute = network->AddPermuteLayer(PermuteDescriptor({2, 0, 1}), "p");
    Connect(AddInput(*network, 0, FloatInfo({2, 3, 4})), permute);
    Connect(permute, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    const auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    const Layer& layer = *GraphOf(optimized).Layers()[1];
    ASSERT_EQ(layer.GetType(), LayerType::Transpose);
    EXPECT_EQ(layer.Descriptor<TransposeDescriptor>().m_DimMappings, PermutationVector({1, 2, 0}));
    // dst_dim[m[i]] = src_dim[i]
    EXPECT_EQ(layer.Output(0).GetTensorInfo().GetShape(), TensorShape({3, 4, 2}));
    EXPECT_EQ(layer.GetGuid(), permute->GetGuid());
}

TEST(Passes, TransposesThatCancelGo)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* there = network->AddTransposeLayer(TransposeDescriptor({1, 2, 0}));
    IConnectableLayer* back = network->AddTransposeLayer(TransposeDescriptor({2, 0, 1}));
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(AddInput(*network, 0, FloatInfo({2, 3, 4})), there);
    Connect(there, back);
    Connect(back, floor);
    Connect(floor, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    EXPECT_THAT(TypesOf(Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec())),
                ElementsAre(LayerType::Input, LayerType::Floor, LayerType::Output));
}

TEST(Passes, DeadLayersGo)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    IConnectableLayer* dead = network->AddFloorLayer("dead");
    Connect(input, dead);
    Connect(dead, network->AddFloorLayer("deader"));
    Connect(input, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    EXPECT_THAT(TypesOf(Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec())),
                ElementsAre(LayerType::Input, LayerType::Output));
}

TEST(Passes, NchwConvolutionGivesTheResultOfTheNhwcOne)
{
    // 1x2x3x3 input, two 2x2 filters over two channels, followed by a pool; once in each layout.
    auto build = [](DataLayout layout)
    {
        const bool nchw = layout == DataLayout::NCHW;
        INetworkPtr network = INetwork::Create();
        Convolution2dDescriptor conv;
        conv.m_DataLayout = layout;
        // weights[o][h][w][i] = 1 + its position in OHWI order; the NCHW network gets the same filter as OIHW
        std::vector<float> weights(16);
        for (unsigned int o = 0; o < 2; ++o)
        {
            for (unsigned int h = 0; h < 2; ++h)
            {
                for (unsigned int w = 0; w < 2; ++w)
                {
                    for (unsigned int i = 0; i < 2; ++i)
                    {
                        const unsigned int ohwi = ((o * 2 + h) * 2 + w) * 2 + i;
                        const unsigned int oihw = ((o * 2 + i) * 2 + h) * 2 + w;
                        weights[nchw ? oihw : ohwi] = static_cast<float>(1 + ohwi);
                    }
                }
            }
        }
        auto owner = std::make_shared<std::vector<float>>(weights);
        IConnectableLayer* constant = network->AddConstantLayer(
            ConstTensor(TensorInfo({2, 2, 2, 2}, DataType::Float32, 0.0f, 0, true), owner->data()), owner, "w");
        IConnectableLayer* layer = network->AddConvolution2dLayer(conv, "conv");
        Pooling2dDescriptor pool;
        pool.m_DataLayout = layout;
        pool.m_PoolHeight = 1;
        pool.m_PoolWidth = 2;
        pool.m_StrideX = 1;
        pool.m_StrideY = 1;
        IConnectableLayer* pooled = network->AddPooling2dLayer(pool, "pool");
        Connect(AddInput(*network, 0, nchw ? FloatInfo({1, 2, 3, 3}) : FloatInfo({1, 3, 3, 2})), layer);
        Connect(constant, layer, 1);
        Connect(layer, pooled);
        Connect(pooled, network->AddOutputLayer(0));
        return network;
    };
    std::vector<float> nhwc = Ramp(18, -4.0f);
    std::vector<float> nchw(18);
    for (unsigned int pixel = 0; pixel < 9; ++pixel)
    {
        for (unsigned int c = 0; c < 2; ++c)
        {
            nchw[c * 9 + pixel] = nhwc[pixel * 2 + c];
        }
    }
    const IRuntimePtr runtime = MakeRuntime();
    const auto first = build(DataLayout::NHWC);
    const auto second = build(DataLayout::NCHW);
    auto optimized = Optimize(*second, {"CpuRef"}, runtime->GetDeviceSpec());
    EXPECT_THAT(TypesOf(optimized),
                ElementsAre(LayerType::Input, LayerType::Transpose, LayerType::Constant, LayerType::Convolution2d,
                            LayerType::Pooling2d, LayerType::Transpose, LayerType::Output))
        << "transposes between the two layers and of the weights must be gone";
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    const std::vector<float> got = RunFloat(*runtime, id, {1, 2, 3, 3}, nchw);                      // [1,2,2,1]
    const std::vector<float> want = RunFloat(*runtime, Load(*runtime, *first), {1, 3, 3, 2}, nhwc); // [1,2,1,2]
    ASSERT_EQ(want.size(), 4u);
    EXPECT_EQ(got, (std::vector<float>{want[0], want[2], want[1], want[3]}));
}

TEST(OptimizerOptions, EachOfTheOlderFormKeepsItsPlace)
{
    using Set = void (*)(OptimizerOptions&);
    using Get = bool (*)(const OptimizerOptionsOpaque&);
    const std::pair<Set, Get> options[] = {
        {[](auto& o) { o.m_ReduceFp32ToFp16 = true; }, [](auto& o) { return o.GetReduceFp32ToFp16(); }},
        {[](auto& o) { o.m_ReduceFp32ToBf16 = true; }, [](auto& o) { return o.GetReduceFp32ToBf16(); }},
        {[](auto& o) { o.m_Debug = true; }, [](auto& o) { return o.GetDebugEnabled(); }},
        {[](auto& o) { o.m_DebugToFile = true; }, [](auto& o) { return o.GetDebugToFileEnabled(); }},
        {[](auto& o) { o.m_ImportEnabled = true; }, [](auto& o) { return o.GetImportEnabled(); }},
        {[](auto& o) { o.m_ExportEnabled = true; }, [](auto& o) { return o.GetExportEnabled(); }},
        {[](auto& o) { o.m_ProfilingEnabled = true; }, [](auto& o) { return o.GetProfilingEnabled(); }},
        {[](auto& o) { o.m_AllowExpandedDims = true; }, [](auto& o) { return o.GetAllowExpandedDims(); }},
        {[](auto& o) { o.m_shapeInferenceMethod = ShapeInferenceMethod::InferAndValidate; },
         [](auto& o) { return o.GetShapeInferenceMethod() == ShapeInferenceMethod::InferAndValidate; }},
        {[](auto& o) { o.m_ModelOptions.emplace_back("CpuAcc"); },
         [](auto& o) { return !o.GetModelOptions().empty(); }}};
    for (size_t i = 0; i < std::size(options); ++i)
    {
        OptimizerOptions older;
        options[i].first(older);
        const OptimizerOptionsOpaque opaque = older;
        for (size_t k = 0; k < std::size(options); ++k)
        {
            EXPECT_EQ(options[k].second(opaque), k == i) << i << ", " << k;
        }
        EXPECT_EQ(older.ToString(), opaque.ToString());
    }
    // By position: what either form's constructors take.
    EXPECT_EQ(OptimizerOptions(true, false, false, true).ToString(),
              OptimizerOptionsOpaque(true, false, false, true).ToString());
    EXPECT_EQ(OptimizerOptions(false, true, false, false, {}, true, false).ToString(),
              OptimizerOptionsOpaque(false, true, false, false, {}, true, false).ToString());
    const auto infer = ShapeInferenceMethod::InferAndValidate;
    EXPECT_EQ(OptimizerOptions(false, false, true, infer, false, {}, false, true, true).ToString(),
              OptimizerOptionsOpaque(false, false, true, infer, false, {}, false, true, true).ToString());
}

TEST(OptimizerOptions, TextNamesEveryOption)
{
    OptimizerOptionsOpaque options(false, true);
    options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", 4}}));
    EXPECT_THAT(options.ToString(), HasSubstr("Debug: true"));
    EXPECT_THAT(options.ToString(), HasSubstr("CpuAcc.NumberOfThreads: 4"));
}

} // namespace tenon::test::optimize_test
