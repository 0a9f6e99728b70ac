// SPDX-License-Identifier: Apache-2.0
// GraphValidator: ValidateGraph() layer by layer, for a walk over a graph that does something else as well.
#pragma once

#include "graph/Layer.hpp"

#include <vector>

namespace tenon
{

class Graph;

class GraphValidator
{
public:
    /// Looks at one layer.
    void Visit(const Layer& layer);
    /// Looks at the whole, after all of its layers.
    void Finish(const Graph& graph);

private:
    std::vector<const Layer*> m_Inputs;
    std::vector<const Layer*> m_Outputs;
};

} // namespace tenon
