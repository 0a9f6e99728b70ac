// SPDX-License-Identifier: Apache-2.0
// The delegate in FakeRuntime: nodes that it takes, their partitions and results, sizes that change, state.
#include "delegate/DelegateModels.hpp"

#include <tenon/delegate/Delegate.hpp>

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>

#include <tuple>

namespace tenon::test::delegate_test
{

namespace
{

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// One way for all of these tests: nothing may be reported.
void Apply(FakeRuntime& runtime, TfLiteDelegate* delegate)
{
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate), kTfLiteOk) << runtime.TakeErrors();
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_THAT(runtime.TakeErrors(), IsEmpty());
}

/// The plan of ChainModel with these options, after a run of it.
std::string PlanOfChain(const TfLiteDelegateOptions& options, const char* middle)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate(options);
    FakeRuntime runtime;
    const ChainModel model(runtime.Graph(), middle);
    Apply(runtime, delegate.get());
    RunAndExpect(runtime, model, 1, 0);
    return runtime.Graph().PlanText();
}

} // namespace

TEST(DelegateTest, AModelThatItKnowsIsOnePartition)
{
    for (const std::vector<BackendId>& backends : {std::vector<BackendId>{"CpuAcc", "CpuRef"}, {"CpuRef"}, {"CpuAcc"}})
    {
        TfLiteDelegateOptions options;
        options.m_Backends = backends;
        const TfLiteDelegatePtr delegate = MakeTfLiteDelegate(options);
        FakeRuntime runtime;
        const DenseModel model(runtime.Graph());
        Apply(runtime, delegate.get());
        EXPECT_EQ(runtime.Graph().PlanText(), "DELEGATE");
        for (int32_t run = 0; run < 5; ++run)
        {
            RunAndExpect(runtime, model, 1, run);
            runtime.Graph().MoveArena();
        }
    }
}

TEST(DelegateTest, RunsInRuntimesOfOtherReleases)
{
    for (size_t bytes : {64u, 88u, 152u})
    {
        for (const bool isShort : {false, true})
        {
            for (const int32_t threads : {-1, 0, 1, 3})
            {
                FakeRuntimeOptions options;
                options.m_RegistrationBytes = bytes;
                options.m_HasShortContext = isShort;
                options.m_Threads = threads;
                const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
                FakeRuntime runtime(options);
                const ChainModel model(runtime.Graph(), MysteryName);
                Apply(runtime, delegate.get());
                EXPECT_EQ(runtime.Graph().PlanText(), "DELEGATE Mystery DELEGATE");
                RunAndExpect(runtime, model, 1, 1);
            }
        }
    }
}

TEST(DelegateTest, ARuntimeThatPreservesTensorsGetsAPartitionForEachNode)
{
    FakeRuntimeOptions options;
    options.m_PreservesAllTensors = true;
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime(options);
    const ChainModel model(runtime.Graph());
    Apply(runtime, delegate.get());
    EXPECT_EQ(runtime.Graph().PlanText(), "DELEGATE DELEGATE DELEGATE DELEGATE");
    RunAndExpect(runtime, model, 1, 0);
}

TEST(DelegateTest, LimitsOfPartitions)
{
    TfLiteDelegateOptions options;
    EXPECT_EQ(PlanOfChain(options, nullptr), "DELEGATE");
    EXPECT_EQ(PlanOfChain(options, MysteryName), "DELEGATE Mystery DELEGATE");
    options.m_MinNodesPerPartition = 2;
    EXPECT_EQ(PlanOfChain(options, MysteryName), "DELEGATE Mystery ADD");
    options.m_MinNodesPerPartition = 3;
    EXPECT_EQ(PlanOfChain(options, MysteryName), "DELEGATE Mystery ADD");
    options.m_MinNodesPerPartition = 4;
    EXPECT_EQ(PlanOfChain(options, MysteryName), "ADD RELU MUL Mystery ADD");
    EXPECT_EQ(PlanOfChain(options, nullptr), "DELEGATE");
    options.m_MinNodesPerPartition = 0;
    options.m_MaxDelegatedPartitions = 1;
    EXPECT_EQ(PlanOfChain(options, MysteryName), "DELEGATE Mystery ADD");
    options.m_MaxDelegatedPartitions = 2;
    EXPECT_EQ(PlanOfChain(options, MysteryName), "DELEGATE Mystery DELEGATE");
}

