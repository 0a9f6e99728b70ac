// SPDX-License-Identifier: Apache-2.0
// Each kernel of CpuAcc runs in some case: CpuRef's kernel would give the right answer in place of one that takes
// nothing, and nobody would notice. Each kernel of CpuRef does, too, so that none is without an oracle. And what the
// program ran is written to the file that TENON_TEST_COUNTS names, for CheckCounts.cmake.
#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/cpu/gemm/driver/DgemmLibrary.hpp"
#include "backends/cpu/simd/IsaForTests.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "harness/ForcedIsa.hpp"
#include "harness/OpTest.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenon::test::every_kernel_test
{

namespace
{

/// Whether the library is there that the kernel calls: rows of float64 decline without OpenBLAS.
bool HasLibraryOf(const backends::Kernel& kernel)
{
    return !std::string(kernel.m_Name).ends_with("F64") || cpu::DgemmLibrary::Get().GetFunction() != nullptr;
}

/// The fast kernels that this machine has what it takes for, those that FastMathEnabled adds among them.
std::vector<const backends::Kernel*> GetFastKernels()
{
    std::vector<const backends::Kernel*> fast;
    const auto add = [&fast](LayerType type)
    {
        const auto references = ref::FindKernels(type);
        for (const backends::Kernel* kernel : cpu::FindFastMathKernels(type))
        {
            const bool runsHere =
                (kernel->m_CheckMachine == nullptr || kernel->m_CheckMachine()) && HasLibraryOf(*kernel);
            if (runsHere && std::find(references.begin(), references.end(), kernel) == references.end())
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
const std::set<LayerType> RunInNetworks = {LayerType::HashtableLookup,
                                           LayerType::MulticlassNonMaxSuppression,
                                           LayerType::NonMaxSuppression,
                                           LayerType::Range,
                                           LayerType::RngBitGenerator,
                                           LayerType::Unique,
                                           LayerType::Where};

/// Those that cases of the harness are to run. Kernels of Custom are an application's own.
std::vector<const backends::Kernel*> GetReferenceKernels()
{
    std::vector<const backends::Kernel*> kernels;
    const auto add = [&kernels](LayerType type)
    {
        const auto references = ref::FindKernels(type);
        if (type != LayerType::Custom && RunInNetworks.count(type) == 0)
        {
            kernels.insert(kernels.end(), references.begin(), references.end());
        }
    };
#define TENON_OP(name, ...) add(LayerType::name);
#include <tenon/ops.def>
    return kernels;
}

/// The kernels that cases are to run by, for each level, and those of CpuRef on the best one, where it is
/// judged.
std::map<std::string, std::set<std::string>> GetExpectedKernels()
{
    std::map<std::string, std::set<std::string>> expected;
    for (const std::string& isa : GetTestedIsas())
    {
        const cpu::ScopedIsa scoped(isa);
        for (const backends::Kernel* kernel : GetFastKernels())
        {
            expected[isa].insert(kernel->m_Name);
        }
        for (const backends::Kernel* kernel : GetReferenceKernels())
        {
            if (IsBestIsa() && isa == GetTestedIsas().front())
            {
                expected[isa].insert(kernel->m_Name);
            }
        }
    }
    return expected;
}

/// Looks once all tests have run. Where a filter or a shard left some out, the counts of all shards show it.
class Suite final : public testing::Environment
{
public:
    void SetUp() override
    {
        WatchPlainTests();
        if (const char* file = GetFile())
        {
            std::filesystem::remove(file); // so that no earlier run's is taken for that of one that ends early
        }
    }

    void TearDown() override
    {
        const auto expected = GetExpectedKernels();
        if (cpu::DgemmLibrary::Get().GetFunction() == nullptr)
        {
            std::cout << "kernels of float64 are left out: " << cpu::DgemmLibrary::Get().GetReason() << "\n";
        }
        const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
        if (tests.test_to_run_count() == tests.total_test_count() - tests.disabled_test_count())
        {
            for (const auto& [isa, kernels] : expected)
            {
                for (const std::string& kernel : kernels)
                {
                    EXPECT_EQ(GetRunKernels(isa).count(kernel), 1U)
                        << "no case ran by kernel " << kernel << " on " << isa;
                }
            }
        }
        if (const char* file = GetFile())
        {
            std::filesystem::create_directories(std::filesystem::path(file).parent_path());
            std::ofstream out(file);
            WriteIsaCounts(out);
            for (const auto& [isa, kernels] : expected)
            {
                for (const std::string& kernel : kernels)
                {
                    out << "expected " << isa << " " << kernel << "\n";
                }
            }
            EXPECT_TRUE(out.flush()) << "cannot write " << file;
        }
    }

private:
    static const char* GetFile() { return std::getenv("TENON_TEST_COUNTS"); }
};

testing::Environment* const Registered = testing::AddGlobalTestEnvironment(new Suite);

} // namespace

} // namespace tenon::test::every_kernel_test
