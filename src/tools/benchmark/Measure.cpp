// SPDX-License-Identifier: Apache-2.0
// See Measure.hpp.
#include "tools/benchmark/Measure.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Statistics.hpp"
#include "tools/common/Stopwatch.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/common/Terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace tenon::tools
{
namespace
{

/// The bound on all times that are kept. Nobody waits for more runs.
constexpr size_t MaxRuns = 10'000'000;

double Seconds(const Stopwatch& clock)
{
    return clock.Milliseconds() / 1000.0;
}

/// How far the runs are: a line on standard error, if that is a terminal; nothing otherwise.
class RunsLine
{
public:
    explicit RunsLine(const RunBounds& bounds) : m_MinSeconds(bounds.m_MinSeconds), m_IsShown(IsTerminal(StandardError))
    {
    }
    ~RunsLine()
    {
        if (m_IsShown)
        {
            SetStatusLine("");
        }
    }
    RunsLine(const RunsLine&) = delete;
    RunsLine& operator=(const RunsLine&) = delete;

    /// The line is drawn five times a second.
    void Show(size_t numRuns, double seconds)
    {
        constexpr double redrawSeconds = 0.2;
        if (m_IsShown && seconds - m_Drawn >= redrawSeconds)
        {
            m_Drawn = seconds;
            const size_t width = GetTerminalWidth(StandardError).value_or(DefaultWidth) - 1;
            SetStatusLine(
                fmt::format("{} inferences  {:.0f} s of {:g} s", numRuns, seconds, m_MinSeconds).substr(0, width));
        }
    }

private:
    double m_MinSeconds;
    bool m_IsShown;
    double m_Drawn = 0.0;
};

/// Callers that begin together, once all of their threads are there.
class Callers
{
public:
    Callers(const Inference& infer, const RunBounds& bounds, unsigned int numCallers)
        : m_Infer(infer), m_Bounds(bounds), m_MaxRuns(std::max<size_t>(MaxRuns / numCallers, 1)), m_Line(bounds)
    {
        m_Runs.m_Ms.resize(numCallers);
    }

    CallerRuns Run()
    {
        std::vector<std::thread> threads;
        try
        {
            for (unsigned int caller = 1; caller < m_Runs.m_Ms.size(); ++caller)
            {
                threads.emplace_back([this, caller] { WaitAndRun(caller); });
            }
        }
        catch (const std::system_error& error)
        {
            Fail(std::make_exception_ptr(
                RunError(fmt::format("--concurrent: only {} of {} threads can be started: {}", threads.size() + 1,
                                     m_Runs.m_Ms.size(), error.code().message()))));
        }
        m_Clock = Stopwatch();
        m_HasBegun = true;
        m_HasBegun.notify_all();
        Run(0);
        for (std::thread& thread : threads)
        {
            thread.join();
        }
        m_Runs.m_Seconds = Seconds(m_Clock);
        if (m_Error != nullptr)
        {
            std::rethrow_exception(m_Error);
        }
        return std::move(m_Runs);
    }

private:
    void WaitAndRun(unsigned int caller)
    {
        m_HasBegun.wait(false);
        Run(caller);
    }

    /// The inferences of a caller.
    void Run(unsigned int caller)
    {
        std::vector<double>& times = m_Runs.m_Ms[caller];
        try
        {
            while (!m_HasFailed && IsMore(times.size()))
            {
                times.push_back(m_Infer(caller));
                m_NumReady += times.size() == m_Bounds.m_MinRuns ? 1 : 0;
                if (caller == 0)
                {
                    m_Line.Show(times.size() * m_Runs.m_Ms.size(), Seconds(m_Clock));
                }
            }
        }
        catch (...)
        {
            Fail(std::current_exception());
        }
    }

    bool IsMore(size_t numRuns) const
    {
        const double seconds = Seconds(m_Clock);
        const bool isEnough = m_NumReady == m_Runs.m_Ms.size() && seconds >= m_Bounds.m_MinSeconds;
        return numRuns == 0 || (!isEnough && seconds <= m_Bounds.m_MaxSeconds && numRuns < m_MaxRuns);
    }

    void Fail(std::exception_ptr error)
    {
        const std::lock_guard lock(m_Mutex);
        m_HasFailed = true;
        m_Error = m_Error != nullptr ? m_Error : std::move(error);
    }

    const Inference& m_Infer;
    const RunBounds m_Bounds;
    const size_t m_MaxRuns; ///< of each caller
    RunsLine m_Line;
    Stopwatch m_Clock;
    CallerRuns m_Runs;
    std::atomic<bool> m_HasBegun = false;
    std::atomic<bool> m_HasFailed = false;
    std::atomic<size_t> m_NumReady = 0; ///< callers that have run often enough
    std::mutex m_Mutex;
    std::exception_ptr m_Error;
};

double Median(const std::vector<double>& values)
{
    return ComputeStatistics(values).value_or(Statistics()).m_Median;
}

} // namespace

CallerRuns MeasureCallers(const Inference& infer, const RunBounds& bounds, unsigned int numCallers)
{
    return Callers(infer, bounds, numCallers).Run();
}

std::array<SideRuns, 2> MeasureTurns(const std::array<Turn, 2>& sides, const RunBounds& bounds)
{
    constexpr unsigned int trials = 3;
    constexpr double maxRunsPerTurn = 1000.0;
    std::array<SideRuns, 2> runs;
    const Stopwatch clock;
    for (size_t side = 0; side < sides.size(); ++side)
    {
        const double ms = std::max(Median(sides[side](trials)), MillisecondsOfTurn / maxRunsPerTurn);
        runs[side].m_RunsPerTurn = static_cast<unsigned int>(std::max(std::round(MillisecondsOfTurn / ms), 1.0));
    }
    RunsLine line(bounds);
    const auto takeTurn = [&](size_t side)
    {
        SideRuns& own = runs[side];
        const bool isFirstLeftOut = own.m_RunsPerTurn > 1;
        std::vector<double> times = sides[side](own.m_RunsPerTurn + (isFirstLeftOut ? 1 : 0));
        times.erase(times.begin(), times.begin() + (isFirstLeftOut ? 1 : 0));
        own.m_Ms.insert(own.m_Ms.end(), times.begin(), times.end());
        own.m_Medians.push_back(Median(times));
    };
    const auto isMore = [&]
    {
        const size_t numRounds = runs[0].m_Medians.size();
        const size_t numRuns = std::min(runs[0].m_Ms.size(), runs[1].m_Ms.size());
        const size_t all = runs[0].m_Ms.size() + runs[1].m_Ms.size();
        const double seconds = Seconds(clock);
        line.Show(all, seconds);
        const bool isEnough = numRounds >= MinRounds && numRuns >= bounds.m_MinRuns && seconds >= bounds.m_MinSeconds;
        return numRounds == 0 || (!isEnough && seconds <= bounds.m_MaxSeconds && all < MaxRuns);
    };
    for (size_t first = 0; isMore(); first = 1 - first)
    {
        takeTurn(first);
        takeTurn(1 - first);
    }
    return runs;
}

} // namespace tenon::tools