TEST(DelegateTest, AnOperatorWithoutAKernelIsLeft)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    const ChainModel model(runtime.Graph(), "Unresolved%s%n");
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
    EXPECT_EQ(runtime.Graph().PlanText(), "DELEGATE Unresolved%s%n DELEGATE");
    EXPECT_NE(runtime.AllocateTensors(), kTfLiteOk);
    EXPECT_THAT(runtime.TakeErrors(), HasSubstr("unresolved custom op"));
}

TEST(DelegateTest, SizesChangeOnKernelsThatStay)
{
    for (const Dims& signature : {Dims{}, Dims{-1, 4}})
    {
        const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
        FakeRuntime runtime;
        FakeGraph& graph = runtime.Graph();
        const ChainModel model(graph, MysteryName, signature);
        Apply(runtime, delegate.get());
        const void* kernel = graph.Node(graph.Plan()[0]).user_data;
        for (int32_t batch : {1, 3, 1, 7, 2, 1})
        {
            ASSERT_EQ(graph.ResizeInput(model.m_Input, {batch, 4}), kTfLiteOk);
            ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
            EXPECT_EQ(graph.DimsOf(model.m_Output), (Dims{batch, 4}));
            RunAndExpect(runtime, model, batch, batch);
            RunAndExpect(runtime, model, batch, batch + 1);
        }
        EXPECT_EQ(graph.PlanText(), "DELEGATE Mystery DELEGATE");
        EXPECT_EQ(graph.Node(graph.Plan()[0]).user_data, kernel);
    }
}

TEST(DelegateTest, RanksChangeOnKernelsThatStay)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const ChainModel model(graph);
    Apply(runtime, delegate.get());
    for (const Dims& dims : {Dims{2, 4}, Dims{4}, Dims{2, 3, 4}, Dims{1, 1, 2, 4}, Dims{1, 4}})
    {
        ASSERT_EQ(graph.ResizeInput(model.m_Input, dims), kTfLiteOk);
        ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
        EXPECT_EQ(graph.DimsOf(model.m_Output), dims);
        int32_t batch = 1;
        for (int32_t size : dims)
        {
            batch *= size;
        }
        RunAndExpect(runtime, model, batch / 4, 3);
    }
}

TEST(DelegateTest, RanksChangeWhereLayersHaveOneRank)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const DenseModel model(graph);
    Apply(runtime, delegate.get());
    for (const Dims& dims : {Dims{2, 3, 8}, Dims{4, 8}, Dims{1, 2, 2, 8}, Dims{8}, Dims{1, 8}})
    {
        ASSERT_EQ(graph.ResizeInput(model.m_Input, dims), kTfLiteOk);
        ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
        int32_t batch = 1;
        for (int32_t size : dims)
        {
            batch *= size;
        }
        batch /= 8;
        EXPECT_EQ(graph.DimsOf(model.m_Output), (Dims{batch, 3}));
        RunAndExpect(runtime, model, batch, 3);
        RunAndExpect(runtime, model, batch, 4);
    }
}

/// An axis that counts from the last one is another one in another rank.
TEST(DelegateTest, RanksChangeWhereAnAxisCountsFromTheLast)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {1, 2});
    const int32_t y = graph.AddTensor(kTfLiteFloat32, {1, 2});
    const int32_t joined = graph.AddTensor(kTfLiteFloat32, {1, 4});
    graph.AddNode(ConcatenationCode, {x, y}, {joined}, BytesOf(FakeConcatenationParams{-1, 0}));
    graph.SetInputs({x, y});
    graph.SetOutputs({joined});
    Apply(runtime, delegate.get());
    ASSERT_EQ(graph.PlanText(), "DELEGATE");
    for (const Dims& dims : {Dims{2, 1, 2}, Dims{2, 2}, Dims{1, 2, 1, 2}, Dims{2, 2}})
    {
        ASSERT_EQ(graph.ResizeInput(x, dims), kTfLiteOk);
        ASSERT_EQ(graph.ResizeInput(y, dims), kTfLiteOk);
        ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
        Dims joinedDims = dims;
        joinedDims.back() = 4;
        EXPECT_EQ(graph.DimsOf(joined), joinedDims);
        graph.SetValues<float>(x, {1, 2, 3, 4});
        graph.SetValues<float>(y, {5, 6, 7, 8});
        ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
        EXPECT_EQ(graph.ReadValues<float>(joined), (Floats{1, 2, 5, 6, 3, 4, 7, 8}));
    }
}

