// SPDX-License-Identifier: Apache-2.0
// Lives of delegates and of the runtimes that use them: destruction in every order, threads, failed runs and failed
// preparations in between.
#include "delegate/BuiltinData.hpp"
#include "delegate/DelegateModels.hpp"

#include <tenon/delegate/Delegate.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <numeric>
#include <thread>

// Sanitizers keep freed memory for a while: LeakSanitizer says there what the resident memory says here.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TENON_KEEPS_FREED_MEMORY 1
#else
#define TENON_KEEPS_FREED_MEMORY 0
#endif

namespace tenon::test::delegate_life_test
{

namespace
{

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int Rounds = 1000;

/// A runtime with ChainModel, delegated.
struct DelegatedChain
{
    explicit DelegatedChain(TfLiteDelegate* delegate) : m_Model(m_Runtime.Graph(), MysteryName, {-1, 4})
    {
        EXPECT_EQ(m_Runtime.ModifyGraphWithDelegate(delegate), kTfLiteOk) << m_Runtime.TakeErrors();
        EXPECT_EQ(m_Runtime.AllocateTensors(), kTfLiteOk) << m_Runtime.TakeErrors();
        EXPECT_EQ(m_Runtime.Graph().CountDelegateNodes(), 2u);
    }

    TfLiteStatus Resize(const Dims& dims)
    {
        EXPECT_EQ(m_Runtime.Graph().ResizeInput(m_Model.m_Input, dims), kTfLiteOk);
        return m_Runtime.AllocateTensors();
    }
    void Run(int32_t batch, int32_t run) { RunAndExpect(m_Runtime, m_Model, batch, run); }

    FakeRuntime m_Runtime;
    ChainModel m_Model;
};

/// x, reshaped as a second input says: its values decide whether a run succeeds.
struct ReshapeModel
{
    explicit ReshapeModel(FakeGraph& graph) : m_Graph(graph)
    {
        m_Input = graph.AddTensor(kTfLiteFloat32, {4});
        m_Shape = graph.AddTensor(kTfLiteInt32, {2});
        m_Output = graph.AddTensor(kTfLiteFloat32, {1, 1}, {}, {-1, -1});
        graph.AddNode(ReshapeCode, {m_Input, m_Shape}, {m_Output}, BytesOf(FakeReshapeParams()));
        graph.SetInputs({m_Input, m_Shape});
        graph.SetOutputs({m_Output});
    }

    TfLiteStatus Run(const Dims& shape) const
    {
        m_Graph.SetValues<float>(m_Input, {1, 2, 3, 4});
        m_Graph.SetValues<int32_t>(m_Shape, shape);
        return m_Graph.Invoke();
    }

    FakeGraph& m_Graph;
    int32_t m_Input, m_Shape, m_Output;
};

/// x with 10 combined into its element 1, as an operator of subgraph 1 says.
struct ScatterModel
{
    ScatterModel(FakeRuntime& runtime, int32_t code) : m_Graph(runtime.Graph())
    {
        FakeGraph& body = runtime.Graph(1);
        const auto scalar = [&] { return body.AddTensor(kTfLiteFloat32, {}); };
        const int32_t a = scalar();
        const int32_t b = scalar();
        const int32_t result = scalar();
        body.AddNode(code, {a, b}, {result});
        body.SetInputs({a, b});
        body.SetOutputs({result});

        m_Inputs = {m_Graph.AddTensor(kTfLiteFloat32, {3}), m_Graph.AddTensor(kTfLiteInt32, {1, 1}),
                    m_Graph.AddTensor(kTfLiteFloat32, {1})};
        m_Output = m_Graph.AddTensor(kTfLiteFloat32, {3});
        TfLiteStablehloScatterParams params{};
        params.num_inserted_window_dims = 1;
        params.num_scatter_dims_to_operand_dims = 1;
        params.index_vector_dim = 1;
        params.update_computation_subgraph_index = 1;
        m_Graph.AddNode(StablehloScatterCode, m_Inputs, {m_Output}, BytesOf(params));
        m_Graph.SetInputs(m_Inputs);
        m_Graph.SetOutputs({m_Output});
    }

    Floats Run(const Floats& input) const
    {
        m_Graph.SetValues<float>(m_Inputs[0], input);
        m_Graph.SetValues<int32_t>(m_Inputs[1], {1});
        m_Graph.SetValues<float>(m_Inputs[2], {10});
        EXPECT_EQ(m_Graph.Invoke(), kTfLiteOk);
        return m_Graph.ReadValues<float>(m_Output);
    }

