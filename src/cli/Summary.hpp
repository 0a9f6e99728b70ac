// SPDX-License-Identifier: Apache-2.0
// What a run prints for people: inputs, times, who runs the layers, outputs and best classes. Run.cpp calls it.
#pragma once

#include "cli/Inputs.hpp"
#include "cli/Options.hpp"
#include "cli/OutputStore.hpp"
#include "cli/Report.hpp"

#include <string>
#include <vector>

namespace tenon::cli
{

/// `inputs` are in the order of the report's.
std::string FormatSummary(const Options& options, const Report& report, const std::vector<InputData>& inputs,
                          const OutputStore& outputs, const std::vector<std::string>& labels);

} // namespace tenon::cli
