// SPDX-License-Identifier: Apache-2.0
// What a loaded network is made of, for IProfiler::Print().
#pragma once

#include "runtime/Plan.hpp"

#include <string>

namespace tenon
{

/// A JSON object with a member "<kernel>_#<number>" for each workload, those of nested networks included. `plan` tells
/// the shapes where it knows them; null: none was made yet.
std::string DescribeLayers(const Program& program, const Plan* plan);

} // namespace tenon
