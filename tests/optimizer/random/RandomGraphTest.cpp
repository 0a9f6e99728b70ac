// SPDX-License-Identifier: Apache-2.0
// Properties that hold for every network, tried on thousands of random ones: optimized and unoptimized networks give
// the same results, on one backend and split over two, and no two subgraphs wait for each other.
#include "harness/FakeBackend.hpp"
#include "harness/Passes.hpp"
#include "optimizer/random/RandomNetwork.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tenon::test::random_graph_test
{

namespace
{

constexpr uint32_t NumNetworks = 3000;
constexpr unsigned int MaxLayers = 30;

/// A network of every size up to MaxLayers.
RandomNetwork Make(uint32_t seed)
{
    return RandomNetwork(seed, 1 + seed % MaxLayers);
}

/// Float outputs may differ by what reordered and fused arithmetic makes of them.
void ExpectClose(const Results& got, const Results& want, float tolerance)
{
    ASSERT_EQ(got.size(), want.size());
    for (const auto& [id, expected] : want)
    {
        const Result& result = got.at(id);
        ASSERT_EQ(result.m_Info.GetShape(), expected.m_Info.GetShape()) << "output " << id;
        if (expected.m_Info.GetDataType() != DataType::Float32 || tolerance == 0.0f)
        {
            ASSERT_EQ(result.m_Bytes, expected.m_Bytes) << "output " << id;
            continue;
        }
        const std::vector<float> a = result.Floats();
        const std::vector<float> b = expected.Floats();
        float scale = 1.0f;
        for (const float value : b)
        {
            ASSERT_TRUE(std::isfinite(value)) << "output " << id << ": such a network tests nothing";
            scale = std::max(scale, std::abs(value));
        }
        for (size_t i = 0; i < b.size(); ++i)
        {
            ASSERT_NEAR(a[i], b[i], tolerance * scale) << "output " << id << ", element " << i;
        }
    }
}

std::vector<Pass> NecessaryPasses()
{
    std::vector<Pass> necessary;
    std::copy_if(GetPasses().begin(), GetPasses().end(), std::back_inserter(necessary),
                 [](const Pass& pass) { return pass.m_Kind == Pass::Kind::Necessary; });
    return necessary;
}

/// Whether each subgraph can run in one piece: layers come after those that they read, and those of one subgraph stand
/// together. No two subgraphs can wait for each other then.
bool RunsSubgraphBySubgraph(const Graph& graph)
{
    std::set<unsigned int> ended;
    unsigned int current = LayerAssignment::NoSubgraph;
    for (const auto& layer : graph.Layers())
    {
        for (const InputSlot& input : layer->Inputs())
        {
            if (input.GetProducer() != nullptr && input.GetProducer()->m_Index >= layer->m_Index)
            {
                return false;
            }
        }
        if (IsBoundByRuntime(layer->GetType()) || layer->m_Subgraph == current)
        {
            continue;
        }
        if (current != LayerAssignment::NoSubgraph)
        {
            ended.insert(current);
        }
        current = layer->m_Subgraph;
        if (ended.count(current) != 0)
        {
            return false;
        }
    }
    return true;
}

/// Two backends that take complementary sets of layer types, drawn at random.
std::shared_ptr<FakeBackend> MakeOther(uint32_t seed)
{
    std::mt19937 random(seed);
    std::set<LayerType> takes;
    for (size_t type = 0; type < NumLayerTypes; ++type)
    {
        if (random() % 2 == 0)
        {
            takes.insert(static_cast<LayerType>(type));
        }
    }
    return std::make_shared<FakeBackend>("Other", takes);
}

/// The outputs of the last run: states are in them.
Results RunSome(IRuntime& runtime, IOptimizedNetworkPtr network, const InputTensors& inputs)
{
    const bool hasStates = Count(GraphOf(network), LayerType::ReadState) != 0;
    NetworkId id = 0;
    runtime.LoadNetwork(id, std::move(network));
    Results results;
    for (int run = 0; run < (hasStates ? RandomNetwork::MaxRuns : 1); ++run)
    {
        results = RunNetwork(runtime, id, inputs);
    }
    runtime.UnloadNetwork(id);
    return results;
}

/// The types of all layers, as an application sees them.
class TypeCollector final : public IStrategy
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                         const char*, LayerBindingId) override
    {
        m_Types.insert(layer->GetType());
    }

    std::set<LayerType> m_Types;
};

} // namespace

