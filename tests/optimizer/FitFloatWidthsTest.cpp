// SPDX-License-Identifier: Apache-2.0
// The options ReduceFp32ToFp16 and ReduceFp32ToBf16, and backends that lack 16-bit floats: who runs in which type,
// where conversions stand, what keeps Float32, and how far results are from those of Float32.
#include "backends/reference/CpuRefBackend.hpp"
#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "harness/Networks.hpp"

#include <tenon/parsers/ITfLiteParser.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace tenon::test::fit_float_widths_test
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

namespace
{

using Floats = std::vector<float>;

constexpr double Fp16Bound = 1e-2; // of the largest output
constexpr double Bf16Bound = 5e-2;

/// CpuRef without kernels for 16-bit floats, but for the conversions if `converts`.
class NoHalfBackend final : public IBackend
{
public:
    explicit NoHalfBackend(bool converts) : m_Converts(converts) {}
    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return std::make_shared<Support>(m_Reference->GetLayerSupport(options), m_Converts);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return std::make_unique<Factory>(m_Id, m_Reference->CreateWorkloadFactory(options));
    }

private:
    class Support final : public ILayerSupport
    {
    public:
        Support(std::shared_ptr<const ILayerSupport> reference, bool converts)
            : m_Reference(std::move(reference)), m_Converts(converts)
        {
        }
        SupportResult IsLayerSupported(const LayerView& layer) const override
        {
            const bool isConversion = layer.m_Type == LayerType::Cast || layer.m_Type == LayerType::ConvertFp16ToFp32 ||
                                      layer.m_Type == LayerType::ConvertFp32ToFp16;
            const auto isHalf = [](const TensorInfo* info) {
                return info != nullptr &&
                       (info->GetDataType() == DataType::Float16 || info->GetDataType() == DataType::BFloat16);
            };
            if (!(isConversion && m_Converts) && (std::any_of(layer.m_Inputs.begin(), layer.m_Inputs.end(), isHalf) ||
                                                  std::any_of(layer.m_Outputs.begin(), layer.m_Outputs.end(), isHalf)))
            {
                return SupportResult::No(SupportCode::UnsupportedType, "no half floats here");
            }
            return m_Reference->IsLayerSupported(layer);
        }

    private:
        std::shared_ptr<const ILayerSupport> m_Reference;
        bool m_Converts;
    };

    class Factory final : public IWorkloadFactory
    {
    public:
        Factory(const BackendId& id, std::unique_ptr<IWorkloadFactory> reference)
            : m_Id(id), m_Reference(std::move(reference))
        {
        }
        const BackendId& GetBackendId() const override { return m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            return m_Reference->CreateWorkload(layer);
        }

    private:
        BackendId m_Id;
        std::unique_ptr<IWorkloadFactory> m_Reference;
    };

    BackendId m_Id = "NoHalf";
    bool m_Converts;
    std::shared_ptr<const IBackend> m_Reference = ref::MakeCpuRefBackend();
};

IRuntimePtr MakeRuntime(bool noHalfConverts = true)
{
    IRuntime::CreationOptions options;
    options.m_Backends = {std::make_shared<NoHalfBackend>(noHalfConverts)};
    return IRuntime::Create(options);
}

/// CpuRef as a backend that says whether BFloat16 is faster.
class Bf16Backend final : public IBackend
{
public:
    explicit Bf16Backend(bool isFast) : m_IsFast(isFast) {}
    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return m_Reference->GetLayerSupport(options);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return m_Reference->CreateWorkloadFactory(options);
    }
    BackendCapabilities GetCapabilities() const override { return {m_Id, {{"FastBFloat16", m_IsFast}}}; }

private:
    BackendId m_Id = "Bf16";
    bool m_IsFast;
    std::shared_ptr<const IBackend> m_Reference = ref::MakeCpuRefBackend();
};

OptimizerOptionsOpaque Reduce(DataType type)
{
    OptimizerOptionsOpaque options;
    options.SetReduceFp32ToFp16(type == DataType::Float16);
    options.SetReduceFp32ToBf16(type == DataType::BFloat16);
    return options;
}

const Graph& GraphOf(const IOptimizedNetworkPtr& network)
{
    return static_cast<const OptimizedNetwork&>(*network).GetGraph();
}

