// SPDX-License-Identifier: Apache-2.0
// What a run prints for people: inputs, times, who runs the layers, outputs and best classes. Run.cpp calls it.
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

// Inputs are in the order of the report's.

std::string FormatInputs(const Options& options, const Report& report, std::span<const InputData> inputs);

/// Times, who runs the layers, and how much the optimizer remarked; with --armnn-output only the tables that other
/// options ask for.
std::string FormatRun(const Options& options, const Report& report);

/// Values and best classes; with --armnn-output all values of each output in a line.
std::string FormatOutputs(const Options& options, const Report& report, const OutputStore& outputs,
                          const std::vector<std::string>& labels);

} // namespace tenon::cli