TEST(DelegateTest, AnInputIsResizedBeforeTheDelegateComes)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    const DenseModel model(runtime.Graph());
    ASSERT_EQ(runtime.Graph().ResizeInput(model.m_Input, {5, 8}), kTfLiteOk);
    Apply(runtime, delegate.get());
    EXPECT_EQ(runtime.Graph().PlanText(), "DELEGATE");
    EXPECT_EQ(runtime.Graph().DimsOf(model.m_Output), (Dims{5, 3}));
    RunAndExpect(runtime, model, 5, 0);
}

TEST(DelegateTest, AnInputWithoutElements)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const ChainModel model(graph);
    Apply(runtime, delegate.get());
    ASSERT_EQ(graph.ResizeInput(model.m_Input, {0, 4}), kTfLiteOk);
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_EQ(graph.DimsOf(model.m_Output), (Dims{0, 4}));
    EXPECT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
    ASSERT_EQ(graph.ResizeInput(model.m_Input, {2, 4}), kTfLiteOk);
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
    RunAndExpect(runtime, model, 2, 0);
}

TEST(DelegateTest, GraphsWithoutNodesAndWithNoneThatItKnows)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime({}, 2);
    FakeGraph& graph = runtime.Graph();
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {3});
    const int32_t y = graph.AddTensor(kTfLiteFloat32, {3});
    graph.AddCustomNode(MysteryName, {x}, {y});
    graph.SetInputs({x});
    graph.SetOutputs({y});
    Apply(runtime, delegate.get());
    EXPECT_EQ(graph.PlanText(), "Mystery");
    EXPECT_EQ(runtime.Graph(1).PlanText(), "");
    graph.SetValues<float>(x, {1, 2, 3});
    ASSERT_EQ(runtime.Invoke(), kTfLiteOk);
    EXPECT_EQ(graph.ReadValues<float>(y), (Floats{1, 2, 3}));
}

TEST(DelegateTest, AppliesToAGraphThatRanBefore)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    const ChainModel model(runtime.Graph(), MysteryName);
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    RunAndExpect(runtime, model, 1, 0);
    Apply(runtime, delegate.get());
    EXPECT_EQ(runtime.Graph().CountDelegateNodes(), 2u);
    RunAndExpect(runtime, model, 1, 1);
    ASSERT_EQ(runtime.Graph().RemoveAllDelegates(), kTfLiteOk);
    EXPECT_EQ(runtime.Graph().CountDelegateNodes(), 0u);
    RunAndExpect(runtime, model, 1, 2);
    Apply(runtime, delegate.get());
    EXPECT_EQ(runtime.Graph().CountDelegateNodes(), 2u);
    RunAndExpect(runtime, model, 1, 3);
    // Nothing of the graph is left to take for a second delegate.
    const TfLiteDelegatePtr second = MakeTfLiteDelegate();
    Apply(runtime, second.get());
    RunAndExpect(runtime, model, 1, 4);
    ASSERT_EQ(runtime.Graph().PrepareAgain(), kTfLiteOk);
    RunAndExpect(runtime, model, 1, 5);
}

TEST(DelegateTest, EachSubgraphIsTakenByItself)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime({}, 3);
    const ChainModel first(runtime.Graph(0), MysteryName);
    const ChainModel second(runtime.Graph(1));
    const ChainModel third(runtime.Graph(2)); // with the shapes and nodes of the second one
    Apply(runtime, delegate.get());
    EXPECT_EQ(runtime.Graph(0).PlanText(), "DELEGATE Mystery DELEGATE");
    for (int32_t subgraph : {1, 2})
    {
        FakeGraph& graph = runtime.Graph(subgraph);
        EXPECT_EQ(graph.PlanText(), "DELEGATE");
        ASSERT_EQ(graph.AllocateTensors(), kTfLiteOk);
        graph.SetValues<float>(second.m_Input, ChainModel::MakeInput(1, subgraph));
        ASSERT_EQ(graph.Invoke(), kTfLiteOk);
        EXPECT_EQ(graph.ReadValues<float>(second.m_Output), ChainModel::Expected(ChainModel::MakeInput(1, subgraph)));
    }
    RunAndExpect(runtime, first, 1, 0);
}