/// "Abs Float16", of output 0; an Output layer by its input.
std::vector<std::string> Describe(const Graph& graph)
{
    std::vector<std::string> texts;
    for (const auto& layer : graph.Layers())
    {
        const TensorInfo& info =
            layer->GetNumOutputSlots() != 0 ? layer->Output(0).GetTensorInfo() : layer->Input(0).GetTensorInfo();
        texts.push_back(layer->GetSchema().m_Name + std::string(" ") + GetDataTypeName(info.GetDataType()));
    }
    return texts;
}

IConnectableLayer* AddConstant(INetwork& network, const TensorInfo& shape, const Floats& values,
                               const char* name = "constant")
{
    auto owner = std::make_shared<Floats>(values);
    TensorInfo info = shape;
    info.SetConstant();
    return network.AddConstantLayer(ConstTensor(info, owner->data()), owner, name);
}

IConnectableLayer* AddBinary(INetwork& network, BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b,
                             const char* name = "binary")
{
    IConnectableLayer* layer = network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), name);
    Connect(a, layer, 0);
    Connect(b, layer, 1);
    return layer;
}

/// out = abs(in) of a type
INetworkPtr MakeAbs(DataType type)
{
    return MakeChain(1, TensorInfo({2}, type));
}

/// Convolutions, a product, activations, a softmax: weights from a generator.
class RandomNet
{
public:
    explicit RandomNet(unsigned int seed) : m_Random(seed) {}

    INetworkPtr Make()
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* last = AddInput(*network, 0, FloatInfo({1, 8, 8, 3}));
        unsigned int channels = 3;
        const unsigned int depth = 1 + Below(4);
        for (unsigned int i = 0; i < depth; ++i)
        {
            const unsigned int next = 4 + Below(8);
            Convolution2dDescriptor descriptor;
            descriptor.m_BiasEnabled = true;
            descriptor.m_DataLayout = DataLayout::NHWC;
            descriptor.m_PadLeft = descriptor.m_PadRight = descriptor.m_PadTop = descriptor.m_PadBottom = 1;
            IConnectableLayer* convolution = network->AddConvolution2dLayer(descriptor, "convolution");
            Connect(last, convolution);
            Connect(Weights(*network, {next, 3, 3, channels}, 9 * channels), convolution, 1);
            Connect(Weights(*network, {next}, 9), convolution, 2);
            ActivationDescriptor activation;
            activation.m_Function = Below(2) == 0 ? ActivationFunction::ReLu : ActivationFunction::TanH;
            activation.m_A = activation.m_B = 1.0f;
            IConnectableLayer* active = network->AddActivationLayer(activation, "activation");
            Connect(convolution, active);
            last = active;
            channels = next;
        }
        FullyConnectedDescriptor descriptor;
        descriptor.m_TransposeWeightMatrix = true;
        ReshapeDescriptor flat;
        flat.m_TargetShape = TensorShape({1, 64 * channels});
        IConnectableLayer* reshape = network->AddReshapeLayer(flat, "flat");
        IConnectableLayer* product = network->AddFullyConnectedLayer(descriptor, "product");
        Connect(last, reshape);
        Connect(reshape, product);
        Connect(Weights(*network, {5, 64 * channels}, 64 * channels), product, 1);
        Connect(product, network->AddOutputLayer(0));
        return network;
    }

    Floats Input() { return Values(192, 1.0f); }

private:
    unsigned int Below(unsigned int limit) { return static_cast<unsigned int>(m_Random() % limit); }

    Floats Values(size_t count, float largest)
    {
        std::uniform_real_distribution<float> uniform(-largest, largest);
        Floats values(count);
        std::generate(values.begin(), values.end(), [&] { return uniform(m_Random); });
        return values;
    }

    IConnectableLayer* Weights(INetwork& network, std::initializer_list<unsigned int> shape, unsigned int summands)
    {
        const TensorInfo info = FloatInfo(shape);
        return AddConstant(network, info,
                           Values(info.GetNumElements(), 1.7f / std::sqrt(static_cast<float>(summands))));
    }

    std::mt19937 m_Random;
};

