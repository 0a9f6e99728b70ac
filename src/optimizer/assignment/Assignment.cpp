// SPDX-License-Identifier: Apache-2.0
// Assignment: see Assignment.hpp.
#include "optimizer/assignment/Assignment.hpp"

#include "graph/MakeLayerView.hpp"
#include "optimizer/assignment/Refusals.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

/// Assigns the layers of a graph and of the networks nested in it, and collects what no backend takes.
class Assigner
{
public:
    Assigner(const BackendChooser& chooser, std::vector<std::string>& messages)
        : m_Chooser(chooser), m_Messages(messages)
    {
    }

    /// `where` is put before a layer's name.
    void Assign(Graph& graph, const std::string& where)
    {
        m_NumLayers += CountRunLayers(graph);
        for (const auto& layer : graph.Layers())
        {
            if (IsBoundByRuntime(layer->GetType()))
            {
                layer->SetAssignmentReason("bound by the runtime");
            }
            else if (IsRunByRuntime(layer->GetType()))
            {
                layer->SetBackendId(RuntimeId);
                layer->SetAssignmentReason("run by the runtime");
            }
            else
            {
                AssignLayer(*layer, where);
            }
            for (const auto& body : layer->Bodies())
            {
                Assign(*body, where + "in " + layer->Describe() + ", ");
            }
        }
        AssignBoundLayers(graph, m_Chooser.GetFirstId());
    }

    void ThrowFailures() const { m_Failures.ThrowIfAny(m_NumLayers); }

private:
    void AssignLayer(Layer& layer, const std::string& where)
    {
        Refusals refusals;
        const auto backend = m_Chooser.Choose(layer, m_Maker.Make(layer), refusals);
        if (backend == nullptr)
        {
            m_Failures.Add(layer, where, refusals);
            return;
        }
        layer.SetBackendId(backend->GetId());
        if (!refusals.IsEmpty())
        {
            m_Messages.push_back(DescribeFallback(layer, refusals));
        }
        layer.m_AssignmentCode = refusals.m_First;
        const std::string& width = layer.GetAssignmentReason(); // why it is another one, if it is
        const std::string& reason = refusals.IsEmpty() ? Preferred : refusals.m_Reasons;
        layer.SetAssignmentReason(width.empty() ? reason : width + "; " + reason);
    }

    const std::string Preferred = "preferred";

    const BackendChooser& m_Chooser;
    std::vector<std::string>& m_Messages;
    LayerViewMaker m_Maker;
    UnsupportedLayers m_Failures;
    size_t m_NumLayers = 0;
};

} // namespace

void AssignBoundLayers(Graph& graph, const BackendId& otherwise)
{
    for (size_t i = 0; i < graph.Size(); ++i)
    {
        if (!IsBoundByRuntime(graph.Types()[i]))
        {
            continue;
        }
        const LayerPtr& layer = graph.Layers()[i];
        const Layer* neighbour = nullptr;
        if (layer->GetType() == LayerType::Output)
        {
            neighbour = layer->Input(0).GetProducer();
        }
        else if (layer->Output(0).GetNumConnections() != 0)
        {
            neighbour = &layer->Output(0).GetConnections()[0]->GetOwningLayer();
        }
        const bool assigned = neighbour != nullptr && !IsBoundByRuntime(neighbour->GetType());
        layer->SetBackendId(assigned ? neighbour->GetBackendId() : otherwise);
    }
}

std::shared_ptr<const IBackend> BackendChooser::Choose(const Layer& layer, const LayerView& view,
                                                       Refusals& refusals) const
{
    if (layer.GetBackendHint().has_value())
    {
        const BackendId& hint = layer.GetBackendHint().value();
        auto backend = m_Supports.GetRegistry().Find(hint);
        if (backend == nullptr)
        {
            refusals.Add(hint, SupportCode::Unavailable, "asked for by the layer, but not there");
        }
        else if (Takes({backend, m_Supports.Get(hint)}, view, refusals))
        {
            return backend;
        }
    }
    // A blob means nothing to any other backend than its own.
    if (layer.GetType() == LayerType::PreCompiled)
    {
        if (!layer.GetBackendHint().has_value())
        {
            refusals.Add("no backend", SupportCode::Unavailable,
                         "AddPrecompiledLayer was not told the backend that compiled it");
        }
        return nullptr;
    }
    for (const Candidate& candidate : m_Candidates)
    {
        if (Takes(candidate, view, refusals))
        {
            return candidate.m_Backend;
        }
    }
    return nullptr;
}

bool BackendChooser::TakesAsWell(const Layer& layer, const Layer& other) const
{
    LayerViewMaker maker;
    Refusals refusals;
    const auto now = Choose(layer, maker.Make(layer), refusals);
    const auto then = Choose(other, maker.Make(other), refusals);
    if (now == then || now == nullptr || then == nullptr)
    {
        return now == then || now == nullptr;
    }
    const auto first = std::find_if(m_Candidates.begin(), m_Candidates.end(),
                                    [&](const Candidate& candidate)
                                    { return candidate.m_Backend == now || candidate.m_Backend == then; });
    return first != m_Candidates.end() && first->m_Backend == then && !layer.GetBackendHint().has_value();
}

bool BackendChooser::TakesWeightsF16(const Layer& layer, const LayerView& view) const
{
    const Optional<BackendId>& hint = layer.GetBackendHint();
    if (!hint.has_value())
    {
        return m_Candidates.front().m_Support->AreHalfWeightsSupported(view).IsSupported();
    }
    return m_Supports.GetRegistry().Find(hint.value()) != nullptr &&
           m_Supports.Get(hint.value())->AreHalfWeightsSupported(view).IsSupported();
}

std::vector<Candidate> MakeCandidates(const std::vector<BackendId>& preferences, SupportCache& supports,
                                      std::vector<std::string>& messages)
{
    const BackendRegistry& registry = supports.GetRegistry();
    if (preferences.empty())
    {
        throw InvalidArgumentException(
            fmt::format("no backend is given; there are {}", registry.GetBackendIdsAsString()));
    }
    std::vector<Candidate> candidates;
    for (const BackendId& id : preferences)
    {
        auto backend = registry.Find(id);
        if (backend == nullptr)
        {
            messages.push_back(fmt::format("WARNING: backend '{}' is not there and is passed over; there are {}",
                                           id.Get(), registry.GetBackendIdsAsString()));
            continue;
        }
        const bool twice = std::any_of(candidates.begin(), candidates.end(),
                                       [&](const Candidate& c) { return c.m_Backend == backend; });
        if (!twice)
        {
            candidates.push_back({backend, supports.Get(id)});
        }
    }
    if (candidates.empty())
    {
        std::string names;
        for (const BackendId& id : preferences)
        {
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", id.Get());
        }
        throw InvalidArgumentException(
            fmt::format("none of the backends {} is there; there are {}", names, registry.GetBackendIdsAsString()));
    }
    return candidates;
}

void AssignBackends(Graph& graph, const BackendChooser& chooser, std::vector<std::string>& messages)
{
    Assigner assigner(chooser, messages);
    assigner.Assign(graph, "");
    assigner.ThrowFailures();
}

} // namespace tenon
