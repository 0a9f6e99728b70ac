// SPDX-License-Identifier: Apache-2.0
// FakeRuntime itself: runs without a delegate and with a small one of this file, partitions, resizes, and what it
// forbids.
#include "delegate/FakeRuntime.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <map>

namespace tenon::test::fake_runtime_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Floats = std::vector<float>;

/// Takes each ADD of Float32 without an activation, of operands of one shape. What its functions do besides is up to
/// the test.
class AddDelegate
{
public:
    explicit AddDelegate(int64_t flags = kTfLiteDelegateFlagsAllowDynamicTensors)
    {
        m_Interface.data_ = this;
        m_Interface.Prepare = Prepare;
        m_Interface.flags = flags;
    }

    TfLiteDelegate* Get() { return &m_Interface; }

    std::function<TfLiteStatus(TfLiteContext&)> m_AtPrepare = [](TfLiteContext&) { return kTfLiteOk; };
    std::function<TfLiteStatus(TfLiteContext&, TfLiteNode&)> m_AtKernelPrepare = [](TfLiteContext&, TfLiteNode&)
    { return kTfLiteOk; };
    std::function<TfLiteStatus(TfLiteContext&, TfLiteNode&)> m_AtInvoke = [](TfLiteContext&, TfLiteNode&)
    { return kTfLiteOk; };
    bool m_IsInitFailing = false;
    int m_NumInits = 0, m_NumFrees = 0, m_NumPrepares = 0;
    std::vector<std::vector<int32_t>> m_Inputs, m_Outputs, m_Nodes, m_Previewed; ///< of each partition

private:
    struct Node
    {
        std::vector<int32_t> m_Inputs;
        int32_t m_Output;
    };
    struct Kernel
    {
        AddDelegate* m_Delegate;
        std::vector<Node> m_Nodes;
        std::vector<int32_t> m_Outputs;
    };

    static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate)
    {
        auto& self = *static_cast<AddDelegate*>(delegate->data_);
        TfLiteIntArray* plan = nullptr;
        context->GetExecutionPlan(context, &plan);
        std::vector<int32_t> taken;
        for (int32_t number : ToVector(plan))
        {
            TfLiteNode* node = nullptr;
            TfLiteRegistration* registration = nullptr;
            context->GetNodeAndRegistration(context, number, &node, &registration);
            if (registration->builtin_code == AddCode)
            {
                taken.push_back(number);
            }
        }
        const IntArrayPtr nodes = MakeIntArray(taken);
        TfLiteDelegateParams* partitions = nullptr;
        int32_t count = 0;
        EXPECT_EQ(context->PreviewDelegatePartitioning(context, nodes.get(), &partitions, &count), kTfLiteOk);
        self.m_Previewed.clear();
        for (int32_t i = 0; i < count; ++i)
        {
            self.m_Previewed.push_back(ToVector(partitions[i].nodes_to_replace));
        }
        TfLiteKernelRegistration kernel{};
        kernel.registration.init = Init;
        kernel.registration.free = Free;
        kernel.registration.prepare = PrepareKernel;
        kernel.registration.invoke = Invoke;
        kernel.registration.custom_name = "Adder";
        const TfLiteStatus status =
            context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes.get(), delegate);
        return status == kTfLiteOk ? self.m_AtPrepare(*context) : status;
    }

    static void* Init(TfLiteContext* context, const char* buffer, size_t length)
    {
        EXPECT_EQ(length, 0u);
        const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
        auto& self = *static_cast<AddDelegate*>(params.delegate->data_);
        ++self.m_NumInits;
        if (self.m_IsInitFailing)
        {
            return reinterpret_cast<void*>(intptr_t{-1});
        }
        auto kernel = std::make_unique<Kernel>();
        kernel->m_Delegate = &self;
        kernel->m_Outputs = ToVector(params.output_tensors);
        for (int32_t number : ToVector(params.nodes_to_replace))
        {
            TfLiteNode* node = nullptr;
            TfLiteRegistration* registration = nullptr;
            context->GetNodeAndRegistration(context, number, &node, &registration);
            kernel->m_Nodes.push_back({ToVector(node->inputs), node->outputs->data[0]});
        }
        self.m_Inputs.push_back(ToVector(params.input_tensors));
        self.m_Outputs.push_back(kernel->m_Outputs);
        self.m_Nodes.push_back(ToVector(params.nodes_to_replace));
        return kernel.release();
    }

    static void Free(TfLiteContext* /*context*/, void* buffer)
    {
        const std::unique_ptr<Kernel> kernel(static_cast<Kernel*>(buffer));
        ++kernel->m_Delegate->m_NumFrees;
    }

    static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node)
    {
        const Kernel& kernel = *static_cast<const Kernel*>(node->user_data);
        ++kernel.m_Delegate->m_NumPrepares;
        const std::vector<int32_t> dims = ToVector(context->tensors[kernel.m_Nodes[0].m_Inputs[0]].dims);
        for (int32_t output : kernel.m_Outputs)
        {
            context->ResizeTensor(context, &context->tensors[output], MakeIntArray(dims).release());
        }
        return kernel.m_Delegate->m_AtKernelPrepare(*context, *node);
    }

    static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node)
    {
        const Kernel& kernel = *static_cast<const Kernel*>(node->user_data);
        std::map<int32_t, Floats> values;
        for (const Node& add : kernel.m_Nodes)
        {
            Floats sum;
            for (int32_t input : add.m_Inputs)
            {
                const TfLiteTensor& tensor = context->tensors[input];
                const auto* data = static_cast<const float*>(tensor.data);
                const Floats addend =
                    values.count(input) != 0 ? values[input] : Floats(data, data + tensor.bytes / sizeof(float));
                sum.resize(addend.size());
                for (size_t i = 0; i < sum.size(); ++i)
                {
                    sum[i] += addend[i];
                }
            }
            values[add.m_Output] = sum;
        }
        for (int32_t output : kernel.m_Outputs)
        {
            std::copy(values[output].begin(), values[output].end(), static_cast<float*>(context->tensors[output].data));
        }
        return kernel.m_Delegate->m_AtInvoke(*context, *node);
    }

    TfLiteDelegate m_Interface{};
};

