// SPDX-License-Identifier: Apache-2.0
// The page of --report-html: one file with the report, charts, and the worst pictures.
#pragma once

#include "tools/evaluate/Network.hpp"
#include "tools/evaluate/Task.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

/// `report` is the report as JSON. Outputs of the worst pictures are computed again where a task draws them. Throws
/// InputError and RunError.
std::string FormatPage(const std::string& report, const Task& task, const std::vector<size_t>& worst, Network& network);

} // namespace tenon::tools::evaluate
