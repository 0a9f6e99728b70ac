// SPDX-License-Identifier: Apache-2.0
// The description of a loaded network for IProfiler::Print().
#pragma once

#include "runtime/Plan.hpp"

#include <string>

namespace tenon
{

/// A JSON object with a member "<kernel>_#<number>" for each workload, including workloads of nested networks. `plan`
/// has the shapes that are known; null: no plan was made yet.
std::string DescribeLayers(const Program& program, const Plan* plan);

} // namespace tenon
