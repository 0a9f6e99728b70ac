// SPDX-License-Identifier: Apache-2.0
// The optimizer's options from the command line. Run.cpp calls it.
#pragma once

#include "cli/Options.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/Limits.hpp>

#include <vector>

namespace tenon::cli
{

/// `backends` are the existing ones, in order of preference.
OptimizerOptionsOpaque MakeOptimizerOptions(const Options& options, const std::vector<BackendId>& backends,
                                            const Limits& limits);

} // namespace tenon::cli
