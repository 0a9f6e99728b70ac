// SPDX-License-Identifier: Apache-2.0
// The fusions of plans at their borders: networks on one side and the other of each condition, the reasons that are
// given, that outputs are the same bytes with and without each fusion but Attention, and IRuntime::GetPlan.
#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "runtime/ConcatNetworks.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <tenon/Exceptions.hpp>

#include <gmock/gmock.h>

#include <functional>
#include <numeric>

namespace tenon::test::fusions_test
{

namespace
{

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

/// All outputs on two threads without some fusions.
std::vector<Floats> RunWithout(const INetwork& network, const std::vector<std::string>& fusions)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    INetworkProperties properties;
    properties.m_NumberOfThreads = 2;
    properties.m_DisabledFusions = fusions;
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(network, {"CpuAcc", "CpuRef"}, runtime->GetDeviceSpec()), properties);
    return RunRandom(*runtime, id, network);
}

/// Expects one outcome of a fusion at a step, and the same bytes with and without it.
void ExpectOutcome(const INetwork& network, const std::string& fusion, LayerType type, const std::string& whyNot,
                   size_t which = 0)
{
    const Planned plan(network, {"CpuAcc", "CpuRef"});
    EXPECT_EQ(plan.WhyNot(fusion, plan.FindStep(type, which)), whyNot);
    if (fusion != "Attention") // which may take sums in another order
    {
        EXPECT_EQ(RunWithout(network, {}), RunWithout(network, {fusion}));
    }
    const Planned without(network, {"CpuAcc", "CpuRef"}, {}, {fusion});
    EXPECT_THAT(without.Names(), Not(Contains(fusion)));
}

// Elementwise chains.

IConnectableLayer* AddImage(INetwork& network, LayerBindingId id, const TensorShape& shape = {8, 64, 16})
{
    return AddInput(network, id, TensorInfo(shape, DataType::Float32));
}

INetworkPtr MakeChain(const std::function<IConnectableLayer*(INetwork&, IConnectableLayer*)>& second,
                      const TensorShape& shape = {8, 64, 16})
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* first = AddUnary(*network, AddImage(*network, 0, shape), UnaryOperation::Abs);
    AddOutputs(*network, {second(*network, first)});
    return network;
}

IConnectableLayer* AddOne(INetwork& network, IConnectableLayer* from)
{
    return AddUnary(network, from);
}

} // namespace

TEST(Fusions, ChainOfTwoElementwiseLayers)
{
    ExpectOutcome(*MakeChain(&AddOne), "ElementwiseChain", LayerType::ElementwiseUnary, "");
}

TEST(Fusions, ChainNeedsTensorsOfSomeKilobytes)
{
    const auto count = [](const TensorShape& shape)
    { return Planned(*MakeChain(&AddOne, shape), "CpuAcc").Get().GetFusedRuns().size(); };
    EXPECT_EQ(count({1024}), 1u);
    EXPECT_EQ(count({1023}), 0u);
}

TEST(Fusions, ChainEndsAtALayerThatIsNotElementwise)
{
    const auto network = MakeChain(
        [](INetwork& net, IConnectableLayer* from)
        {
            IConnectableLayer* softmax = net.AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
            Connect(from, softmax);
            return softmax;
        });
    ExpectOutcome(*network, "ElementwiseChain", LayerType::ElementwiseUnary,
                  "the kernel of the next layer offers no loop of elements");
}

TEST(Fusions, ChainEndsAtAnotherNumberOfElements)
{
    const auto network = MakeChain(
        [](INetwork& net, IConnectableLayer* from) {
            return AddBinary(net, BinaryOperation::Mul, from, AddImage(net, 1, {5, 8, 64, 16}));
        });
    ExpectOutcome(*network, "ElementwiseChain", LayerType::ElementwiseUnary,
                  "the next layer has another number of elements");
}

TEST(Fusions, ChainEndsWhereItsTensorIsAnOutput)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* first = AddUnary(*network, AddImage(*network, 0), UnaryOperation::Abs);
    AddOutputs(*network, {first, AddUnary(*network, first)});
    ExpectOutcome(*network, "ElementwiseChain", LayerType::ElementwiseUnary,
                  "its output is read by layers further on, or is an output of the network");
}

