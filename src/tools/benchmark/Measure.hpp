// SPDX-License-Identifier: Apache-2.0
// Repeated inferences within bounds on their number and time: those of one or several callers at once, and those of two
// sides in turns.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace tenon::tools
{

/// The most callers that run at once.
constexpr unsigned int MaxCallers = 256;

struct RunBounds
{
    unsigned int m_MinRuns = 50;
    double m_MinSeconds = 1.0;
    /// No inference begins later than this, however few there were.
    double m_MaxSeconds = 150.0;
};

/// One inference of a caller, by its number; gives its milliseconds.
using Inference = std::function<double(unsigned int caller)>;

struct CallerRuns
{
    std::vector<std::vector<double>> m_Ms; ///< of each caller, at least one, in their order
    double m_Seconds = 0.0;                ///< from the begin of the first inference to the end of the last one
};

/// Each caller runs on a thread of its own, the first one on this thread, at least m_MinRuns times; all go on until the
/// last one has. Throws the first error of an inference, and RunError if threads cannot be started.
CallerRuns MeasureCallers(const Inference& infer, const RunBounds& bounds, unsigned int numCallers);

/// So many inferences in a row; gives the milliseconds of each.
using Turn = std::function<std::vector<double>(unsigned int numRuns)>;

struct SideRuns
{
    std::vector<double> m_Ms;
    std::vector<double> m_Medians; ///< of each turn
    unsigned int m_RunsPerTurn = 1;
};

/// Runs two sides in turns, A B, B A, A B, so that other load of the machine and changes of its clock affect both
/// alike. A turn takes about MillisecondsOfTurn and one inference at least; of several the first is left out, because
/// it brings back to the caches whatever the other side has put out of them. There are at least MinRounds rounds within
/// the upper bound of the time.
std::array<SideRuns, 2> MeasureTurns(const std::array<Turn, 2>& sides, const RunBounds& bounds);
constexpr double MillisecondsOfTurn = 20.0;
constexpr size_t MinRounds = 12;

} // namespace tenon::tools
