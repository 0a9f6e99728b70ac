// SPDX-License-Identifier: Apache-2.0
// FixedShapes: which tensors have the same shape in every run, whatever shapes the inputs of that run have. For passes,
// which may rely on these shapes and on no others.
#pragma once

#include "graph/Graph.hpp"

#include <vector>

namespace tenon
{

/// The output shape that a Reshape or BroadcastTo layer gets from its parameters, or null where they do not say all.
const TensorShape* FindTargetShape(const Layer& layer);

class FixedShapes
{
public:
    /// Knows nothing but of constants until layers are added.
    explicit FixedShapes(size_t numLayers) : m_Fixed(numLayers, false) {}
    /// Of all layers of a graph.
    explicit FixedShapes(const Graph& graph);

    /// Looks at a layer whose producers have been added. Layers that came into the graph later are passed over.
    void Add(const Layer& layer);

    /// Whether the shape in the slot's info, which is then fully known, is that of every run.
    bool IsFixed(const OutputSlot& slot) const;
    /// The same for what an input reads; false where it is not connected.
    bool IsFixed(const InputSlot& slot) const;

private:
    bool Follows(const Layer& layer) const;

    std::vector<bool> m_Fixed; ///< by layer index, for all outputs alike
};

} // namespace tenon