/// Largest difference as a part of the largest expected value.
double Deviation(const Floats& got, const Floats& want)
{
    double difference = 0;
    double largest = 0;
    EXPECT_EQ(got.size(), want.size());
    for (size_t i = 0; i < std::min(got.size(), want.size()); ++i)
    {
        difference = std::max(difference, std::fabs(static_cast<double>(got[i]) - want[i]));
        largest = std::max(largest, std::fabs(static_cast<double>(want[i])));
    }
    return difference / largest;
}

size_t CountType(const Graph& graph, LayerType type)
{
    return static_cast<size_t>(std::count_if(graph.Layers().begin(), graph.Layers().end(),
                                             [&](const auto& layer) { return layer->GetType() == type; }));
}

} // namespace

TEST(ReduceFloat32, ConvertsAfterInputsAndBeforeOutputsOnly)
{
    const IRuntimePtr runtime = MakeRuntime();
    const INetworkPtr network = MakeChain(3, FloatInfo({2}));
    EXPECT_THAT(Describe(GraphOf(Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), Reduce(DataType::Float16)))),
                ElementsAre("Input Float32", "ConvertFp32ToFp16 Float16", "ElementwiseUnary Float16",
                            "ElementwiseUnary Float16", "ElementwiseUnary Float16", "ConvertFp16ToFp32 Float32",
                            "Output Float32"));
    EXPECT_THAT(Describe(GraphOf(Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), Reduce(DataType::BFloat16)))),
                ElementsAre("Input Float32", "Cast BFloat16", "ElementwiseUnary BFloat16", "ElementwiseUnary BFloat16",
                            "ElementwiseUnary BFloat16", "Cast Float32", "Output Float32"));
    // 1.00048828125 is halfway between two halves, 1.001 is not.
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, Reduce(DataType::Float16));
    EXPECT_EQ(RunFloat(*runtime, id, {3}, {-1.00048828125f, 1.001f, 70000.0f}),
              (Floats{1.0f, 1.0009765625f, INFINITY}));
}

TEST(ReduceFloat32, BackendsWithoutAFasterBFloat16KeepFloat32)
{
    for (const bool isFast : {false, true})
    {
        IRuntime::CreationOptions creation;
        creation.m_Backends = {std::make_shared<Bf16Backend>(isFast)};
        const IRuntimePtr runtime = IRuntime::Create(creation);
        std::vector<std::string> messages;
        const auto optimized = Optimize(*MakeChain(2, FloatInfo({2})), {"Bf16", "CpuRef"}, runtime->GetDeviceSpec(),
                                        Reduce(DataType::BFloat16), Optional<std::vector<std::string>&>(messages));
        EXPECT_EQ(CountType(GraphOf(optimized), LayerType::Cast), isFast ? 2u : 0u);
        EXPECT_EQ(messages.empty(), isFast);
        if (!isFast)
        {
            EXPECT_THAT(messages, ElementsAre(HasSubstr("2 layers run in Float32 in place of BFloat16: Bf16 computes "
                                                        "BFloat16 no faster on this processor")));
        }
        // Float16 is asked for to save memory, too.
        const auto halves =
            Optimize(*MakeChain(2, FloatInfo({2})), {"Bf16"}, runtime->GetDeviceSpec(), Reduce(DataType::Float16));
        EXPECT_EQ(CountType(GraphOf(halves), LayerType::ConvertFp32ToFp16), 1u);
    }
}

TEST(ReduceFloat32, BothAtOnceAreRefused)
{
    const IRuntimePtr runtime = MakeRuntime();
    OptimizerOptionsOpaque options = Reduce(DataType::Float16);
    options.SetReduceFp32ToBf16(true);
    EXPECT_THROW(Optimize(*MakeChain(1, FloatInfo({2})), {"CpuRef"}, runtime->GetDeviceSpec(), options),
                 InvalidArgumentException);
}

