// SPDX-License-Identifier: Apache-2.0
// The delegate by its plugin symbols, and what it does with options and graphs that are wrong: it tells, and takes
// nothing that it should not.
#include "delegate/DelegateModels.hpp"

#include <tenon/delegate/Delegate.hpp>

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <utility>

extern "C"
{
    // As TensorFlow Lite declares them.
    TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values, size_t numOptions,
                                                  void (*reportError)(const char*));
    void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate);
}

namespace tenon::test::delegate_errors_test
{

namespace
{

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Options = std::vector<std::pair<std::string, std::string>>;
using PluginPtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

std::vector<std::string> ReportedTexts;

PluginPtr CreateByPlugin(const Options& options, size_t count, void (*report)(const char*))
{
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options)
    {
        keys.push_back(key.c_str());
        values.push_back(value.c_str());
    }
    return {tflite_plugin_create_delegate(keys.data(), values.data(), count, report), tflite_plugin_destroy_delegate};
}

/// Null, and the text that was reported.
std::string FindPluginError(const Options& options)
{
    ReportedTexts.clear();
    const PluginPtr delegate =
        CreateByPlugin(options, options.size(), [](const char* text) { ReportedTexts.emplace_back(text); });
    EXPECT_EQ(delegate, nullptr);
    EXPECT_EQ(ReportedTexts.size(), 1u);
    // Programs also pass no function.
    EXPECT_EQ(CreateByPlugin(options, options.size(), nullptr), nullptr);
    return ReportedTexts.empty() ? "" : ReportedTexts[0];
}

/// What is wrong with a graph: done to ChainModel before the delegate comes, which then has to leave node 1, RELU.
struct HostileCase
{
    const char* m_Name;
    std::function<void(FakeGraph& graph)> m_Change;
};

/// The tensor behind an operand of RELU.
TfLiteTensor& ReluInput(FakeGraph& graph)
{
    return graph.Tensor(graph.Node(1).inputs->data[0]);
}

TfLiteAffineQuantization AffineOf(TfLiteFloatArray* scales, TfLiteIntArray* zeroPoints, int32_t axis)
{
    return {scales, zeroPoints, axis};
}

/// Functions of a context that a runtime could have wrong. The delegate may take nothing then.
void ExpectNothingTaken(const std::function<void(TfLiteContext&)>& change)
{
    FakeRuntimeOptions options;
    options.m_ChangeContext = change;
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime(options);
    const ChainModel model(runtime.Graph());
    const TfLiteStatus status = runtime.ModifyGraphWithDelegate(delegate.get());
    EXPECT_EQ(runtime.Graph().PlanText(), "ADD RELU MUL ADD");
    for (const std::string& text : runtime.TakeDelegateTexts())
    {
        EXPECT_NE(status, kTfLiteOk);
        EXPECT_THAT(text, AllOf(StartsWith("TenonDelegate: "), EndsWith("\n")));
    }
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    RunAndExpect(runtime, model, 1, 0);
}

/// Says of all nodes that are asked for that they would be one partition, whatever lies between them.
TfLiteStatus PreviewOne(TfLiteContext* /*context*/, const TfLiteIntArray* nodes, TfLiteDelegateParams** partitions,
                        int32_t* count)
{
    static IntArrayPtr allNodes, inputs, outputs;
    static TfLiteDelegateParams params;
    allNodes = MakeIntArray(ToVector(nodes));
    inputs = MakeIntArray({0, 1, 5}); // of ChainModel: x, c, what Mystery gives
    outputs = MakeIntArray({4, 6});
    params = {nullptr, allNodes.get(), inputs.get(), outputs.get()};
    *partitions = &params;
    *count = 1;
    return kTfLiteOk;
}

decltype(TfLiteContext::ReplaceNodeSubsetsWithDelegateKernels) RealReplace;

/// A tensor becomes one that no network can have, before kernels are made.
TfLiteStatus SpoilAndReplace(TfLiteContext* context, TfLiteKernelRegistration kernel, const TfLiteIntArray* nodes,
                             TfLiteDelegate* delegate)
{
    context->tensors[2].type = static_cast<TfLiteType>(99);
    return RealReplace(context, kernel, nodes, delegate);
}

} // namespace

