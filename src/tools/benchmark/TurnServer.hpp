// SPDX-License-Identifier: Apache-2.0
// The side of --against that runs in a process of its own: lines of requests and answers.
#pragma once

#include "tools/benchmark/Figures.hpp"
#include "tools/benchmark/LibraryProcess.hpp"
#include "tools/benchmark/Measure.hpp"

#include <functional>
#include <vector>

namespace tenon::tools
{

/// Answers the requests on standard input until it ends: "library", "turn <runs>" with the nanoseconds of each
/// inference, and "figures". Throws UsageError for a line that is none of them, RunError if an answer cannot be
/// written, and whatever `turn` throws.
void ServeTurns(const Turn& turn, const std::function<Figures()>& getFigures);

// The requests. Both throw RunError for an answer of another form, and as LibraryProcess::Ask does.

std::vector<double> AskForTurn(LibraryProcess& process, unsigned int numRuns);
Figures AskForFigures(LibraryProcess& process);

} // namespace tenon::tools
