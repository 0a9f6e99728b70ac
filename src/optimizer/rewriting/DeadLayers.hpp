// SPDX-License-Identifier: Apache-2.0
// DeadLayers: removes the layers that lose their last reader while a pass changes connections, and the layers that fed
// only them. RemoveDeadLayers does the same for a whole graph. Used by FoldReshapes, FoldTransposes and MoveTransposes.
#pragma once

#include "graph/Graph.hpp"

#include <vector>

namespace tenon
{

/// Takes layers out of a graph in two steps: out of its connections while the pass has them at hand, and out of memory
/// at the end, as the pass may still come across them. A large network need then not be searched for them.
class DeadLayers
{
public:
    explicit DeadLayers(Graph& graph) : m_Graph(graph), m_Dead(graph.Size(), false) {}

    /// Cuts the layer off if nobody reads it and it has no effect, then likewise those that fed it alone. Some may be
    /// left to RemoveDeadLayers.
    void CutOffIfDead(Layer& layer);
    /// Destroys what was dropped, and renumbers the others. O(N).
    void Remove();

private:
    Graph& m_Graph;
    std::vector<bool> m_Dead; ///< by layer index
    std::vector<Layer*> m_Pending;
};

} // namespace tenon
