// SPDX-License-Identifier: Apache-2.0
// The runtime: load, run, unload, several networks, new input shapes, shapes that follow from values, limits, imports,
// and what is refused.
#include "harness/FakeBackend.hpp"
#include "harness/Networks.hpp"
#include "harness/WarningRecorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

namespace tenon::test::runtime_test
{

using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

IRuntimePtr MakeRuntime(const IRuntime::CreationOptions& options = {})
{
    return IRuntime::Create(options);
}

ConstTensor In(const TensorShape& shape, const std::vector<float>& values)
{
    return ConstTensor(TensorInfo(shape, DataType::Float32, 0.0f, 0, true), values.data());
}

Tensor Out(const TensorShape& shape, std::vector<float>& values)
{
    return Tensor(TensorInfo(shape, DataType::Float32), values.data());
}

/// out = reshape(in, shape operand), both given at run time, then Abs.
INetworkPtr MakeRuntimeReshape()
{
    INetworkPtr network = INetwork::Create();
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* reshape = network->AddReshapeLayer(descriptor, "reshape");
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(AddInput(*network, 0, FloatInfo({2, 3})), reshape, 0);
    Connect(AddInput(*network, 1, TensorInfo({2}, DataType::Signed32), "shape"), reshape, 1);
    Connect(reshape, abs);
    Connect(abs, network->AddOutputLayer(0, "out"));
    return network;
}

} // namespace

TEST(Runtime, RunsWhatWasLoaded)
{
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *MakeChain(5, FloatInfo({2, 2})));
    std::vector<float> in{-1, 2, -3, 4};
    std::vector<float> out(4);
    EXPECT_EQ(runtime->EnqueueWorkload(id, {{0, In({2, 2}, in)}}, {{0, Out({2, 2}, out)}}), Status::Success);
    EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(in, (std::vector<float>{-1, 2, -3, 4})) << "an input must not be overwritten in place";
    EXPECT_EQ(runtime->GetInputTensorInfo(id, 0).GetShape(), TensorShape({2, 2}));
    EXPECT_EQ(runtime->GetOutputTensorInfo(id, 0).GetShape(), TensorShape({2, 2}));
}

TEST(Runtime, ArenaOfAnElementwiseChainIsEmpty)
{
    // Every layer works in place, and the first one writes the caller's output.
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *MakeChain(50, FloatInfo({1000})));
    EXPECT_EQ(runtime->GetStatistics(id).m_ArenaBytes, 0u);
    EXPECT_EQ(runtime->GetStatistics(id).m_NumWorkloads, 50u);
}

TEST(Runtime, ValuesThatAreReadLaterAreNotOverwritten)
{
    // y = |x| + 2|x|: Abs feeds Mul and Add, so Mul must not work in place on it.
    INetworkPtr network = INetwork::Create();
    const std::vector<float> two{2.0f};
    IConnectableLayer* constant =
        network->AddConstantLayer(ConstTensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), two));
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs));
    IConnectableLayer* mul = network->AddMultiplicationLayer();
    IConnectableLayer* add = network->AddAdditionLayer();
    Connect(AddInput(*network, 0, FloatInfo({3})), abs);
    Connect(abs, mul, 0);
    Connect(constant, mul, 1);
    Connect(mul, add, 0);
    Connect(abs, add, 1);
    Connect(add, network->AddOutputLayer(0));
    Connect(abs, network->AddOutputLayer(1));
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *network);
    const std::vector<float> in{-1, 2, -3};
    std::vector<float> sum(3);
    std::vector<float> absolute(3);
    runtime->EnqueueWorkload(id, {{0, In({3}, in)}}, {{0, Out({3}, sum)}, {1, Out({3}, absolute)}});
    EXPECT_EQ(sum, (std::vector<float>{3, 6, 9}));
    EXPECT_EQ(absolute, (std::vector<float>{1, 2, 3}));
}

