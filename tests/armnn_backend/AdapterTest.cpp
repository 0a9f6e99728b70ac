// SPDX-License-Identifier: Apache-2.0
// Backends written for Arm NN: registered, asked, loaded and run.
#include "Networks.hpp"
#include "SampleBackend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/IMemoryOptimizerStrategy.hpp>
#include <armnn/backends/MemCopyWorkload.hpp>
#include <armnn/backends/TensorHandle.hpp>
#include <armnn/backends/WorkloadFactory.hpp>
#include <cstdlib>

namespace
{

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using namespace sample;

} // namespace

TEST_F(AdaptedBackend, IsRegisteredBesideTheBuiltInOnes)
{
    armnn::BackendRegistry& registry = armnn::BackendRegistryInstance();
    EXPECT_EQ(registry.Size(), 4u);
    for (const char* id : {"CpuRef", "CpuAcc", "SampleAcc", "SampleLegacy"})
    {
        EXPECT_TRUE(registry.IsBackendRegistered(id));
        EXPECT_EQ(registry.GetBackendIds().count(id), 1u);
        EXPECT_THAT(registry.GetBackendIdsAsString(), HasSubstr(id));
        EXPECT_EQ(registry.GetFactory(id)()->GetId(), armnn::BackendId(id));
    }
    EXPECT_FALSE(registry.IsBackendRegistered("GpuAcc"));
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>([&] { registry.GetFactory("GpuAcc"); }),
                HasSubstr("SampleAcc"));
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>(
                    [&] { registry.Register("CpuRef", [] { return armnn::IBackendInternalUniquePtr(); }); }),
                HasSubstr("registered already"));
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>([&] { registry.Deregister("CpuAcc"); }),
                HasSubstr("built in"));
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().count("SampleAcc"), 1u);
    EXPECT_TRUE(armnn::HasCapability("ConstantTensorsAsInputs", armnn::BackendId("SampleAcc")));
    EXPECT_TRUE(armnn::GetILayerSupportByBackendId("SampleLegacy").IsBackendRegistered());
}

TEST_F(AdaptedBackend, ComesAndGoesWithItsRegistration)
{
    armnn::BackendRegistry& registry = armnn::BackendRegistryInstance();
    const armnn::BackendRegistry::FactoryFunction factory = registry.GetFactory("SampleLegacy");
    registry.Deregister("SampleLegacy");
    EXPECT_EQ(armnn::IRuntime::Create({})->GetDeviceSpec().GetSupportedBackends().count("SampleLegacy"), 0u);
    registry.Register("SampleLegacy", factory);
    EXPECT_EQ(armnn::IRuntime::Create({})->GetDeviceSpec().GetSupportedBackends().count("SampleLegacy"), 1u);

    registry.Register("Liar", factory);
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>([] { armnn::IRuntime::Create({}); }),
                testing::AllOf(HasSubstr("Liar"), HasSubstr("SampleLegacy")));
    registry.Deregister("Liar");
    sample::GetJournal().m_IsUnavailable = true;
    const armnn::IRuntimePtr without = armnn::IRuntime::Create({});
    EXPECT_EQ(without->GetDeviceSpec().GetSupportedBackends().count("SampleAcc"), 0u);
    EXPECT_EQ(without->GetDeviceSpec().GetSupportedBackends().count("SampleLegacy"), 1u);
}

TEST_F(AdaptedBackend, RunsLayersWithTensorsOfItsOwn)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {-2, 2, -4, 4, -6, 6}}), (Floats{0, 4, 0, 8, 0, 12}));
    EXPECT_EQ(RunNetwork(*runtime, id, {{0, 0, 0, 0, 0, 0}, {1, 2, 3, -1, -2, -3}}), (Floats{1, 2, 3, 0, 0, 0}));
    EXPECT_EQ(sample::GetJournal().m_Executed, 4);
    EXPECT_GE(sample::GetJournal().m_Acquired, 2);
    runtime->UnloadNetwork(id);
    EXPECT_THAT(Calls(), ElementsAre("before load", "make Addition", "make Activation", "after load", "after run",
                                     "after run", "before unload", "after unload"));
}