TEST(DelegateTest, AShapeThatIsAnInputMakesTheOutputDynamic)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    // As converters write it; then as in files that say nothing of sizes that vary.
    for (const auto& [declared, signature, isAllocatedBefore] : {std::tuple(Dims{1, 1}, Dims{-1, -1}, false),
                                                                 {Dims{1, 1}, Dims{-1, -1}, true},
                                                                 {Dims{1, 1}, Dims{}, false},
                                                                 {Dims{2, 3}, Dims{}, false},
                                                                 {Dims{6}, Dims{}, true},
                                                                 {Dims{}, Dims{}, false}})
    {
        SCOPED_TRACE(testing::PrintToString(declared) + (isAllocatedBefore ? ", allocated before" : ""));
        FakeRuntime runtime;
        FakeGraph& graph = runtime.Graph();
        const int32_t x = graph.AddTensor(kTfLiteFloat32, {6});
        const int32_t shape = graph.AddTensor(kTfLiteInt32, {2});
        const int32_t reshaped = graph.AddTensor(kTfLiteFloat32, declared, {}, signature);
        const int32_t sum = graph.AddTensor(kTfLiteFloat32, declared, {}, signature);
        const int32_t copy = graph.AddTensor(kTfLiteFloat32, declared, {}, signature);
        const int32_t y = graph.AddTensor(kTfLiteFloat32, declared, {}, signature);
        graph.AddNode(ReshapeCode, {x, shape}, {reshaped}, BytesOf(FakeReshapeParams()));
        graph.AddNode(AddCode, {reshaped, reshaped}, {sum}, BytesOf(FakeAddParams()));
        graph.AddCustomNode(MysteryName, {sum}, {copy});
        graph.AddNode(ReluCode, {copy}, {y});
        graph.SetInputs({x, shape});
        graph.SetOutputs({sum, y});
        if (isAllocatedBefore)
        {
            ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
        }
        Apply(runtime, delegate.get());
        EXPECT_EQ(graph.PlanText(), "DELEGATE Mystery DELEGATE");
        EXPECT_EQ(graph.Tensor(sum).allocation_type, kTfLiteDynamic);
        for (const Dims& dims : {Dims{2, 3}, Dims{2, 3}, Dims{6, 1}, Dims{1, 6}, Dims{3, 2}})
        {
            graph.SetValues<float>(x, {1, 2, -3, 4, 5, 6});
            graph.SetValues<int32_t>(shape, dims);
            ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
            EXPECT_EQ(graph.DimsOf(sum), dims);
            EXPECT_EQ(graph.DimsOf(y), dims);
            EXPECT_EQ(graph.ReadValues<float>(sum), (Floats{2, 4, -6, 8, 10, 12}));
            EXPECT_EQ(graph.ReadValues<float>(y), (Floats{2, 4, 0, 8, 10, 12}));
        }
    }
}

/// A tensor that TensorFlow Lite's own kernel made dynamic stays so when a delegate knows its sizes.
TEST(DelegateTest, ATensorIsDynamicAndItsSizesAreKnown)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const ChainModel model(graph);
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    graph.Tensor(model.m_Output).allocation_type = kTfLiteDynamic;
    graph.Tensor(model.m_Output).data = nullptr;
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk) << runtime.TakeErrors();
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_EQ(graph.PlanText(), "DELEGATE");
    RunAndExpect(runtime, model, 1, 0);
    RunAndExpect(runtime, model, 1, 1);
}

TEST(DelegateTest, TheNumberOfElementsDependsOnValues)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {2, 3});
    const int32_t places = graph.AddTensor(kTfLiteInt64, {0, 2}, {}, {-1, 2});
    graph.AddNode(WhereCode, {x}, {places});
    graph.SetInputs({x});
    graph.SetOutputs({places});
    Apply(runtime, delegate.get());
    ASSERT_EQ(graph.PlanText(), "DELEGATE");
    EXPECT_EQ(graph.Tensor(places).allocation_type, kTfLiteDynamic);

    graph.SetValues<float>(x, {0, 1, 0, 2, 0, 3});
    ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_EQ(graph.DimsOf(places), (Dims{3, 2}));
    EXPECT_EQ(graph.ReadValues<int64_t>(places), (std::vector<int64_t>{0, 1, 1, 0, 1, 2}));
    graph.SetValues<float>(x, {0, 0, 0, 0, 0, 0});
    ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_EQ(graph.DimsOf(places), (Dims{0, 2}));
    graph.SetValues<float>(x, {0, 0, 7, 0, 0, 0});
    ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_EQ(graph.DimsOf(places), (Dims{1, 2}));
    EXPECT_EQ(graph.ReadValues<int64_t>(places), (std::vector<int64_t>{0, 2}));
}