TEST(Runtime, OutputsThatAreInputsConstantsOrTwiceTheSame)
{
    INetworkPtr network = INetwork::Create();
    const std::vector<float> seven{7.0f};
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    IConnectableLayer* constant =
        network->AddConstantLayer(ConstTensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), seven));
    IConnectableLayer* reshape = network->AddReshapeLayer(ReshapeDescriptor({2, 1}));
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs));
    Connect(input, network->AddOutputLayer(0));
    Connect(constant, network->AddOutputLayer(1));
    Connect(input, reshape);
    Connect(reshape, network->AddOutputLayer(2));
    Connect(input, abs);
    Connect(abs, network->AddOutputLayer(3));
    Connect(abs, network->AddOutputLayer(4));
    IConnectableLayer* constantView = network->AddReshapeLayer(ReshapeDescriptor({1, 1}));
    Connect(constant, constantView);
    Connect(constantView, network->AddOutputLayer(5));
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *network);
    const std::vector<float> in{-5, 6};
    std::vector<float> same(2), fixed(1), view(2), first(2), second(2), fixedView(1);
    runtime->EnqueueWorkload(id, {{0, In({2}, in)}},
                             {{0, Out({2}, same)},
                              {1, Out({1}, fixed)},
                              {2, Out({2, 1}, view)},
                              {3, Out({2}, first)},
                              {4, Out({2}, second)},
                              {5, Out({1, 1}, fixedView)}});
    EXPECT_EQ(same, in);
    EXPECT_EQ(fixed, seven);
    EXPECT_EQ(view, in);
    EXPECT_EQ(first, (std::vector<float>{5, 6}));
    EXPECT_EQ(second, first);
    EXPECT_EQ(fixedView, seven);
}

TEST(Runtime, MisalignedAndOverlappingMemoryOfTheCaller)
{
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *MakeChain(2, FloatInfo({4})));
    std::vector<std::byte> bytes(40);
    std::byte* odd = bytes.data() + 1;
    const std::vector<float> values{-1, -2, 3, -4};
    std::memcpy(odd, values.data(), 16);
    // Output over the input, both at an odd address.
    const TensorInfo info({4}, DataType::Float32, 0.0f, 0, true);
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, odd)}}, {{0, Tensor(info, odd)}});
    std::vector<float> result(4);
    std::memcpy(result.data(), odd, 16);
    EXPECT_EQ(result, (std::vector<float>{1, 2, 3, 4}));
}

TEST(Runtime, NewInputShapesAreTakenWithoutReloading)
{
    auto fake = std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::ElementwiseUnary});
    IRuntime::CreationOptions options;
    options.m_Backends = {fake};
    const IRuntimePtr runtime = MakeRuntime(options);
    const NetworkId id = Load(*runtime, *MakeChain(3, FloatInfo({2})), {"Fake"});
    for (unsigned int n : {2u, 5u, 2u, 9u, 1u, 5u, 0u})
    {
        const std::vector<float> result = RunFloat(*runtime, id, {n}, Ramp(n, -3.0f));
        ASSERT_EQ(result.size(), n);
        for (unsigned int i = 0; i < n; ++i)
        {
            EXPECT_EQ(result[i], std::abs(-3.0f + static_cast<float>(i)));
        }
    }
    EXPECT_EQ(fake->NumWorkloads(), 3) << "weights must not be packed again for new shapes";
}

TEST(Runtime, UnknownInputShapesAreResolvedAtTheRun)
{
    const IRuntimePtr runtime = MakeRuntime();
    TensorShape shape({1, 4});
    shape.SetDimensionUnknown(0);
    const NetworkId id = Load(*runtime, *MakeChain(2, TensorInfo(shape, DataType::Float32)));
    EXPECT_EQ(RunFloat(*runtime, id, {3, 4}, Ramp(12, -12.0f)), Ramp(12, 12.0f, -1.0f));
    const NetworkId ranked = Load(*runtime, *MakeChain(2, TensorInfo(TensorShape(), DataType::Float32)));
    EXPECT_EQ(RunFloat(*runtime, ranked, {2, 1, 2}, Ramp(4, -4.0f)), Ramp(4, 4.0f, -1.0f));
}

