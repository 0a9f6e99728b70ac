// SPDX-License-Identifier: Apache-2.0
// Pass ReadWeightsF16: which products read Float16 constants themselves, and that what they give is, bit for bit, what
// the same numbers as Float32 give.
#include "backends/cpu/simd/Isa.hpp"
#include "common/HalfFloat.hpp"
#include "harness/Serialized.hpp"
#include "optimizer/passes/Fusing.hpp"

#include <tenon/serializer/IDeserializer.hpp>

#include <functional>

namespace tenon::test::read_weights_f16_test
{

namespace
{

const Backends Fast = {"CpuAcc", "CpuRef"};

std::vector<uint16_t> ToHalves(const std::vector<float>& floats)
{
    std::vector<uint16_t> halves(floats.size());
    std::transform(floats.begin(), floats.end(), halves.begin(), FloatToHalf);
    return halves;
}

/// How a network has its weights.
enum class Weights
{
    Floats,
    Halves ///< and a conversion to Float32
};

IConnectableLayer* AddWeights(INetwork& network, const TensorShape& shape, Weights kind)
{
    const std::vector<uint16_t> halves = ToHalves(Spread(shape.GetNumElements()));
    if (kind == Weights::Floats)
    {
        std::vector<float> floats(halves.size());
        std::transform(halves.begin(), halves.end(), floats.begin(), HalfToFloat);
        return AddFloatConstant(network, shape, floats);
    }
    IConnectableLayer* widened = network.AddDequantizeLayer("widened");
    Connect(AddOwnedConstant(network, TensorInfo(shape, DataType::Float16), halves), widened);
    return widened;
}

struct Product
{
    const char* m_Name;
    LayerType m_Type = LayerType::Convolution2d;
    TensorInfo m_Data;
    TensorShape m_Weights;
    bool m_IsTransposed = false; ///< weights of FullyConnected
};

unsigned int CountChannels(const Product& p)
{
    return p.m_Weights[p.m_Type == LayerType::DepthwiseConvolution2d                ? 3
                       : p.m_Type == LayerType::FullyConnected && !p.m_IsTransposed ? 1
                                                                                    : 0];
}

INetworkPtr MakeNetwork(const Product& p, Weights kind)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = nullptr;
    if (p.m_Type == LayerType::FullyConnected)
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_BiasEnabled = true;
        descriptor.m_TransposeWeightMatrix = p.m_IsTransposed;
        layer = network->AddFullyConnectedLayer(descriptor, "product");
    }
    else if (p.m_Type == LayerType::DepthwiseConvolution2d)
    {
        DepthwiseConvolution2dDescriptor descriptor;
        descriptor.m_BiasEnabled = true;
        descriptor.m_DataLayout = DataLayout::NHWC;
        layer = network->AddDepthwiseConvolution2dLayer(descriptor, "product");
    }
    else
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_BiasEnabled = true;
        descriptor.m_DataLayout = DataLayout::NHWC;
        layer = network->AddConvolution2dLayer(descriptor, "product");
    }
    Connect(AddInput(*network, 0, p.m_Data), layer);
    Connect(AddWeights(*network, p.m_Weights, kind), layer, 1);
    Connect(AddWeights(*network, TensorShape({CountChannels(p)}), kind), layer, 2);
    Connect(layer, network->AddOutputLayer(0));
    return network;
}

std::vector<Product> AllProducts()
{
    using enum LayerType;
    return {
        {"pixels", Convolution2d, FloatInfo({1, 5, 7, 70}), TensorShape({37, 1, 1, 70})},
        {"pixels, few channels", Convolution2d, FloatInfo({1, 5, 7, 70}), TensorShape({3, 1, 1, 70})},
        {"one pixel", Convolution2d, FloatInfo({1, 1, 1, 33}), TensorShape({20, 1, 1, 33})},
        {"windows", Convolution2d, FloatInfo({2, 6, 7, 61}), TensorShape({35, 3, 3, 61})},
        {"groups", Convolution2d, FloatInfo({1, 6, 7, 6}), TensorShape({10, 3, 3, 3})},
        {"depthwise", DepthwiseConvolution2d, FloatInfo({1, 6, 7, 19}), TensorShape({1, 3, 3, 19})},
        {"columns", FullyConnected, FloatInfo({9, 130}), TensorShape({37, 130}), true},
        {"columns, one row", FullyConnected, FloatInfo({1, 130}), TensorShape({37, 130}), true},
        {"rows of weights", FullyConnected, FloatInfo({9, 130}), TensorShape({130, 37})},
        {"rows of weights, few columns", FullyConnected, FloatInfo({9, 130}), TensorShape({130, 3})},
    };
}

