// SPDX-License-Identifier: Apache-2.0
// What Optimize() does with the networks inside of If and While layers, beside optimizing each like any other network.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/Limits.hpp>

namespace tenon
{

/// The Output layer with binding id `id` of a nested network gives values of this info.
const TensorInfo& GetBodyOutputInfo(const Graph& body, unsigned int id);

/// Throws InvalidArgumentException when there are more layers, nested ones included, or deeper nesting than a limit
/// allows.
void CheckSize(const Graph& graph, const Limits& limits);

/// Bytes of all constants, nested networks included; memory that several constants share counts once.
uint64_t CountConstantBytes(const Graph& graph);

/// Throws GraphValidationException unless the tensor types on both sides of each nested network agree: the runtime
/// passes memory through as it is. The graph and its bodies must have their tensor infos.
void CheckBodies(const Graph& graph);

} // namespace tenon