/// y = (x + c) + x; z = Mystery(y); w = z + x, Relu(w) and w given out.
struct Model
{
    explicit Model(FakeGraph& graph)
    {
        m_X = graph.AddTensor(kTfLiteFloat32, {2, 2});
        m_C = graph.AddConstant<float>(kTfLiteFloat32, {2, 2}, {10, 20, 30, 40});
        m_T = graph.AddTensor(kTfLiteFloat32, {2, 2});
        m_Y = graph.AddTensor(kTfLiteFloat32, {2, 2});
        m_Z = graph.AddTensor(kTfLiteFloat32, {2, 2});
        m_W = graph.AddTensor(kTfLiteFloat32, {2, 2});
        m_R = graph.AddTensor(kTfLiteFloat32, {2, 2});
        graph.AddNode(AddCode, {m_X, m_C}, {m_T}, BytesOf(FakeAddParams()));
        graph.AddNode(AddCode, {m_T, m_X}, {m_Y}, BytesOf(FakeAddParams()));
        graph.AddCustomNode(MysteryName, {m_Y}, {m_Z});
        graph.AddNode(AddCode, {m_Z, m_X}, {m_W}, BytesOf(FakeAddParams()));
        graph.AddNode(ReluCode, {m_W}, {m_R});
        graph.SetInputs({m_X});
        graph.SetOutputs({m_R, m_W});
    }

    int32_t m_X, m_C, m_T, m_Y, m_Z, m_W, m_R;
};

void ExpectResults(FakeRuntime& runtime, const Model& model)
{
    FakeGraph& graph = runtime.Graph();
    graph.SetValues<float>(model.m_X, {1, -50, 3, 4});
    ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
    EXPECT_EQ(graph.ReadValues<float>(model.m_W), (Floats{13, -130, 39, 52}));
    EXPECT_EQ(graph.ReadValues<float>(model.m_R), (Floats{13, 0, 39, 52}));
}

/// A runtime with the model, and the delegate applied and its tensors allocated.
struct Prepared
{
    explicit Prepared(AddDelegate& delegate, FakeRuntimeOptions options = {})
        : m_Runtime(std::move(options)), m_Model(m_Runtime.Graph())
    {
        m_Applied = m_Runtime.ModifyGraphWithDelegate(delegate.Get());
        m_Allocated = m_Runtime.AllocateTensors();
    }

    FakeRuntime m_Runtime;
    Model m_Model;
    TfLiteStatus m_Applied, m_Allocated;
};

} // namespace