TEST_F(AdaptedBackend, OperandsOfBroadcastsHaveOneRank)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu, armnn::TensorShape({3}));
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {10, -20, 30}}), (Floats{11, 0, 33, 14, 0, 36}));
    EXPECT_EQ(sample::GetJournal().m_Executed, 2);
}

TEST_F(AdaptedBackend, LayersThatItRefusesGoToTheNextOneWithItsReason)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::Square);
    const armnn::IOptimizedNetworkPtr optimized = OptimizeFor(*runtime, *b.m_Network, {"SampleAcc", "CpuRef"});
    EXPECT_EQ(BackendOf(*optimized, "sum"), "SampleAcc");
    EXPECT_EQ(BackendOf(*optimized, "activation"), "CpuRef");
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc", "CpuRef"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {1, 1, 1, -1, -1, -1}}), (Floats{4, 9, 16, 9, 16, 25}));
    EXPECT_EQ(sample::GetJournal().m_Executed, 1);
    std::vector<std::string> messages;
    std::string thrown;
    try
    {
        armnn::Optimize(*b.m_Network, {"SampleAcc"}, runtime->GetDeviceSpec(), armnn::OptimizerOptionsOpaque(),
                        armnn::Optional<std::vector<std::string>&>(messages));
    }
    catch (const armnn::Exception& e)
    {
        thrown = e.what();
    }
    std::string all = thrown;
    for (const std::string& message : messages)
    {
        all += message;
    }
    EXPECT_THAT(all, HasSubstr("the sample device knows ReLu alone"));
}

TEST_F(AdaptedBackend, OtherShapesGetOtherWorkloads)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    const armnn::TensorInfo info = FloatInfo({1, 2}, true);
    const Floats first{1, 2};
    const Floats second{3, -4};
    Floats output(2);
    const armnn::InputTensors inputs{{0, armnn::ConstTensor(info, first)}, {1, armnn::ConstTensor(info, second)}};
    for (int run = 0; run < 2; ++run)
    {
        runtime->EnqueueWorkload(id, inputs, {{0, armnn::Tensor(FloatInfo({1, 2}), output.data())}});
        EXPECT_EQ(output, (Floats{4, 0}));
    }
    EXPECT_EQ(std::count(Calls().begin(), Calls().end(), "make Addition"), 2);
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}}), (Floats{2, 3, 4, 5, 6, 7}));
}

TEST_F(AdaptedBackend, UnknownShapesAreRefused)
{
    Builder b;
    const armnn::TensorShape open({2, 3}, {false, true});
    armnn::IConnectableLayer* const in = b.Input(FloatInfo(open));
    armnn::ActivationDescriptor relu;
    relu.m_Function = armnn::ActivationFunction::ReLu;
    b.Output(b.Connect(b.m_Network->AddActivationLayer(relu, "relu"), FloatInfo(open), {in}));
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const armnn::IOptimizedNetworkPtr optimized = OptimizeFor(*runtime, *b.m_Network, {"SampleAcc", "CpuRef"});
    EXPECT_EQ(BackendOf(*optimized, "relu"), "CpuRef");
}

TEST_F(AdaptedBackend, ConstantsAreThereBeforeTheFirstRun)
{
    for (const bool hasBias : {true, false})
    {
        Builder b;
        armnn::IConnectableLayer* const in = b.Input(FloatInfo({2, 3}));
        armnn::FullyConnectedDescriptor descriptor;
        descriptor.m_TransposeWeightMatrix = true;
        descriptor.m_BiasEnabled = hasBias;
        const Floats weights{1, 2, 3, -1, 0, 1};
        const Floats bias{100, 200};
        std::vector<armnn::IConnectableLayer*> inputs{in, b.Constant({2, 3}, weights)};
        if (hasBias)
        {
            inputs.push_back(b.Constant({2}, bias));
        }
        b.Output(b.Connect(b.m_Network->AddFullyConnectedLayer(descriptor, "product"), FloatInfo({2, 2}), inputs));
        const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
        const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
        const float add = hasBias ? 1.0f : 0.0f;
        EXPECT_EQ(RunNetwork(*runtime, id, {{1, 1, 1, 2, 0, 1}}),
                  (Floats{6 + 100 * add, 0 + 200 * add, 5 + 100 * add, -1 + 200 * add}));
    }
}

