// SPDX-License-Identifier: Apache-2.0
// Refusals: see Refusals.hpp.
#include "optimizer/assignment/Refusals.hpp"

#include <fmt/format.h>

namespace tenon
{

namespace
{

constexpr size_t MaxNamedRefusals = 50; // of one error message; a model with more failures says how many more

std::string Types(const Layer& layer)
{
    std::string input = layer.NumInputs() > 0 && layer.Input(0).IsTensorInfoSet()
                            ? GetDataTypeName(layer.Input(0).GetTensorInfo().GetDataType())
                            : "none";
    std::string output =
        layer.GetNumOutputSlots() > 0 ? GetDataTypeName(layer.Output(0).GetTensorInfo().GetDataType()) : "none";
    return fmt::format("input data type {} and output data type {}", input, output);
}

} // namespace

void Refusals::Add(const BackendId& backend, SupportCode code, const std::string& reason)
{
    m_Reasons += fmt::format("{}{}: {}", m_Reasons.empty() ? "" : "; ", backend.Get(), reason);
    if (m_First == SupportCode::Supported)
    {
        m_First = code;
    }
}

bool Takes(const Candidate& candidate, const LayerView& view, Refusals& refusals)
{
    const SupportResult result = AskSupport(*candidate.m_Support, view);
    if (!result.IsSupported())
    {
        refusals.Add(candidate.m_Backend->GetId(), result.m_Code, result.m_Reason);
    }
    return result.IsSupported();
}

bool TryBackend(Layer& layer, const LayerView& view, const Candidate& candidate, Refusals& refusals)
{
    const bool takes = Takes(candidate, view, refusals);
    if (takes)
    {
        layer.SetBackendId(candidate.m_Backend->GetId());
    }
    return takes;
}

std::string GetTypeText(const Layer& layer)
{
    if (layer.GetType() == LayerType::Custom)
    {
        return fmt::format("Custom '{}'", layer.Descriptor<CustomDescriptor>().m_Name);
    }
    return layer.GetSchema().m_Name;
}

std::string DescribeFallback(const Layer& layer, const Refusals& refusals)
{
    return fmt::format("WARNING: Layer of type {} is not supported on requested backend for {} (reason: {}), falling "
                       "back to {}.",
                       GetTypeText(layer), Types(layer), refusals.m_Reasons, layer.GetBackendId().Get());
}

void UnsupportedLayers::Add(const Layer& layer, const std::string& where, const Refusals& refusals)
{
    ++m_Count;
    if (m_Count <= MaxNamedRefusals)
    {
        m_Text += fmt::format("\n  {}layer {} '{}' ({}): {}", where, layer.m_Index, layer.GetNameStr(),
                              GetTypeText(layer), refusals.m_Reasons);
    }
}

size_t CountRunLayers(const Graph& graph)
{
    return graph.Size() - graph.Count(LayerType::Input) - graph.Count(LayerType::Output) -
           graph.Count(LayerType::Constant);
}

void UnsupportedLayers::ThrowIfAny(size_t numLayers) const
{
    if (m_Count == 0)
    {
        return;
    }
    const std::string more =
        m_Count > MaxNamedRefusals ? fmt::format("\n  and {} more", m_Count - MaxNamedRefusals) : "";
    throw UnimplementedException(fmt::format("{} of {} layers are not supported by any of the chosen backends:{}{}",
                                             m_Count, numLayers, m_Text, more));
}

} // namespace tenon