TEST(DelegateErrors, ThePluginMakesADelegateByText)
{
    for (const Options& options : {Options{}, Options{{"backends", "CpuAcc,CpuRef"}, {"logging-severity", "fatal"}},
                                   Options{{"num_threads", "1"}, {"enable-fast-math", "True"}}})
    {
        // Python gives a 32-bit number: the register has other bits, too.
        for (const size_t count : {options.size(), options.size() | (size_t{0xDEADBEEF} << 32)})
        {
            const PluginPtr delegate = CreateByPlugin(options, count, nullptr);
            ASSERT_NE(delegate, nullptr);
            FakeRuntime runtime;
            const ChainModel model(runtime.Graph(), MysteryName);
            ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk) << runtime.TakeErrors();
            ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
            EXPECT_EQ(runtime.Graph().CountDelegateNodes(), 2u);
            RunAndExpect(runtime, model, 1, 0);
        }
    }
    const PluginPtr byNull{tflite_plugin_create_delegate(nullptr, nullptr, 0, nullptr), tflite_plugin_destroy_delegate};
    EXPECT_NE(byNull, nullptr);
    tflite_plugin_destroy_delegate(nullptr);
}

TEST(DelegateErrors, ThePluginNamesWhatIsWrong)
{
    const auto text = [](const Options& options)
    {
        const std::string reported = FindPluginError(options);
        EXPECT_THAT(reported, AllOf(StartsWith("TenonDelegate: "), EndsWith("\n"), Not(EndsWith("\n\n"))));
        return reported;
    };
    EXPECT_THAT(text({{"bakends", "CpuAcc"}}), AllOf(HasSubstr("bakends"), HasSubstr("backends")));
    EXPECT_THAT(text({{"backends", "VsiNpu"}}), AllOf(HasSubstr("VsiNpu"), HasSubstr("CpuAcc"), HasSubstr("CpuRef")));
    EXPECT_THAT(text({{"backends", ""}}), HasSubstr("backends"));
    EXPECT_THAT(text({{"num_threads", "many"}}), AllOf(HasSubstr("num_threads"), HasSubstr("many")));
    EXPECT_THAT(text({{"number-of-threads", "-1"}}), HasSubstr("number-of-threads"));
    EXPECT_THAT(text({{"logging-severity", "loud"}}),
                AllOf(HasSubstr("logging-severity"), HasSubstr("loud"), HasSubstr("warning")));
    EXPECT_THAT(text({{"enable-fast-math", "maybe"}}), AllOf(HasSubstr("enable-fast-math"), HasSubstr("maybe")));
    EXPECT_THAT(text({{"", ""}}), Not(IsEmpty()));
}

TEST(DelegateErrors, ThePluginChecksItsPointers)
{
    const char* key = "backends";
    const char* value = "CpuRef";
    const char* none = nullptr;
    EXPECT_EQ(tflite_plugin_create_delegate(nullptr, &value, 1, nullptr), nullptr);
    EXPECT_EQ(tflite_plugin_create_delegate(&key, nullptr, 1, nullptr), nullptr);
    EXPECT_EQ(tflite_plugin_create_delegate(&none, &value, 1, nullptr), nullptr);
    EXPECT_EQ(tflite_plugin_create_delegate(&key, &none, 1, nullptr), nullptr);
}

