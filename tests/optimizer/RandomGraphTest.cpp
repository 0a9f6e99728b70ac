// SPDX-License-Identifier: Apache-2.0
// Properties that hold for every network, tried on thousands of random ones: optimized and unoptimized networks give
// the same results, on one backend and split over two, and no two subgraphs wait for each other.
#include "harness/FakeBackend.hpp"
#include "harness/Passes.hpp"
#include "optimizer/RandomNetwork.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tenon::test
{

namespace
{

constexpr uint32_t NumNetworks = 3000;
constexpr unsigned int MostLayers = 30;

/// A network of every size up to MostLayers.
RandomNetwork Make(uint32_t seed)
{
    return RandomNetwork(seed, 1 + seed % MostLayers);
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

Results RunOnce(IRuntime& runtime, IOptimizedNetworkPtr network, const InputTensors& inputs)
{
    NetworkId id = 0;
    runtime.LoadNetwork(id, std::move(network));
    Results results = RunNetwork(runtime, id, inputs);
    runtime.UnloadNetwork(id);
    return results;
}

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
        const Results want = RunOnce(*runtime, std::move(plain), inputs.Tensors());
        ASSERT_NO_FATAL_FAILURE(ExpectClose(RunOnce(*runtime, std::move(optimized), inputs.Tensors()), want, 1e-4f));
    }
    EXPECT_LT(layersAfter, layersBefore * 19 / 20) << "passes that change nothing prove nothing";
}

TEST(RandomGraph, SplitOverTwoBackendsTheyGiveTheSameBytes)
{
    const IRuntimePtr whole = IRuntime::Create({});
    size_t numSplit = 0;
    for (uint32_t seed = 0; seed < NumNetworks; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomNetwork random = Make(seed);
        const FloatInputs inputs(random.InputShapes());
        IRuntime::CreationOptions options;
        options.m_Backends = {MakeOther(seed)};
        const IRuntimePtr both = IRuntime::Create(options);
        auto split = Optimize(random.Network(), {"Other", "CpuRef"}, both->GetDeviceSpec());
        ASSERT_TRUE(RunsSubgraphBySubgraph(GraphOf(split)));
        std::set<std::string> used;
        for (const LayerAssignment& layer : split->GetAssignment())
        {
            used.insert(layer.m_Backend.Get());
        }
        numSplit += used.count("Other") & used.count("CpuRef");
        const Results want =
            RunOnce(*whole, Optimize(random.Network(), {"CpuRef"}, whole->GetDeviceSpec()), inputs.Tensors());
        ASSERT_NO_FATAL_FAILURE(ExpectClose(RunOnce(*both, std::move(split), inputs.Tensors()), want, 0.0f));
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
            RunOnce(*runtime, Optimize(random.Network(), {"CpuRef"}, runtime->GetDeviceSpec()), inputs.Tensors());
        const Results got = RunOnce(
            *runtime, Optimize(random.Network(), {"CpuAcc", "CpuRef"}, runtime->GetDeviceSpec()), inputs.Tensors());
        ASSERT_NO_FATAL_FAILURE(ExpectClose(got, want, 1e-4f));
    }
}

TEST(RandomGraph, TheGeneratorMakesEveryKind)
{
    std::set<std::string> made;
    for (uint32_t seed = 0; seed < NumNetworks / 10; ++seed)
    {
        const RandomNetwork random = Make(seed);
        made.insert(random.Kinds().begin(), random.Kinds().end());
    }
    for (const std::string& kind : RandomNetwork::AllKinds())
    {
        EXPECT_TRUE(made.count(kind) == 1) << kind;
    }
}

} // namespace tenon::test