TEST(Runtime, ShapesThatFollowFromValues)
{
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *MakeRuntimeReshape());
    const std::vector<float> in = Ramp(6, -6.0f);
    for (const std::vector<int32_t>& target : {std::vector<int32_t>{3, 2}, {6, 1}, {-1, 6}})
    {
        std::vector<float> result;
        TensorShape shape;
        const ConstTensor operand(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), target.data());
        runtime->EnqueueWorkload(id, {{0, In({2, 3}, in)}, {1, operand}},
                                 [&](LayerBindingId, const TensorInfo& info)
                                 {
                                     shape = info.GetShape();
                                     result.resize(info.GetNumElements());
                                     return result.data();
                                 });
        EXPECT_EQ(shape[1], target[1] == 2 ? 2u : target[1] == 1 ? 1u : 6u);
        EXPECT_EQ(result, Ramp(6, 6.0f, -1.0f));
    }
    // A target that does not fit is an error of this run alone.
    const std::vector<int32_t> bad{4, 4};
    const ConstTensor operand(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), bad.data());
    std::vector<float> out(16);
    EXPECT_THROW(
        runtime->EnqueueWorkload(id, {{0, In({2, 3}, in)}, {1, operand}}, OutputTensors{{0, Out({4, 4}, out)}}),
        LayerValidationException);
}

TEST(Runtime, RefusesBadTensors)
{
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *MakeChain(1, FloatInfo({2})));
    const std::vector<float> in{1, 2};
    std::vector<float> out(2);
    const InputTensors goodIn{{0, In({2}, in)}};
    const OutputTensors goodOut{{0, Out({2}, out)}};
    EXPECT_THROW(runtime->EnqueueWorkload(id + 1, goodIn, goodOut), InvalidArgumentException);
    EXPECT_THROW(runtime->EnqueueWorkload(id, InputTensors{}, goodOut), InvalidArgumentException);
    EXPECT_THROW(runtime->EnqueueWorkload(id, goodIn, OutputTensors{}), InvalidArgumentException);
    EXPECT_THROW(runtime->EnqueueWorkload(id, {{4, In({2}, in)}}, goodOut), InvalidArgumentException);
    EXPECT_THROW(runtime->EnqueueWorkload(id, {goodIn[0], goodIn[0]}, goodOut), InvalidArgumentException);
    const TensorInfo halves({2}, DataType::Float16, 0.0f, 0, true);
    EXPECT_THROW(runtime->EnqueueWorkload(id, {{0, ConstTensor(halves, in.data())}}, goodOut),
                 InvalidArgumentException);
    const TensorInfo nowhere({2}, DataType::Float32, 0.0f, 0, true);
    EXPECT_THROW(runtime->EnqueueWorkload(id, {{0, ConstTensor(nowhere, static_cast<const void*>(nullptr))}}, goodOut),
                 InvalidArgumentException);
    EXPECT_THROW(runtime->EnqueueWorkload(id, goodIn, OutputTensors{{0, Out({1}, out)}}), InvalidArgumentException);
    EXPECT_THROW(
        runtime->EnqueueWorkload(id, goodIn, [](LayerBindingId, const TensorInfo&) -> void* { return nullptr; }),
        InvalidArgumentException);
    EXPECT_EQ(runtime->EnqueueWorkload(id, goodIn, goodOut), Status::Success) << "and nothing is lost by errors";
}

TEST(Runtime, UnloadsAndForgets)
{
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId first = Load(*runtime, *MakeChain(1, FloatInfo({1})));
    const NetworkId second = Load(*runtime, *MakeChain(2, FloatInfo({1})));
    EXPECT_NE(first, second);
    EXPECT_EQ(runtime->UnloadNetwork(first), Status::Success);
    EXPECT_EQ(runtime->GetProfiler(first), nullptr);
    EXPECT_NE(runtime->GetProfiler(second), nullptr);
    const WarningRecorder warnings;
    EXPECT_EQ(runtime->UnloadNetwork(first), Status::Failure);
    EXPECT_THAT(warnings.Get(), ElementsAre(HasSubstr("no network with id " + std::to_string(first))));
    EXPECT_THROW(runtime->GetOutputTensorInfo(first, 0), InvalidArgumentException);
    EXPECT_EQ(RunFloat(*runtime, second, {1}, {-2.0f}), std::vector<float>{2.0f});
}