TEST(FakeRuntimeTest, RunsItsOwnKernels)
{
    FakeRuntime runtime;
    const Model model(runtime.Graph());
    EXPECT_EQ(runtime.Invoke(), kTfLiteError);
    EXPECT_THAT(runtime.TakeErrors(), HasSubstr("not ready"));
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    ExpectResults(runtime, model);
    runtime.Graph().MoveArena();
    ExpectResults(runtime, model);
}

TEST(FakeRuntimeTest, ConstantsAreAlignedToFourAndOthersToSixtyFour)
{
    FakeRuntime runtime;
    const Model model(runtime.Graph());
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(runtime.Graph().Tensor(model.m_C).data) % 8, 4u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(runtime.Graph().Tensor(model.m_X).data) % 64, 0u);
}

TEST(FakeRuntimeTest, CutsThePlanWhereAnotherOperatorLies)
{
    AddDelegate delegate;
    Prepared prepared(delegate);
    ASSERT_EQ(prepared.m_Allocated, kTfLiteOk);
    FakeGraph& graph = prepared.m_Runtime.Graph();
    const Model& model = prepared.m_Model;
    EXPECT_EQ(graph.PlanText(), "DELEGATE Mystery DELEGATE RELU");
    EXPECT_THAT(delegate.m_Nodes, ElementsAre(ElementsAre(0, 1), ElementsAre(3)));
    EXPECT_EQ(delegate.m_Nodes, delegate.m_Previewed);
    EXPECT_THAT(delegate.m_Inputs, ElementsAre(ElementsAre(model.m_X, model.m_C), ElementsAre(model.m_X, model.m_Z)));
    EXPECT_THAT(delegate.m_Outputs, ElementsAre(ElementsAre(model.m_Y), ElementsAre(model.m_W)));
    EXPECT_EQ(graph.Tensor(model.m_T).data, nullptr); // inside of a partition
    ExpectResults(prepared.m_Runtime, model);
}

TEST(FakeRuntimeTest, PreservingAllTensorsMakesEachNodeAPartition)
{
    AddDelegate delegate;
    FakeRuntimeOptions options;
    options.m_PreservesAllTensors = true;
    Prepared prepared(delegate, options);
    EXPECT_EQ(prepared.m_Runtime.Graph().PlanText(), "DELEGATE DELEGATE Mystery DELEGATE RELU");
    ExpectResults(prepared.m_Runtime, prepared.m_Model);
}

TEST(FakeRuntimeTest, ReadsAsMuchOfARegistrationAsItKnows)
{
    for (size_t bytes : {64u, 88u, 152u})
    {
        AddDelegate delegate;
        FakeRuntimeOptions options;
        options.m_RegistrationBytes = bytes;
        Prepared prepared(delegate, options);
        EXPECT_EQ(prepared.m_Runtime.Graph().CountDelegateNodes(), 2u);
        ExpectResults(prepared.m_Runtime, prepared.m_Model);
    }
}

TEST(FakeRuntimeTest, AShortContextEndsInOtherMemory)
{
    FakeRuntimeOptions options;
    options.m_HasShortContext = true;
    FakeRuntime runtime(options);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(runtime.Graph().Context().AcquireSubgraphContext), 0xA5A5A5A5A5A5A5A5u);
    EXPECT_EQ(runtime.Graph().Context().GetEvalTensor, nullptr);
}

TEST(FakeRuntimeTest, AResizeKeepsKernelsOnlyWithTheFlag)
{
    for (const int64_t flags : {kTfLiteDelegateFlagsNone, kTfLiteDelegateFlagsAllowDynamicTensors})
    {
        AddDelegate delegate(flags);
        {
            Prepared prepared(delegate);
            FakeRuntime& runtime = prepared.m_Runtime;
            FakeGraph& graph = runtime.Graph();
            ASSERT_EQ(prepared.m_Applied, kTfLiteOk);
            EXPECT_EQ(delegate.m_NumInits, 2);
            EXPECT_EQ(delegate.m_NumPrepares, 4);
            ExpectResults(runtime, prepared.m_Model);
            // The constant stands in the way of other sizes, but not of other shapes.
            ASSERT_EQ(graph.ResizeInput(prepared.m_Model.m_X, {4}), kTfLiteOk);
            ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk) << runtime.TakeErrors();
            EXPECT_EQ(graph.DimsOf(prepared.m_Model.m_R), std::vector<int32_t>{4});
            EXPECT_EQ(graph.CountDelegateNodes(), 2u);
            ExpectResults(runtime, prepared.m_Model);
            const bool isStatic = flags == kTfLiteDelegateFlagsNone;
            EXPECT_EQ(delegate.m_NumInits, isStatic ? 4 : 2);
            EXPECT_EQ(delegate.m_NumFrees, isStatic ? 2 : 0);
        }
        EXPECT_EQ(delegate.m_NumFrees, delegate.m_NumInits);
    }
}