TEST(RandomGraph, OptimizedNetworksGiveWhatTheyGaveBefore)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const std::vector<Pass> necessary = NecessaryPasses();
    size_t layersBefore = 0;
    size_t layersAfter = 0;
    for (uint32_t seed = 0; seed < NumNetworks; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomNetwork random = Make(seed);
        const FloatInputs inputs(random.InputShapes());
        auto plain =
            OptimizeWithPasses(random.Network(), {"CpuRef"}, runtime->GetDeviceSpec(), {}, EmptyOptional(), necessary);
        auto optimized = Optimize(random.Network(), {"CpuRef"}, runtime->GetDeviceSpec());
        layersBefore += GraphOf(plain).Size();
        layersAfter += GraphOf(optimized).Size();
        const Results want = RunSome(*runtime, std::move(plain), inputs.Tensors());
        ASSERT_NO_FATAL_FAILURE(ExpectClose(RunSome(*runtime, std::move(optimized), inputs.Tensors()), want, 1e-4f));
    }
    EXPECT_LT(layersAfter, layersBefore * 19 / 20) << "passes that change nothing prove nothing";
}

TEST(RandomGraph, SplitOverTwoBackendsTheyGiveTheSameBytes)
{
    const IRuntimePtr whole = IRuntime::Create({});
    std::vector<Pass> passes; // that do the same whatever the backends take
    std::copy_if(GetPasses().begin(), GetPasses().end(), std::back_inserter(passes),
                 [](const Pass& pass) { return pass.m_RunInContext == nullptr; });
    size_t numSplit = 0;
    for (uint32_t seed = 0; seed < NumNetworks; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomNetwork random = Make(seed);
        const FloatInputs inputs(random.InputShapes());
        IRuntime::CreationOptions options;
        options.m_Backends = {MakeOther(seed)};
        const IRuntimePtr both = IRuntime::Create(options);
        auto split = OptimizeWithPasses(random.Network(), {"Other", "CpuRef"}, both->GetDeviceSpec(), {},
                                        EmptyOptional(), passes);
        ASSERT_TRUE(RunsSubgraphBySubgraph(GraphOf(split)));
        std::set<std::string> used;
        for (const LayerAssignment& layer : split->GetAssignment())
        {
            used.insert(layer.m_Backend.Get());
        }
        numSplit += used.count("Other") & used.count("CpuRef");
        auto unsplit =
            OptimizeWithPasses(random.Network(), {"CpuRef"}, whole->GetDeviceSpec(), {}, EmptyOptional(), passes);
        const Results want = RunSome(*whole, std::move(unsplit), inputs.Tensors());
        ASSERT_NO_FATAL_FAILURE(ExpectClose(RunSome(*both, std::move(split), inputs.Tensors()), want, 0.0f));
    }
    EXPECT_GT(numSplit, NumNetworks * 3 / 4);
}

TEST(RandomGraph, CpuAccAndCpuRefAgree)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    for (uint32_t seed = 0; seed < NumNetworks / 4; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomNetwork random = Make(seed);
        const FloatInputs inputs(random.InputShapes());
        const Results want =
            RunSome(*runtime, Optimize(random.Network(), {"CpuRef"}, runtime->GetDeviceSpec()), inputs.Tensors());
        const Results got = RunSome(
            *runtime, Optimize(random.Network(), {"CpuAcc", "CpuRef"}, runtime->GetDeviceSpec()), inputs.Tensors());
        ASSERT_NO_FATAL_FAILURE(ExpectClose(got, want, 1e-4f));
    }
}

TEST(RandomGraph, TheGeneratorMakesEveryKind)
{
    std::set<std::string> made;
    for (uint32_t seed = 0; seed < NumNetworks; ++seed)
    {
        const RandomNetwork random = Make(seed);
        made.insert(random.Kinds().begin(), random.Kinds().end());
    }
    for (const std::string& kind : RandomNetwork::AllKinds())
    {
        EXPECT_TRUE(made.count(kind) == 1) << kind;
    }
}

TEST(RandomGraph, EveryLayerTypeHasAMaker)
{
    TypeCollector made;
    for (uint32_t seed = 0; seed < NumNetworks; ++seed)
    {
        Make(seed).Network().ExecuteStrategy(made);
    }
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        if (GetSchema(type).Has(OpFlags::Internal))
        {
            continue; // made by the optimizer and the loader alone
        }
        const bool isForOthers = GetSchema(type).m_Runner == Runner::Others;
        EXPECT_EQ(made.m_Types.count(type), isForOthers ? 0U : 1U) << GetLayerTypeAsCString(type);
    }
}

} // namespace tenon::test::random_graph_test