TEST_F(AdaptedBackend, WorkloadsOfAllShapesShareConstants)
{
    Builder b;
    armnn::IConnectableLayer* const in = b.Input(FloatInfo({2, 3}));
    armnn::FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    descriptor.m_BiasEnabled = true;
    const Floats weights{1, 2, 3, -1, 0, 1};
    const Floats bias{100, 200};
    b.Output(b.Connect(b.m_Network->AddFullyConnectedLayer(descriptor, "product"), FloatInfo({2, 2}),
                       {in, b.Constant({2, 3}, weights), b.Constant({2}, bias)}));
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 1, 1, 2, 0, 1}}), (Floats{106, 200, 105, 199}));
    const Floats row{1, 1, 1};
    Floats output(2);
    const armnn::InputTensors inputs{{0, armnn::ConstTensor(FloatInfo({1, 3}, true), row)}};
    runtime->EnqueueWorkload(id, inputs, {{0, armnn::Tensor(FloatInfo({1, 2}), output.data())}});
    EXPECT_EQ(output, (Floats{106, 200}));
    EXPECT_EQ(std::count(Calls().begin(), Calls().end(), "make FullyConnected"), 2);
    EXPECT_EQ(sample::GetJournal().m_Constants, 2) << "weights and bias, once";
    runtime->UnloadNetwork(id);
}

TEST_F(AdaptedBackend, PaddingsAreNumbers)
{
    Builder b;
    armnn::IConnectableLayer* const in = b.Input(FloatInfo({1, 3, 3, 1}));
    armnn::Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = armnn::DataLayout::NHWC;
    descriptor.m_StrideX = 2;
    descriptor.m_StrideY = 2;
    descriptor.m_PaddingScheme = tenon::PaddingScheme::Same; // as of a TFLite file
    const Floats ones(9, 1.0f);
    b.Output(b.Connect(b.m_Network->AddConvolution2dLayer(descriptor, "conv"), FloatInfo({1, 2, 2, 1}),
                       {in, b.Constant({1, 3, 3, 1}, ones)}));
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    // One row and column of padding on each side.
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6, 7, 8, 9}}), (Floats{12, 16, 24, 28}));
    EXPECT_THAT(Calls(), Contains("make Convolution2d"));
}

TEST_F(AdaptedBackend, ConstantsOfLayersComeAsHandles)
{
    Builder b;
    armnn::IConnectableLayer* const in = b.Input(FloatInfo({1, 1, 2, 2}));
    armnn::BatchNormalizationDescriptor descriptor;
    descriptor.m_DataLayout = armnn::DataLayout::NHWC;
    const armnn::TensorInfo info = FloatInfo({2}, true);
    const Floats mean{1, 2};
    const Floats variance{4, 9};
    const Floats beta{10, 20};
    const Floats gamma{2, 3};
    b.Output(b.Connect(b.m_Network->AddBatchNormalizationLayer(
                           descriptor, armnn::ConstTensor(info, mean), armnn::ConstTensor(info, variance),
                           armnn::ConstTensor(info, beta), armnn::ConstTensor(info, gamma), "norm"),
                       FloatInfo({1, 1, 2, 2}), {in}));
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{3, 5, 5, 8}}), (Floats{12, 23, 14, 26}));
}

TEST_F(AdaptedBackend, ViewsHaveOrigins)
{
    Builder b;
    armnn::IConnectableLayer* const first = b.Input(FloatInfo({2, 1}));
    armnn::IConnectableLayer* const second = b.Input(FloatInfo({2, 2}));
    armnn::OriginsDescriptor descriptor(2, 2);
    descriptor.SetConcatAxis(1);
    descriptor.SetViewOriginCoord(1, 1, 1);
    b.Output(b.Connect(b.m_Network->AddConcatLayer(descriptor, "concat"), FloatInfo({2, 3}), {first, second}));
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 4}, {2, 3, 5, 6}}), (Floats{1, 2, 3, 4, 5, 6}));
    EXPECT_THAT(Calls(), Contains("make Concat"));
}