TEST(DelegateErrors, ContextsThatDoNotTellTheirNodes)
{
    ExpectNothingTaken([](TfLiteContext& context) { context.GetExecutionPlan = nullptr; });
    ExpectNothingTaken([](TfLiteContext& context)
                       { context.GetExecutionPlan = [](TfLiteContext*, TfLiteIntArray**) { return kTfLiteError; }; });
    ExpectNothingTaken(
        [](TfLiteContext& context)
        {
            context.GetExecutionPlan = [](TfLiteContext*, TfLiteIntArray** plan)
            {
                *plan = nullptr;
                return kTfLiteOk;
            };
        });
    ExpectNothingTaken(
        [](TfLiteContext& context)
        {
            context.GetExecutionPlan = [](TfLiteContext*, TfLiteIntArray** plan)
            {
                static int32_t wrong[] = {3, 0, 1, 99}; // there is no node 99
                *plan = reinterpret_cast<TfLiteIntArray*>(wrong);
                return kTfLiteOk;
            };
        });
    ExpectNothingTaken([](TfLiteContext& context) { context.GetNodeAndRegistration = nullptr; });
    ExpectNothingTaken(
        [](TfLiteContext& context)
        {
            context.GetNodeAndRegistration = [](TfLiteContext*, int32_t, TfLiteNode** node, TfLiteRegistration** kernel)
            {
                *node = nullptr;
                *kernel = nullptr;
                return kTfLiteOk;
            };
        });
    ExpectNothingTaken([](TfLiteContext& context) { context.PreviewDelegatePartitioning = nullptr; });
    ExpectNothingTaken(
        [](TfLiteContext& context)
        {
            context.PreviewDelegatePartitioning = [](TfLiteContext*, const TfLiteIntArray*, TfLiteDelegateParams**,
                                                     int32_t*) { return kTfLiteError; };
        });
    ExpectNothingTaken([](TfLiteContext& context) { context.ReplaceNodeSubsetsWithDelegateKernels = nullptr; });
    ExpectNothingTaken(
        [](TfLiteContext& context)
        {
            context.ReplaceNodeSubsetsWithDelegateKernels =
                [](TfLiteContext*, TfLiteKernelRegistration, const TfLiteIntArray*, TfLiteDelegate*)
            { return kTfLiteError; };
        });
}

TEST(DelegateErrors, ARuntimeThatCutsOtherwiseThanItSays)
{
    FakeRuntimeOptions options;
    options.m_ChangeContext = [](TfLiteContext& context) { context.PreviewDelegatePartitioning = PreviewOne; };
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime(options);
    const ChainModel model(runtime.Graph(), MysteryName);
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_EQ(runtime.Graph().PlanText(), "DELEGATE Mystery DELEGATE");
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
    RunAndExpect(runtime, model, 1, 0);
}

TEST(DelegateErrors, AKernelThatCouldNotBeMadeTellsWhyWhenItIsPrepared)
{
    FakeRuntimeOptions options;
    options.m_ChangeContext = [](TfLiteContext& context)
    {
        context.PreviewDelegatePartitioning = PreviewOne;
        RealReplace = std::exchange(context.ReplaceNodeSubsetsWithDelegateKernels, SpoilAndReplace);
    };
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime(options);
    FakeGraph& graph = runtime.Graph();
    const ChainModel model(graph, MysteryName);
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
    EXPECT_EQ(graph.PlanText(), "DELEGATE Mystery DELEGATE");
    EXPECT_THAT(runtime.TakeViolations(), Each(HasSubstr("Tensor 2"))); // by SpoilAndReplace
    EXPECT_EQ(runtime.AllocateTensors(), kTfLiteError);
    EXPECT_THAT(runtime.TakeErrors(), HasSubstr("failed to prepare"));
    EXPECT_THAT(runtime.TakeDelegateTexts(),
                ElementsAre(AllOf(StartsWith("TenonDelegate: "), HasSubstr("'t2'"), EndsWith("\n"))));
    // The program may go on without the delegate.
    graph.Tensor(2).type = kTfLiteFloat32;
    ASSERT_EQ(graph.RemoveAllDelegates(), kTfLiteOk) << runtime.TakeErrors();
    RunAndExpect(runtime, model, 1, 0);
}

