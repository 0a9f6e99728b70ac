// SPDX-License-Identifier: Apache-2.0
// Bodies of tests on one instruction set after the other, and counts of what ran where.
#include "harness/IsaTest.hpp"

#include "backends/cpu/simd/IsaForTests.hpp"
#include "harness/RunMemory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

namespace tenon::test
{

namespace
{

/// One run of a body.
struct BodyRun
{
    std::string m_Isa;
    uint32_t m_FeatureBits = 0;            ///< in force
    uint32_t m_Reads = 0;                  ///< asked for
    std::map<std::string, size_t> m_Cases; ///< by backend
    std::set<std::string> m_Kernels;
    std::optional<std::string> m_SkipReason;
};

/// What became of the bodies on a level.
struct LevelCounts
{
    size_t m_Run = 0;
    size_t m_Same = 0;
    size_t m_Lacking = 0;
    size_t m_Elsewhere = 0; ///< the processor has it, but another program is to run it
    size_t m_Skipped = 0;   ///< of those that were run or are the same
};

struct Counts
{
    std::map<std::string, LevelCounts> m_Levels;
    std::map<std::string, std::set<std::string>> m_Kernels; ///< by level
    /// By suite, and by level for CpuAcc, else by backend.
    std::map<std::string, std::map<std::string, size_t>> m_Cases;
    size_t m_Bodies = 0; ///< of tests for each level
};

Counts& GetCounts()
{
    static Counts counts;
    return counts;
}

BodyRun* currentRun = nullptr;

bool IsSet(const char* variable)
{
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

bool IsForced()
{
    static const bool isForced = IsSet("TENON_FORCE_ISA");
    return isForced;
}

std::string GetSuite()
{
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    return test != nullptr ? test->test_suite_name() : "none";
}

/// Adds what a run did to the counts of a level: the one that it was on, or one on which it would do the same.
void Count(const BodyRun& run, const std::string& isa)
{
    Counts& counts = GetCounts();
    std::map<std::string, size_t>& suite = counts.m_Cases[GetSuite()];
    for (const auto& [backend, cases] : run.m_Cases)
    {
        if (backend == "CpuAcc")
        {
            suite[isa] += cases;
        }
        else if (isa == GetTestedIsas().front() && !IsForced())
        {
            suite[backend] += cases;
        }
    }
    counts.m_Kernels[isa].insert(run.m_Kernels.begin(), run.m_Kernels.end());
    counts.m_Levels[isa].m_Skipped += run.m_SkipReason ? 1 : 0;
}

void Run(void (*body)(), BodyRun& run)
{
    class Current
    {
    public:
        explicit Current(BodyRun& of) { currentRun = &of; }
        ~Current() { currentRun = nullptr; }
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;
    };
    SCOPED_TRACE("on " + run.m_Isa);
    const Current current(run);
    run.m_FeatureBits = cpu::GetFeatureBits();
    const cpu::FeatureReads reads;
    body();
    run.m_Reads = reads.Get();
}

/// Whether a test that is not run for each level asks for features all the same.
class PlainTests final : public testing::EmptyTestEventListener
{
public:
    void OnTestStart(const testing::TestInfo&) override
    {
        m_Bodies = GetCounts().m_Bodies;
        m_Reads.emplace();
    }

    void OnTestEnd(const testing::TestInfo&) override
    {
        EXPECT_TRUE(m_Reads->Get() == 0 || m_Bodies != GetCounts().m_Bodies)
            << "a test that asks for the processor's features is to be an ISA_TEST, so that it runs on each level";
        m_Reads.reset();
    }

private:
    size_t m_Bodies = 0; ///< before the test
    std::optional<cpu::FeatureReads> m_Reads;
};

} // namespace

const std::vector<std::string>& GetTestedIsas()
{
    static const std::vector<std::string> tested = []
    {
        std::vector<std::string> names;
        for (const cpu::IsaLevel& level : cpu::GetIsaLevels())
        {
            if (level.m_IsThere && (names.empty() || !(IsForced() || IsSet("TENON_TEST_BEST_ISA"))))
            {
                names.push_back(level.m_Name);
            }
        }
        return names;
    }();
    return tested;
}

const std::string& GetIsa()
{
    return currentRun != nullptr ? currentRun->m_Isa : GetTestedIsas().front();
}

bool IsBestIsa()
{
    return !IsForced() && GetIsa() == GetTestedIsas().front();
}

void IsaSkip::operator=(const testing::Message& reason) const
{
    currentRun->m_SkipReason = reason.GetString();
}

size_t CountCase(const std::string& backend)
{
    return ++(currentRun != nullptr ? currentRun->m_Cases : GetCounts().m_Cases[GetSuite()])[backend];
}

void NoteKernel(const std::string& name)
{
    GetCounts().m_Kernels[GetIsa()].insert(name);
    if (currentRun != nullptr)
    {
        currentRun->m_Kernels.insert(name);
    }
}

const std::set<std::string>& GetRunKernels(const std::string& isa)
{
    return GetCounts().m_Kernels[isa];
}

const std::set<std::string>& GetRunKernels()
{
    return GetRunKernels(GetIsa());
}

void RunOnIsas(void (*body)())
{
    Counts& counts = GetCounts();
    ++counts.m_Bodies;
    const RunMemory memory;
    std::vector<BodyRun> done;
    const std::vector<std::string>& tested = GetTestedIsas();
    for (const cpu::IsaLevel& level : cpu::GetIsaLevels())
    {
        LevelCounts& count = counts.m_Levels[level.m_Name];
        if (std::find(tested.begin(), tested.end(), level.m_Name) == tested.end())
        {
            ++(level.m_IsThere ? count.m_Elsewhere : count.m_Lacking);
            continue;
        }
        std::optional<cpu::ScopedIsa> scoped;
        if (!done.empty())
        {
            scoped.emplace(level.m_Name);
        }
        const uint32_t bits = cpu::GetFeatureBits();
        const auto same =
            std::find_if(done.begin(), done.end(),
                         [bits](const BodyRun& run) { return ((run.m_FeatureBits ^ bits) & run.m_Reads) == 0; });
        if (same != done.end())
        {
            ++count.m_Same;
            Count(*same, level.m_Name);
            continue;
        }
        ++count.m_Run;
        done.push_back({level.m_Name, 0, 0, {}, {}, {}});
        Run(body, done.back());
        Count(done.back(), level.m_Name);
    }
    if (std::all_of(done.begin(), done.end(), [](const BodyRun& run) { return run.m_SkipReason.has_value(); }))
    {
        GTEST_SKIP() << *done.front().m_SkipReason;
    }
}

void WatchPlainTests()
{
    testing::UnitTest::GetInstance()->listeners().Append(new PlainTests); // which owns it
}

void WriteIsaCounts(std::ostream& out)
{
    const testing::UnitTest& program = *testing::UnitTest::GetInstance();
    Counts& counts = GetCounts();
    out << "tests " << program.test_to_run_count() << "\n";
    out << "plain " << program.test_to_run_count() - static_cast<int>(counts.m_Bodies) << "\n";
    for (const cpu::IsaLevel& level : cpu::GetIsaLevels())
    {
        const LevelCounts& count = counts.m_Levels[level.m_Name];
        out << "level " << level.m_Name << " " << count.m_Run << " " << count.m_Same << " " << count.m_Lacking << " "
            << count.m_Elsewhere << " " << count.m_Skipped << "\n";
    }
    for (int i = 0; i < program.total_test_suite_count(); ++i)
    {
        const testing::TestSuite& suite = *program.GetTestSuite(i);
        if (suite.should_run())
        {
            out << "suite " << suite.name() << " tests " << suite.test_to_run_count() << "\n";
        }
    }
    for (const auto& [suite, cases] : counts.m_Cases)
    {
        for (const auto& [column, count] : cases)
        {
            out << "suite " << suite << " " << column << " " << count << "\n";
        }
    }
    for (const auto& [isa, kernels] : counts.m_Kernels)
    {
        for (const std::string& kernel : kernels)
        {
            out << "kernel " << isa << " " << kernel << "\n";
        }
    }
}

} // namespace tenon::test