    FakeGraph& m_Graph;
    Dims m_Inputs;
    int32_t m_Output;
};

/// Of this process, in KiB; 0 where the system does not tell.
size_t ReadResidentMemory()
{
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
    {
        if (line.rfind("VmRSS:", 0) == 0)
        {
            return std::stoul(line.substr(6));
        }
    }
    return 0;
}

void ExpectText(FakeRuntime& runtime, const std::string& part)
{
    const std::vector<std::string> texts = runtime.TakeDelegateTexts();
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_THAT(texts[0], StartsWith("TenonDelegate: "));
    EXPECT_THAT(texts[0], HasSubstr(part));
    EXPECT_EQ(texts[0].find('\n'), texts[0].size() - 1) << texts[0];
    runtime.TakeErrors();
}

} // namespace

TEST(DelegateLife, DestructionInEveryOrder)
{
    // Delegates 0 and 1, and runtimes 2 and 3 of the first one and 4 of the second one, which are made, run, resized,
    // run, and destroyed in the order. Kernels outlive their delegate in some.
    std::array<int, 5> order{};
    std::iota(order.begin(), order.end(), 0);
    size_t memory = 0;
    for (int round = 0; round < Rounds; ++round)
    {
        std::array<TfLiteDelegatePtr, 2> delegates{MakeTfLiteDelegate(), MakeTfLiteDelegate()};
        std::array<std::unique_ptr<DelegatedChain>, 3> chains;
        for (size_t i = 0; i < chains.size(); ++i)
        {
            chains[i] = std::make_unique<DelegatedChain>(delegates[i / 2].get());
            const auto batch = static_cast<int32_t>(i + 2);
            chains[i]->Run(1, round);
            ASSERT_EQ(chains[i]->Resize({batch, 4}), kTfLiteOk);
            chains[i]->Run(batch, round);
        }
        for (int index : order)
        {
            const auto place = static_cast<size_t>(index);
            if (place < delegates.size())
            {
                delegates[place].reset();
            }
            else
            {
                chains[place - delegates.size()].reset();
            }
        }
        std::next_permutation(order.begin(), order.end()); // begins anew behind the last one
        ASSERT_FALSE(HasFailure()) << "round " << round;
        memory = round == Rounds / 5 ? ReadResidentMemory() : memory;
    }
    if (TENON_KEEPS_FREED_MEMORY == 0)
    {
        EXPECT_LT(ReadResidentMemory(), memory + 4096);
    }
}

TEST(DelegateLife, TwoDelegatesOnTwoThreads)
{
    const auto work = [](int32_t batch)
    {
        const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
        DelegatedChain chain(delegate.get());
        ASSERT_EQ(chain.Resize({batch, 4}), kTfLiteOk);
        for (int32_t run = 0; run < Rounds; ++run)
        {
            chain.Run(batch, run);
        }
    };
    std::thread first(work, 2);
    std::thread second(work, 3);
    first.join();
    second.join();
}

TEST(DelegateLife, TwoRuntimesOfOneDelegateAndOneModelOnTwoThreads)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime source;
    const DenseModel model(source.Graph());
    const auto work = [&](int32_t batch)
    {
        for (int round = 0; round < 10; ++round)
        {
            FakeRuntimeOptions options;
            options.m_Threads = 1 + round % 3;
            FakeRuntime runtime(options);
            const DenseModel copy(runtime.Graph(), model, source.Graph());
            ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk) << runtime.TakeErrors();
            ASSERT_EQ(runtime.Graph().ResizeInput(copy.m_Input, {batch, 8}), kTfLiteOk);
            ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
            for (int32_t run = 0; run < Rounds / 10; ++run)
            {
                RunAndExpect(runtime, copy, batch, run);
            }
        }
    };
    std::thread first(work, 2);
    std::thread second(work, 5);
    first.join();
    second.join();
}