TEST(DelegateErrors, LongTextsAreReportedInPieces)
{
    TfLiteDelegateOptions options;
    options.m_DisableFallback = true;
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate(options);
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    int32_t tensor = graph.AddTensor(kTfLiteFloat32, {4});
    graph.SetInputs({tensor});
    for (int32_t i = 0; i < 1000; ++i)
    {
        const int32_t next = graph.AddTensor(kTfLiteFloat32, {4});
        graph.AddCustomNode(MysteryName, {tensor}, {next});
        tensor = next;
    }
    graph.SetOutputs({tensor});
    EXPECT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteDelegateError);
    const std::vector<std::string> texts = runtime.TakeDelegateTexts();
    ASSERT_GT(texts.size(), 1u);
    EXPECT_THAT(texts.front(), StartsWith("TenonDelegate: disable-tflite-runtime-fallback"));
    EXPECT_THAT(texts.back(), EndsWith(" 998, 999)\n"));
    std::string all;
    for (const std::string& text : texts)
    {
        EXPECT_LE(text.size(), 1000u);
        EXPECT_THAT(text, EndsWith("\n"));
        all += text;
    }
    for (int32_t i = 0; i < 999; ++i)
    {
        EXPECT_THAT(all, HasSubstr(std::to_string(i) + ","));
    }
    runtime.TakeErrors();
}

TEST(DelegateErrors, NodesAndTensorsThatAreWrongAreLeft)
{
    const IntArrayPtr beyond = MakeIntArray({1000});
    const IntArrayPtr negative = MakeIntArray({-5});
    const IntArrayPtr lowest = MakeIntArray({std::numeric_limits<int32_t>::min()});
    const IntArrayPtr absent = MakeIntArray({-1});
    const IntArrayPtr none = MakeIntArray({});
    const IntArrayPtr negativeDims = MakeIntArray({1, -4});
    const IntArrayPtr hugeDims = MakeIntArray({2147483647, 2147483647, 2147483647});
    const IntArrayPtr manyDims = MakeIntArray({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4});
    const FloatArrayPtr scales = MakeArray<TfLiteFloatArray>(Floats{0.5f, 0.25f, 2.0f});
    const IntArrayPtr zeroPoints = MakeIntArray({0, 0, 0});
    TfLiteAffineQuantization noArrays = AffineOf(nullptr, nullptr, 0);
    TfLiteAffineQuantization noZeroPoints = AffineOf(scales.get(), nullptr, 0);
    TfLiteAffineQuantization wrongAxis = AffineOf(scales.get(), zeroPoints.get(), 77);
    const auto setType = [](FakeGraph& graph, int32_t type) { ReluInput(graph).type = static_cast<TfLiteType>(type); };
    const auto quantize = [](FakeGraph& graph, TfLiteAffineQuantization& quantization)
    {
        ReluInput(graph).type = kTfLiteInt8;
        ReluInput(graph).quantization = {kTfLiteAffineQuantization, &quantization};
    };

    const auto setAllocation = [](FakeGraph& graph, TfLiteAllocationType type, const void* data, size_t bytes)
    {
        TfLiteTensor& tensor = ReluInput(graph);
        tensor.allocation_type = type;
        tensor.data = const_cast<void*>(data);
        tensor.bytes = bytes;
    };

    const std::vector<HostileCase> cases{
        {"no inputs", [](FakeGraph& graph) { graph.Node(1).inputs = nullptr; }},
        {"no outputs", [](FakeGraph& graph) { graph.Node(1).outputs = nullptr; }},
        {"an empty list of inputs", [&](FakeGraph& graph) { graph.Node(1).inputs = none.get(); }},
        {"an empty list of outputs", [&](FakeGraph& graph) { graph.Node(1).outputs = none.get(); }},
        {"an input that does not exist", [&](FakeGraph& graph) { graph.Node(1).inputs = beyond.get(); }},
        {"an output that does not exist", [&](FakeGraph& graph) { graph.Node(1).outputs = beyond.get(); }},
        {"a negative input", [&](FakeGraph& graph) { graph.Node(1).inputs = negative.get(); }},
        {"a negative output", [&](FakeGraph& graph) { graph.Node(1).outputs = negative.get(); }},
        {"the lowest number as input", [&](FakeGraph& graph) { graph.Node(1).inputs = lowest.get(); }},
        {"an absent input", [&](FakeGraph& graph) { graph.Node(1).inputs = absent.get(); }},
        {"an absent output", [&](FakeGraph& graph) { graph.Node(1).outputs = absent.get(); }},
        {"a type that does not exist", [&](FakeGraph& graph) { setType(graph, 99); }},
        {"a negative type", [&](FakeGraph& graph) { setType(graph, -1); }},
        {"no type", [&](FakeGraph& graph) { setType(graph, kTfLiteNoType); }},
        {"a string", [&](FakeGraph& graph) { setType(graph, kTfLiteString); }},
        {"a resource", [&](FakeGraph& graph) { setType(graph, kTfLiteResource); }},
        {"a complex number", [&](FakeGraph& graph) { setType(graph, kTfLiteComplex64); }},
        {"negative dims", [&](FakeGraph& graph) { ReluInput(graph).dims = negativeDims.get(); }},
        {"dims beyond memory", [&](FakeGraph& graph) { ReluInput(graph).dims = hugeDims.get(); }},
        {"too many dims", [&](FakeGraph& graph) { ReluInput(graph).dims = manyDims.get(); }},
        {"a constant without memory", [&](FakeGraph& graph) { setAllocation(graph, kTfLiteMmapRo, nullptr, 16); }},
        {"a constant without bytes", [&](FakeGraph& graph) { setAllocation(graph, kTfLiteMmapRo, &graph, 0); }},
        {"a constant that is too short", [&](FakeGraph& graph) { setAllocation(graph, kTfLiteMmapRo, &graph, 4); }},
        {"int8 without arrays of quantization", [&](FakeGraph& graph) { quantize(graph, noArrays); }},
        {"int8 without zero points", [&](FakeGraph& graph) { quantize(graph, noZeroPoints); }},
        {"int8 with a wrong axis", [&](FakeGraph& graph) { quantize(graph, wrongAxis); }},
        {"quantization without parameters",
         [](FakeGraph& graph)
         {
             ReluInput(graph).type = kTfLiteInt8;
             ReluInput(graph).quantization = {kTfLiteAffineQuantization, nullptr};
         }},
        {"a kind of quantization that is new",
         [](FakeGraph& graph)
         {
             ReluInput(graph).type = kTfLiteInt8;
             ReluInput(graph).quantization = {static_cast<TfLiteQuantizationType>(42), &graph};
         }},
    };
    for (const HostileCase& hostile : cases)
    {
        SCOPED_TRACE(hostile.m_Name);
        const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
        FakeRuntime runtime;
        FakeGraph& graph = runtime.Graph();
        const ChainModel model(graph);
        const int32_t input = graph.Node(1).inputs->data[0];
        const TfLiteTensor tensor = graph.Tensor(input);
        const TfLiteNode node = graph.Node(1);
        hostile.m_Change(graph);
        EXPECT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
        EXPECT_THAT(runtime.TakeErrors(), IsEmpty());
        EXPECT_THAT(graph.Plan(), Contains(1)) << graph.PlanText();
        graph.Tensor(input) = tensor;
        graph.Node(1) = node;
    }
}