TEST(ReduceFloat32, ConstantsAreConvertedOnceAndCutToTheRange)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({3}));
    IConnectableLayer* mask = AddConstant(*network, FloatInfo({3}), {-1e9f, 0.1f, -INFINITY}, "mask");
    IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, input, mask);
    Connect(AddBinary(*network, BinaryOperation::Maximum, sum, mask), network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    std::vector<std::string> messages;
    auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), Reduce(DataType::Float16),
                              Optional<std::vector<std::string>&>(messages));
    EXPECT_EQ(CountType(GraphOf(optimized), LayerType::Constant), 1u);
    EXPECT_EQ(CountType(GraphOf(optimized), LayerType::ConvertFp32ToFp16), 1u); // of the input
    EXPECT_THAT(messages, ElementsAre(HasSubstr("1 of 3 values of layer 1 'mask' (Constant) are beyond the range of "
                                                "Float16")));
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    EXPECT_EQ(RunFloat(*runtime, id, {3}, {0, 0, 0}), (Floats{-65504.0f, 0.0999755859375f, -INFINITY}));
}

TEST(ReduceFloat32, LayersThatNoBackendTakesSoKeepFloat32AndTheirConstants)
{
    // abs -> quantize-hybrid product (int8 weights) -> abs
    const INetworkPtr network = INetwork::Create();
    auto weights = std::make_shared<std::vector<int8_t>>(4, int8_t{2});
    TensorInfo weightInfo({2, 2}, DataType::QAsymmS8, 0.5f, 0, true);
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    descriptor.m_BiasEnabled = true;
    const ElementwiseUnaryDescriptor abs(UnaryOperation::Abs);
    IConnectableLayer* first = network->AddElementwiseUnaryLayer(abs, "first");
    IConnectableLayer* product = network->AddFullyConnectedLayer(descriptor, "hybrid");
    IConnectableLayer* last = network->AddElementwiseUnaryLayer(abs, "last");
    Connect(AddInput(*network, 0, FloatInfo({1, 2})), first);
    Connect(first, product);
    Connect(network->AddConstantLayer(ConstTensor(weightInfo, weights->data()), weights, "weights"), product, 1);
    Connect(AddConstant(*network, FloatInfo({2}), {100000.0f, 0.0f}, "bias"), product, 2);
    Connect(product, last);
    Connect(last, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    std::vector<std::string> messages;
    auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), Reduce(DataType::BFloat16),
                              Optional<std::vector<std::string>&>(messages));
    std::map<std::string, DataType> types;
    for (const LayerAssignment& entry : optimized->GetAssignment())
    {
        types[entry.m_Name] = entry.m_DataType;
        if (entry.m_Name == "hybrid")
        {
            EXPECT_THAT(entry.m_Reason, HasSubstr("Float32 in place of BFloat16: CpuRef: "));
            EXPECT_THAT(entry.m_Reason, HasSubstr("; preferred"));
        }
    }
    EXPECT_EQ(types["first"], DataType::BFloat16);
    EXPECT_EQ(types["hybrid"], DataType::Float32);
    EXPECT_EQ(types["bias"], DataType::Float32);
    EXPECT_EQ(types["last"], DataType::BFloat16);
    EXPECT_THAT(messages, ElementsAre(HasSubstr("FullyConnected 'hybrid' runs in Float32 in place of BFloat16")));
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    const Floats result = RunFloat(*runtime, id, {1, 2}, {1, -1});
    EXPECT_NEAR(result[0], 100002.0f, 512);
    EXPECT_NEAR(result[1], 2.0f, 0.02f);
}

TEST(ReduceFloat32, NeighboursThatKeepFloat32PassItOn)
{
    // No conversion stands between two layers that keep Float32.
    const IRuntimePtr runtime = MakeRuntime();
    const auto optimized =
        Optimize(*MakeChain(3, FloatInfo({2})), {"NoHalf"}, runtime->GetDeviceSpec(), Reduce(DataType::Float16));
    EXPECT_EQ(GraphOf(optimized).Size(), 5u);
}