TEST(DelegateLife, AModelInTheMemoryOfAnotherHasItsOwnNetwork)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    const std::vector<int32_t> before{2, 2};
    const auto sizes = std::make_shared<FakeConstant>(before.data(), before.size() * sizeof(int32_t));
    const auto prepare = [&](FakeRuntime& runtime, const Dims& expected)
    {
        FakeGraph& graph = runtime.Graph();
        const int32_t shape = graph.AddConstant(kTfLiteInt32, {2}, sizes);
        const int32_t input = graph.AddTensor(kTfLiteFloat32, {4});
        const int32_t output = graph.AddTensor(kTfLiteFloat32, expected);
        graph.AddNode(ReshapeCode, {input, shape}, {output}, BytesOf(FakeReshapeParams()));
        graph.SetInputs({input});
        graph.SetOutputs({output});
        ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk) << runtime.TakeErrors();
        ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
        EXPECT_EQ(graph.PlanText(), "DELEGATE");
        EXPECT_EQ(graph.DimsOf(output), expected);
    };
    FakeRuntime first; // whose model is gone, though it should outlive it
    prepare(first, {2, 2});
    auto* values = static_cast<int32_t*>(sizes->Data());
    values[0] = 4;
    values[1] = 1;
    FakeRuntime second;
    prepare(second, {4, 1});
    std::copy(before.begin(), before.end(), values); // runtimes compare it at their end
}

TEST(DelegateLife, ModelsThatDifferInASubgraphHaveANetworkEach)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    std::vector<std::unique_ptr<FakeRuntime>> runtimes; // all of them live on
    for (const auto& [code, expected] : {std::pair(StablehloAddCode, 12.0f), {StablehloMultiplyCode, 20.0f}})
    {
        FakeRuntime& runtime = *runtimes.emplace_back(std::make_unique<FakeRuntime>(FakeRuntimeOptions(), 2));
        const ScatterModel model(runtime, code);
        ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk) << runtime.TakeErrors();
        ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
        EXPECT_EQ(runtime.Graph().PlanText(), "DELEGATE");
        EXPECT_EQ(model.Run({1, 2, 3}), (Floats{1, expected, 3}));
    }
}

TEST(DelegateLife, AFailedRunSpoilsNothing)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    for (const bool runsAgain : {true, false})
    {
        FakeRuntime runtime;
        FakeGraph& graph = runtime.Graph();
        const ReshapeModel model(graph);
        ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
        ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
        EXPECT_EQ(graph.PlanText(), "DELEGATE");
        EXPECT_EQ(model.Run({2, 2}), kTfLiteOk);
        EXPECT_EQ(model.Run({3, 3}), kTfLiteError);
        ExpectText(runtime, "RESHAPE");
        EXPECT_EQ(model.Run({-7, 2}), kTfLiteError);
        ExpectText(runtime, "RESHAPE");
        if (runsAgain)
        {
            EXPECT_EQ(model.Run({4, 1}), kTfLiteOk) << runtime.TakeErrors();
            EXPECT_EQ(graph.DimsOf(model.m_Output), (Dims{4, 1}));
            EXPECT_EQ(graph.ReadValues<float>(model.m_Output), (Floats{1, 2, 3, 4}));
        }
    }
}

TEST(DelegateLife, AFailedPreparationSpoilsNothing)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    for (const bool runsAgain : {true, false})
    {
        DelegatedChain chain(delegate.get());
        chain.Run(1, 0);
        EXPECT_EQ(chain.Resize({2, 3}), kTfLiteError); // does not fit the constant of 4
        ExpectText(chain.m_Runtime, "ADD");
        EXPECT_EQ(chain.m_Runtime.Invoke(), kTfLiteError);
        EXPECT_THAT(chain.m_Runtime.TakeErrors(), HasSubstr("not ready"));
        if (runsAgain)
        {
            EXPECT_EQ(chain.Resize({3, 4}), kTfLiteOk) << chain.m_Runtime.TakeErrors();
            chain.Run(3, 1);
        }
    }
}

TEST(DelegateLife, ACancelledRunSpoilsNothing)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    DelegatedChain chain(delegate.get());
    chain.m_Runtime.Cancel();
    EXPECT_EQ(chain.m_Runtime.Invoke(), kTfLiteCancelled);
    chain.m_Runtime.TakeErrors();
    chain.Run(1, 0);
}

TEST(DelegateLife, SubgraphsAndRuntimesAreDestroyedUnprepared)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    for (int round = 0; round < 10; ++round)
    {
        FakeRuntime runtime({}, 2);
        const ChainModel first(runtime.Graph(0), MysteryName);
        const ChainModel second(runtime.Graph(1));
        ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
        EXPECT_THAT(runtime.TakeErrors(), IsEmpty());
    }
}

} // namespace tenon::test::delegate_life_test