TEST(DelegateErrors, NodesWithoutOptionsAreLeftOrHaveDefaults)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const DenseModel model(graph);
    for (int32_t node : graph.Plan())
    {
        graph.Node(node).builtin_data = nullptr;
    }
    EXPECT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
    EXPECT_THAT(runtime.TakeErrors(), IsEmpty());
}

/// A tensor that TensorFlow Lite does not resize: the runtime says no.
TEST(DelegateErrors, ARuntimeThatDoesNotResize)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const ChainModel model(graph);
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
    ASSERT_EQ(graph.ResizeInput(model.m_Input, {2, 4}), kTfLiteOk);
    const auto resize = graph.Context().ResizeTensor;
    graph.Context().ResizeTensor = [](TfLiteContext*, TfLiteTensor*, TfLiteIntArray* size)
    {
        std::free(size);
        return kTfLiteError;
    };
    EXPECT_EQ(runtime.AllocateTensors(), kTfLiteError);
    EXPECT_THAT(runtime.TakeDelegateTexts(), ElementsAre(AllOf(StartsWith("TenonDelegate: "), EndsWith("\n"))));
    graph.Context().ResizeTensor = resize;
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
    RunAndExpect(runtime, model, 2, 0);
}

} // namespace tenon::test::delegate_errors_test