TEST(Fusions, ChainTakesInputsThatAreBroadcastAlongTheFirstDimensionsAlone)
{
    const auto make = [](const TensorShape& shape)
    {
        return MakeChain([&](INetwork& net, IConnectableLayer* from)
                         { return AddBinary(net, BinaryOperation::Mul, from, AddImage(net, 1, shape)); });
    };
    for (const TensorShape& shape : {TensorShape{16}, TensorShape{64, 16}, TensorShape{1, 64, 16}, TensorShape{1}})
    {
        ExpectOutcome(*make(shape), "ElementwiseChain", LayerType::ElementwiseUnary, "");
    }
    for (const TensorShape& shape : {TensorShape{64, 1}, TensorShape{8, 1, 16}, TensorShape{8, 64, 1}})
    {
        ExpectOutcome(*make(shape), "ElementwiseChain", LayerType::ElementwiseUnary,
                      "an input is broadcast in another way than along the first dimensions");
    }
}

// Residual additions.

namespace
{

IConnectableLayer* AddConvolution(INetwork& network, IConnectableLayer* from, unsigned int channels)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = 1;
    IConnectableLayer* layer = network.AddConvolution2dLayer(d, "convolution");
    Connect(from, layer);
    TensorInfo info({channels, 3, 3, channels}, DataType::Float32);
    info.SetConstant();
    const auto values = std::make_shared<Floats>(info.GetNumElements());
    for (size_t i = 0; i < values->size(); ++i)
    {
        (*values)[i] = static_cast<float>(i * 7 % 23) * 0.01f - 0.1f;
    }
    Connect(network.AddConstantLayer(ConstTensor(info, values->data()), values), layer, 1);
    return layer;
}

constexpr unsigned int Channels = 12;

/// `between` layers lie between the convolution and the addition of its input.
INetworkPtr MakeResidual(unsigned int between, const TensorShape& residual = {1, 9, 7, Channels})
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* image = AddInput(*network, 0, FloatInfo({1, 9, 7, Channels}));
    IConnectableLayer* other = AddInput(*network, 1, TensorInfo(residual, DataType::Float32));
    IConnectableLayer* convolution = AddConvolution(*network, image, Channels);
    for (unsigned int i = 0; i < between; ++i)
    {
        IConnectableLayer* softmax = network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
        Connect(other, softmax);
        other = softmax;
    }
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Add, convolution, other)});
    return network;
}

} // namespace

TEST(Fusions, ResidualAddBehindItsConvolution)
{
    ExpectOutcome(*MakeResidual(0), "ResidualAdd", LayerType::Convolution2d, "");
}

TEST(Fusions, ResidualAddBroadcastsNothing)
{
    ExpectOutcome(*MakeResidual(0, {Channels}), "ResidualAdd", LayerType::Convolution2d,
                  "the addition broadcasts an input");
}

TEST(Fusions, ResidualAddHasOneReader)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* image = AddInput(*network, 0, FloatInfo({1, 9, 7, Channels}));
    IConnectableLayer* convolution = AddConvolution(*network, image, Channels);
    IConnectableLayer* softmax = AddSoftmax(*network, convolution);
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Add, convolution, softmax)});
    ExpectOutcome(*network, "ResidualAdd", LayerType::Convolution2d, "another layer reads its output");
}

TEST(Fusions, ResidualAddIsTakenByTheLaterOfTwoConvolutions)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* image = AddInput(*network, 0, FloatInfo({1, 9, 7, Channels}));
    IConnectableLayer* first = AddConvolution(*network, image, Channels);
    IConnectableLayer* second =
        AddConvolution(*network, AddInput(*network, 1, FloatInfo({1, 9, 7, Channels})), Channels);
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Add, first, second)});
    ExpectOutcome(*network, "ResidualAdd", LayerType::Convolution2d,
                  "the addition runs with the layer of its other input", 0);
    ExpectOutcome(*network, "ResidualAdd", LayerType::Convolution2d, "", 1);
}

// Concats in place.

namespace
{

INetworkPtr MakeConcat(unsigned int axis, unsigned int rows, unsigned int columns)
{
    INetworkPtr network = INetwork::Create();
    std::vector<IConnectableLayer*> parts;
    for (LayerBindingId i = 0; i < 2; ++i)
    {
        parts.push_back(AddUnary(*network, AddInput(*network, i, FloatInfo({rows, columns}))));
    }
    AddOutputs(*network, {AddUnary(*network, AddConcat(*network, parts, axis), UnaryOperation::Abs)});
    return network;
}

} // namespace

TEST(Fusions, ConcatOfRowsIsInPlace)
{
    ExpectOutcome(*MakeConcat(0, 4, 16), "ConcatInPlace", LayerType::Concat, "");
}