TEST(FakeRuntimeTest, NodesBehindADynamicTensorArePreparedAtInvoke)
{
    AddDelegate delegate;
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {4});
    const int32_t shape = graph.AddTensor(kTfLiteInt32, {2});
    const int32_t y = graph.AddTensor(kTfLiteFloat32, {4});
    const int32_t z = graph.AddTensor(kTfLiteFloat32, {4});
    graph.AddNode(ReshapeCode, {x, shape}, {y}, BytesOf(FakeReshapeParams()));
    graph.AddNode(AddCode, {y, y}, {z}, BytesOf(FakeAddParams()));
    graph.SetInputs({x, shape});
    graph.SetOutputs({z});
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.Get()), kTfLiteOk);
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    EXPECT_EQ(delegate.m_NumPrepares, 0);
    EXPECT_EQ(graph.Tensor(y).allocation_type, kTfLiteDynamic);
    for (const std::vector<int32_t>& dims : {std::vector<int32_t>{2, 2}, {1, 4}, {4, -1}})
    {
        graph.SetValues<float>(x, {1, 2, 3, 4});
        graph.SetValues<int32_t>(shape, dims);
        ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
        EXPECT_EQ(graph.DimsOf(z), (dims[1] == -1 ? std::vector<int32_t>{4, 1} : dims));
        EXPECT_EQ(graph.ReadValues<float>(z), (Floats{2, 4, 6, 8}));
    }
    EXPECT_EQ(delegate.m_NumPrepares, 3);
    graph.SetValues<int32_t>(shape, {3, 3});
    EXPECT_EQ(runtime.Invoke(), kTfLiteError);
    EXPECT_THAT(runtime.TakeErrors(), HasSubstr("Node number 0 (RESHAPE) failed to invoke."));
}

TEST(FakeRuntimeTest, AStaticDelegateIsRefusedForADynamicGraph)
{
    AddDelegate delegate(kTfLiteDelegateFlagsNone);
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {4});
    const int32_t shape = graph.AddTensor(kTfLiteInt32, {2});
    const int32_t y = graph.AddTensor(kTfLiteFloat32, {4});
    graph.AddNode(ReshapeCode, {x, shape}, {y}, BytesOf(FakeReshapeParams()));
    graph.SetInputs({x, shape});
    graph.SetOutputs({y});
    EXPECT_EQ(runtime.ModifyGraphWithDelegate(delegate.Get()), kTfLiteApplicationError);
    EXPECT_THAT(runtime.TakeErrors(), HasSubstr("dynamic-sized"));
}

TEST(FakeRuntimeTest, AFailureRestoresThePlan)
{
    for (const int64_t flags : {kTfLiteDelegateFlagsNone, kTfLiteDelegateFlagsAllowDynamicTensors})
    {
        AddDelegate delegate(flags);
        delegate.m_AtPrepare = [](TfLiteContext& context)
        {
            context.ReportError(&context, "Adder: %s\n", "100%s wrong");
            return kTfLiteError;
        };
        Prepared prepared(delegate);
        EXPECT_EQ(prepared.m_Applied, kTfLiteDelegateError);
        EXPECT_EQ(delegate.m_NumInits, 2);
        EXPECT_EQ(delegate.m_NumFrees, 2);
        EXPECT_EQ(prepared.m_Runtime.TakeErrors(),
                  "Adder: 100%s wrong\nRestored original execution plan after delegate application failure.\n");
        EXPECT_THAT(prepared.m_Runtime.TakeDelegateTexts(), ElementsAre("Adder: 100%s wrong\n"));
        EXPECT_EQ(prepared.m_Runtime.Graph().PlanText(), "ADD ADD Mystery ADD RELU");
        ExpectResults(prepared.m_Runtime, prepared.m_Model);
    }
}

