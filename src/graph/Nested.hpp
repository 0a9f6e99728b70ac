// SPDX-License-Identifier: Apache-2.0
// Checks of a network as a whole: its size, its states, and the networks inside of If and While layers, their bindings
// to the layer and their agreement with it. Used by Network, Optimize() and the deserializer.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/Limits.hpp>
#include <tenon/descriptors/ControlFlow.hpp>

namespace tenon
{

/// The parameters of a layer with these nested networks. Their binding ids count from 0, and they have no states, else
/// throws InvalidArgumentException.
IfDescriptor MakeIfDescriptor(const Graph& thenGraph, const Graph& elseGraph);
WhileDescriptor MakeWhileDescriptor(const Graph& condition, const Graph& body);

/// Throws as these functions, or GraphValidationException, when an If or While layer's parameters are not those of its
/// bodies.
void CheckBindings(const Layer& layer);

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

/// Throws GraphValidationException unless each state is read by one layer at most, written by one at most, and of one
/// type. The graph must have its tensor infos; its bodies are not looked at, which have states of their own.
void CheckStates(const Graph& graph);

} // namespace tenon
