// SPDX-License-Identifier: Apache-2.0
// Assignment: gives each layer the first backend, in the user's order, that supports it, with the reasons of those that
// do not. BackendChooser also answers passes: whether a layer that they want to make would run as well.
#pragma once

#include "graph/Graph.hpp"
#include "graph/Support.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tenon
{

struct Refusals;

/// A backend that may be chosen, in order of preference.
struct Candidate
{
    std::shared_ptr<const IBackend> m_Backend;
    std::shared_ptr<const ILayerSupport> m_Support;
};

/// The candidates for `preferences`; names that the registry lacks give a message. Throws InvalidArgumentException when
/// none is there.
std::vector<Candidate> MakeCandidates(const std::vector<BackendId>& preferences, SupportCache& supports,
                                      std::vector<std::string>& messages);

/// Asks backends, in the user's order, whether they take a layer.
class BackendChooser
{
public:
    /// The arguments must outlive it.
    BackendChooser(const std::vector<Candidate>& candidates, SupportCache& supports)
        : m_Candidates(candidates), m_Supports(supports)
    {
    }

    /// The backend that the layer asks for, else the first candidate, that takes it as `view` shows it; null if none
    /// does. Adds each refusal.
    std::shared_ptr<const IBackend> Choose(const Layer& layer, const LayerView& view, Refusals& refusals) const;

    /// Whether `other` runs on the backend that `layer` would run on, or on one that is asked before it; or neither on
    /// any.
    bool TakesAsWell(const Layer& layer, const Layer& other) const;

    /// Whether the backend that is asked first takes the layer, as `view` shows it, with weights of Float16: see
    /// ILayerSupport::AreHalfWeightsSupported.
    bool TakesWeightsF16(const Layer& layer, const LayerView& view) const;

    const BackendId& GetFirstId() const { return m_Candidates.front().m_Backend->GetId(); }

private:
    const std::vector<Candidate>& m_Candidates;
    SupportCache& m_Supports;
};

/// Sets backend and reason of every layer, those of nested networks included; a reason that a layer has already goes
/// before. Throws UnimplementedException that names every layer that no backend takes, with the reasons of each.
void AssignBackends(Graph& graph, const BackendChooser& chooser, std::vector<std::string>& messages);

/// Gives what the runtime binds a backend to show: Input and Constant layers go with their first consumer, Output
/// layers with their producer; `otherwise` where that has none.
void AssignBoundLayers(Graph& graph, const BackendId& otherwise);

} // namespace tenon