const Graph& GraphOf(const IOptimizedNetworkPtr& network)
{
    return static_cast<const OptimizedNetwork&>(*network).GetGraph();
}

/// How many constants are left as halves.
size_t CountHalves(const Graph& graph)
{
    return static_cast<size_t>(std::count_if(graph.Layers().begin(), graph.Layers().end(),
                                             [](const auto& layer)
                                             {
                                                 return layer->GetType() == LayerType::Constant &&
                                                        layer->Output(0).GetTensorInfo().GetDataType() ==
                                                            DataType::Float16;
                                             }));
}

/// Of the weights of one product, where CpuAcc has kernels that pack them.
size_t Packed()
{
    return cpu::GetCpuFeatures().m_Simd ? 1 : 0;
}

void ExpectEqualRuns(const INetwork& halves, const INetwork& floats, const TensorInfo& data,
                     const Backends& backends = Fast)
{
    const std::vector<std::byte> bytes = MakeInput(data);
    EXPECT_EQ(RunOnce(halves, true, data, bytes, backends).m_Bytes,
              RunOnce(floats, true, data, bytes, backends).m_Bytes);
}

} // namespace

TEST(ReadWeightsF16, ProductsGiveWhatFloatsGive)
{
    for (const Product& product : AllProducts())
    {
        SCOPED_TRACE(product.m_Name);
        const INetworkPtr halves = MakeNetwork(product, Weights::Halves);
        const IOptimizedNetworkPtr optimized = OptimizeFor(*halves, true, Fast);
        EXPECT_EQ(CountHalves(GraphOf(optimized)), Packed());
        EXPECT_EQ(GraphOf(optimized).Count(LayerType::Dequantize), 0u);
        ExpectEqualRuns(*halves, *MakeNetwork(product, Weights::Floats), product.m_Data);
    }
}

