// SPDX-License-Identifier: Apache-2.0
// Each kernel of CpuAcc runs in some case: CpuRef's kernel would give the right answer in place of one that takes
// nothing, and nobody would notice. Each kernel of CpuRef does, too, so that none is without an oracle.
#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "harness/ForcedIsa.hpp"
#include "harness/OpTest.hpp"
#include "ops/FastCompare.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tenon::test
{

namespace
{

/// The fast kernels that this machine has what it takes for, those that FastMathEnabled adds among them.
std::vector<const backends::Kernel*> GetFastKernels()
{
    std::vector<const backends::Kernel*> fast;
    const auto add = [&fast](LayerType type)
    {
        for (const backends::Kernel* kernel : cpu::FindFastMathKernels(type))
        {
            const bool runsHere = kernel->m_CheckMachine == nullptr || kernel->m_CheckMachine();
            if (runsHere && kernel != ref::FindKernel(type))
            {
                fast.push_back(kernel);
            }
        }
    };
#define TENON_OP(name, ...) add(LayerType::name);
#include <tenon/ops.def>
    return fast;
}

/// Networks alone run these, for outputs that a run makes or for several ones: their tests are in the same folder.
const std::set<LayerType> RunInNetworks = {LayerType::HashtableLookup, LayerType::NonMaxSuppression,
                                           LayerType::Range,           LayerType::RngBitGenerator,
                                           LayerType::Unique,          LayerType::Where};

/// Those that cases of the harness are to run. Kernels of Custom are an application's own.
std::vector<const backends::Kernel*> GetReferenceKernels()
{
    std::vector<const backends::Kernel*> kernels;
    const auto add = [&kernels](LayerType type)
    {
        if (const backends::Kernel* kernel = ref::FindKernel(type);
            kernel != nullptr && type != LayerType::Custom && RunInNetworks.count(type) == 0)
        {
            kernels.push_back(kernel);
        }
    };
#define TENON_OP(name, ...) add(LayerType::name);
#include <tenon/ops.def>
    return kernels;
}

/// Looks once all tests have run, unless a filter or a shard left some out.
class EveryKernelRuns : public testing::Environment
{
public:
    void TearDown() override
    {
        const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
        if (tests.test_to_run_count() < tests.total_test_count() - tests.disabled_test_count())
        {
            return;
        }
        const std::vector<const backends::Kernel*> none;
        for (const backends::Kernel* kernel : IsJudged(FindTestBackend(Compute::CpuAcc)) ? GetFastKernels() : none)
        {
            EXPECT_EQ(GetRunKernels().count(kernel->m_Name), 1U) << "no case ran by kernel " << kernel->m_Name;
        }
        for (const backends::Kernel* kernel : IsJudged(FindTestBackend(Compute::CpuRef)) ? GetReferenceKernels() : none)
        {
            EXPECT_EQ(GetRunKernels().count(kernel->m_Name), 1U) << "no case ran by kernel " << kernel->m_Name;
        }
    }
};

testing::Environment* const Registered = testing::AddGlobalTestEnvironment(new EveryKernelRuns);

} // namespace

} // namespace tenon::test