TEST(Runtime, LoadReportsFailureAsTextWhereAskedTo)
{
    const IRuntimePtr maker = IRuntime::Create(
        []
        {
            IRuntime::CreationOptions options;
            options.m_Backends = {
                std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::ElementwiseUnary})};
            return options;
        }());
    const IRuntimePtr other = MakeRuntime();
    const INetworkPtr network = MakeChain(1, FloatInfo({1}));
    NetworkId id = -1;
    std::string text;
    EXPECT_EQ(other->LoadNetwork(id, Optimize(*network, {"Fake"}, maker->GetDeviceSpec()), text), Status::Failure);
    EXPECT_THAT(text, HasSubstr("backend 'Fake' is not there"));
    EXPECT_THROW(other->LoadNetwork(id, Optimize(*network, {"Fake"}, maker->GetDeviceSpec())),
                 BackendUnavailableException);
    EXPECT_THROW(other->LoadNetwork(id, IOptimizedNetworkPtr(nullptr, &IOptimizedNetwork::Destroy)),
                 NullPointerException);
}

TEST(Runtime, LimitsHoldBeforeMemoryIsTaken)
{
    IRuntime::CreationOptions options;
    options.m_Limits.m_MaxTensorBytes = 4000;
    const IRuntimePtr runtime = MakeRuntime(options);
    const NetworkId id = Load(*runtime, *MakeChain(2, FloatInfo({4})));
    const std::vector<float> large(2000);
    EXPECT_THROW(RunFloat(*runtime, id, {2000}, large), MemoryValidationException);
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {-1, 1}), (std::vector<float>{1, 1}));
}

TEST(Runtime, ATensorOfTooManyElementsToCountIsRefusedByName)
{
    const IRuntimePtr runtime = MakeRuntime();
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* fill = network->AddFillLayer(FillDescriptor(1.0f), "filled");
    Connect(AddInput(*network, 0, TensorInfo({3}, DataType::Signed64)), fill);
    fill->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(Dimensionality::NotSpecified), DataType::Float32));
    Connect(fill, network->AddOutputLayer(0));
    const NetworkId id = Load(*runtime, *network);
    const int64_t shape[] = {int64_t{1} << 31, int64_t{1} << 31, 4};
    const ConstTensor input(TensorInfo({3}, DataType::Signed64, 0.0f, 0, true), shape);
    try
    {
        runtime->EnqueueWorkload(id, {{0, input}}, [](LayerBindingId, const TensorInfo&) -> void* { return nullptr; });
        FAIL();
    }
    catch (const LimitExceededException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("'filled' (Fill)"));
    }
}

