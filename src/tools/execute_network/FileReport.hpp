// SPDX-License-Identifier: Apache-2.0
// The results of one of several files as JSON, for --report-json.
#pragma once

#include "tools/common/Inputs.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/execute_network/Options.hpp"
#include "tools/execute_network/Report.hpp"

#include <string>
#include <vector>

namespace tenon::tools
{

/// A line: files, inference_ms, error (null), outputs (name, shape, values, best). The values are null unless they are
/// few enough to be printed; best has for each row a list of the best classes (class, score, label), if they are to be
/// shown.
std::string FormatFileReport(const std::vector<std::string>& files, double inferenceMs, const Options& options,
                             const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& labels);

/// A line with the same names for files that failed: inference_ms is null, and outputs are empty.
std::string FormatFileFailure(const std::vector<std::string>& files, const std::string& error);

} // namespace tenon::tools