TEST(FakeRuntimeTest, AFailedRunStops)
{
    AddDelegate delegate;
    delegate.m_AtInvoke = [](TfLiteContext& context, TfLiteNode&)
    {
        context.ReportError(&context, "Adder: wrong\n");
        return kTfLiteError;
    };
    Prepared prepared(delegate);
    prepared.m_Runtime.Graph().SetValues<float>(prepared.m_Model.m_X, {1, 2, 3, 4});
    EXPECT_EQ(prepared.m_Runtime.Invoke(), kTfLiteError);
    EXPECT_EQ(prepared.m_Runtime.TakeErrors(), "Adder: wrong\nNode number 5 (DELEGATE) failed to invoke.\n");
    prepared.m_Runtime.Cancel();
    EXPECT_EQ(prepared.m_Runtime.Invoke(), kTfLiteCancelled);
}

TEST(FakeRuntimeTest, AnUnresolvedOperatorFailsToPrepare)
{
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {1});
    const int32_t y = graph.AddTensor(kTfLiteFloat32, {1});
    graph.AddCustomNode("UnresolvedOne", {x}, {y});
    graph.SetInputs({x});
    graph.SetOutputs({y});
    EXPECT_EQ(static_cast<int32_t>(runtime.AllocateTensors()), 7);
    EXPECT_THAT(runtime.TakeErrors(), HasSubstr("unresolved custom op: UnresolvedOne"));
}

TEST(FakeRuntimeTest, SubgraphsAreDelegatedOneByOneAndReachEachOther)
{
    AddDelegate delegate;
    int prepares = 0;
    delegate.m_AtPrepare = [&prepares](TfLiteContext& context)
    {
        ++prepares;
        TfLiteContext* other = nullptr;
        EXPECT_EQ(context.AcquireSubgraphContext(&context, 1, &other), kTfLiteOk);
        TfLiteIntArray* plan = nullptr;
        EXPECT_EQ(other->GetExecutionPlan(other, &plan), kTfLiteOk);
        EXPECT_EQ(plan->size, prepares == 1 ? 5 : 4);
        EXPECT_EQ(context.ReleaseSubgraphContext(&context, 1), kTfLiteOk);
        return kTfLiteOk;
    };
    FakeRuntime runtime({}, 2);
    const Model model(runtime.Graph(0));
    const Model other(runtime.Graph(1));
    ASSERT_EQ(runtime.ModifyGraphWithDelegate(delegate.Get()), kTfLiteOk);
    EXPECT_EQ(prepares, 2);
    EXPECT_EQ(runtime.Graph(1).CountDelegateNodes(), 2u);
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    ExpectResults(runtime, model);
}

TEST(FakeRuntimeTest, VariablesKeepTheirValuesUntilTheyAreReset)
{
    FakeRuntime runtime;
    FakeGraph& graph = runtime.Graph();
    const int32_t x = graph.AddTensor(kTfLiteFloat32, {1});
    const int32_t state = graph.AddVariable(kTfLiteFloat32, {1});
    const int32_t y = graph.AddTensor(kTfLiteFloat32, {1});
    graph.AddNode(AddCode, {x, state}, {y}, BytesOf(FakeAddParams()));
    graph.SetInputs({x});
    graph.SetOutputs({y});
    ASSERT_EQ(runtime.AllocateTensors(), kTfLiteOk);
    graph.SetValues<float>(x, {1});
    graph.SetValues<float>(state, {5});
    ASSERT_EQ(runtime.Invoke(), kTfLiteOk);
    EXPECT_EQ(graph.ReadValues<float>(y), Floats{6});
    EXPECT_EQ(graph.ReadValues<float>(state), Floats{5});
    graph.ResetVariables();
    EXPECT_EQ(graph.ReadValues<float>(state), Floats{0});
}

TEST(FakeRuntimeTest, MinusOneFromInitIsForbidden)
{
    AddDelegate delegate;
    delegate.m_IsInitFailing = true;
    Prepared prepared(delegate);
    EXPECT_EQ(prepared.m_Applied, kTfLiteDelegateError);
    EXPECT_THAT(prepared.m_Runtime.TakeViolations(), ElementsAre("init returned -1.", HasSubstr("without a text")));
}

/// What the runtime forbids in a kernel's prepare.
std::vector<std::string> ViolationsOf(const std::function<void(TfLiteContext&, TfLiteNode&)>& function)
{
    AddDelegate delegate;
    bool isFirst = true;
    delegate.m_AtKernelPrepare = [&](TfLiteContext& context, TfLiteNode& node)
    {
        if (std::exchange(isFirst, false))
        {
            function(context, node);
        }
        return kTfLiteOk;
    };
    Prepared prepared(delegate);
    return prepared.m_Runtime.TakeViolations();
}