TEST(Fusions, ConcatOfColumnsNeedsAWriterWithAPitch)
{
    ExpectOutcome(*MakeConcat(1, 4, 16), "ConcatInPlace", LayerType::Concat,
                  "the layer before it is a view, works in place or in a fused run, or is none");
}

TEST(Fusions, ConcatOfChannelsOfConvolutionsIsInPlace)
{
    INetworkPtr network = INetwork::Create();
    std::vector<IConnectableLayer*> parts;
    for (LayerBindingId i = 0; i < 2; ++i)
    {
        parts.push_back(AddConvolution(*network, AddInput(*network, i, FloatInfo({1, 9, 7, Channels})), Channels));
    }
    IConnectableLayer* softmax = AddSoftmax(*network, AddConcat(*network, parts, 3, 4));
    AddOutputs(*network, {softmax});
    ExpectOutcome(*network, "ConcatInPlace", LayerType::Concat, "");
}

// Attention and cross-layer tiling. Their own tests vary shapes: AttentionTest.cpp, CrossLayerTilingTest.cpp.

namespace
{

struct AttentionOf
{
    unsigned int m_Length = 64;
    bool m_GivesScores = false;
    bool m_HasSoftmax = true;
    int m_Axis = -1;
};

INetworkPtr MakeAttention(const AttentionOf& of)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* queries = AddInput(*network, 0, FloatInfo({3, of.m_Length, 16}));
    IConnectableLayer* keys = AddInput(*network, 1, FloatInfo({3, 16, of.m_Length}));
    IConnectableLayer* values = AddInput(*network, 2, FloatInfo({3, of.m_Length, 16}));
    IConnectableLayer* scores = AddProduct(*network, queries, keys);
    IConnectableLayer* shares = AddUnary(*network, scores, UnaryOperation::Abs);
    if (of.m_HasSoftmax)
    {
        shares = network->AddSoftmaxLayer(
            [&]
            {
                SoftmaxDescriptor descriptor;
                descriptor.m_Axis = of.m_Axis;
                return descriptor;
            }(),
            "softmax");
        Connect(scores, shares);
    }
    AddOutputs(*network, {AddProduct(*network, shares, values)});
    if (of.m_GivesScores)
    {
        Connect(scores, network->AddOutputLayer(1));
    }
    return network;
}

} // namespace

TEST(Fusions, AttentionOfASoftmaxOfRows)
{
    AttentionOf of;
    ExpectOutcome(*MakeAttention(of), "Attention", LayerType::BatchMatMul, "");
    of.m_GivesScores = true;
    ExpectOutcome(*MakeAttention(of), "Attention", LayerType::BatchMatMul,
                  "another layer reads a tensor between its layers");
    of = {};
    of.m_Axis = 1;
    ExpectOutcome(*MakeAttention(of), "Attention", LayerType::BatchMatMul,
                  "the product is not followed by a Softmax of its rows and a product of that");
    of = {};
    of.m_HasSoftmax = false;
    const Planned plan(*MakeAttention(of), "CpuAcc");
    EXPECT_NE(plan.WhyNot("Attention", plan.FindStep(LayerType::BatchMatMul)), "");
}

TEST(Fusions, AttentionOfFewScoresIsNotTried)
{
    AttentionOf of;
    of.m_Length = 36; // 3 * 36 * 36 floats are 15.2 KiB
    EXPECT_THAT(Planned(*MakeAttention(of), "CpuAcc").Names(), Not(Contains("Attention")));
    of.m_Length = 37; // 16.04 KiB
    EXPECT_THAT(Planned(*MakeAttention(of), "CpuAcc").Names(), Contains("Attention"));
}

TEST(Fusions, TiledRunNeedsLargeTensorsBetweenItsLayers)
{
    const auto whyNot = [](unsigned int rows)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* first = AddUnary(*network, AddImage(*network, 0, {24, rows, 512}), UnaryOperation::Abs);
        IConnectableLayer* softmax = network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
        Connect(first, softmax);
        AddOutputs(*network, {softmax});
        const Planned plan(*network, "CpuAcc");
        EXPECT_EQ(RunWithout(*network, {}), RunWithout(*network, {"CrossLayerTiling"}));
        return plan.WhyNot("CrossLayerTiling", plan.FindStep(LayerType::ElementwiseUnary));
    };
    EXPECT_EQ(whyNot(64), "");                                                            // 3 MiB
    EXPECT_EQ(whyNot(32), "the tensors between its layers are small enough for a cache"); // 1.5 MiB
}

