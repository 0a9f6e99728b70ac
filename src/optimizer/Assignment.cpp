// SPDX-License-Identifier: Apache-2.0
// Assignment: see Assignment.hpp.
#include "optimizer/Assignment.hpp"

#include "graph/MakeLayerView.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

constexpr size_t MaxNamedLayers = 50; // of one error message; a model with more failures says how many more

std::string Types(const Layer& layer)
{
    std::string input = layer.GetNumInputSlots() > 0 && layer.Input(0).IsTensorInfoSet()
                            ? GetDataTypeName(layer.Input(0).GetTensorInfo().GetDataType())
                            : "none";
    std::string output =
        layer.GetNumOutputSlots() > 0 ? GetDataTypeName(layer.Output(0).GetTensorInfo().GetDataType()) : "none";
    return fmt::format("input data type {} and output data type {}", input, output);
}

/// The name by which a user knows the layer's operator: a Custom layer says which one it is.
std::string TypeName(const Layer& layer)
{
    if (layer.GetType() == LayerType::Custom)
    {
        return fmt::format("Custom '{}'", layer.Descriptor<CustomDescriptor>().m_Name);
    }
    return layer.GetSchema().m_Name;
}

void AppendReason(std::string& reasons, const BackendId& backend, const std::string& reason)
{
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", backend.Get(), reason);
}

/// Tries one backend; on refusal adds its reason.
bool Try(Layer& layer, const LayerView& view, const Candidate& candidate, std::string& reasons)
{
    SupportResult result = candidate.m_Support->IsLayerSupported(view);
    if (result.IsSupported())
    {
        layer.SetBackendId(candidate.m_Backend->GetId());
        return true;
    }
    AppendReason(reasons, candidate.m_Backend->GetId(), result.m_Reason);
    return false;
}

/// Input and Constant layers go with their first consumer, Output layers with their producer: for display only.
void AssignBoundLayers(Graph& graph, const BackendId& otherwise)
{
    for (const auto& layer : graph.Layers())
    {
        if (!IsBoundByRuntime(layer->GetType()))
        {
            continue;
        }
        const Layer* neighbour = nullptr;
        if (layer->GetType() == LayerType::Output)
        {
            neighbour = layer->Input(0).GetProducer();
        }
        else if (layer->Output(0).GetNumConnections() != 0)
        {
            neighbour = &layer->Output(0).GetConnections().front()->GetOwningLayer();
        }
        const bool assigned = neighbour != nullptr && !IsBoundByRuntime(neighbour->GetType());
        layer->SetBackendId(assigned ? neighbour->GetBackendId() : otherwise);
    }
}

/// Assigns the layers of a graph and of the networks nested in it, and collects what no backend takes.
class Assigner
{
public:
    Assigner(const std::vector<Candidate>& candidates, const BackendRegistry& registry, const ModelOptions& options,
             std::vector<std::string>& messages)
        : m_Candidates(candidates), m_Registry(registry), m_Options(options), m_Messages(messages)
    {
    }

    /// `where` is put before a layer's name.
    void Assign(Graph& graph, const std::string& where)
    {
        m_NumLayers += graph.Size();
        for (const auto& layer : graph.Layers())
        {
            if (IsBoundByRuntime(layer->GetType()))
            {
                layer->m_AssignmentReason = "bound by the runtime";
            }
            else if (IsRunByRuntime(layer->GetType()))
            {
                layer->SetBackendId(RuntimeId);
                layer->m_AssignmentReason = "run by the runtime";
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
        AssignBoundLayers(graph, m_Candidates.front().m_Backend->GetId());
    }

    void ThrowFailures() const
    {
        if (m_NumFailed == 0)
        {
            return;
        }
        const std::string more =
            m_NumFailed > MaxNamedLayers ? fmt::format("\n  and {} more", m_NumFailed - MaxNamedLayers) : "";
        throw UnimplementedException(fmt::format("{} of {} layers are not supported by any of the chosen backends:{}{}",
                                                 m_NumFailed, m_NumLayers, m_Failures, more));
    }

private:
    void AssignLayer(Layer& layer, const std::string& where)
    {
        const LayerView view = m_Maker.Make(layer);
        std::string refusals;
        bool assigned = false;
        if (layer.GetBackendHint().has_value())
        {
            const BackendId& hint = layer.GetBackendHint().value();
            if (auto backend = m_Registry.Find(hint))
            {
                assigned = Try(layer, view, {backend, backend->GetLayerSupport(m_Options)}, refusals);
            }
            else
            {
                AppendReason(refusals, hint, "asked for by the layer, but not there");
            }
        }
        for (size_t i = 0; i < m_Candidates.size() && !assigned; ++i)
        {
            assigned = Try(layer, view, m_Candidates[i], refusals);
        }
        if (!assigned)
        {
            ++m_NumFailed;
            if (m_NumFailed <= MaxNamedLayers)
            {
                m_Failures += fmt::format("\n  {}layer {} '{}' ({}): {}", where, layer.m_Index, layer.GetNameStr(),
                                          TypeName(layer), refusals);
            }
            return;
        }
        if (!refusals.empty())
        {
            m_Messages.push_back(fmt::format("WARNING: Layer of type {} is not supported on requested backend for {} "
                                             "(reason: {}), falling back to {}.",
                                             TypeName(layer), Types(layer), refusals, layer.GetBackendId().Get()));
        }
        layer.m_AssignmentReason = refusals.empty() ? "preferred" : std::move(refusals);
    }

    const std::vector<Candidate>& m_Candidates;
    const BackendRegistry& m_Registry;
    const ModelOptions& m_Options;
    std::vector<std::string>& m_Messages;
    LayerViewMaker m_Maker;
    std::string m_Failures;
    size_t m_NumFailed = 0;
    size_t m_NumLayers = 0;
};

} // namespace

bool IsBoundByRuntime(LayerType type)
{
    return type == LayerType::Input || type == LayerType::Output || type == LayerType::Constant;
}

bool IsRunByRuntime(LayerType type)
{
    return type == LayerType::ReadState || type == LayerType::WriteState || type == LayerType::If ||
           type == LayerType::While || type == LayerType::MemCopy || type == LayerType::MemImport;
}

std::vector<Candidate> MakeCandidates(const std::vector<BackendId>& preferences, const BackendRegistry& registry,
                                      const ModelOptions& options, std::vector<std::string>& messages)
{
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
            candidates.push_back({backend, backend->GetLayerSupport(options)});
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

void AssignBackends(Graph& graph, const std::vector<Candidate>& candidates, const BackendRegistry& registry,
                    const ModelOptions& options, std::vector<std::string>& messages)
{
    Assigner assigner(candidates, registry, options, messages);
    assigner.Assign(graph, "");
    assigner.ThrowFailures();
}

} // namespace tenon