TEST(ReadWeightsF16, WinogradToo)
{
    const Product product = {"windows", LayerType::Convolution2d, FloatInfo({1, 18, 18, 24}),
                             TensorShape({20, 3, 3, 24})};
    OptimizerOptionsOpaque options;
    options.AddModelOption(BackendOptions("CpuAcc", {{"FastMathEnabled", true}}));
    std::vector<std::vector<float>> results;
    for (const Weights kind : {Weights::Halves, Weights::Floats})
    {
        const IRuntimePtr runtime = IRuntime::Create({});
        const NetworkId id = Load(*runtime, *MakeNetwork(product, kind), Fast, options);
        results.push_back(RunFloat(*runtime, id, product.m_Data.GetShape(), Spread(product.m_Data.GetNumElements())));
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST(ReadWeightsF16, OtherBackendsGetFloats)
{
    for (const Product& product : AllProducts())
    {
        SCOPED_TRACE(product.m_Name);
        const INetworkPtr halves = MakeNetwork(product, Weights::Halves);
        EXPECT_EQ(CountHalves(GraphOf(OptimizeFor(*halves, true))), 0u);
        ExpectEqualRuns(*halves, *MakeNetwork(product, Weights::Floats), product.m_Data, {"CpuRef"});
    }
}

TEST(ReadWeightsF16, ReadersOfAnotherKindGetFloats)
{
    const Product product = {"matrix", LayerType::FullyConnected, FloatInfo({4, 4}), TensorShape({4, 4}), true};
    INetworkPtr network = MakeNetwork(product, Weights::Halves);
    const Graph& graph = static_cast<const Network&>(*network).GetGraph();
    const auto widened = std::find_if(graph.Layers().begin(), graph.Layers().end(),
                                      [](const auto& layer) { return layer->GetType() == LayerType::Dequantize; });
    Connect(widened->get(), network->AddOutputLayer(1));
    EXPECT_EQ(CountHalves(GraphOf(OptimizeFor(*network, true, Fast))), 0u);
}

TEST(ReadWeightsF16, ReducedNetworksHaveTheirOwnWeights)
{
    const Product product = AllProducts()[3];
    OptimizerOptionsOpaque options;
    options.SetReduceFp32ToBf16(true);
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeNetwork(product, Weights::Halves);
    EXPECT_EQ(CountHalves(GraphOf(Optimize(*network, Fast, runtime->GetDeviceSpec(), options))), 0u);
}

TEST(ReadWeightsF16, NetworksReducedToThemReadThemAsTheyAre)
{
    const auto findHalves = [](const Graph& graph, const TensorShape& shape) -> const void*
    {
        for (const auto& layer : graph.Layers())
        {
            const bool isConstant = layer->GetType() == LayerType::Constant;
            if (isConstant && layer->Output(0).GetTensorInfo() == TensorInfo(shape, DataType::Float16, 0.0f, 0, true))
            {
                return layer->GetConstant()->m_Tensor.GetMemoryArea();
            }
        }
        return nullptr;
    };
    OptimizerOptionsOpaque options;
    options.SetReduceFp32ToFp16(true);
    const IRuntimePtr runtime = IRuntime::Create({});
    for (const Product& product : AllProducts())
    {
        SCOPED_TRACE(product.m_Name);
        const INetworkPtr network = MakeNetwork(product, Weights::Halves);
        const IOptimizedNetworkPtr reduced = Optimize(*network, Fast, runtime->GetDeviceSpec(), options);
        const void* const weights = findHalves(GraphOf(reduced), product.m_Weights);
        ASSERT_NE(weights, nullptr);
        const void* const stored = findHalves(static_cast<const Network&>(*network).GetGraph(), product.m_Weights);
        EXPECT_EQ(weights == stored, Packed() == 1);
    }
}

TEST(ReadWeightsF16, ScalesBecomePartOfThem)
{
    const auto make = [](Weights kind)
    {
        const Product product = {"windows", LayerType::Convolution2d, FloatInfo({1, 6, 7, 5}),
                                 TensorShape({4, 3, 3, 5})};
        INetworkPtr network = MakeNetwork(product, kind);
        const Graph& graph = static_cast<const Network&>(*network).GetGraph();
        const auto find = [&](LayerType type)
        {
            return std::find_if(graph.Layers().begin(), graph.Layers().end(),
                                [&](const auto& layer) { return layer->GetType() == type; })
                ->get();
        };
        Layer* const output = find(LayerType::Output);
        output->Input(0).GetConnectedOutputSlot()->Disconnect(output->Input(0));
        IConnectableLayer* scaled =
            network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), "scaled");
        Connect(find(LayerType::Convolution2d), scaled);
        Connect(AddFloatConstant(*network, TensorShape({4}), {0.5f, 3.0f, -1.0f, 0.1f}), scaled, 1);
        Connect(scaled, output);
        return network;
    };
    const INetworkPtr halves = make(Weights::Halves);
    EXPECT_EQ(FusedTypes(*halves, Fast), std::vector<LayerType>{LayerType::Convolution2d});
    ExpectEqualRuns(*halves, *make(Weights::Floats), FloatInfo({1, 6, 7, 5}));
}

TEST(ReadWeightsF16, ChannelsThatOnlyARunTells)
{
    const TensorInfo data(TensorShape({1, 6, 7, 0}, {true, true, true, false}), DataType::Float32);
    const Product product = {"windows", LayerType::Convolution2d, data, TensorShape({6, 3, 3, 2})};
    const INetworkPtr halves = MakeNetwork(product, Weights::Halves);
    EXPECT_EQ(CountHalves(GraphOf(OptimizeFor(*halves, true, Fast))), Packed());
    for (const unsigned int channels : {2U, 4U, 6U}) // groups run on the reference kernel
    {
        SCOPED_TRACE(channels);
        ExpectEqualRuns(*halves, *MakeNetwork(product, Weights::Floats), FloatInfo({1, 6, 7, channels}));
    }
}

TEST(ReadWeightsF16, FilesKeepThem)
{
    const Product product = AllProducts()[3];
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeNetwork(product, Weights::Halves);
    const std::vector<float> data = Spread(product.m_Data.GetNumElements());
    const NetworkId wanted = Load(*runtime, *network, Fast);
    IOptimizedNetworkPtr read = IDeserializer::Create()->CreateOptimizedNetworkFromBinary(
        Serialized(*Optimize(*network, Fast, runtime->GetDeviceSpec())), runtime->GetDeviceSpec());
    EXPECT_EQ(CountHalves(GraphOf(read)), Packed());
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(read));
    EXPECT_EQ(RunFloat(*runtime, id, product.m_Data.GetShape(), data),
              RunFloat(*runtime, wanted, product.m_Data.GetShape(), data));
}

} // namespace tenon::test::read_weights_f16_test