// A tiled run takes the beginning of a chain of the greatest length, behind which another chain begins.
TEST(Fusions, RunsDoNotOverlap)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
    Connect(AddImage(*network, 0, {64, 8, 1024}), last);
    for (int i = 0; i < 40; ++i)
    {
        last = AddUnary(*network, last, UnaryOperation::Abs);
    }
    AddOutputs(*network, {last});
    const Planned plan(*network, "CpuAcc");
    uint32_t next = 0;
    std::vector<FusionKind> kinds;
    for (const auto& run : plan.Get().GetFusedRuns())
    {
        EXPECT_GE(run->m_First, next);
        next = run->Last() + 1;
        kinds.push_back(run->m_Kind);
    }
    EXPECT_THAT(kinds, ElementsAre(FusionKind::CrossLayerTiling, FusionKind::ElementwiseChain));
    EXPECT_EQ(RunWithout(*network, {}), RunWithout(*network, GetFusionNames()));
}

namespace
{

/// CpuAcc, whose Concats say that they write with a pitch, too.
class PitchedConcats final : public IBackend
{
public:
    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return m_Inner->GetLayerSupport(options);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return std::make_unique<Factory>(m_Id, m_Inner->CreateWorkloadFactory(options));
    }

private:
    class Shaped final : public IShapedWorkload
    {
    public:
        explicit Shaped(std::unique_ptr<IShapedWorkload> inner)
            : m_Inner(std::move(inner)),
              m_Fusion(WrapFusion(m_Inner->GetFusion(), [](std::unique_ptr<IShapedWorkload> made) { return made; }))
        {
            m_Fusion.m_WritesPitched = true;
        }
        const FusionHooks& GetFusion() const override { return m_Fusion; }
        void Execute(const ExecuteArgs& args) const override { m_Inner->Execute(args); }

    private:
        std::unique_ptr<IShapedWorkload> m_Inner;
        FusionHooks m_Fusion;
    };
    class Workload final : public IWorkload
    {
    public:
        explicit Workload(std::unique_ptr<IWorkload> inner) : m_Inner(std::move(inner)) {}
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
        {
            EXPECT_EQ(args.m_OutputPitch, 0u) << "a layer with aliases is to be written with a pitch";
            return std::make_unique<Shaped>(m_Inner->Reshape(args));
        }
        const char* GetName() const override { return m_Inner->GetName(); }

    private:
        std::unique_ptr<IWorkload> m_Inner;
    };
    class Factory final : public IWorkloadFactory
    {
    public:
        Factory(const BackendId& id, std::unique_ptr<IWorkloadFactory> inner) : m_Id(id), m_Inner(std::move(inner)) {}
        const BackendId& GetBackendId() const override { return m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            auto workload = m_Inner->CreateWorkload(layer);
            return layer.m_Type == LayerType::Concat ? std::make_unique<Workload>(std::move(workload))
                                                     : std::move(workload);
        }

    private:
        BackendId m_Id;
        std::unique_ptr<IWorkloadFactory> m_Inner;
    };

    BackendId m_Id = "PitchedConcats";
    std::shared_ptr<const IBackend> m_Inner = cpu::MakeCpuAccBackend();
};

/// A backend that gives no workload for known shapes.
class GivesNothing final : public IBackend
{
public:
    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return cpu::MakeCpuAccBackend()->GetLayerSupport(options);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions&) const override
    {
        return std::make_unique<Factory>();
    }

private:
    class Workload final : public IWorkload
    {
    public:
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs&) const override { return nullptr; }
        const char* GetName() const override { return "Nothing"; }
    };
    class Factory final : public IWorkloadFactory
    {
    public:
        const BackendId& GetBackendId() const override { return m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView&) const override
        {
            return std::make_unique<Workload>();
        }

    private:
        BackendId m_Id = "GivesNothing";
    };
    BackendId m_Id = "GivesNothing";
};

IRuntimePtr CreateRuntimeWith(std::shared_ptr<const IBackend> backend)
{
    IRuntime::CreationOptions options;
    options.m_Backends = {std::move(backend)};
    return IRuntime::Create(options);
}

} // namespace

