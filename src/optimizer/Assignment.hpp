// SPDX-License-Identifier: Apache-2.0
// Assignment: gives each layer the first backend, in the user's order, that supports it. Called by Optimize().
#pragma once

#include "graph/Graph.hpp"

#include <tenon/backend/BackendRegistry.hpp>

#include <string>
#include <vector>

namespace tenon
{

/// A backend that may be chosen, in order of preference.
struct Candidate
{
    std::shared_ptr<const IBackend> m_Backend;
    std::shared_ptr<const ILayerSupport> m_Support;
};

/// The candidates for `preferences`; names that the registry lacks give a message. Throws InvalidArgumentException when
/// none is there.
std::vector<Candidate> MakeCandidates(const std::vector<BackendId>& preferences, const BackendRegistry& registry,
                                      const ModelOptions& options, std::vector<std::string>& messages);

/// Sets backend and reason of every layer, those of nested networks included. Throws UnimplementedException that names
/// every layer that no backend takes, with the reasons of each.
void AssignBackends(Graph& graph, const std::vector<Candidate>& candidates, const BackendRegistry& registry,
                    const ModelOptions& options, std::vector<std::string>& messages);

/// Whether the runtime binds the layer's memory itself, so that no backend makes a workload for it.
bool IsBoundByRuntime(LayerType type);
/// Whether the runtime itself runs the layer: control flow, states, and copies between memories. Such layers show
/// RuntimeId as their backend; a copy that leads to a device's memory shows a backend that works in it.
bool IsRunByRuntime(LayerType type);
constexpr const char* RuntimeId = "Runtime";

} // namespace tenon