TEST(ReduceFloat32, SizesAreComputedInFloat32)
{
    // out = resize-like: the target size of a Reshape is floor(257 * 2) of BFloat16, which has 8 bits.
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({257, 2}));
    IConnectableLayer* shape = network->AddShapeLayer("shape");
    IConnectableLayer* cast = network->AddCastLayer("toFloat");
    cast->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(Dimensionality::NotSpecified), DataType::Float32));
    ReduceDescriptor reduce;
    reduce.m_ReduceOperation = ReduceOperation::Prod;
    reduce.m_KeepDims = true;
    reduce.m_vAxis = {0};
    IConnectableLayer* product = network->AddReduceLayer(reduce, "product");
    IConnectableLayer* back = network->AddCastLayer("toInteger");
    back->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(Dimensionality::NotSpecified), DataType::Signed32));
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* reshape = network->AddReshapeLayer(descriptor, "flat");
    Connect(input, shape);
    Connect(shape, cast);
    Connect(cast, product);
    Connect(product, back);
    Connect(input, reshape);
    Connect(back, reshape, 1);
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(reshape, abs);
    Connect(abs, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), Reduce(DataType::BFloat16));
    for (const LayerAssignment& entry : optimized->GetAssignment())
    {
        if (entry.m_Name == "product" || entry.m_Name == "toFloat")
        {
            EXPECT_EQ(entry.m_DataType, DataType::Float32) << entry.m_Name;
            EXPECT_THAT(entry.m_Reason, HasSubstr("shapes or loops depend on it"));
        }
        if (entry.m_Name == "abs" || entry.m_Name == "flat")
        {
            EXPECT_EQ(entry.m_DataType, DataType::BFloat16) << entry.m_Name;
        }
    }
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    for (const unsigned int rows : {257u, 259u}) // another run, another shape
    {
        EXPECT_EQ(RunFloat(*runtime, id, {rows, 2}, Floats(rows * 2, -3.0f)), Floats(rows * 2, 3.0f));
    }
}

TEST(ReduceFloat32, CountersOfLoopsStayInFloat32)
{
    // i = 0; while (i < 300) { i = i + 1; x = x * 1 }: in BFloat16, 256 + 1 is 256 for ever.
    const INetworkPtr condition = INetwork::Create();
    {
        IConnectableLayer* counter = AddInput(*condition, 0, FloatInfo({1}));
        AddInput(*condition, 1, FloatInfo({2}));
        IConnectableLayer* less = condition->AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Less));
        Connect(counter, less);
        Connect(AddConstant(*condition, FloatInfo({1}), {300}), less, 1);
        Connect(less, condition->AddOutputLayer(0));
    }
    const INetworkPtr body = INetwork::Create();
    {
        IConnectableLayer* one = AddConstant(*body, FloatInfo({1}), {1});
        Connect(AddBinary(*body, BinaryOperation::Add, AddInput(*body, 0, FloatInfo({1})), one, "count"),
                body->AddOutputLayer(0));
        Connect(AddBinary(*body, BinaryOperation::Mul, AddInput(*body, 1, FloatInfo({2})), one, "work"),
                body->AddOutputLayer(1));
    }
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* loop = network->AddWhileLayer(*condition, *body, "loop");
    Connect(AddConstant(*network, FloatInfo({1}), {0}), loop, 0);
    Connect(AddInput(*network, 0, FloatInfo({2})), loop, 1);
    Connect(loop, network->AddOutputLayer(0), 0, 1);
    Connect(loop, network->AddOutputLayer(1), 0, 0);
    const IRuntimePtr runtime = MakeRuntime();
    auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), Reduce(DataType::BFloat16));
    const auto layers = GraphOf(optimized).Layers();
    const auto found = std::find_if(layers.begin(), layers.end(),
                                    [](const auto& layer) { return layer->GetType() == LayerType::While; });
    ASSERT_NE(found, layers.end());
    // The condition holds no 16-bit layer; the body computes in both types and meets the loop in Float32.
    EXPECT_THAT(Describe(*(*found)->Bodies()[0]),
                UnorderedElementsAre("Input Float32", "Input Float32", "Constant Float32", "Comparison Boolean",
                                     "Output Boolean"));
    EXPECT_THAT(Describe(*(*found)->Bodies()[1]),
                UnorderedElementsAre("Input Float32", "Input Float32", "Constant Float32", "Constant BFloat16",
                                     "ElementwiseBinary Float32", "ElementwiseBinary BFloat16", "Cast BFloat16",
                                     "Cast Float32", "Output Float32", "Output Float32"));
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    const Floats input{1, 2};
    const TensorInfo info({2}, DataType::Float32, 0.0f, 0, true);
    Floats result(2);
    float count = 0;
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, input.data())}},
                             [&](LayerBindingId output, const TensorInfo&) -> void*
                             { return output == 0 ? result.data() : &count; });
    EXPECT_EQ(count, 300.0f);
    EXPECT_EQ(result, input);
}

