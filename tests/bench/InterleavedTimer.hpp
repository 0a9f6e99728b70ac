// SPDX-License-Identifier: Apache-2.0
// Interleaved measurement: the candidates run in short batches, A B C A B C, and the median of each counts. Other load
// of the machine affects all of them alike.
#pragma once

#include <functional>
#include <vector>

namespace tenon::bench
{

/// A clock: seconds since a fixed moment.
using ClockSeconds = double (*)();
double WallSeconds();
/// CPU time of the process on all cores; the time of other processes does not count.
double ProcessSeconds();

double Median(std::vector<double> values);

/// One of the compared candidates: its function, the number of runs in a round, and seconds per run by round.
class InterleavedTimer
{
public:
    /// Runs a few times, to find out how many runs take `roundSeconds`.
    InterleavedTimer(std::function<void()> run, double roundSeconds, ClockSeconds clock = WallSeconds);

    void RunRound();
    const std::vector<double>& GetSeconds() const { return m_Seconds; }
    double GetMedian() const { return Median(m_Seconds); }

private:
    /// Seconds of all the runs.
    double Measure(unsigned int runs) const;

    std::function<void()> m_Run;
    ClockSeconds m_Clock;
    unsigned int m_Runs = 1;
    std::vector<double> m_Seconds;
};

} // namespace tenon::bench
