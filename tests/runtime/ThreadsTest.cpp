// SPDX-License-Identifier: Apache-2.0
// The API from several threads at once: one network, several networks, loading and unloading beside running.
#include "harness/Networks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace tenon::test::threads_test
{

namespace
{

void InParallel(int threads, const std::function<void(int)>& body)
{
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
    {
        workers.emplace_back(body, t);
    }
    for (std::thread& worker : workers)
    {
        worker.join();
    }
}

const TensorShape ImageShape({1, 24, 24, 16});

/// Large enough for several threads, each of which needs memory of its own.
INetworkPtr MakeConvolution()
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo weightsInfo({32, 3, 3, 16}, DataType::Float32, 0.0f, 0, true);
    const auto values = std::make_shared<const std::vector<float>>(Ramp(weightsInfo.GetNumElements(), -1.0f, 0.0005f));
    Convolution2dDescriptor descriptor;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    descriptor.m_PadLeft = descriptor.m_PadRight = descriptor.m_PadTop = descriptor.m_PadBottom = 1;
    descriptor.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* input = network->AddInputLayer(0);
    IConnectableLayer* weights = network->AddConstantLayer(ConstTensor(weightsInfo, values->data()), values);
    IConnectableLayer* layer = network->AddConvolution2dLayer(descriptor);
    IConnectableLayer* output = network->AddOutputLayer(0);
    input->GetOutputSlot(0).SetTensorInfo(TensorInfo(ImageShape, DataType::Float32));
    weights->GetOutputSlot(0).SetTensorInfo(weightsInfo);
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, 24, 24, 32}, DataType::Float32));
    input->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    weights->GetOutputSlot(0).Connect(layer->GetInputSlot(1));
    layer->GetOutputSlot(0).Connect(output->GetInputSlot(0));
    return network;
}

} // namespace

TEST(Threads, PlansHaveMemoryForThoseThatAreAllowed)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto load = [&](unsigned int threads)
    {
        INetworkProperties properties;
        properties.m_NumberOfThreads = threads;
        NetworkId id = 0;
        std::string message;
        runtime->LoadNetwork(id, Optimize(*MakeConvolution(), {"CpuAcc"}, runtime->GetDeviceSpec()), message,
                             properties);
        return id;
    };
    const auto arenaOf = [&](NetworkId id) { return runtime->GetStatistics(id).m_ArenaBytes; };
    const std::vector<float> image = Ramp(ImageShape.GetNumElements(), -2.0f, 0.0007f);
    const NetworkId one = load(1);
    const NetworkId four = load(4);
    EXPECT_LT(arenaOf(one), arenaOf(four));
    const std::vector<float> expected = RunFloat(*runtime, one, ImageShape, image);
    EXPECT_EQ(RunFloat(*runtime, four, ImageShape, image), expected);

    runtime->SetNumberOfThreads(one, 4);
    EXPECT_EQ(RunFloat(*runtime, one, ImageShape, image), expected);
    EXPECT_EQ(arenaOf(one), arenaOf(four)) << "a plan for more threads takes the place of that for one";
    runtime->SetNumberOfThreads(one, 1);
    EXPECT_EQ(RunFloat(*runtime, one, ImageShape, image), expected);
    EXPECT_EQ(arenaOf(one), arenaOf(four)) << "what is there serves fewer threads as well";
}

TEST(Threads, OneNetworkManyCallers)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeChain(8, FloatInfo({64})));
    std::atomic<int> wrong{0};
    InParallel(4,
               [&](int t)
               {
                   for (int round = 0; round < 50; ++round)
                   {
                       // Two shapes in turn, so that plans change hands too.
                       const size_t n = round % 2 == 0 ? 64 : 17;
                       const float first = -1.0f - static_cast<float>(t * 1000);
                       const auto result =
                           RunFloat(*runtime, id, {static_cast<unsigned int>(n)}, Ramp(n, first, -1.0f));
                       if (result != Ramp(n, -first, 1.0f))
                       {
                           ++wrong;
                       }
                   }
               });
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(runtime->GetStatistics(id).m_NumContexts, 4u);
}

TEST(Threads, OneNetworkOptimizedByMany)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    INetworkPtr network = MakeChain(60, FloatInfo({16}));
    std::vector<IOptimizedNetworkPtr> optimized;
    for (int t = 0; t < 4; ++t)
    {
        optimized.emplace_back(nullptr, &IOptimizedNetwork::Destroy);
    }
    InParallel(4, [&](int t)
               { optimized[static_cast<size_t>(t)] = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()); });
    network.reset(); // whose names they share
    for (IOptimizedNetworkPtr& one : optimized)
    {
        NetworkId id = 0;
        runtime->LoadNetwork(id, std::move(one));
        EXPECT_EQ(RunFloat(*runtime, id, {16}, Ramp(16, -1.0f, -1.0f)), Ramp(16, 1.0f, 1.0f));
    }
}

TEST(Threads, LoadRunUnloadEverywhere)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    std::atomic<int> wrong{0};
    InParallel(4,
               [&](int)
               {
                   for (int round = 0; round < 10; ++round)
                   {
                       const NetworkId id = Load(*runtime, *MakeChain(3, FloatInfo({8})));
                       if (RunFloat(*runtime, id, {8}, Ramp(8, -8.0f)) != Ramp(8, 8.0f, -1.0f))
                       {
                           ++wrong;
                       }
                       runtime->UnloadNetwork(id);
                   }
               });
    EXPECT_EQ(wrong, 0);
}

TEST(Threads, UnloadWaitsForRuns)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    for (int round = 0; round < 20; ++round)
    {
        const NetworkId id = Load(*runtime, *MakeChain(20, FloatInfo({256})));
        std::atomic<bool> started{false};
        std::thread runner(
            [&]
            {
                try
                {
                    for (int i = 0; i < 100; ++i)
                    {
                        RunFloat(*runtime, id, {256}, Ramp(256));
                        started = true;
                    }
                }
                catch (const InvalidArgumentException&)
                {
                    started = true; // unloaded meanwhile: the only failure there may be
                }
            });
        while (!started)
        {
            std::this_thread::yield();
        }
        runtime->UnloadNetwork(id);
        runner.join();
    }
}

TEST(Threads, IndependentRuntimes)
{
    std::atomic<int> wrong{0};
    InParallel(3,
               [&](int)
               {
                   const IRuntimePtr runtime = IRuntime::Create({});
                   const NetworkId id = Load(*runtime, *MakeChain(3, FloatInfo({8})), {"CpuAcc", "CpuRef"});
                   if (RunFloat(*runtime, id, {8}, Ramp(8, -8.0f)) != Ramp(8, 8.0f, -1.0f))
                   {
                       ++wrong;
                   }
               });
    EXPECT_EQ(wrong, 0);
}

} // namespace tenon::test::threads_test
