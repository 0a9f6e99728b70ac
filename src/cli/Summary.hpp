// SPDX-License-Identifier: Apache-2.0
// The text that a run prints for people: inputs, times, backends of the layers, outputs and best classes. Run.cpp calls
// it.
#pragma once

#include "cli/Inputs.hpp"
#include "cli/Options.hpp"
#include "cli/Outputs.hpp"
#include "cli/Report.hpp"

#include <span>
#include <string>
#include <vector>

namespace tenon::cli
{

// Inputs are in the order of the report.

std::string FormatInputs(const Options& options, const Report& report, std::span<const InputData> inputs);

/// Times, backends of the layers, and the number of the optimizer's remarks; with --armnn-output only the tables that
/// other options request.
std::string FormatRun(const Options& options, const Report& report);

/// Values and best classes; with --armnn-output all values of each output in a line.
std::string FormatOutputs(const Options& options, const Report& report, const OutputStore& outputs,
                          const std::vector<std::string>& labels);

} // namespace tenon::cli
