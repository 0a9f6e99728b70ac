// SPDX-License-Identifier: Apache-2.0
// Arm NN's backend interface and Tenon's own in one source, which have classes of the same names.
#define TENON_BACKEND_NO_SHORT_NAMES // or <armnn/...> would have to be first

#include "SampleBackend.hpp"

#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/IBackend.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <cstdlib>
#include <type_traits>

static_assert(!std::is_base_of<armnn::IBackend, tenon::backend::IBackend>::value, "two classes");
static_assert(std::is_base_of<armnn::IBackend, armnn::IBackendInternal>::value, "Arm NN's");

TEST(BothInterfaces, AnAdaptedBackendIsOneOfTenons)
{
    const armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
    const tenon::backend::BackendRegistry& registry = runtime->GetDeviceSpec().GetBackendRegistry();
    const tenon::backend::IBackend& adapted = registry.Get("SampleAcc");
    EXPECT_EQ(adapted.GetId(), armnn::BackendId("SampleAcc"));
    EXPECT_TRUE(armnn::HasMatchingCapability({"EqualRankBroadcast", true}, adapted.GetCapabilities()));
    EXPECT_TRUE(armnn::HasMatchingCapability({"ConstantTensorsAsInputs", true}, adapted.GetCapabilities()));
    EXPECT_TRUE(adapted.OptimizesSubgraphs());
    EXPECT_EQ(adapted.GetTensorHandleFactory(), nullptr) << "it takes host memory";
}

namespace
{

tenon::CreationOptionsHook HookBefore = nullptr;
int Calls = 0;

void CountCalls(const armnn::IRuntime::CreationOptions& options, const tenon::CreationOptionsUse& use)
{
    ++Calls;
    HookBefore(options, use);
}

void FailBehind(const armnn::IRuntime::CreationOptions& options, const tenon::CreationOptionsUse& use)
{
    HookBefore(options, use);
    Calls = sample::GetJournal().m_Contexts;
    throw armnn::RuntimeException("the hook fails");
}

void DoNothing(const armnn::IRuntime::CreationOptions&, const tenon::CreationOptionsUse&) {}

/// Asks the registry when static variables are destroyed, which was there after this one.
struct AskAfterLoad
{
    AskAfterLoad() = default;
    ~AskAfterLoad()
    {
        const auto cpuRef = armnn::BackendRegistryInstance().GetFactory("CpuRef")();
        if (cpuRef->GetLayerSupport() == nullptr)
        {
            std::_Exit(EXIT_FAILURE);
        }
    }
    AskAfterLoad(const AskAfterLoad&) = delete;
    AskAfterLoad& operator=(const AskAfterLoad&) = delete;
};
const AskAfterLoad Late;

} // namespace

TEST(BothInterfaces, HooksForCreationOptionsAreAChain)
{
    HookBefore = tenon::SetCreationOptionsHook(CountCalls);
    ASSERT_NE(HookBefore, nullptr) << "that of the registry";
    EXPECT_EQ(armnn::IRuntime::Create({})->GetDeviceSpec().GetSupportedBackends().count("SampleAcc"), 1u);
    EXPECT_EQ(Calls, 1);
    EXPECT_EQ(tenon::SetCreationOptionsHook(HookBefore), CountCalls);
    armnn::IRuntime::Create({});
    EXPECT_EQ(Calls, 1);
}

TEST(BothInterfaces, AHookThatThrowsLeavesNoRuntimeBehind)
{
    sample::ResetJournal();
    HookBefore = tenon::SetCreationOptionsHook(FailBehind);
    EXPECT_THROW(armnn::IRuntime::Create({}), armnn::RuntimeException);
    EXPECT_EQ(tenon::SetCreationOptionsHook(HookBefore), FailBehind);
    EXPECT_EQ(Calls, 1) << "there was a runtime with a context of SampleAcc";
    EXPECT_EQ(sample::GetJournal().m_Contexts, 0);
}

TEST(BothInterfaces, AHookThatMakesNoRuntimeIsTold)
{
    HookBefore = tenon::SetCreationOptionsHook(DoNothing);
    std::string message;
    try
    {
        armnn::IRuntime::Create({});
    }
    catch (const armnn::RuntimeException& e)
    {
        message = e.what();
    }
    EXPECT_EQ(tenon::SetCreationOptionsHook(HookBefore), DoNothing);
    EXPECT_THAT(message, testing::HasSubstr("did not call its `use`"));
}

namespace
{

tenon::BackendLookup LookupBefore = nullptr;
armnn::BackendId LastAsked;

std::shared_ptr<const tenon::backend::IBackend> NoteQuestion(const armnn::BackendId& id)
{
    LastAsked = id;
    return LookupBefore(id);
}

} // namespace

TEST(BothInterfaces, LookupsAreAChain)
{
    LookupBefore = tenon::SetBackendLookup(NoteQuestion);
    ASSERT_NE(LookupBefore, nullptr) << "that of the registry";
    EXPECT_TRUE(armnn::GetILayerSupportByBackendId("SampleAcc").IsBackendRegistered());
    EXPECT_EQ(LastAsked, armnn::BackendId("SampleAcc"));
    EXPECT_TRUE(armnn::GetILayerSupportByBackendId("CpuRef").IsBackendRegistered());
    EXPECT_EQ(LastAsked, armnn::BackendId("SampleAcc")) << "no lookup is asked for built-in ones";
    EXPECT_EQ(tenon::SetBackendLookup(LookupBefore), NoteQuestion);
}