TEST(Runtime, ImportedMemoryIsUsedById)
{
    const IRuntimePtr runtime = MakeRuntime();
    const NetworkId id = Load(*runtime, *MakeChain(1, FloatInfo({2})));
    std::vector<float> in{-1, 2};
    std::vector<float> out(2);
    const auto inputs = runtime->ImportInputs(id, {{0, In({2}, in)}});
    const auto outputs = runtime->ImportOutputs(id, {{0, Out({2}, out)}});
    runtime->EnqueueWorkload(id, {}, {}, inputs, outputs);
    EXPECT_EQ(out, (std::vector<float>{1, 2}));
    in = {-7, -8};
    runtime->EnqueueWorkload(id, {}, {}, inputs, outputs);
    EXPECT_EQ(out, (std::vector<float>{7, 8}));
    {
        // What cannot be imported has no id; the rest has.
        const WarningRecorder warnings;
        EXPECT_EQ(runtime->ImportInputs(id, {{9, In({2}, in)}, {0, In({2}, in)}}).size(), 1u);
        EXPECT_TRUE(runtime->ImportInputs(id, {{0, In({2}, in)}}, MemorySource::DmaBuf).empty());
        EXPECT_TRUE(runtime->ImportOutputs(id, {{9, Out({2}, out)}}).empty());
        EXPECT_THAT(warnings.Get(), ElementsAre(HasSubstr("no input with binding id 9"), HasSubstr("source DmaBuf"),
                                                HasSubstr("no output with binding id 9")));
        EXPECT_THROW(runtime->ImportInputs(id + 1, {}), InvalidArgumentException);
    }
    EXPECT_THROW(runtime->EnqueueWorkload(id, {}, {}, {5}, outputs), InvalidArgumentException);

    EXPECT_THROW(runtime->ClearImportedInputs(id, {inputs[0], 5}), InvalidArgumentException);
    EXPECT_THROW(runtime->ClearImportedOutputs(id, {5}), InvalidArgumentException);
    runtime->EnqueueWorkload(id, {}, {}, inputs, outputs); // none was forgotten
    runtime->ClearImportedInputs(id, inputs);
    EXPECT_THROW(runtime->EnqueueWorkload(id, {}, {}, inputs, outputs), InvalidArgumentException);
    const auto again = runtime->ImportInputs(id, {{0, In({2}, in)}});
    EXPECT_NE(again, inputs);
    runtime->EnqueueWorkload(id, {}, {}, again, outputs);
    runtime->ClearImportedOutputs(id, outputs);
    EXPECT_THROW(runtime->EnqueueWorkload(id, {}, {}, again, outputs), InvalidArgumentException);
}

TEST(Runtime, DebugCallbackSeesEveryLayer)
{
    const IRuntimePtr runtime = MakeRuntime();
    const INetworkPtr network = MakeChain(2, FloatInfo({2}));
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, OptimizerOptionsOpaque(false, true));
    int calls = 0;
    runtime->RegisterDebugCallback(id,
                                   [&](LayerGuid, unsigned int slot, ITensorHandle* tensor)
                                   {
                                       ++calls;
                                       EXPECT_EQ(slot, 0u);
                                       EXPECT_EQ(tensor->GetShape(), TensorShape({2}));
                                       EXPECT_EQ(static_cast<const float*>(tensor->Map())[1],
                                                 calls == 1 ? -3.0f : 3.0f);
                                       tensor->Unmap();
                                   });
    RunFloat(*runtime, id, {2}, {1, -3});
    EXPECT_EQ(calls, 3); // with the input
}

TEST(Runtime, RefusesOptionsThatItCannotHonour)
{
    IRuntime::CreationOptions options;
    options.m_ProtectedMode = true;
    EXPECT_THROW(IRuntime::Create(options), UnimplementedException);
}

TEST(Runtime, OptionsOfBackendsThatNobodyReadsAreNoError)
{
    IRuntime::CreationOptions options;
    options.m_Backends = {std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::ElementwiseUnary})};
    options.m_EnableGpuProfiling = true;
    options.m_BackendOptions = {BackendOptions("GpuAcc", {{"TuningLevel", 2}, {"TuningFile", "t.bin"}}),
                                BackendOptions("CpuAcc", {{"FastMath", true}, {"NumberOfThreads", 1u}}),
                                BackendOptions("CpuRef", {}), BackendOptions("Fake", {{"Anything", 1}})};
    const WarningRecorder warnings;
    const IRuntimePtr runtime = MakeRuntime(options);
    EXPECT_THAT(warnings.Get(),
                ElementsAre(HasSubstr("m_EnableGpuProfiling"), HasSubstr("backend 'GpuAcc' have no effect"),
                            HasSubstr("'FastMath' has no effect"), HasSubstr("'NumberOfThreads' has no effect")));
    EXPECT_EQ(RunFloat(*runtime, Load(*runtime, *MakeChain(1, FloatInfo({1}))), {1}, {-2.0f}),
              std::vector<float>{2.0f});
}

} // namespace tenon::test::runtime_test
