// SPDX-License-Identifier: Apache-2.0
// Backends written for Arm NN in networks that run in several threads.
#include "Networks.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace
{

using namespace sample;

/// Runs `f` with 0, 1, ... in one thread each.
void RunInThreads(size_t count, const std::function<void(size_t)>& f)
{
    std::vector<std::thread> threads;
    for (size_t t = 0; t < count; ++t)
    {
        threads.emplace_back([&f, t] { f(t); });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
}

} // namespace

TEST_F(AdaptedBackend, ThreadsTakeTurns)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (size_t t = 0; t < wrong.size(); ++t)
    {
        threads.emplace_back(
            [&, t]
            {
                const auto x = static_cast<float>(t);
                for (int run = 0; run < 50; ++run)
                {
                    const Floats sum = RunNetwork(*runtime, id, {Floats(6, x), {1, 2, 3, 4, 5, 6}});
                    wrong[t] += sum == Floats{x + 1, x + 2, x + 3, x + 4, x + 5, x + 6} ? 0 : 1;
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(AdaptedBackend, WorkloadsOfANetworkExecuteOneAtATime)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    sample::GetJournal().m_IsSlow = true;
    RunInThreads(3,
                 [&](size_t)
                 {
                     for (int run = 0; run < 5; ++run)
                     {
                         RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}});
                     }
                 });
    EXPECT_EQ(sample::GetJournal().m_Executed, 2 * 3 * 5);
    EXPECT_EQ(sample::GetJournal().m_Executing.GetMax(), 1) << "two layers of one network at the same time";
}

TEST_F(AdaptedBackend, NetworksOfARuntimeMakeWorkloadsOneAtATime)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::NetworkId ids[] = {Load(*runtime, *b.m_Network, {"SampleAcc"}),
                                    Load(*runtime, *b.m_Network, {"SampleAcc"})};
    sample::GetJournal().m_IsSlow = true;
    RunInThreads(2,
                 [&](size_t network)
                 {
                     // Each run has shapes that are new.
                     for (unsigned int width = 1; width <= 5; ++width)
                     {
                         const armnn::TensorInfo info = FloatInfo({1, width}, true);
                         const Floats ones(width, 1.0f);
                         Floats output(width);
                         const armnn::ConstTensor tensor(info, ones);
                         runtime->EnqueueWorkload(ids[network], {{0, tensor}, {1, tensor}},
                                                  {{0, armnn::Tensor(FloatInfo({1, width}), output.data())}});
                         EXPECT_EQ(output, Floats(width, 2.0f));
                     }
                 });
    EXPECT_EQ(sample::GetJournal().m_Making.GetMax(), 1) << "the backend was called by two threads";
}
