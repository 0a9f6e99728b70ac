// SPDX-License-Identifier: Apache-2.0
// GraphValidator: see GraphValidator.hpp. ValidateGraph() is declared in Graph.hpp.
#include "graph/GraphValidator.hpp"

#include "graph/Graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon
{

namespace
{

/// Input layers must differ in their binding ids, and Output layers too.
void CheckBindingIds(std::vector<const Layer*> bound)
{
    std::sort(bound.begin(), bound.end(),
              [](const Layer* a, const Layer* b) { return a->GetBindingId() < b->GetBindingId(); });
    const auto twice =
        std::adjacent_find(bound.begin(), bound.end(),
                           [](const Layer* a, const Layer* b) { return a->GetBindingId() == b->GetBindingId(); });
    if (twice != bound.end())
    {
        throw GraphValidationException(fmt::format("{} and {} have the same binding id {}", (*twice)->Describe(),
                                                   twice[1]->Describe(), (*twice)->GetBindingId()));
    }
}

} // namespace

void GraphValidator::Visit(const Layer& layer)
{
    if (layer.GetType() == LayerType::Input)
    {
        m_Inputs.push_back(&layer);
    }
    else if (layer.GetType() == LayerType::Output)
    {
        m_Outputs.push_back(&layer);
    }
    for (const InputSlot& input : layer.Inputs())
    {
        const unsigned int i = input.GetSlotIndex();
        if (input.GetConnectedOutputSlot() == nullptr && layer.NeedsInput(i))
        {
            throw LayerValidationException(
                fmt::format("input {} of {} is not connected, but with these parameters the layer needs it; connect an "
                            "output to GetInputSlot({})",
                            i, layer.Describe(), i));
        }
    }
    if (layer.GetType() == LayerType::Input && !layer.Output(0).IsTensorInfoSet())
    {
        throw LayerValidationException(fmt::format(
            "{} has no tensor info; call GetOutputSlot(0).SetTensorInfo() to say what it holds", layer.Describe()));
    }
}

void GraphValidator::Finish(const Graph& graph)
{
    CheckBindingIds(std::move(m_Inputs));
    CheckBindingIds(std::move(m_Outputs));
    if (!graph.IsInOrder())
    {
        graph.TopologicalOrder(); // throws where there is a cycle
    }
}

void ValidateGraph(const Graph& graph)
{
    GraphValidator validator;
    for (const auto& layer : graph.Layers())
    {
        validator.Visit(*layer);
    }
    validator.Finish(graph);
}

} // namespace tenon
