// SPDX-License-Identifier: Apache-2.0
// Reports about an optimized or loaded network as JSON.
#pragma once

#include "json/JsonWriter.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/NetworkPlan.hpp>
#include <tenon/Tensor.hpp>

#include <vector>

namespace tenon
{

/// Writes an array of sizes, in which unknown ones are null; null for an unknown rank.
void WriteShape(JsonWriter& json, const TensorShape& shape);
/// Writes an array with an object for each layer: network (of nested ones), layer, type, backend, fused_activation,
/// reason.
void WriteAssignment(JsonWriter& json, const std::vector<LayerAssignment>& assignment);
/// Writes an object: max_threads, arena_bytes, input_shapes, layers, fusions.
void WritePlan(JsonWriter& json, const NetworkPlan& plan);
/// Writes an object: arena_bytes, arena_lower_bound_bytes, arenas, workloads, contexts.
void WriteStatistics(JsonWriter& json, const NetworkStatistics& statistics);

} // namespace tenon