TEST_F(AdaptedBackend, HandlesOfTheWorkloadFactoryServe)
{
    Builder b;
    armnn::IConnectableLayer* const in = b.Input(FloatInfo({4}));
    b.Output(b.Connect(b.m_Network->AddFloorLayer("floor"), FloatInfo({4}), {in}));
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleLegacy"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{1.5f, -1.5f, 2.0f, -0.25f}}), (Floats{1, -2, 2, -1}));
    runtime->UnloadNetwork(id);
}

TEST_F(AdaptedBackend, WhatWorkloadsThrowEndsTheRun)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::Abs);
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_THAT(MessageOf<armnn::RuntimeException>(
                    [&] {
                        RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}});
                    }),
                testing::AllOf(HasSubstr("the sample device is on fire"), HasSubstr("activation")));
    EXPECT_THAT(Calls(), Contains("after run"));
}

TEST_F(AdaptedBackend, ATensorThatIsNotUnmappedEndsTheRun)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    sample::GetJournal().m_UnmapThrows = true;
    EXPECT_THAT(MessageOf<armnn::RuntimeException>(
                    [&] {
                        RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}});
                    }),
                testing::AllOf(HasSubstr("not written back"), HasSubstr("sum")));
    sample::GetJournal().m_UnmapThrows = false;
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}}), (Floats{2, 3, 4, 5, 6, 7}));
}

TEST_F(AdaptedBackend, MemoryThatIsNotReleasedIsInTheLog)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    const Log log;
    sample::GetJournal().m_ReleaseThrows = true;
    EXPECT_EQ(runtime->UnloadNetwork(id), armnn::Status::Success);
    EXPECT_THAT(log.Get(), testing::AllOf(HasSubstr("SampleAcc"), HasSubstr("the sample memory is stuck")));
}

TEST_F(AdaptedBackend, ASupportThatThrowsOrLiesIsTold)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    Builder throws;
    const armnn::TensorInfo quantized({4}, armnn::DataType::QAsymmU8, 0.5f, 0);
    armnn::IConnectableLayer* const bytes = throws.Input(quantized);
    throws.Output(throws.Connect(throws.m_Network->AddDequantizeLayer("dequantize"), FloatInfo({4}), {bytes}));
    std::string reason;
    EXPECT_FALSE(armnn::GetILayerSupportByBackendId("SampleAcc")
                     .IsDequantizeSupported(quantized, FloatInfo({4}), armnn::Optional<std::string&>(reason)));
    EXPECT_THAT(reason, HasSubstr("the sample device is asleep"));
    EXPECT_EQ(BackendOf(*OptimizeFor(*runtime, *throws.m_Network, {"SampleAcc", "CpuRef"}), "dequantize"), "CpuRef");

    Builder lies;
    armnn::IConnectableLayer* const in = lies.Input(FloatInfo({4}));
    lies.Output(lies.Connect(lies.m_Network->AddQuantizeLayer("quantize"), quantized, {in}));
    EXPECT_THAT(MessageOf<armnn::BackendCapabilityException>([&] { Load(*runtime, *lies.m_Network, {"SampleAcc"}); }),
                testing::AllOf(HasSubstr("SampleAcc"), HasSubstr("Quantize"), HasSubstr("makes no workload")));
}

TEST_F(AdaptedBackend, OptionsThatItDoesNotTakeAreRefused)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    armnn::OptimizerOptionsOpaque options;
    options.AddModelOption(armnn::BackendOptions("SampleAcc", {{"Speed", 11}}));
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>(
                    [&] { OptimizeFor(*runtime, *b.m_Network, {"SampleAcc"}, options); }),
                testing::AllOf(HasSubstr("SampleAcc"), HasSubstr("options")));
}

