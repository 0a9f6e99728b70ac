// SPDX-License-Identifier: Apache-2.0
// Measures in turn: what is compared runs in short batches, A B C A B C, and of each the median counts. What else the
// machine does meets all of them alike.
#pragma once

#include <functional>
#include <vector>

namespace tenon::bench
{

/// Seconds since some moment.
using ClockSeconds = double (*)();
double WallSeconds();
/// What the process has had of all cores: what other processes take does not count.
double ProcessSeconds();

double Median(std::vector<double> values);

/// One of those that are compared: what runs, how often in a turn, and seconds of a run by turn.
class InterleavedTimer
{
public:
    /// Runs a few times, to find out how many runs take `roundSeconds`.
    InterleavedTimer(std::function<void()> run, double roundSeconds, ClockSeconds clock = WallSeconds);

    void RunRound();
    const std::vector<double>& GetSeconds() const { return m_Seconds; }
    double GetMedian() const { return Median(m_Seconds); }

private:
    /// Of all the runs.
    double Measure(unsigned int runs) const;

    std::function<void()> m_Run;
    ClockSeconds m_Clock;
    unsigned int m_Runs = 1;
    std::vector<double> m_Seconds;
};

} // namespace tenon::bench
