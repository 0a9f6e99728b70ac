// SPDX-License-Identifier: Apache-2.0
// Arm NN's backend interface and Tenon's own in one source, which have classes of the same names.
#define TENON_BACKEND_NO_SHORT_NAMES // or <armnn/...> would have to be first

#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/IBackend.hpp>

#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/IBackendInternal.hpp>
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
