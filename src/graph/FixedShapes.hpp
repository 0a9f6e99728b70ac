// SPDX-License-Identifier: Apache-2.0
// FixedShapes: which tensors have the same shape in every run, whatever shapes the inputs of that run have, but for
// inputs of fixed sizes. For passes, which may rely on these shapes and on no others.
#pragma once

#include "graph/Graph.hpp"

#include <vector>

namespace tenon
{

/// The output shape that a Reshape or BroadcastTo layer gets from its parameters, or null where they do not say all.
const TensorShape* FindTargetShape(const Layer& layer);

/// Whether the layer is an Input of which the application promises that the sizes that its info specifies are those of
/// every run.
bool HasFixedSizes(const Layer& layer);

class FixedShapes
{
public:
    /// Knows nothing but constants until layers are added.
    explicit FixedShapes(size_t numLayers) : m_States(numLayers, State::Open) {}
    /// Knows all layers of a graph, each found when it is asked for. Changes of the graph from then on must not change
    /// the shape of any tensor that is read; a layer that was cut off is not fixed, unless it was known as such before.
    explicit FixedShapes(const Graph& graph) : m_States(graph.Size(), State::Unknown) {}

    /// Looks at a layer whose producers have been added. Layers that came into the graph later are passed over.
    void Add(const Layer& layer);

    /// Whether the shape in the slot's info, which is then fully known, is that of every run.
    bool IsFixed(const OutputSlot& slot) const;
    /// The same for the output that an input reads; false where it is not connected.
    bool IsFixed(const InputSlot& slot) const;

private:
    enum class State : uint8_t
    {
        Unknown,
        Open,
        Fixed
    };
    /// A layer, and from which of its inputs on producers are to be looked at.
    struct Visit
    {
        const Layer* m_Layer;
        unsigned int m_NextInput;
    };

    State StateOf(const Layer& layer) const;
    /// Finds the state of a layer, or a producer that has to be known before: then that one.
    const Layer* Settle(Visit& visit) const;

    mutable PageVector<State> m_States; ///< by layer index, for all outputs alike
};

} // namespace tenon
