// SPDX-License-Identifier: Apache-2.0
// Pass FoldMaxMin: Maximum and Minimum with constants of one element, one after the other, become a BoundedReLu, which
// keeps NaN. Where the first layer makes its bound of NaN, it stays; the second one, which then never sees NaN, becomes
// a BoundedReLu with one bound, for the first layer to apply.
#include "optimizer/Pass.hpp"
#include "optimizer/Patterns.hpp"
#include "optimizer/SingleClamp.hpp"

#include <limits>

namespace tenon::passes
{

namespace
{

constexpr float Infinity = std::numeric_limits<float>::infinity();

struct Match
{
    OutputSlot* m_Source = nullptr;
    ActivationDescriptor m_Activation;
    const Layer* m_Replaced = nullptr; ///< goes with the second layer; null: none
};

/// The activation that `second` is, or that it is together with the layer before it.
std::optional<Match> FindMatch(const Layer& second, const FixedForms& forms)
{
    const std::optional<SingleClamp> outer = FindSingleClamp(&second, forms);
    Layer* first = outer.has_value() ? GetSoleProducer(second, outer->m_Data) : nullptr;
    const std::optional<SingleClamp> inner = FindSingleClamp(first, forms);
    if (!inner.has_value() || inner->m_IsMaximum == outer->m_IsMaximum)
    {
        return std::nullopt;
    }
    const float upper = inner->m_IsMaximum ? outer->m_Bound : inner->m_Bound;
    const float lower = inner->m_IsMaximum ? inner->m_Bound : outer->m_Bound;
    if (lower > upper || (inner->m_KeepsNaN && !outer->m_KeepsNaN))
    {
        return std::nullopt;
    }
    constexpr ActivationFunction Function = ActivationFunction::BoundedReLu;
    if (inner->m_KeepsNaN)
    {
        return Match{first->Input(inner->m_Data).GetConnectedOutputSlot(), ActivationDescriptor(Function, upper, lower),
                     first};
    }
    return Match{&first->Output(0),
                 inner->m_IsMaximum ? ActivationDescriptor(Function, upper, -Infinity)
                                    : ActivationDescriptor(Function, Infinity, lower),
                 nullptr};
}

} // namespace

void FoldMaxMin(Graph& graph, PassContext& context)
{
    const FixedForms forms(graph);
    std::vector<const Layer*> unused;
    for (Layer* layer : graph.TopologicalOrder())
    {
        const std::optional<Match> match = FindMatch(*layer, forms);
        if (match &&
            ReplacePattern(graph, context, *layer, LayerType::Activation,
                           std::make_unique<ActivationDescriptor>(match->m_Activation), {match->m_Source}) != nullptr)
        {
            unused.push_back(layer);
            if (match->m_Replaced != nullptr)
            {
                unused.push_back(match->m_Replaced);
            }
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
