// SPDX-License-Identifier: Apache-2.0
// What the command line asks of the optimizer. Run.cpp calls it.
#pragma once

#include "cli/Options.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/Limits.hpp>

#include <vector>

namespace tenon::cli
{

/// `backends` are those that exist, in order of preference.
OptimizerOptionsOpaque MakeOptimizerOptions(const Options& options, const std::vector<BackendId>& backends,
                                            const Limits& limits);

} // namespace tenon::cli