TEST(FakeRuntimeTest, CallsThatTheRuntimeDoesNotAllowAreForbidden)
{
    const auto resize = [](TfLiteContext& context, int32_t tensor, const std::vector<int32_t>& dims)
    { context.ResizeTensor(&context, &context.tensors[tensor], MakeIntArray(dims).release()); };
    EXPECT_THAT(
        ViolationsOf([&](TfLiteContext& context, TfLiteNode& node) { resize(context, node.inputs->data[1], {2}); }),
        ElementsAre(HasSubstr("a constant")));
    EXPECT_THAT(
        ViolationsOf([&](TfLiteContext& context, TfLiteNode& node) { resize(context, node.inputs->data[0], {2}); }),
        ElementsAre(HasSubstr("no output of the node")));
    EXPECT_THAT(
        ViolationsOf([&](TfLiteContext& context, TfLiteNode& node) { resize(context, node.outputs->data[0], {-1}); }),
        ElementsAre(HasSubstr("negative")));
    EXPECT_THAT(ViolationsOf([](TfLiteContext& context, TfLiteNode& node)
                             { context.ResizeTensor(&context, &context.tensors[node.outputs->data[0]], nullptr); }),
                ElementsAre(HasSubstr("given null")));
    EXPECT_THAT(ViolationsOf([](TfLiteContext& context, TfLiteNode&) { context.ReportError(&context, nullptr); }),
                ElementsAre(HasSubstr("given null")));
    EXPECT_THAT(ViolationsOf([](TfLiteContext& context, TfLiteNode&) { context.ReportError(&context, "text"); }),
                ElementsAre(HasSubstr("newline")));
    EXPECT_THAT(ViolationsOf(
                    [](TfLiteContext& context, TfLiteNode&)
                    {
                        TfLiteIntArray* plan = nullptr;
                        context.GetExecutionPlan(&context, &plan);
                    }),
                ElementsAre(HasSubstr("no delegate prepares")));
    EXPECT_THAT(ViolationsOf([](TfLiteContext& context, TfLiteNode& node)
                             { context.tensors[node.inputs->data[0]].allocation_type = kTfLiteDynamic; }),
                ElementsAre(HasSubstr("Tensor 0 was changed")));
    EXPECT_THAT(ViolationsOf(
                    [](TfLiteContext& context, TfLiteNode& node)
                    {
                        TfLiteTensor* stale = &context.tensors[node.outputs->data[0]];
                        EXPECT_EQ(context.AddTensors(&context, 1, nullptr), kTfLiteOk);
                        EXPECT_EQ(static_cast<uint32_t>(stale->type), 0xA5A5A5A5u);
                        context.ResizeTensor(&context, stale, MakeIntArray({2}).release());
                    }),
                ElementsAre(HasSubstr("not in context->tensors")));
    EXPECT_THAT(ViolationsOf([](TfLiteContext&, TfLiteNode&) {}), IsEmpty());
}

TEST(FakeRuntimeTest, AResizeInInvokeIsForDynamicTensors)
{
    AddDelegate delegate;
    delegate.m_AtInvoke = [](TfLiteContext& context, TfLiteNode& node) {
        return context.ResizeTensor(&context, &context.tensors[node.outputs->data[0]], MakeIntArray({2, 2}).release());
    };
    Prepared prepared(delegate);
    prepared.m_Runtime.Graph().SetValues<float>(prepared.m_Model.m_X, {1, 2, 3, 4});
    EXPECT_EQ(prepared.m_Runtime.Invoke(), kTfLiteError);
    EXPECT_THAT(prepared.m_Runtime.TakeViolations(),
                ElementsAre(HasSubstr("in invoke, not dynamic"), HasSubstr("without a text")));
}

TEST(FakeRuntimeTest, ConstantsThatChangeFailTheTest)
{
    const float value = 1.0f;
    FakeConstant constant(&value, sizeof(value));
    EXPECT_TRUE(constant.IsUnchanged());
    *static_cast<float*>(constant.Data()) = 2.0f;
    EXPECT_FALSE(constant.IsUnchanged());
}

} // namespace tenon::test::fake_runtime_test
