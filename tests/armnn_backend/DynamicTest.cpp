// SPDX-License-Identifier: Apache-2.0
// Backends written for Arm NN in shared objects: loaded by runtimes, shared by them, and refused with the reason.
#include "Networks.hpp"

#include <tenon/backend/BackendRegistry.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/DynamicBackend.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <dlfcn.h>
#include <map>

namespace
{

using namespace sample;
using testing::AllOf;
using testing::HasSubstr;

const char* const Good = SAMPLE_MODULES;
const char* const GoodFile = SAMPLE_MODULES "/Arm_DynamicSample_backend.so";
const char* const Bad = SAMPLE_MODULES "_bad";
const char* const Second = SAMPLE_MODULES "_second";

armnn::IRuntimePtr MakeRuntime(const std::string& path, const std::vector<armnn::BackendOptions>& options = {})
{
    armnn::IRuntime::CreationOptions creation;
    creation.m_DynamicBackendsPath = path;
    creation.m_BackendOptions = options;
    return armnn::IRuntime::Create(creation);
}

bool Has(const armnn::IRuntime& runtime)
{
    return runtime.GetDeviceSpec().GetSupportedBackends().count("DynamicSample") == 1;
}

bool IsRegistered()
{
    return armnn::BackendRegistryInstance().IsBackendRegistered("DynamicSample");
}

/// softmax(in0 + in1)
Builder MakeSoftmaxOfSum()
{
    Builder b;
    const armnn::TensorInfo info = FloatInfo({2, 2});
    armnn::IConnectableLayer* const sum =
        b.Connect(b.m_Network->AddElementwiseBinaryLayer(armnn::BinaryOperation::Add, "sum"), info,
                  {b.Input(info), b.Input(info)});
    b.Output(b.Connect(b.m_Network->AddSoftmaxLayer(armnn::SoftmaxDescriptor(), "softmax"), info, {sum}));
    return b;
}

void ExpectSoftmaxOfSum(armnn::IRuntime& runtime)
{
    const Builder b = MakeSoftmaxOfSum();
    const armnn::NetworkId id = Load(runtime, *b.m_Network, {"DynamicSample"});
    const float ln3 = 1.0986123f;
    const Floats output = RunNetwork(runtime, id, {{1, 1, 2, -1}, {-1, ln3 - 1, -2, 1}});
    EXPECT_THAT(output, testing::Pointwise(testing::FloatNear(1e-6f), Floats{0.25f, 0.75f, 0.5f, 0.5f}));
    runtime.UnloadNetwork(id);
}

} // namespace

TEST(DynamicBackends, RunNetworks)
{
    armnn::BackendRegistry::FactoryFunction factory;
    {
        const armnn::IRuntimePtr runtime = MakeRuntime(Good);
        ASSERT_EQ(runtime->GetDynamicBackendReports().size(), 1u);
        const tenon::DynamicBackendReport& report = runtime->GetDynamicBackendReports()[0];
        EXPECT_TRUE(report.m_IsLoaded) << report.m_Reason;
        EXPECT_EQ(report.m_Path, GoodFile);
        EXPECT_EQ(report.m_BackendId, armnn::BackendId("DynamicSample"));
        EXPECT_TRUE(Has(*runtime));
        EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().count("SampleAcc"), 1u);
        ExpectSoftmaxOfSum(*runtime);
        EXPECT_TRUE(armnn::GetILayerSupportByBackendId("DynamicSample").IsBackendRegistered());
        factory = armnn::BackendRegistryInstance().GetFactory("DynamicSample");
    }
    EXPECT_FALSE(IsRegistered()) << "no runtime uses it";
    EXPECT_FALSE(armnn::GetILayerSupportByBackendId("DynamicSample").IsBackendRegistered());
    EXPECT_EQ(factory()->GetId(), armnn::BackendId("DynamicSample")) << "the object is still open";
}

TEST(DynamicBackends, MayBeNamedThemselves)
{
    const armnn::IRuntimePtr runtime = MakeRuntime(GoodFile);
    EXPECT_TRUE(Has(*runtime));
    ExpectSoftmaxOfSum(*runtime);
}

TEST(DynamicBackends, StayRegisteredAsLongAsARuntimeUsesThem)
{
    armnn::IRuntimePtr first = MakeRuntime(Good);
    armnn::IRuntimePtr second = MakeRuntime(Good);
    const armnn::IRuntimePtr without = MakeRuntime("");
    EXPECT_TRUE(second->GetDynamicBackendReports()[0].m_IsLoaded) << second->GetDynamicBackendReports()[0].m_Reason;
    EXPECT_TRUE(Has(*without)) << "it is registered in the process, as in Arm NN";
    first.reset();
    EXPECT_TRUE(IsRegistered());
    ExpectSoftmaxOfSum(*second);
    second.reset();
    EXPECT_TRUE(IsRegistered());
    ExpectSoftmaxOfSum(*without);
}