TEST(ReduceFloat32, StatesKeepFloat32)
{
    // state = state + in; out = state
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* read = network->AddReadStateLayer(StateDescriptor("sum"));
    read->GetOutputSlot(0).SetTensorInfo(FloatInfo({1}));
    IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, AddInput(*network, 0, FloatInfo({1})), read);
    Connect(sum, network->AddWriteStateLayer(StateDescriptor("sum")));
    Connect(sum, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, Reduce(DataType::Float16));
    EXPECT_EQ(RunFloat(*runtime, id, {1}, {1.5f}), (Floats{1.5f}));
    EXPECT_EQ(RunFloat(*runtime, id, {1}, {2.0f}), (Floats{3.5f}));
}

TEST(ReduceFloat32, InfosThatOverrideInputsFollow)
{
    // A [2,3] value taken for [3,2] by the second layer.
    const INetworkPtr network = INetwork::Create();
    const ElementwiseUnaryDescriptor abs(UnaryOperation::Abs);
    IConnectableLayer* first = network->AddElementwiseUnaryLayer(abs, "first");
    IConnectableLayer* second = network->AddElementwiseUnaryLayer(abs, "second");
    Connect(AddInput(*network, 0, FloatInfo({2, 3})), first);
    Connect(first, second);
    second->GetInputSlot(0).SetTensorInfo(FloatInfo({3, 2}));
    Connect(second, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    for (const char* backend : {"CpuRef", "NoHalf"})
    {
        const NetworkId id = Load(*runtime, *network, {backend}, Reduce(DataType::Float16));
        EXPECT_EQ(RunFloat(*runtime, id, {2, 3}, {-1, 2, -3, 4, -5, 6}), (Floats{1, 2, 3, 4, 5, 6}));
    }
}

TEST(ReduceFloat32, RandomNetsStayWithinTheBounds)
{
    const IRuntimePtr runtime = MakeRuntime();
    for (unsigned int seed = 0; seed < 8; ++seed)
    {
        RandomNet random(seed);
        const INetworkPtr network = random.Make();
        const Floats input = random.Input();
        const auto run = [&](const OptimizerOptionsOpaque& options, const BackendId& backend)
        {
            const NetworkId id = Load(*runtime, *network, {backend, "CpuRef"}, options);
            return RunFloat(*runtime, id, {1, 8, 8, 3}, input);
        };
        const Floats exact = run({}, "CpuRef");
        const Floats halves = run(Reduce(DataType::Float16), "CpuRef");
        EXPECT_LE(Deviation(halves, exact), Fp16Bound) << seed;
        EXPECT_NE(halves, exact) << seed;
        const Floats brains = run(Reduce(DataType::BFloat16), "CpuRef");
        EXPECT_LE(Deviation(brains, exact), Bf16Bound) << seed;
        EXPECT_GT(Deviation(brains, exact), 0) << seed;
    }
}

TEST(ReduceFloat32, LayersThatOnlyMoveValuesOfFloat32Stay)
{
    const IRuntimePtr runtime = MakeRuntime();
    for (const bool computes : {false, true})
    {
        const INetworkPtr network = INetwork::Create();
        IConnectableLayer* turned = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "turned");
        Connect(AddInput(*network, 0, FloatInfo({2, 3})), turned);
        IConnectableLayer* doubled = network->AddTileLayer(TileDescriptor({2, 1}), "tile");
        Connect(turned, doubled);
        IConnectableLayer* last = network->AddMatrixDiagLayer("diagonal");
        Connect(doubled, last);
        if (computes)
        {
            IConnectableLayer* exp =
                network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Exp), "exp");
            Connect(last, exp);
            last = exp;
        }
        Connect(last, network->AddOutputLayer(0));
        const auto optimized =
            Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), Reduce(DataType::Float16), EmptyOptional());
        // What moves for a layer that computes in 16 bits moves half the bytes.
        EXPECT_EQ(CountType(GraphOf(optimized), LayerType::ConvertFp32ToFp16), computes ? 1u : 0u);
        EXPECT_EQ(CountType(GraphOf(optimized), LayerType::ConvertFp16ToFp32), computes ? 1u : 0u);
        const Layer& tile = *std::find_if(GraphOf(optimized).Layers().begin(), GraphOf(optimized).Layers().end(),
                                          [](const auto& layer) { return layer->GetType() == LayerType::Tile; })
                                 ->get();
        EXPECT_EQ(tile.Output(0).GetTensorInfo().GetDataType(), computes ? DataType::Float16 : DataType::Float32);
    }
}

