// SPDX-License-Identifier: Apache-2.0
// Pass FoldMaxMin: Maximum and Minimum with constants of one element, one after the other, become a BoundedReLu, which
// keeps NaN. Pairs that make a bound of NaN stay.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/ClampPair.hpp"
#include "optimizer/rewriting/Patterns.hpp"

namespace tenon::passes
{

void FoldMaxMin(Graph& graph, PassContext& context)
{
    const ShapeFacts shapeFacts(graph);
    std::vector<const Layer*> unused;
    for (Layer* layer : graph.TopologicalOrder())
    {
        const std::optional<ClampPair> pair = FindClampPair(*layer, shapeFacts);
        if (pair && pair->m_KeepsNaN &&
            ReplacePattern(
                graph, context, *layer, LayerType::Activation,
                std::make_unique<ActivationDescriptor>(ActivationFunction::BoundedReLu, pair->m_Upper, pair->m_Lower),
                {pair->m_Source}) != nullptr)
        {
            unused.insert(unused.end(), {layer, pair->m_First});
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