TEST(DynamicBackends, AreNotThereWhereAnotherOneHasTheId)
{
    const Log log;
    const armnn::IRuntimePtr first = MakeRuntime(Good);
    const armnn::IRuntimePtr second = MakeRuntime(Second);
    const tenon::DynamicBackendReport& report = second->GetDynamicBackendReports()[0];
    EXPECT_FALSE(report.m_IsLoaded);
    EXPECT_THAT(report.m_Reason, HasSubstr("backend DynamicSample is registered already"));
    EXPECT_THAT(log.Get(), AllOf(HasSubstr("Arm_SecondOfAnId_backend.so"), HasSubstr("is registered already")));
    ExpectSoftmaxOfSum(*second); // on the one of the first
}

TEST(DynamicBackends, MaySayThatTheyAreNotThere)
{
    const armnn::BackendOptions unplugged("DynamicSample", {{"Unplugged", true}});
    {
        const armnn::IRuntimePtr runtime = MakeRuntime(Good, {unplugged});
        EXPECT_FALSE(Has(*runtime));
        EXPECT_THAT(runtime->GetDynamicBackendReports()[0].m_Reason, HasSubstr("the sample device is unplugged"));
        EXPECT_FALSE(IsRegistered());
    }
    const armnn::IRuntimePtr first = MakeRuntime(Good);
    const armnn::IRuntimePtr second = MakeRuntime(Good, {unplugged});
    EXPECT_FALSE(Has(*second));
    EXPECT_THAT(second->GetDynamicBackendReports()[0].m_Reason, HasSubstr("the sample device is unplugged"));
    EXPECT_TRUE(IsRegistered());
}

TEST(DynamicBackends, WithFaultsAreReported)
{
    const Log log;
    const armnn::IRuntimePtr runtime = MakeRuntime(Bad);
    const std::map<std::string, std::string> reasons{
        {"FactoryGivesNull", "BackendFactory of the shared object gives no backend"},
        {"FactoryThrows", "BackendFactory of the shared object throws: there is no sample device"},
        {"IdOfCpuRef", "backend CpuRef is registered already"},
        {"NewerMajor", "backend FaultySample is for version [2.0] of the interface of backends, here it is [1.0]"},
        {"NewerMinor", "backend FaultySample is for version [1.1] of the interface of backends, here it is [1.0]"},
        {"NoFactory", "exports no function BackendFactory"},
        {"NoId", "GetBackendId of the shared object gives no id"},
        {"OfArmnn", "made for Arm NN itself"},
        {"OtherId", "returns a backend with the id OtherSample"}};
    const std::vector<tenon::DynamicBackendReport>& reports = runtime->GetDynamicBackendReports();
    ASSERT_EQ(reports.size(), reasons.size());
    auto expected = reasons.begin();
    for (const tenon::DynamicBackendReport& report : reports)
    {
        const std::string file = "Arm_" + expected->first + "_backend.so";
        EXPECT_THAT(report.m_Path, HasSubstr(file)) << "reports come in order of names";
        EXPECT_FALSE(report.m_IsLoaded);
        EXPECT_THAT(report.m_Reason, HasSubstr(expected->second)) << file;
        EXPECT_THAT(log.Get(), AllOf(HasSubstr(file), HasSubstr(expected->second)));
        ++expected;
    }
    EXPECT_FALSE(armnn::BackendRegistryInstance().IsBackendRegistered("FaultySample"));
    EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().count("FaultySample"), 0u);
}

TEST(DynamicBackends, AreMadeBySharedObjectsThatProgramsOpen)
{
    const auto open = [](const char* name)
    { return dlopen((SAMPLE_MODULES + std::string(name)).c_str(), RTLD_NOW | RTLD_LOCAL); };
    armnn::BackendRegistry& registry = armnn::BackendRegistryInstance();
    {
        armnn::DynamicBackend dynamic(open("/Arm_DynamicSample_backend.so"));
        EXPECT_EQ(dynamic.GetBackendId(), armnn::BackendId("DynamicSample"));
        EXPECT_TRUE(dynamic.GetBackendVersion() == armnn::BackendVersion(1, 0));
        EXPECT_EQ(dynamic.GetBackend()->GetId(), armnn::BackendId("DynamicSample"));
        registry.Register(dynamic.GetBackendId(), dynamic.GetFactoryFunction());
        EXPECT_TRUE(Has(*MakeRuntime("")));
        registry.Deregister("DynamicSample");
    }
    EXPECT_THAT(
        MessageOf<armnn::RuntimeException>([&] { armnn::DynamicBackend(open("_bad/Arm_NewerMajor_backend.so")); }),
        HasSubstr("for version [2.0]"));
    armnn::DynamicBackend throws(open("_bad/Arm_FactoryThrows_backend.so"));
    EXPECT_THAT(MessageOf<armnn::RuntimeException>([&] { throws.GetBackend(); }), HasSubstr("no sample device"));
    EXPECT_THROW(armnn::DynamicBackend(nullptr), armnn::InvalidArgumentException);
    EXPECT_THROW(armnn::DynamicBackend(dlopen(nullptr, RTLD_NOW)), armnn::RuntimeException) << "no such functions";
}