TEST_F(AdaptedBackend, ParametersThatArmNNDoesNotHaveAreRefused)
{
    std::string reason;
    const armnn::LayerSupportHandle handle = armnn::GetILayerSupportByBackendId("SampleAcc");
    const armnn::TensorInfo info = FloatInfo({2, 3});
    EXPECT_TRUE(handle.IsElementwiseBinarySupported(info, info, info, armnn::BinaryOperation::Add));
    EXPECT_FALSE(handle.IsElementwiseBinarySupported(info, info, info, tenon::BinaryOperation::FloorMod,
                                                     armnn::Optional<std::string&>(reason)));
    EXPECT_THAT(reason, HasSubstr("m_Operation"));
    tenon::FullyConnectedDescriptor own;
    own.m_TransposeWeightMatrix = true;
    own.m_KeepDims = true;
    EXPECT_FALSE(handle.IsFullyConnectedSupported(info, FloatInfo({2, 2}), FloatInfo({2, 3}, true), armnn::TensorInfo(),
                                                  own, armnn::Optional<std::string&>(reason)));
    EXPECT_THAT(reason, HasSubstr("m_KeepDims"));
    EXPECT_FALSE(handle.IsLayerSupported(tenon::LayerType::CumSum, {info}, {info}, tenon::CumSumDescriptor(),
                                         armnn::Optional<std::string&>(reason)));
    EXPECT_THAT(reason, HasSubstr("CumSum"));
    EXPECT_FALSE(handle.IsLayerSupported(
        armnn::LayerType::Concat, {FloatInfo({2}), tenon::TensorInfo({2}, tenon::DataType::Float64)}, {FloatInfo({4})},
        armnn::OriginsDescriptor(2, 1), armnn::Optional<std::string&>(reason)));
    EXPECT_THAT(reason, HasSubstr("Float64"));
}

TEST_F(AdaptedBackend, CompilesSubgraphs)
{
    sample::GetJournal().m_Optimize = "compile";
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::IOptimizedNetworkPtr optimized = OptimizeFor(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_EQ(BackendOf(*optimized, "compiled"), "SampleAcc");
    EXPECT_EQ(BackendOf(*optimized, "sum"), "not found");
    const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc"});
    EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, 3, 4, 5, 6}, {-2, 2, -4, 4, -6, 6}}),
              (Floats{100, 104, 100, 108, 100, 112}));
    EXPECT_EQ(sample::GetJournal().m_Executed, 1);
}

TEST_F(AdaptedBackend, GivesLayersBack)
{
    sample::GetJournal().m_Optimize = "fail";
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    const armnn::IOptimizedNetworkPtr optimized = OptimizeFor(*runtime, *b.m_Network, {"SampleAcc", "CpuRef"});
    EXPECT_EQ(BackendOf(*optimized, "sum"), "SampleAcc");
    EXPECT_EQ(BackendOf(*optimized, "activation"), "CpuRef");
}

TEST_F(AdaptedBackend, SubgraphsOfAnotherNetworkAreRefused)
{
    sample::GetJournal().m_Optimize = "wrong";
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const Builder b = MakeSum(armnn::ActivationFunction::ReLu);
    EXPECT_THAT(MessageOf<armnn::BackendCapabilityException>(
                    [&] {
                        OptimizeFor(*runtime, *b.m_Network, {"SampleAcc", "CpuRef"});
                    }),
                testing::AllOf(HasSubstr("SampleAcc"), HasSubstr("not of the subgraph")));
}