TEST(Fusions, ConcatInPlaceIsNotWrittenWithAPitch)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* rows = AddConcat(
        *network,
        {AddUnary(*network, AddImage(*network, 0, {4, 16})), AddUnary(*network, AddImage(*network, 1, {4, 16}))}, 0);
    IConnectableLayer* joined = AddConcat(*network, {rows, AddUnary(*network, AddImage(*network, 2, {8, 16}))}, 1);
    AddOutputs(*network, {AddUnary(*network, joined, UnaryOperation::Abs)});
    const IRuntimePtr runtime = CreateRuntimeWith(std::make_shared<PitchedConcats>());
    const NetworkId id = Load(*runtime, *network, {"PitchedConcats"});
    const NetworkPlan plan = runtime->GetPlan(id);
    EXPECT_EQ(plan.m_Layers.size(), 6u);
    std::vector<Floats> values;
    values.reserve(3);
    InputTensors inputs;
    for (LayerBindingId i = 0; i < 3; ++i)
    {
        TensorInfo info = runtime->GetInputTensorInfo(id, i);
        info.SetConstant();
        Floats& data = values.emplace_back(info.GetNumElements());
        std::iota(data.begin(), data.end(), static_cast<float>(i * 1000));
        inputs.emplace_back(i, ConstTensor(info, data.data()));
    }
    Floats result(8 * 32);
    runtime->EnqueueWorkload(id, inputs, [&](LayerBindingId, const TensorInfo&) { return result.data(); });
    for (size_t row = 0; row < 8; ++row)
    {
        const Floats& left = values[row / 4];
        EXPECT_EQ(result[row * 32 + 5], left[row % 4 * 16 + 5]) << row;
        EXPECT_EQ(result[row * 32 + 16 + 5], values[2][row * 16 + 5]) << row;
    }
}

TEST(Fusions, BackendThatGivesNoWorkloadIsNamed)
{
    const INetworkPtr network = MakeChain(&AddOne);
    const IRuntimePtr runtime = CreateRuntimeWith(std::make_shared<GivesNothing>());
    try
    {
        Load(*runtime, *network, {"GivesNothing"});
        FAIL() << "it loads";
    }
    catch (const RuntimeException& e)
    {
        EXPECT_THAT(e.what(), AllOf(HasSubstr("on GivesNothing"), HasSubstr("Reshape gave no workload")));
    }
}

TEST(Fusions, AllNamesAreKnownAndOthersAreRefused)
{
    EXPECT_THAT(GetFusionNames(),
                ElementsAre("Attention", "ElementwiseChain", "CrossLayerTiling", "ResidualAdd", "ConcatInPlace"));
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeChain(&AddOne);
    INetworkProperties properties;
    properties.m_DisabledFusions = {"Attention", "Chain"};
    NetworkId id = 0;
    try
    {
        runtime->LoadNetwork(id, Optimize(*network, {"CpuAcc"}, runtime->GetDeviceSpec()), properties);
        FAIL() << "it loads";
    }
    catch (const InvalidArgumentException& e)
    {
        EXPECT_THAT(e.what(), AllOf(HasSubstr("no fusion 'Chain'"), HasSubstr("ElementwiseChain")));
    }
}

// Plans as applications see them.

TEST(NetworkPlan, SaysKernelsMemoryAndFusions)
{
    const INetworkPtr network = MakeResidual(0);
    const IRuntimePtr runtime = IRuntime::Create({});
    NetworkId id = 0;
    INetworkProperties properties;
    properties.m_NumberOfThreads = 2;
    runtime->LoadNetwork(id, Optimize(*network, {"CpuAcc", "CpuRef"}, runtime->GetDeviceSpec()), properties);
    const NetworkPlan plan = runtime->GetPlan(id);
    EXPECT_EQ(plan.m_MaxThreads, 2u);
    EXPECT_THAT(plan.m_InputShapes, ElementsAre(TensorShape{1, 9, 7, Channels}, TensorShape{1, 9, 7, Channels}));
    ASSERT_EQ(plan.m_Layers.size(), 2u);
    const PlannedLayer& convolution = plan.m_Layers[0];
    EXPECT_EQ(convolution.m_Name, "convolution");
    EXPECT_EQ(convolution.m_Type, "Convolution2d");
    EXPECT_EQ(convolution.m_Backend, "CpuAcc");
    EXPECT_EQ(convolution.m_Kernel, "CpuConvolution2dF32+Add");
    EXPECT_TRUE(convolution.m_IsPlanned);
    ASSERT_EQ(convolution.m_Outputs.size(), 1u);
    EXPECT_EQ(convolution.m_Outputs[0].m_Info.GetShape(), (TensorShape{1, 9, 7, Channels}));
    EXPECT_EQ(convolution.m_Outputs[0].m_Memory, "output 0"); // the addition works in place
    EXPECT_EQ(plan.m_Layers[1].m_Kernel, "CpuConvolution2dF32+Add");
    EXPECT_EQ(plan.m_Layers[1].m_Outputs[0].m_Memory, "output 0");
    EXPECT_THAT(plan.m_Fusions,
                ElementsAre(AllOf(Field(&FusionReport::m_Fusion, "ResidualAdd"), Field(&FusionReport::m_First, 0u),
                                  Field(&FusionReport::m_Last, 1u), Field(&FusionReport::m_WhyNot, ""))));
}

