// SPDX-License-Identifier: Apache-2.0
// CpuAcc behind the table of a plugin: plans fuse as they do with the built-in backend, and results are the same bytes.
#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/plugin/PluginBackend.hpp"
#include "runtime/ConcatNetworks.hpp"

#include <tenon/backend/PluginAdapter.hpp>

#include <gmock/gmock.h>

#include <memory>
#include <tuple>
#include <vector>

namespace tenon::test::plugin_plan_test
{

namespace
{

/// CpuAcc under another name.
class Renamed final : public IBackend
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
    class Factory final : public IWorkloadFactory
    {
    public:
        Factory(const BackendId& id, std::unique_ptr<IWorkloadFactory> inner) : m_Id(id), m_Inner(std::move(inner)) {}
        const BackendId& GetBackendId() const override { return m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            return m_Inner->CreateWorkload(layer);
        }
        void AfterWorkloadsCreated() override { m_Inner->AfterWorkloadsCreated(); }

    private:
        BackendId m_Id;
        std::unique_ptr<IWorkloadFactory> m_Inner;
    };

    BackendId m_Id = "PluginAcc";
    std::shared_ptr<const IBackend> m_Inner = cpu::MakeCpuAccBackend();
};

std::shared_ptr<const IBackend> MakeRenamed(const std::vector<BackendOptions>&)
{
    return std::make_shared<Renamed>();
}

const char* RenamedId()
{
    return "PluginAcc";
}

std::shared_ptr<const IBackend> LoadPlugin()
{
    return plugin::MakePluginBackend(std::make_shared<const plugin::Plugin>(
        "acc_backend.so", nullptr, *GetPluginTable<&MakeRenamed, &RenamedId>("1"), std::vector<BackendOptions>()));
}

using Outcome = std::tuple<std::string, size_t, size_t, std::string>;

struct Run
{
    std::vector<Outcome> m_Fusions; ///< each that was tried
    std::vector<std::string> m_Kernels;
    std::vector<Floats> m_Results;
};

Run RunOn(const INetwork& network, const BackendId& backend)
{
    IRuntime::CreationOptions creation;
    creation.m_Backends = {LoadPlugin()};
    const IRuntimePtr runtime = IRuntime::Create(creation);
    INetworkProperties properties;
    properties.m_NumberOfThreads = 2;
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(network, {backend, "CpuRef"}, runtime->GetDeviceSpec()), properties);
    Run run;
    run.m_Results = RunRandom(*runtime, id, network);
    const NetworkPlan plan = runtime->GetPlan(id);
    for (const FusionReport& fusion : plan.m_Fusions)
    {
        run.m_Fusions.emplace_back(fusion.m_Fusion, fusion.m_First, fusion.m_Last, fusion.m_WhyNot);
    }
    for (const PlannedLayer& layer : plan.m_Layers)
    {
        EXPECT_EQ(layer.m_Backend, backend.Get()) << layer.m_Name;
        run.m_Kernels.push_back(layer.m_Kernel);
    }
    return run;
}

/// Expects that this fusion is applied, and that fusions, kernels and results are those of the built-in backend.
void ExpectAsBuiltIn(const INetwork& network, const std::string& fusion)
{
    const Run builtIn = RunOn(network, "CpuAcc");
    const Run plugin = RunOn(network, "PluginAcc");
    EXPECT_EQ(plugin.m_Fusions, builtIn.m_Fusions);
    EXPECT_EQ(plugin.m_Kernels, builtIn.m_Kernels);
    EXPECT_EQ(plugin.m_Results, builtIn.m_Results);
    EXPECT_TRUE(std::any_of(plugin.m_Fusions.begin(), plugin.m_Fusions.end(),
                            [&](const Outcome& outcome)
                            { return std::get<0>(outcome) == fusion && std::get<3>(outcome).empty(); }));
}

IConnectableLayer* AddConvolution(INetwork& network, IConnectableLayer* from)
{
    constexpr unsigned int Channels = 12;
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = 1;
    IConnectableLayer* layer = network.AddConvolution2dLayer(d, "convolution");
    Connect(from, layer);
    TensorInfo info({Channels, 3, 3, Channels}, DataType::Float32);
    info.SetConstant();
    const auto values = std::make_shared<Floats>(info.GetNumElements());
    for (size_t i = 0; i < values->size(); ++i)
    {
        (*values)[i] = static_cast<float>(i * 5 % 19) * 0.01f - 0.09f;
    }
    Connect(network.AddConstantLayer(ConstTensor(info, values->data()), values), layer, 1);
    return layer;
}

} // namespace

TEST(PluginPlan, HasElementwiseChains)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({8, 64, 16}));
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Mul, AddUnary(*network, input), input)});
    ExpectAsBuiltIn(*network, "ElementwiseChain");
}

TEST(PluginPlan, HasResidualAdds)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, 9, 7, 12}));
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Add, AddConvolution(*network, input), input)});
    ExpectAsBuiltIn(*network, "ResidualAdd");
}

TEST(PluginPlan, HasConcatsInPlace)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, 9, 7, 12}));
    IConnectableLayer* other = AddInput(*network, 1, FloatInfo({1, 9, 7, 12}));
    AddOutputs(
        *network,
        {AddSoftmax(*network,
                    AddConcat(*network, {AddConvolution(*network, input), AddConvolution(*network, other)}, 3, 4))});
    ExpectAsBuiltIn(*network, "ConcatInPlace");
}

TEST(PluginPlan, HasAttentions)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* queries = AddInput(*network, 0, FloatInfo({3, 64, 16}));
    IConnectableLayer* keys = AddInput(*network, 1, FloatInfo({3, 16, 64}));
    IConnectableLayer* values = AddInput(*network, 2, FloatInfo({3, 64, 16}));
    AddOutputs(*network, {AddProduct(*network, AddSoftmax(*network, AddProduct(*network, queries, keys)), values)});
    ExpectAsBuiltIn(*network, "Attention");
}

TEST(PluginPlan, HasTiledRuns)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({24, 64, 512}));
    AddOutputs(*network, {AddSoftmax(*network, AddUnary(*network, input, UnaryOperation::Abs))});
    ExpectAsBuiltIn(*network, "CrossLayerTiling");
}

} // namespace tenon::test::plugin_plan_test