TEST(ReduceFloat32, OneMessageForEachCause)
{
    const IRuntimePtr runtime = MakeRuntime();
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, FloatInfo({1}));
    for (const char* name : {"first", "second"})
    {
        IConnectableLayer* layer =
            network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), name);
        Connect(last, layer);
        last = layer;
    }
    // A constant that Float16 cannot hold, of a layer that stays as it is: nothing becomes of that.
    IConnectableLayer* sum =
        network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
    Connect(last, sum);
    const Floats large = {1e6f};
    const TensorInfo constant({1}, DataType::Float32, 0.0f, 0, true);
    Connect(network->AddConstantLayer(ConstTensor(constant, large), "large"), sum, 1);
    Connect(sum, network->AddOutputLayer(0));
    std::vector<std::string> messages;
    Optimize(*network, {"NoHalf"}, runtime->GetDeviceSpec(), Reduce(DataType::Float16),
             Optional<std::vector<std::string>&>(messages));
    EXPECT_THAT(messages,
                ElementsAre("WARNING: 3 layers run in Float32 in place of Float16: NoHalf: no half floats here: "
                            "ElementwiseUnary 'first', ElementwiseUnary 'second', ElementwiseBinary 'sum'"));
}

TEST(ReduceFloat32, DigitsStayWithinTheBounds)
{
    const auto parser = ITfLiteParser::Create();
    const INetworkPtr network = parser->CreateNetworkFromBinaryFile("samples/digits/digits_float.tflite");
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId exact = Load(*runtime, *network, {"CpuRef"});
    const NetworkId halves = Load(*runtime, *network, {"CpuRef"}, Reduce(DataType::Float16));
    const NetworkId brains = Load(*runtime, *network, {"CpuRef"}, Reduce(DataType::BFloat16));
    std::mt19937 random(1);
    for (int picture = 0; picture < 10; ++picture)
    {
        Floats input(64);
        std::generate(input.begin(), input.end(), [&] { return static_cast<float>(random() % 17) / 16.0f; });
        const Floats want = RunFloat(*runtime, exact, {1, 8, 8, 1}, input);
        EXPECT_LE(Deviation(RunFloat(*runtime, halves, {1, 8, 8, 1}, input), want), Fp16Bound);
        EXPECT_LE(Deviation(RunFloat(*runtime, brains, {1, 8, 8, 1}, input), want), Bf16Bound);
    }
}

TEST(HalfFallback, LayersOfAModelRunInFloat32WhereNoBackendTakes16Bits)
{
    const IRuntimePtr runtime = MakeRuntime();
    for (const DataType type : {DataType::Float16, DataType::BFloat16})
    {
        std::vector<std::string> messages;
        const auto optimized = Optimize(*MakeAbs(type), {"NoHalf"}, runtime->GetDeviceSpec(), {},
                                        Optional<std::vector<std::string>&>(messages));
        const std::string name = GetDataTypeName(type);
        const bool isHalf = type == DataType::Float16;
        EXPECT_THAT(Describe(GraphOf(optimized)),
                    ElementsAre("Input " + name, isHalf ? "ConvertFp16ToFp32 Float32" : "Cast Float32",
                                "ElementwiseUnary Float32", (isHalf ? "ConvertFp32ToFp16 " : "Cast ") + name,
                                "Output " + name));
        EXPECT_THAT(messages, ElementsAre(HasSubstr("'abs' runs in Float32 in place of " + name +
                                                    ": NoHalf: no half floats here")));
    }
    // Where another backend takes 16 bits, that one does.
    const auto taken = Optimize(*MakeAbs(DataType::Float16), {"NoHalf", "CpuRef"}, runtime->GetDeviceSpec());
    EXPECT_EQ(GraphOf(taken).Size(), 3u);
}

