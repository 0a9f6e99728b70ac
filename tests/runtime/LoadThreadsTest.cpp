// SPDX-License-Identifier: Apache-2.0
// Loading on several threads: the same results, weights packed once for layers that share them, the error of the first
// layer, and what was never made for several threads stays on one.
#include "harness/HookBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"
#include "harness/Passes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace tenon::test::load_threads_test
{

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace
{

constexpr unsigned int Width = 160;
constexpr unsigned int NumLayers = 24;

/// A chain of FullyConnected layers; all of one weight, or each of its own.
INetworkPtr MakeNetwork(bool sharesWeights)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, FloatInfo({3, Width}));
    IConnectableLayer* weights = nullptr;
    for (unsigned int i = 0; i < NumLayers; ++i)
    {
        if (weights == nullptr || !sharesWeights)
        {
            const float first = -0.05f - 0.001f * static_cast<float>(i);
            weights = AddFloats(*network, {Width, Width}, Ramp(Width * Width, first, 0.000004f));
        }
        FullyConnectedDescriptor descriptor;
        descriptor.m_BiasEnabled = false;
        IConnectableLayer* layer = network->AddFullyConnectedLayer(descriptor, fmt::format("dense {}", i).c_str());
        Connect(last, layer);
        Connect(weights, layer, 1);
        last = layer;
    }
    Connect(last, network->AddOutputLayer(0));
    return network;
}

std::vector<float> LoadAndRun(const INetwork& network, const BackendId& backend, unsigned int threads, bool profiles)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    INetworkProperties properties;
    properties.m_NumberOfThreads = threads;
    properties.m_ProfilingEnabled = profiles;
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(network, {backend}, runtime->GetDeviceSpec()), properties);
    return RunFloat(*runtime, id, {3, Width}, Ramp(3 * Width, -1.0f, 0.004f));
}

/// Loads on four threads, with a hook for each workload that is made.
void LoadWithHook(const INetwork& network, bool isThreadSafe, std::function<void(const LayerView&)> onCreate)
{
    Hooks hooks;
    hooks.m_IsThreadSafe = isThreadSafe;
    hooks.m_OnCreate = std::move(onCreate);
    IRuntime::CreationOptions options;
    options.m_Backends = {std::make_shared<HookBackend>(std::move(hooks))};
    const IRuntimePtr runtime = IRuntime::Create(options);
    INetworkProperties properties;
    properties.m_NumberOfThreads = 4;
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(network, {"Hook"}, runtime->GetDeviceSpec()), properties);
}

} // namespace

TEST(LoadThreads, GiveTheSameResults)
{
    for (const bool sharesWeights : {false, true})
    {
        const INetworkPtr network = MakeNetwork(sharesWeights);
        for (const char* backend : {"CpuAcc", "CpuRef"})
        {
            const std::vector<float> one = LoadAndRun(*network, backend, 1, false);
            for (const unsigned int threads : {2u, 4u, 0u})
            {
                EXPECT_EQ(LoadAndRun(*network, backend, threads, false), one) << backend << " on " << threads;
            }
            EXPECT_EQ(LoadAndRun(*network, backend, 4, true), one) << backend << " with a profile";
        }
    }
}

TEST(LoadThreads, ComeToHelpWhereTheyMay)
{
    const INetworkPtr network = MakeNetwork(false);
    std::mutex mutex;
    std::condition_variable second;
    std::set<std::thread::id> met;
    // The first one waits for another: on one thread, this would be the end of the test's time.
    LoadWithHook(*network, true,
                 [&](const LayerView&)
                 {
                     std::unique_lock lock(mutex);
                     met.insert(std::this_thread::get_id());
                     second.notify_all();
                     second.wait_for(lock, std::chrono::seconds(20), [&] { return met.size() > 1; });
                 });
    EXPECT_GT(met.size(), 1u);
    met.clear();
    LoadWithHook(*network, false, [&](const LayerView&) { met.insert(std::this_thread::get_id()); });
    EXPECT_EQ(met, std::set<std::thread::id>{std::this_thread::get_id()});
    LoadWithHook(*MakeChain(50, FloatInfo({64})), true,
                 [&](const LayerView&) { met.insert(std::this_thread::get_id()); });
    EXPECT_EQ(met.size(), 1u) << "there is nothing to pack";
}

TEST(LoadThreads, TheErrorOfTheFirstLayerIsThrown)
{
    const INetworkPtr network = MakeNetwork(false);
    for (const bool isThreadSafe : {true, false})
    {
        std::atomic<unsigned int> left{NumLayers};
        const std::string message = MessageOf<RuntimeException>(
            [&]
            {
                LoadWithHook(*network, isThreadSafe,
                             [&](const LayerView& layer)
                             {
                                 --left;
                                 if (*layer.m_Name == "dense 7" || *layer.m_Name == "dense 20")
                                 {
                                     throw std::runtime_error("no weights");
                                 }
                             });
            });
        EXPECT_THAT(message, AllOf(HasSubstr("no weights"), HasSubstr("'dense 7'"), Not(HasSubstr("dense 20"))));
        EXPECT_EQ(left, isThreadSafe ? 0u : NumLayers - 8);
    }
}

} // namespace tenon::test::load_threads_test