TEST_F(AdaptedBackend, WorkloadFactoriesAnswerForLayers)
{
    const Builder b = MakeSum(armnn::ActivationFunction::Square);
    struct Asker : armnn::IStrategy
    {
        void ExecuteStrategy(const armnn::IConnectableLayer* layer, const armnn::BaseDescriptor&,
                             const std::vector<armnn::ConstTensor>&, const char*, const armnn::LayerBindingId) override
        {
            std::string reason;
            if (layer->GetType() == armnn::LayerType::Activation)
            {
                EXPECT_FALSE(
                    armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::EmptyOptional(), reason));
                EXPECT_EQ(reason, "the sample device knows ReLu alone");
                EXPECT_TRUE(
                    armnn::IWorkloadFactory::IsLayerSupported("CpuRef", *layer, armnn::DataType::Float16, reason));
                ++m_Asked;
            }
            if (layer->GetType() == armnn::LayerType::ElementwiseBinary)
            {
                EXPECT_TRUE(
                    armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::EmptyOptional(), reason));
                EXPECT_FALSE(
                    armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::DataType::Float16, reason));
                ++m_Asked;
            }
        }
        int m_Asked = 0;
    };
    Asker asker;
    b.m_Network->ExecuteStrategy(asker);
    EXPECT_EQ(asker.m_Asked, 2);
}

TEST_F(AdaptedBackend, BuiltInOnesAnswerArmNNsQuestions)
{
    const armnn::IBackendInternalUniquePtr cpuRef = armnn::BackendRegistryInstance().GetFactory("CpuRef")();
    const auto support = cpuRef->GetLayerSupport();
    const armnn::TensorInfo info = FloatInfo({2, 3});
    std::string reason;
    EXPECT_TRUE(support->IsLayerSupported(armnn::LayerType::Addition, {info, info, info}, armnn::BaseDescriptor()));
    EXPECT_TRUE(support->IsLayerSupported(armnn::LayerType::Input, {info}, armnn::BaseDescriptor()));
    armnn::FullyConnectedDescriptor product;
    EXPECT_TRUE(support->IsLayerSupported(armnn::LayerType::FullyConnected,
                                          {info, FloatInfo({2, 4}), FloatInfo({3, 4}, true), armnn::TensorInfo()},
                                          product));
    EXPECT_FALSE(support->IsLayerSupported(
        armnn::LayerType::Floor,
        {armnn::TensorInfo({2}, armnn::DataType::Boolean), armnn::TensorInfo({2}, armnn::DataType::Boolean)},
        armnn::BaseDescriptor(), armnn::EmptyOptional(), armnn::EmptyOptional(),
        armnn::Optional<std::string&>(reason)));
    EXPECT_FALSE(reason.empty());
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>(
                    [&] { support->IsLayerSupported(armnn::LayerType::Lstm, {info}, armnn::LstmDescriptor()); }),
                HasSubstr("needs 7"));
    EXPECT_THAT(MessageOf<armnn::UnimplementedException>([&] { cpuRef->CreateWorkloadFactory(); }),
                HasSubstr("CpuRef"));
}

namespace
{

class CountingAllocator : public armnn::ICustomAllocator
{
public:
    void* allocate(size_t size, size_t alignment) override
    {
        ++m_Live;
        ++m_Calls;
        return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    }
    void free(void* ptr) override
    {
        --m_Live;
        std::free(ptr);
    }
    armnn::MemorySource GetMemorySourceType() override { return armnn::MemorySource::Malloc; }
    void* GetMemoryRegionAtOffset(void* buffer, size_t offset, size_t) override
    {
        return static_cast<char*>(buffer) + offset;
    }
    int m_Live = 0;
    int m_Calls = 0;
};

/// A bin for each block.
class OneBinABlock : public armnn::IMemoryOptimizerStrategy
{
public:
    std::string GetName() const override { return "OneBinABlock"; }
    armnn::MemBlockStrategyType GetMemBlockStrategyType() const override
    {
        return armnn::MemBlockStrategyType::SingleAxisPacking;
    }
    std::vector<armnn::MemBin> Optimize(std::vector<armnn::MemBlock>& memBlocks) override
    {
        ++m_Calls;
        std::vector<armnn::MemBin> bins;
        bins.reserve(memBlocks.size());
        for (armnn::MemBlock& block : memBlocks)
        {
            armnn::MemBin bin;
            block.m_Offset = 0;
            bin.m_MemBlocks.push_back(block);
            bin.m_MemSize = block.m_MemSize;
            bins.push_back(bin);
        }
        return bins;
    }
    int m_Calls = 0;
};

} // namespace

