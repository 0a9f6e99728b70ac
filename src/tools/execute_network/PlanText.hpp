// SPDX-License-Identifier: Apache-2.0
// The plan of a loaded network, for --print-plan and --plan-json.
#pragma once

#include <tenon/NetworkPlan.hpp>

#include <string>

namespace tenon::tools
{

/// A line for each layer in the order of execution: name, type, kernel, output, memory, scratch memory, the fused
/// layers that it runs with, the kernels that declined it, and the kernel's variant with its reason; then a line for
/// each fusion that was tried, with the reason if it is not applied.
std::string FormatPlan(const NetworkPlan& plan);

/// The same as JSON: max_threads, arena_bytes, input_shapes, layers (name, type, guid, backend, kernel, declined,
/// variant, is_planned, scratch_bytes, outputs with type, shape, bytes, memory, offset and is_tiled, bodies of control
/// flow) and fusions (fusion, first and last layer by index, applied, why_not).
std::string FormatPlanJson(const NetworkPlan& plan);

} // namespace tenon::tools
