// SPDX-License-Identifier: Apache-2.0
// Refusals: the reasons why backends refuse a layer, for the layer's assignment reason, warnings and exceptions. Used
// by Assignment, FitFloatWidths and BackendFallback.
#pragma once

#include "graph/Graph.hpp"
#include "optimizer/assignment/Assignment.hpp"

#include <string>

namespace tenon
{

/// Of one layer.
struct Refusals
{
    std::string m_Reasons;                        ///< "<backend>: <reason>; ..."
    SupportCode m_First = SupportCode::Supported; ///< of the first of them

    bool IsEmpty() const { return m_First == SupportCode::Supported; }
    void Add(const BackendId& backend, SupportCode code, const std::string& reason);
};

/// Whether the candidate supports the layer as `view` shows it; adds a refusal if not.
bool Takes(const Candidate& candidate, const LayerView& view, Refusals& refusals);
/// Gives the layer to the candidate if that supports it; adds a refusal if not.
bool TryBackend(Layer& layer, const LayerView& view, const Candidate& candidate, Refusals& refusals);

/// The name by which a user knows the layer's operator: a Custom layer says which one it is.
std::string GetTypeText(const Layer& layer);
/// The warning that a layer runs elsewhere than it was to.
std::string DescribeFallback(const Layer& layer, const Refusals& refusals);

/// The layers of a graph, without nested ones, but for those that the runtime binds: inputs, outputs and constants.
size_t CountRunLayers(const Graph& graph);

/// The layers that no backend takes, for one exception that names them all.
class UnsupportedLayers
{
public:
    /// `where` is put before the layer's name.
    void Add(const Layer& layer, const std::string& where, const Refusals& refusals);
    /// Throws UnimplementedException if there is one. `numLayers`: CountRunLayers of the whole network.
    void ThrowIfAny(size_t numLayers) const;

private:
    std::string m_Text;
    size_t m_Count = 0;
};

} // namespace tenon
