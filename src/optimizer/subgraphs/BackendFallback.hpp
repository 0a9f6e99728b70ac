// SPDX-License-Identifier: Apache-2.0
// BackendFallback: moves layers to the next backend in the order of preference, after assignment. Needed where
// partition options exclude a layer from a backend that supports it, or where a backend fails to optimize its subgraph.
// Used by OptimizeSubgraphs and SubgraphRewriter.
#pragma once

#include "graph/MakeLayerView.hpp"
#include "optimizer/assignment/Refusals.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenon
{

/// A network or one nested in it.
struct LocatedGraph
{
    Graph* m_Graph;
    std::string m_Where; ///< put before a layer's name: "in layer 3 'loop' (While), "
};

class BackendFallback
{
public:
    /// Both are used until the end.
    BackendFallback(const std::vector<Candidate>& candidates, std::vector<std::string>& messages)
        : m_Candidates(candidates), m_Messages(messages)
    {
    }

    /// Gives `layer` to the first backend that supports it of those that come after its own in the order of
    /// preference; of all others, if its own is not in that or is there by a hint. It never comes back to a backend
    /// that it was taken from, so moves come to an end. The reason is added to the layer's own.
    void Move(Layer& layer, const std::string& where, SupportCode code, const std::string& reason);

    /// A layer of 16-bit floats that no other backend takes as it is may move as one of Float32: this puts conversions
    /// around those of `graph`, and gives them backends. To be called before the graph is looked at again.
    void WidenMoved(const LocatedGraph& graph);

    /// No layer comes to this backend any more.
    void Close(const BackendId& backend) { m_Closed.insert(backend.Get()); }

    size_t GetNumMoves() const { return m_NumMoves; }

    /// Throws UnimplementedException that names the layers which none took. `numLayers`: CountRunLayers
    /// of the whole network.
    void ThrowFailures(size_t numLayers) const { m_Failures.ThrowIfAny(numLayers); }

private:
    template <typename Try>
    bool TryAll(const Layer& layer, const BackendId& from, Refusals& refusals, Try tryOne);

    const std::vector<Candidate>& m_Candidates;
    std::vector<std::string>& m_Messages;
    LayerViewMaker m_Maker;
    UnsupportedLayers m_Failures;
    std::map<uint64_t, std::set<std::string>> m_TakenFrom; ///< the backends that a layer, by its guid, was taken from
    std::set<std::string> m_Closed;
    std::set<const Layer*> m_ToWiden;
    size_t m_NumMoves = 0;
};

} // namespace tenon
