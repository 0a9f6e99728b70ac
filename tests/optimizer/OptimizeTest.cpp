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
    EXPECT_THROW(Optimize(*open, {"CpuRef"}, spec), GraphValidationException);

    const INetworkPtr noInfo = INetwork::Create();
    Connect(noInfo->AddInputLayer(0, "blank"), noInfo->AddOutputLayer(0));
    EXPECT_THAT(MessageOf<GraphValidationException>([&] { Optimize(*noInfo, {"CpuRef"}, spec); }), HasSubstr("blank"));

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
    EXPECT_THROW(Optimize(*noType, {"CpuRef"}, spec), GraphValidationException);

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
    constexpr unsigned int Most = std::numeric_limits<unsigned int>::max();
    IConnectableLayer* tile = large->AddTileLayer(TileDescriptor({Most, Most, Most}), "tiles");
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
    const auto refusal = [&](float scale, int32_t zeroPoint)
    {
        const TensorInfo info({4}, DataType::QAsymmU8, scale, zeroPoint); // takes anything
        const INetworkPtr network = INetwork::Create();
        IConnectableLayer* relu = network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu), "relu");
        Connect(AddInput(*network, 0, info), relu);
        relu->GetOutputSlot(0).SetTensorInfo(info);
        Connect(relu, network->AddOutputLayer(0));
        return MessageOf<UnimplementedException>([&] { Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()); });
    };
    for (const float scale : {-1.0f, 0.0f, std::numeric_limits<float>::infinity()})
    {
        EXPECT_THAT(refusal(scale, 0), HasSubstr("positive and finite"));
    }
    EXPECT_THAT(refusal(1.0f, 300), HasSubstr("zero point 300"));
    EXPECT_THAT(refusal(1.0f, -1), HasSubstr("zero point -1"));
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
