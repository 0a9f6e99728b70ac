// SPDX-License-Identifier: Apache-2.0
// Bodies of tests on one instruction set after the other, and counts of what ran where.
#include "harness/IsaTest.hpp"

#include "backends/cpu/simd/IsaForTests.hpp"
#include "harness/IsaCases.hpp"
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

/// What a run did.
struct Tally
{
    std::map<std::string, size_t> m_Cases; ///< by backend
    std::set<std::string> m_Kernels;

    void Add(const Tally& other)
    {
        for (const auto& [backend, cases] : other.m_Cases)
        {
            m_Cases[backend] += cases;
        }
        m_Kernels.insert(other.m_Kernels.begin(), other.m_Kernels.end());
    }
};

/// A level that bodies run on.
struct Level
{
    std::string m_Name;
    uint32_t m_FeatureBits = 0; ///< in force
};

/// One run of a body.
struct BodyRun
{
    std::vector<Level> m_Levels;                 ///< that it may stand for; its own one first
    Tally m_Tally;                               ///< but for parts
    std::map<std::string, Tally> m_PartialTally; ///< by level
    std::set<std::string> m_PartialLevels;       ///< on which parts have run
    std::optional<std::string> m_SkipReason;
};

/// What became of the bodies on a level.
struct LevelCounts
{
    size_t m_Run = 0; ///< all or parts of them
    size_t m_Same = 0;
    size_t m_Lacking = 0;
    size_t m_Elsewhere = 0; ///< the processor has it, but another program is to run it
    size_t m_Skipped = 0;   ///< bodies of m_Run and m_Same that skip themselves
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
const Level* currentLevel = nullptr; ///< of the run or of a part
Tally* currentTally = nullptr;       ///< likewise

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

/// Adds what was run on a level, or is the same as on another one.
void Count(const Tally& tally, const std::string& isa)
{
    Counts& counts = GetCounts();
    std::map<std::string, size_t>& suite = counts.m_Cases[GetSuite()];
    for (const auto& [backend, cases] : tally.m_Cases)
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
    counts.m_Kernels[isa].insert(tally.m_Kernels.begin(), tally.m_Kernels.end());
}

/// The tested levels, the best one first.
const std::vector<Level>& GetTestedLevels()
{
    static const std::vector<Level> levels = []
    {
        std::vector<Level> found;
        for (const std::string& isa : GetTestedIsas())
        {
            const cpu::ScopedIsa scoped(isa);
            found.push_back({isa, cpu::GetFeatureBits()});
        }
        return found;
    }();
    return levels;
}

bool IsSame(const Level& a, const Level& b, uint32_t features)
{
    return ((a.m_FeatureBits ^ b.m_FeatureBits) & features) == 0;
}

/// Sets variables while it lives.
class Current
{
public:
    Current(BodyRun* run, const Level& level, Tally& tally)
        : m_Run(std::exchange(currentRun, run)), m_Level(std::exchange(currentLevel, &level)),
          m_Tally(std::exchange(currentTally, &tally))
    {
    }
    ~Current()
    {
        currentRun = m_Run;
        currentLevel = m_Level;
        currentTally = m_Tally;
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

private:
    BodyRun* m_Run;
    const Level* m_Level;
    Tally* m_Tally;
};

/// Runs the body on the first of the levels. Returns which of them it stands for.
std::vector<Level> Run(void (*body)(), BodyRun& run)
{
    const Level& own = run.m_Levels.front();
    SCOPED_TRACE("on " + own.m_Name);
    const Current current(&run, own, run.m_Tally);
    const cpu::ScopedIsa scoped(own.m_Name);
    const cpu::FeatureReads reads;
    body();
    std::vector<Level> same;
    for (const Level& level : run.m_Levels)
    {
        if (IsSame(level, own, reads.Get()))
        {
            same.push_back(level);
        }
    }
    return same;
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
    return currentLevel != nullptr ? currentLevel->m_Name : GetTestedIsas().front();
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
    return ++(currentTally != nullptr ? currentTally->m_Cases : GetCounts().m_Cases[GetSuite()])[backend];
}

void NoteKernel(const std::string& name)
{
    GetCounts().m_Kernels[GetIsa()].insert(name);
    if (currentTally != nullptr)
    {
        currentTally->m_Kernels.insert(name);
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
    for (const cpu::IsaLevel& level : cpu::GetIsaLevels())
    {
        const std::vector<std::string>& tested = GetTestedIsas();
        if (std::find(tested.begin(), tested.end(), level.m_Name) == tested.end())
        {
            LevelCounts& count = counts.m_Levels[level.m_Name];
            ++(level.m_IsThere ? count.m_Elsewhere : count.m_Lacking);
        }
    }
    const RunMemory memory;
    std::vector<Level> left = GetTestedLevels();
    bool isSkipped = true;
    std::string skipReason;
    while (!left.empty())
    {
        BodyRun run;
        run.m_Levels = left;
        for (const Level& level : Run(body, run))
        {
            const bool hasRun = level.m_Name == left.front().m_Name || run.m_PartialLevels.count(level.m_Name) != 0;
            LevelCounts& count = counts.m_Levels[level.m_Name];
            ++(hasRun ? count.m_Run : count.m_Same);
            count.m_Skipped += run.m_SkipReason ? 1 : 0;
            Count(run.m_Tally, level.m_Name);
            Count(run.m_PartialTally[level.m_Name], level.m_Name);
            std::erase_if(run.m_Levels, [&](const Level& other) { return other.m_Name == level.m_Name; });
        }
        isSkipped = isSkipped && run.m_SkipReason;
        skipReason = run.m_SkipReason.value_or("");
        left = run.m_Levels;
    }
    if (isSkipped)
    {
        GTEST_SKIP() << skipReason;
    }
}

void ForEachIsa(FunctionRef<void()> part)
{
    BodyRun* const run = currentRun;
    if (run == nullptr)
    {
        part();
        return;
    }
    struct Done
    {
        const Level* m_Level;
        uint32_t m_Reads;
        Tally m_Tally;
    };
    std::vector<Done> done;
    const Level& own = run->m_Levels.front();
    const uint32_t before = cpu::GetFeatureReads();
    for (const Level& level : run->m_Levels)
    {
        if (!IsSame(level, own, before))
        {
            continue; // the body itself is to run on it
        }
        const auto same =
            std::find_if(done.begin(), done.end(),
                         [&level](const Done& other) { return IsSame(level, *other.m_Level, other.m_Reads); });
        if (same != done.end())
        {
            run->m_PartialTally[level.m_Name].Add(same->m_Tally);
            GetCounts().m_Kernels[level.m_Name].insert(same->m_Tally.m_Kernels.begin(), same->m_Tally.m_Kernels.end());
            continue;
        }
        SCOPED_TRACE("on " + level.m_Name);
        done.push_back({&level, 0, {}});
        const Current current(nullptr, level, done.back().m_Tally); // parts have no parts
        const cpu::ScopedIsa scoped(level.m_Name);
        const size_t runs = RunMemory::Get()->CountRuns();
        cpu::FeatureReads reads;
        part();
        RunMemory::Get()->ForgetRuns(runs); // no other level has the same kernels
        done.back().m_Reads = reads.Get();
        reads.Forget();
        run->m_PartialTally[level.m_Name].Add(done.back().m_Tally);
        run->m_PartialLevels.insert(level.m_Name);
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