TEST(HalfFallback, ConstantsAreWidenedOnceAndResultsAreThoseOf16Bits)
{
    const INetworkPtr network = INetwork::Create();
    const TensorInfo info({2}, DataType::Float16);
    TensorInfo constantInfo = info;
    constantInfo.SetConstant();
    auto values = std::make_shared<std::vector<uint16_t>>(std::vector<uint16_t>{0x3C00, 0x0001}); // 1, 2^-24
    IConnectableLayer* constant = network->AddConstantLayer(ConstTensor(constantInfo, values->data()), values, "c");
    IConnectableLayer* input = AddInput(*network, 0, info);
    IConnectableLayer* sum = AddBinary(*network, BinaryOperation::Add, input, constant);
    Connect(AddBinary(*network, BinaryOperation::Mul, sum, constant), network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    std::vector<std::vector<uint16_t>> results;
    for (const char* backend : {"CpuRef", "NoHalf"})
    {
        auto optimized = Optimize(*network, {backend}, runtime->GetDeviceSpec());
        EXPECT_EQ(CountType(GraphOf(optimized), LayerType::Constant), 1u);
        NetworkId id = 0;
        runtime->LoadNetwork(id, std::move(optimized));
        const std::vector<uint16_t> in{0x4000, 0x3C01}; // 2, 1 + 2^-10
        std::vector<uint16_t> out(2);
        TensorInfo given = info;
        given.SetConstant();
        runtime->EnqueueWorkload(id, {{0, ConstTensor(given, in.data())}}, {{0, Tensor(info, out.data())}});
        results.push_back(out);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0][0], 0x4200); // 3
}

TEST(HalfFallback, LayersThatPartitionLimitsMoveRunInFloat32WhereNobodyElseTakes16Bits)
{
    // CpuRef takes 16 bits, and loses its layers; the conversions then cannot be on it, either.
    const IRuntimePtr runtime = MakeRuntime();
    OptimizerOptionsOpaque options = Reduce(DataType::Float16);
    PartitionOptions limits;
    limits.m_MinLayersPerPartition = 10;
    options.SetPartitionOptions("CpuRef", limits);
    const INetworkPtr network = MakeChain(2, FloatInfo({2}));
    std::vector<std::string> messages;
    auto optimized = Optimize(*network, {"CpuRef", "NoHalf"}, runtime->GetDeviceSpec(), options,
                              Optional<std::vector<std::string>&>(messages));
    for (const LayerAssignment& layer : optimized->GetAssignment())
    {
        EXPECT_EQ(layer.m_Backend.Get(), "NoHalf") << layer.m_Name;
        if (layer.m_Type == LayerType::ElementwiseUnary)
        {
            EXPECT_EQ(layer.m_DataType, DataType::Float32);
            EXPECT_THAT(layer.m_Reason, HasSubstr("Float32 in place of Float16: CpuRef: MinLayersPerPartition"));
        }
    }
    EXPECT_THAT(messages, testing::Contains(HasSubstr("run in Float32 in place of Float16")));
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {-1.5f, 2.0f}), (Floats{1.5f, 2.0f}));
}

TEST(HalfFallback, NeedsSomebodyToConvert)
{
    const IRuntimePtr runtime = MakeRuntime(false);
    try
    {
        Optimize(*MakeAbs(DataType::Float16), {"NoHalf"}, runtime->GetDeviceSpec());
        FAIL() << "nobody converts";
    }
    catch (const UnimplementedException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("ConvertFp16ToFp32"));
        EXPECT_THAT(error.what(), HasSubstr("no half floats here"));
    }
}

TEST(HalfFallback, WhatNobodyTakesAnyhowIsRefusedAsItIs)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* standIn = network->AddStandInLayer(StandInDescriptor(1, 1), "unknown");
    standIn->GetOutputSlot(0).SetTensorInfo(TensorInfo({2}, DataType::Float16));
    Connect(AddInput(*network, 0, TensorInfo({2}, DataType::Float16)), standIn);
    Connect(standIn, network->AddOutputLayer(0));
    const IRuntimePtr runtime = MakeRuntime();
    EXPECT_THROW(Optimize(*network, {"NoHalf"}, runtime->GetDeviceSpec()), UnimplementedException);
}

} // namespace tenon::test::fit_float_widths_test
