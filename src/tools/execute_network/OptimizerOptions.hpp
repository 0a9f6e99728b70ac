// SPDX-License-Identifier: Apache-2.0
// Options of optimizing and loading a network, from the command line. Run.cpp calls it.
#pragma once

#include "tools/execute_network/Options.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/Limits.hpp>

#include <vector>

namespace tenon::tools
{

/// `backends` are the existing ones, in order of preference.
OptimizerOptionsOpaque MakeOptimizerOptions(const Options& options, const std::vector<BackendId>& backends,
                                            const Limits& limits);

/// Whether there is a file of packed weights that is used: CpuAcc, which alone packs weights, runs a layer.
bool UsesCachedNetwork(const Options& options, const std::vector<LayerAssignment>& assignment);

/// `threads`: those of one run. With `usesCachedNetwork`, CpuAcc reads or writes the file of packed weights.
INetworkProperties MakeNetworkProperties(const Options& options, unsigned int threads, bool usesCachedNetwork);

} // namespace tenon::tools