TEST(DelegateTest, StateLiesInTheRuntimesMemory)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    // Two units that look back over three runs.
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {1, 2});
    const int32_t features = graph.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 2, 3, 4});
    const int32_t times = graph.AddConstant<float>(kTfLiteFloat32, {2, 3}, {100, 10, 1, 1, 10, 100});
    const int32_t state = graph.AddVariable(kTfLiteFloat32, {1, 6});
    const int32_t y = graph.AddTensor(kTfLiteFloat32, {1, 2});
    graph.AddNode(SvdfCode, {x, features, times, delegate::AbsentTensor, state}, {y}, BytesOf(FakeSvdfParams()));
    graph.SetInputs({x});
    graph.SetOutputs({y});
    Apply(runtime, delegate.get());
    ASSERT_EQ(graph.PlanText(), "DELEGATE");

    const auto run = [&](const Floats& input) -> Floats
    {
        graph.SetValues<float>(x, input);
        EXPECT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
        return graph.ReadValues<float>(y);
    };
    for (int round = 0; round < 2; ++round)
    {
        EXPECT_EQ(run({1, 0}), (Floats{1, 300}));
        EXPECT_EQ(graph.ReadValues<float>(state), (Floats{0, 0, 1, 0, 0, 3}));
        EXPECT_EQ(run({0, 1}), (Floats{12, 430}));
        graph.MoveArena();
        EXPECT_EQ(run({0, 0}), (Floats{120, 43}));
        EXPECT_EQ(graph.ReadValues<float>(state), (Floats{1, 2, 0, 3, 4, 0}));
        graph.ResetVariables();
    }
    // A state that the application writes.
    graph.SetValues<float>(state, {0, 0, 5, 0, 0, 7});
    EXPECT_EQ(run({0, 0}), (Floats{50, 70}));
}

TEST(DelegateTest, StateThatAnOperatorKeepsByItself)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    flexbuffers::Builder options;
    options.Map([&] { options.Int("delay_length", 1); });
    options.Finish();
    FakeRuntime runtimes[2];
    for (FakeRuntime& runtime : runtimes)
    {
        FakeGraph& graph = runtime.Graph();
        const int32_t x = graph.AddTensor(kTfLiteFloat32, {2});
        const int32_t y = graph.AddTensor(kTfLiteFloat32, {2});
        graph.AddCustomNode("SignalDelay", {x}, {y}, options.GetBuffer());
        graph.SetInputs({x});
        graph.SetOutputs({y});
        Apply(runtime, delegate.get());
        ASSERT_EQ(graph.PlanText(), "DELEGATE");
    }
    const auto run = [&](FakeRuntime& runtime, const Floats& input) -> Floats
    {
        FakeGraph& graph = runtime.Graph();
        graph.SetValues<float>(0, input);
        EXPECT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
        return graph.ReadValues<float>(1);
    };
    EXPECT_EQ(run(runtimes[0], {1, 2}), (Floats{0, 1}));
    EXPECT_EQ(run(runtimes[1], {7, 8}), (Floats{0, 7}));
    EXPECT_EQ(run(runtimes[0], {3, 4}), (Floats{2, 3}));
    EXPECT_EQ(run(runtimes[1], {9, 6}), (Floats{8, 9}));
}

TEST(DelegateTest, TwoRuntimesOfOneModelShareADelegate)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime first;
    const DenseModel firstModel(first.Graph());
    FakeRuntime second;
    const DenseModel secondModel(second.Graph(), firstModel, first.Graph());
    Apply(first, delegate.get());
    Apply(second, delegate.get());
    ASSERT_EQ(second.Graph().ResizeInput(secondModel.m_Input, {3, 8}), kTfLiteOk);
    ASSERT_EQ(second.AllocateTensors(), kTfLiteOk);
    for (int32_t run = 0; run < 10; ++run)
    {
        RunAndExpect(first, firstModel, 1, run);
        RunAndExpect(second, secondModel, 3, run + 1);
    }
}

TEST(DelegateTest, NodesThatMayNotBeLeftAreAnErrorThatNamesThem)
{
    TfLiteDelegateOptions options;
    options.m_DisableFallback = true;
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate(options);
    FakeRuntime runtime;
    const ChainModel model(runtime.Graph(), "Unresolved%s%n");
    EXPECT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteDelegateError);
    const std::vector<std::string> texts = runtime.TakeDelegateTexts();
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_THAT(texts[0], StartsWith("TenonDelegate: "));
    EXPECT_THAT(texts[0], HasSubstr("Unresolved%s%n"));
    EXPECT_EQ(runtime.Graph().PlanText(), "ADD RELU MUL Unresolved%s%n ADD");

    FakeRuntime whole;
    const ChainModel wholeModel(whole.Graph());
    Apply(whole, delegate.get());
    RunAndExpect(whole, wholeModel, 1, 0);
}

} // namespace tenon::test::delegate_test
