// SPDX-License-Identifier: Apache-2.0
// Writes a graph for people (one line a layer), for Graphviz, and as JSON.
#include "graph/Graph.hpp"
#include "graph/LayerJson.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <fmt/format.h>

namespace tenon
{

namespace
{

/// `text` with each character of `special` behind a backslash, and control characters as spaces.
std::string Escaped(const std::string& text, const char* special)
{
    std::string out;
    for (char c : text)
    {
        if (std::string_view(special).find(c) != std::string_view::npos)
        {
            out += '\\';
        }
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

std::string HtmlEscaped(const std::string& text)
{
    std::string out;
    for (char c : text)
    {
        switch (c)
        {
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '&': out += "&amp;"; break;
        default: out += c;
        }
    }
    return out;
}

void WriteSource(JsonWriter& json, const OutputSlot* source)
{
    if (source == nullptr)
    {
        json.Null();
        return;
    }
    json.BeginObject();
    json.Member("guid", static_cast<uint64_t>(source->GetOwningLayerGuid()));
    json.Member("output", source->CalculateIndexOnOwner());
    json.EndObject();
}

} // namespace

void PrintGraph(const Graph& graph, std::ostream& stream)
{
    for (const auto& layer : graph.Layers())
    {
        stream << fmt::format("{:5} {:24} {:12} {}", layer->m_Index, layer->GetSchema().m_Name,
                              layer->GetBackendId().IsUndefined() ? "" : layer->GetBackendId().Get(), layer->GetName());
        if (layer->GetFusedActivation() != nullptr)
        {
            stream << " + " << layer->GetFusedActivationText();
        }
        for (const OutputSlot& output : layer->Outputs())
        {
            stream << "  " << output.GetTensorInfo().ToString();
        }
        stream << '\n';
    }
}

void WriteDot(const Graph& graph, const char* title, std::ostream& stream)
{
    constexpr const char* special = "\"\\{}|<> ";
    stream << fmt::format("digraph {} {{\n    node [shape=\"record\"];\n", title);
    for (const auto& layer : graph.Layers())
    {
        std::string label = Escaped(layer->GetSchema().m_Name, special) + "|";
        layer->GetSchema().m_VisitFields(layer->GetParameters(), [&](const char* name, const std::string& value)
                                         { label += fmt::format("{} : {}\\l", name, Escaped(value, special)); });
        if (layer->GetFusedActivation() != nullptr)
        {
            label += fmt::format("FusedActivation : {}\\l", Escaped(layer->GetFusedActivationText(), special));
        }
        label += fmt::format("Guid : {}\\lLayerName : {}\\lLayerType : {}\\lBackendID : {}\\l",
                             static_cast<uint64_t>(layer->GetGuid()), Escaped(layer->GetNameStr(), special),
                             layer->GetSchema().m_Name, Escaped(layer->GetBackendId().Get(), special));
        stream << fmt::format("    {} [label=\"{{{}}}\"];\n", static_cast<uint64_t>(layer->GetGuid()), label);
    }
    for (const auto& layer : graph.Layers())
    {
        for (const OutputSlot& output : layer->Outputs())
        {
            for (const InputSlot* input : output.GetConnections())
            {
                stream << fmt::format("    {} -> {} [label=< {} >];\n", static_cast<uint64_t>(layer->GetGuid()),
                                      static_cast<uint64_t>(input->GetOwningLayer().GetGuid()),
                                      HtmlEscaped(output.GetTensorInfo().GetShape().ToString()));
            }
        }
    }
    stream << "}\n";
}

void WriteJson(const Graph& graph, std::ostream& stream)
{
    JsonWriter json;
    json.BeginObject();
    json.Key("layers");
    json.BeginArray();
    for (const auto& layer : graph.Layers())
    {
        json.BeginObject(JsonWriter::Layout::Line);
        WriteIdentity(json, *layer);
        if (layer->GetType() == LayerType::Input || layer->GetType() == LayerType::Output)
        {
            json.Member("binding_id", layer->GetBindingId());
        }
        if (!layer->GetBackendId().IsUndefined())
        {
            json.Member("backend", layer->GetBackendId().Get());
        }
        if (layer->m_Subgraph != LayerAssignment::NoSubgraph)
        {
            json.Member("subgraph", layer->m_Subgraph);
        }
        if (layer->GetFusedActivation() != nullptr)
        {
            json.Member("fused_activation", layer->GetFusedActivationText());
        }
        WriteParameters(json, *layer);
        json.Key("inputs");
        json.BeginArray();
        for (const InputSlot& input : layer->Inputs())
        {
            WriteSource(json, input.GetConnectedOutputSlot());
        }
        json.EndArray();
        json.Key("outputs");
        json.BeginArray();
        for (const OutputSlot& output : layer->Outputs())
        {
            WriteInfo(json, output.GetTensorInfo());
        }
        json.EndArray();
        json.EndObject();
        stream << json.Take();
    }
    json.EndArray();
    json.EndObject();
    stream << json.Take() << '\n';
}

} // namespace tenon