TEST_F(AdaptedBackend, AllocatorsAndStrategiesWrittenForArmNNAreUsed)
{
    const auto allocator = std::make_shared<CountingAllocator>();
    const auto strategy = std::make_shared<OneBinABlock>();
    armnn::BackendRegistry& registry = armnn::BackendRegistryInstance();
    // A layer of SampleAcc, and softmaxes of CpuRef, which need memory between them.
    Builder b;
    armnn::ActivationDescriptor relu;
    relu.m_Function = armnn::ActivationFunction::ReLu;
    const armnn::TensorInfo info = FloatInfo({1, 4});
    armnn::IConnectableLayer* last = b.Connect(b.m_Network->AddActivationLayer(relu), info, {b.Input(info)});
    for (int i = 0; i < 3; ++i)
    {
        last = b.Connect(b.m_Network->AddSoftmaxLayer(armnn::SoftmaxDescriptor()), info, {last});
    }
    b.Output(last);
    Floats wanted;
    {
        const armnn::IRuntimePtr plain = armnn::IRuntime::Create({});
        wanted = RunNetwork(*plain, Load(*plain, *b.m_Network, {"CpuRef"}), {{1, 2, -3, 4}});
    }
    for (const bool byOptions : {true, false})
    {
        armnn::IRuntime::CreationOptions options;
        if (byOptions)
        {
            options.m_CustomAllocatorMap = {{"CpuRef", allocator}};
            options.m_MemoryOptimizerStrategyMap = {{"CpuRef", strategy}};
        }
        else
        {
            registry.RegisterAllocator("CpuRef", allocator);
            registry.RegisterMemoryOptimizerStrategy("CpuRef", strategy);
            EXPECT_EQ(registry.GetAllocators().size(), 1u);
            EXPECT_EQ(registry.GetMemoryOptimizerStrategies().size(), 1u);
            EXPECT_THROW(registry.RegisterAllocator("CpuRef", allocator), armnn::InvalidArgumentException);
        }
        allocator->m_Calls = 0;
        strategy->m_Calls = 0;
        {
            const armnn::IRuntimePtr runtime = armnn::IRuntime::Create(options);
            const armnn::NetworkId id = Load(*runtime, *b.m_Network, {"SampleAcc", "CpuRef"});
            EXPECT_EQ(RunNetwork(*runtime, id, {{1, 2, -3, 4}}), wanted);
        }
        EXPECT_GE(allocator->m_Calls, 1);
        EXPECT_EQ(allocator->m_Live, 0);
        EXPECT_GE(strategy->m_Calls, 1);
    }
    registry.DeregisterAllocator("CpuRef");
    registry.DeregisterMemoryOptimizerStrategy("CpuRef");
    EXPECT_TRUE(registry.GetAllocators().empty());
    EXPECT_TRUE(registry.GetMemoryOptimizerStrategies().empty());
}

TEST_F(AdaptedBackend, ItsAllocatorIsItsOwn)
{
    const auto allocator = std::make_shared<CountingAllocator>();
    armnn::IRuntime::CreationOptions options;
    options.m_CustomAllocatorMap = {{"SampleAcc", allocator}};
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>([&] { armnn::IRuntime::Create(options); }),
                testing::AllOf(HasSubstr("SampleAcc"), HasSubstr("takes no custom allocator")));
    sample::GetJournal().m_TakesAllocator = true;
    EXPECT_NO_THROW(armnn::IRuntime::Create(options));
    EXPECT_EQ(sample::GetJournal().m_Allocator, allocator);
    EXPECT_TRUE(sample::GetJournal().m_HasAllocatorInContext)
        << "contexts are made of a backend that has its allocator";
    options.m_CustomAllocatorMap = {{"SampleAcc", nullptr}};
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>([&] { armnn::IRuntime::Create(options); }),
                testing::AllOf(HasSubstr("SampleAcc"), HasSubstr("is null")));
}
