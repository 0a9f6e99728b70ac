// SPDX-License-Identifier: Apache-2.0
// Warnings about options that have no effect on the model at hand. Run.cpp calls it.
#pragma once

#include "tools/common/OutputStore.hpp"
#include "tools/execute_network/Options.hpp"
#include "tools/execute_network/Report.hpp"

#include <string>
#include <vector>

namespace tenon::tools
{

/// About --quantize-input and --dequantize-output if nothing is quantized.
void WarnOfQuantization(const Options& options, const Report& report);

/// About --keep-states if there are none.
void WarnOfStates(const Options& options, const Report& report);

/// About --cached-network-filepath if the file is not used.
void WarnOfCachedNetwork(const Options& options, bool isUsed);

/// About labels of a file, or of the model, that do not fit the outputs of the run.
void WarnOfLabels(const Options& options, const Report& report, const OutputStore& outputs,
                  const std::vector<std::string>& labels);

} // namespace tenon::tools
