// SPDX-License-Identifier: Apache-2.0
// The harness itself: which levels a body runs on, what is remembered from level to level, and what guarded memory
// shows. Each test runs one body at most, as the counts of the suite expect.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/IsaForTests.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/HookBackend.hpp"
#include "harness/IsaCases.hpp"
#include "harness/IsaTest.hpp"
#include "harness/OpTest.hpp"
#include "harness/TestParallelFor.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tenon::test::isa_runs_test
{

namespace
{

/// What the body of a test saw on each level that it ran on.
struct Seen
{
    std::string m_Isa;
    double m_Value = 0;
};
std::vector<Seen> seen;

std::vector<std::string> GetSeenIsas()
{
    std::vector<std::string> isas;
    for (const Seen& each : seen)
    {
        isas.push_back(each.m_Isa);
    }
    return isas;
}

void See(double value)
{
    seen.push_back({GetIsa(), value});
}

/// The tested levels but those where `value` is what it is on a better one.
std::vector<std::string> GetDistinct(const std::function<double()>& value)
{
    std::vector<std::string> isas;
    std::vector<double> values;
    for (const std::string& isa : GetTestedIsas())
    {
        const cpu::ScopedIsa scoped(isa);
        if (std::find(values.begin(), values.end(), value()) == values.end())
        {
            isas.push_back(isa);
            values.push_back(value());
        }
    }
    return isas;
}

OpCase MakeFloor(double first)
{
    const TensorInfo info({3}, DataType::Float32);
    return {"numbers",
            LayerType::Floor,
            MakeDescriptor(NullDescriptor()),
            {Values(info, {first, 0.5, -0.5})},
            info,
            [](const auto& in) { return Map(in[0], [](double x) { return std::floor(x); }); }};
}

float GetFirst(const std::vector<std::byte>& bytes)
{
    return static_cast<float>(GetStored(TensorInfo({1}, DataType::Float32), bytes.data())[0]);
}

/// Runs a function in a copy of this process, and tells whether that ended well.
bool EndsWell(const std::function<void()>& function)
{
    const pid_t child = fork();
    if (child == 0)
    {
        std::signal(SIGSEGV, SIG_DFL);
        function();
        _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

TEST(IsaRuns, LeavesOutLevelsThatDoTheSame)
{
    seen.clear();
    RunOnIsas([] { See(cpu::GetCpuFeatures().m_Simd ? 1 : 0); });
    EXPECT_EQ(GetSeenIsas(), GetDistinct([] { return cpu::GetCpuFeatures().m_Simd ? 1 : 0; }));
    EXPECT_LE(seen.size(), 2U);
}

TEST(IsaRuns, RunsOnceWhereNoFeatureIsAskedFor)
{
    seen.clear();
    RunOnIsas([] { See(0); });
    EXPECT_EQ(GetSeenIsas(), std::vector<std::string>{GetTestedIsas().front()});
}

// Kernels that are another on a level are run there, though another level asked for them before.
TEST(IsaRuns, RunsWhereKernelsDiffer)
{
    const auto value = []() -> double
    {
        if (!cpu::GetCpuFeatures().m_Simd)
        {
            return -1;
        }
        const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
        return static_cast<double>(microkernels.m_Lanes * 100 +
                                   static_cast<size_t>(microkernels.GetPlain(true).m_Layout));
    };
    seen.clear();
    RunOnIsas(
        []
        {
            const bool hasVectors = cpu::GetCpuFeatures().m_Simd;
            const cpu::MicrokernelsInt8* microkernels = hasVectors ? &cpu::GetMicrokernelsInt8() : nullptr;
            See(hasVectors ? static_cast<double>(microkernels->m_Lanes * 100 +
                                                 static_cast<size_t>(microkernels->GetPlain(true).m_Layout))
                           : -1);
        });
    for (const std::string& isa : GetDistinct(value))
    {
        const auto found = std::find_if(seen.begin(), seen.end(), [&](const Seen& each) { return each.m_Isa == isa; });
        ASSERT_NE(found, seen.end()) << isa << " was left out";
        const cpu::ScopedIsa scoped(isa);
        EXPECT_EQ(found->m_Value, value()) << isa;
    }
}

// A body that skips itself on some levels is run on the others.
TEST(IsaRuns, SkipsLevelsAlone)
{
    seen.clear();
    RunOnIsas(
        []
        {
            if (cpu::GetCpuFeatures().m_Simd)
            {
                See(1);
                ISA_SKIP() << "has vectors";
            }
            See(0);
        });
    EXPECT_EQ(seen.back().m_Value, GetTestedIsas().back() == "scalar" ? 0 : 1);
    EXPECT_EQ(seen.size(), GetDistinct([] { return cpu::GetCpuFeatures().m_Simd ? 1 : 0; }).size());
}

// CpuRef's result of a level is taken again on the next one, for the same inputs alone.
TEST(IsaRuns, RemembersRunsOfTheSameInputs)
{
    static size_t executed = 0;
    executed = 0;
    seen.clear();
    RunOnIsas(
        []
        {
            Hooks hooks;
            hooks.m_OnExecute = [](const ExecuteArgs&) { ++executed; };
            const HookBackend backend(hooks);
            cpu::GetIsaFeatures(); // so that each level runs the body
            const auto turn = static_cast<double>(seen.size());
            EXPECT_EQ(GetFirst(RunOp(backend, MakeFloor(7.5), {})), 7);
            EXPECT_EQ(executed, 2 + 2 * seen.size()) << "executed again, or not for other inputs";
            EXPECT_EQ(GetFirst(RunOp(backend, MakeFloor(turn + 20.5), {})), turn + 20);
            EXPECT_EQ(executed, 4 + 2 * seen.size());
            EXPECT_EQ(GetFirst(RunOp(backend, MakeFloor(turn + 20.5), {true, 2, -1})), turn + 20);
            EXPECT_EQ(executed, 4 + 2 * seen.size()) << "the loop is too short to be split";
            EXPECT_EQ(GetFirst(RunOp(backend, MakeFloor(7.5), {})), 7);
            EXPECT_EQ(executed, 4 + 2 * seen.size());
            See(turn);
        });
    EXPECT_EQ(seen.size(), GetDistinct([] { return static_cast<double>(cpu::GetFeatureBits()); }).size());
}

// What CpuAcc gives on a level is not taken for what it would give with other kernels.
TEST(IsaRuns, RemembersNoRunOfOtherKernels)
{
    seen.clear();
    RunOnIsas(
        []
        {
            std::string kernel;
            const IBackend& fast = FindTestBackend(Compute::CpuAcc);
            OpCase op = MakeFloor(7.5);
            op.m_Type = LayerType::Activation;
            op.m_Descriptor = MakeDescriptor(ActivationDescriptor(ActivationFunction::ReLu));
            EXPECT_EQ(GetFirst(RunOp(fast, op, {}, &kernel)), 7.5f);
            EXPECT_EQ(kernel, cpu::GetCpuFeatures().m_Simd ? "CpuActivation" : "RefActivation");
            See(0);
        });
    EXPECT_GE(seen.size(), GetDistinct([] { return cpu::GetCpuFeatures().m_Simd ? 1 : 0; }).size());
}

// A part of a body runs on all levels, but for those on which the body itself is to run.
TEST(IsaRuns, PartsRunOnAllLevels)
{
    seen.clear();
    static size_t bodies = 0;
    bodies = 0;
    RunOnIsas(
        []
        {
            ++bodies;
            ForEachIsa([] { See(cpu::HasManyRegisters() ? 2 : 3); });
            if (cpu::GetCpuFeatures().m_Simd)
            {
                ForEachIsa([] { See(cpu::HasManyRegisters() ? 4 : 5); });
            }
        });
    const std::vector<std::string> ofBody = GetDistinct([] { return cpu::GetCpuFeatures().m_Simd ? 1 : 0; });
    const std::vector<std::string> ofPart = GetDistinct([] { return cpu::HasManyRegisters() ? 1 : 0; });
    EXPECT_EQ(bodies, ofBody.size()) << "what parts ask for does not count for the body";
    for (const std::string& isa : ofPart)
    {
        EXPECT_TRUE(std::any_of(seen.begin(), seen.end(),
                                [&](const Seen& each) { return each.m_Isa == isa && each.m_Value < 4; }))
            << isa;
    }
    for (const Seen& each : seen)
    {
        const cpu::ScopedIsa scoped(each.m_Isa);
        EXPECT_EQ(each.m_Value == 2 || each.m_Value == 4, cpu::HasManyRegisters()) << each.m_Isa;
        EXPECT_TRUE(each.m_Value < 4 || cpu::GetCpuFeatures().m_Simd) << "the body does not get there";
    }
}

TEST(IsaRuns, RandomTensorsAreTheSameOnEachLevel)
{
    static std::vector<std::byte> first;
    seen.clear();
    RunOnIsas(
        []
        {
            cpu::GetIsaFeatures();
            const TensorInfo info({100}, DataType::QAsymmS8, 0.5f, 3);
            const TestTensor random = Random(info, 5, -20, 20);
            EXPECT_EQ(random.m_Bytes, Random(info, 5, -20, 20).m_Bytes);
            EXPECT_NE(random.m_Bytes, Random(info, 6, -20, 20).m_Bytes);
            EXPECT_NE(random.m_Bytes, Random(info, 5).m_Bytes);
            EXPECT_NE(random.m_Bytes, Random(TensorInfo({100}, DataType::QAsymmS8, 0.5f, 4), 5, -20, 20).m_Bytes);
            first = seen.empty() ? random.m_Bytes : first;
            EXPECT_EQ(random.m_Bytes, first);
            See(0);
        });
}

TEST(TestParallelFor, SplitsAsFarAsItMay)
{
    TestParallelFor parallel(3);
    const auto split = [&parallel](size_t count, size_t grain)
    {
        std::mutex mutex;
        std::map<size_t, size_t> pieces; // ends by begins
        parallel.Run(count, grain,
                     [&](size_t begin, size_t end)
                     {
                         const std::lock_guard lock(mutex);
                         pieces[begin] = end;
                     });
        return pieces;
    };
    using Pieces = std::map<size_t, size_t>;
    EXPECT_EQ(split(0, 1), Pieces());
    EXPECT_EQ(split(5, 3), (Pieces{{0, 5}}));
    EXPECT_FALSE(parallel.WasAsked()) << "as with any number of threads";
    EXPECT_EQ(split(6, 3), (Pieces{{0, 3}, {3, 6}}));
    EXPECT_TRUE(parallel.WasAsked());
    EXPECT_EQ(split(100, 1), (Pieces{{0, 33}, {33, 66}, {66, 100}}));
    TestParallelFor other(1);
    EXPECT_FALSE(other.WasAsked());
    EXPECT_EQ(other.GetNumThreads(), 1U);
    EXPECT_TRUE(other.WasAsked());
    EXPECT_THROW(TestParallelFor(9), std::invalid_argument);
}

TEST(TestParallelFor, RunsLoopsInPiecesAndPassesErrorsOn)
{
    TestParallelFor parallel(2);
    std::atomic<size_t> count = 0;
    const auto inner = [&count](size_t begin, size_t end) { count += end - begin; };
    parallel.Run(2, 1, [&](size_t, size_t) { parallel.Run(10, 1, inner); });
    EXPECT_EQ(count, 20U);
    const auto fail = [](size_t begin, size_t) { throw std::runtime_error(begin == 0 ? "first" : "second"); };
    try
    {
        parallel.Run(2, 1, fail);
        ADD_FAILURE() << "no exception";
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_EQ(std::string(error.what()), "first");
    }
    parallel.Run(2, 1, inner);
    EXPECT_EQ(count, 22U) << "usable after an error";
}

TEST(GuardedBuffer, IsBetweenGuards)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto canRead = [](const std::byte* at)
    { return EndsWell([at] { static_cast<void>(*const_cast<const volatile std::byte*>(at)); }); };
    const auto canWrite = [](std::byte* at)
    { return EndsWell([at] { *const_cast<volatile std::byte*>(at) = std::byte{1}; }); };
    for (const size_t bytes : {size_t{1}, page - 96, page, 2 * page + 5000})
    {
        const GuardedBuffer buffer(bytes);
        EXPECT_TRUE(canWrite(buffer.GetData())) << bytes;
        EXPECT_TRUE(canWrite(buffer.GetData() + bytes - 1)) << bytes;
        EXPECT_FALSE(canWrite(buffer.GetData() + bytes)) << bytes;
        EXPECT_FALSE(canRead(buffer.GetData() + bytes)) << bytes;
    }
    EXPECT_FALSE(canRead(GuardedBuffer(0).GetData()));
    const GuardedBuffer buffer(page - 96);
    EXPECT_TRUE(canRead(buffer.GetData() - 96));
    EXPECT_FALSE(canRead(buffer.GetData() - 97));
}

TEST(GuardedBuffer, ReadOnlyHasTheSameBytes)
{
    GuardedBuffer buffer(100, 4);
    for (size_t i = 0; i < 100; ++i)
    {
        buffer.GetData()[i] = static_cast<std::byte>(i);
    }
    buffer.MakeReadOnly();
    for (size_t i = 0; i < 100; ++i)
    {
        EXPECT_EQ(buffer.GetData()[i], static_cast<std::byte>(i));
    }
    EXPECT_TRUE(buffer.IsIntactAround());
    EXPECT_FALSE(EndsWell([&] { *const_cast<volatile std::byte*>(buffer.GetData()) = std::byte{1}; }));
    EXPECT_FALSE(EndsWell([&] { static_cast<void>(*const_cast<volatile std::byte*>(buffer.GetData() + 100)); }));
}

TEST(GuardedBuffer, SeesWritesAround)
{
    for (int repeat = 0; repeat < 2; ++repeat) // memory that was used before is as good
    {
        GuardedBuffer buffer(13, 8);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.GetData()) % 8, 0U);
        EXPECT_TRUE(buffer.IsIntactAround());
        std::byte& behind = buffer.GetData()[13];
        const std::byte pattern = behind;
        behind = std::byte{0};
        EXPECT_FALSE(buffer.IsIntactAround());
        behind = pattern;
        EXPECT_TRUE(buffer.IsIntactAround());
        std::fill_n(buffer.GetData(), 13, std::byte{0});
        EXPECT_TRUE(buffer.IsIntactAround());
        buffer.GetData()[-1] = std::byte{0};
        EXPECT_FALSE(buffer.IsIntactAround());
    }
}

TEST(GuardedBuffer, IsFilledWithAPattern)
{
    std::byte pattern{};
    {
        GuardedBuffer buffer(5000);
        pattern = buffer.GetData()[0];
        std::fill_n(buffer.GetData(), 5000, std::byte{0});
    }
    const GuardedBuffer again(5000);
    EXPECT_NE(pattern, std::byte{0});
    EXPECT_TRUE(std::all_of(again.GetData(), again.GetData() + 5000, [&](std::byte b) { return b == pattern; }));
}

} // namespace tenon::test::isa_runs_test