TEST(NetworkPlan, SaysWhichKernelDeclinedAndWhy)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* sums = network->AddCumSumLayer(CumSumDescriptor(), "sums");
    Connect(AddInput(*network, 0, FloatInfo({2, 3, 4})), sums);
    AddOutputs(*network, {sums});
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network, {"CpuAcc"});
    const NetworkPlan plan = runtime->GetPlan(id);
    ASSERT_EQ(plan.m_Layers.size(), 1u);
    EXPECT_EQ(plan.m_Layers[0].m_Kernel, "RefCumSum");
    EXPECT_THAT(plan.m_Layers[0].m_Declined, HasSubstr("CpuCumSum: not along the last dimension"));
}

TEST(NetworkPlan, SaysWhichVariantRunsAndWhy)
{
    constexpr unsigned int Rows = 100;
    constexpr unsigned int Depth = 64;
    constexpr unsigned int Columns = 32;
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* data = AddInput(*network, 0, TensorInfo({Rows, Depth}, DataType::QAsymmS8, 0.5f, 3));
    const TensorInfo weightsInfo({Columns, Depth}, DataType::QAsymmS8, 0.25f, 0, true);
    const std::vector<int8_t> weights(Columns * Depth, 1);
    IConnectableLayer* constant = network->AddConstantLayer(ConstTensor(weightsInfo, weights.data()), "weights");
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    IConnectableLayer* product = network->AddFullyConnectedLayer(descriptor, "product");
    Connect(data, product, 0);
    constant->GetOutputSlot(0).SetTensorInfo(weightsInfo);
    Connect(constant, product, 1);
    product->GetOutputSlot(0).SetTensorInfo(TensorInfo({Rows, Columns}, DataType::QAsymmS8, 8.0f, 0));
    AddOutputs(*network, {product});
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkPlan plan = runtime->GetPlan(Load(*runtime, *network, {"CpuAcc"}));
    ASSERT_EQ(plan.m_Layers.size(), 1u);
    if (cpu::GetCpuFeatures().m_Simd)
    {
        EXPECT_EQ(plan.m_Layers[0].m_Kernel, "CpuFullyConnectedInt8");
        EXPECT_THAT(plan.m_Layers[0].m_Variant, testing::MatchesRegex("[A-Za-z0-9]+, [a-z0-9 ]+: .+"));
    }
}

TEST(NetworkPlan, IsThereAfterTheFirstRunWhereShapesAreNotKnownBefore)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = network->AddInputLayer(0);
    input->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape({0, 4}, {false, true}), DataType::Float32));
    AddOutputs(*network, {AddUnary(*network, input)});
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network, {"CpuAcc"});
    const NetworkPlan before = runtime->GetPlan(id);
    EXPECT_EQ(before.m_MaxThreads, 0u);
    ASSERT_EQ(before.m_Layers.size(), 1u);
    EXPECT_FALSE(before.m_Layers[0].m_IsPlanned);
    TensorInfo info({3, 4}, DataType::Float32);
    info.SetConstant();
    const Floats values(12, 1.0f);
    Floats result(12);
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, values.data())}},
                             [&](LayerBindingId, const TensorInfo&) { return result.data(); });
    const NetworkPlan after = runtime->GetPlan(id);
    EXPECT_EQ(after.m_MaxThreads, 1u);
    EXPECT_THAT(after.m_InputShapes, ElementsAre(TensorShape{3, 4}));
    EXPECT_TRUE(after.m_Layers[0].m_IsPlanned);
}

TEST(NetworkPlan, OfANetworkThatIsNotThere)
{
    EXPECT_THROW(IRuntime::Create({})->GetPlan(7), Exception);
}

} // namespace tenon::test::fusions_test
