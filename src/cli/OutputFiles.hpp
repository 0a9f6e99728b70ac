// SPDX-License-Identifier: Apache-2.0
// The files of --write-outputs-to-file and --compare-output. Run.cpp calls it.
#pragma once

#include "cli/Model.hpp"
#include "cli/Options.hpp"
#include "cli/OutputStore.hpp"

#include <string>
#include <vector>

namespace tenon::cli
{

/// Throws UsageError unless the number of files of each option fits `numOutputs`.
void CheckOutputFiles(const Options& options, size_t numOutputs);

/// Writes the outputs of an iteration, counted from 0, to the set of files whose turn it is, unless a later iteration
/// writes them again. Gives the lines of --armnn-output about it. Throws RunError.
std::string WriteOutputFiles(const Options& options, const std::vector<Binding>& bindings, const OutputStore& outputs,
                             unsigned int iteration);

} // namespace tenon::cli
