// SPDX-License-Identifier: Apache-2.0
// Batches of runs, and their clocks.
#include "InterleavedTimer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <time.h>
#include <utility>

namespace tenon::bench
{

namespace
{

double Seconds(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

} // namespace

double WallSeconds()
{
    return Seconds(CLOCK_MONOTONIC);
}

double ProcessSeconds()
{
    return Seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double Median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

InterleavedTimer::InterleavedTimer(std::function<void()> run, double roundSeconds, ClockSeconds clock)
    : m_Run(std::move(run)), m_Clock(clock)
{
    m_Run();
    // A single run may be shorter than a look at the clock.
    constexpr unsigned int MaxRuns = 1U << 24U;
    double seconds = Measure(m_Runs);
    while (seconds < roundSeconds / 4 && m_Runs < MaxRuns)
    {
        m_Runs *= 2;
        seconds = Measure(m_Runs);
    }
    constexpr double MinSeconds = 1e-9; // no clock tells less
    const double runs = roundSeconds / std::max(seconds, MinSeconds) * m_Runs;
    m_Runs = static_cast<unsigned int>(std::clamp(std::round(runs), 1.0, double{MaxRuns}));
}

void InterleavedTimer::RunRound()
{
    if (m_Runs > 1)
    {
        m_Run(); // brings back to the caches what the others have put out of them
    }
    m_Seconds.push_back(Measure(m_Runs) / m_Runs);
}

double InterleavedTimer::Measure(unsigned int runs) const
{
    const double start = m_Clock();
    for (unsigned int i = 0; i < runs; ++i)
    {
        m_Run();
    }
    return m_Clock() - start;
}

} // namespace tenon::bench
