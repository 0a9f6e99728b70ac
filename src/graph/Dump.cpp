// SPDX-License-Identifier: Apache-2.0
// Writes a graph for people (one line a layer), for Graphviz, and as JSON.
#include "graph/Graph.hpp"

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

std::string Quoted(const std::string& text)
{
    return '"' + Escaped(text, "\"\\") + '"';
}

std::string JsonInfo(const TensorInfo& info)
{
    std::string json = fmt::format("{{\"type\": \"{}\", \"shape\": ", GetDataTypeName(info.GetDataType()));
    if (info.GetShape().GetDimensionality() == Dimensionality::NotSpecified)
    {
        json += "null";
    }
    else
    {
        json += '[';
        for (unsigned int i = 0; i < info.GetNumDimensions(); ++i)
        {
            const bool known = info.GetShape().GetDimensionSpecificity(i);
            json += fmt::format("{}{}", i == 0 ? "" : ", ", known ? static_cast<int64_t>(info.GetShape()[i]) : -1);
        }
        json += ']';
    }
    if (info.HasQuantization())
    {
        json += ", \"scales\": [";
        const char* separator = "";
        for (float scale : info.GetQuantizationScales())
        {
            json += fmt::format("{}{}", separator, scale);
            separator = ", ";
        }
        json += "], \"zero_points\": [";
        separator = "";
        for (int32_t offset : info.GetQuantizationOffsets())
        {
            json += fmt::format("{}{}", separator, offset);
            separator = ", ";
        }
        json += ']';
        if (info.GetQuantizationDim().has_value())
        {
            json += fmt::format(", \"quantized_dimension\": {}", info.GetQuantizationDim().value());
        }
    }
    return json + '}';
}

} // namespace

void PrintGraph(const Graph& graph, std::ostream& stream)
{
    for (const auto& layer : graph.Layers())
    {
        stream << fmt::format("{:5} {:24} {:12} {}", layer->m_Index, layer->GetSchema().m_Name,
                              layer->GetBackendId().IsUndefined() ? "" : layer->GetBackendId().Get(), layer->GetName());
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
    stream << "{\n  \"layers\": [";
    const char* separator = "\n";
    for (const auto& layer : graph.Layers())
    {
        stream << separator
               << fmt::format("    {{\"guid\": {}, \"name\": {}, \"type\": \"{}\"",
                              static_cast<uint64_t>(layer->GetGuid()), Quoted(layer->GetNameStr()),
                              layer->GetSchema().m_Name);
        separator = ",\n";
        if (layer->GetType() == LayerType::Input || layer->GetType() == LayerType::Output)
        {
            stream << fmt::format(", \"binding_id\": {}", layer->GetBindingId());
        }
        if (!layer->GetBackendId().IsUndefined())
        {
            stream << fmt::format(", \"backend\": {}", Quoted(layer->GetBackendId().Get()));
        }
        if (layer->m_Subgraph != LayerAssignment::NoSubgraph)
        {
            stream << fmt::format(", \"subgraph\": {}", layer->m_Subgraph);
        }
        stream << ", \"parameters\": {";
        const char* comma = "";
        layer->GetSchema().m_VisitFields(layer->GetParameters(),
                                         [&](const char* name, const std::string& value)
                                         {
                                             stream << comma << Quoted(name) << ": " << Quoted(value);
                                             comma = ", ";
                                         });
        stream << "}, \"inputs\": [";
        comma = "";
        for (const InputSlot& input : layer->Inputs())
        {
            const OutputSlot* source = input.GetConnectedOutputSlot();
            stream << comma
                   << (source == nullptr ? std::string("null")
                                         : fmt::format("{{\"guid\": {}, \"output\": {}}}",
                                                       static_cast<uint64_t>(source->GetOwningLayerGuid()),
                                                       source->CalculateIndexOnOwner()));
            comma = ", ";
        }
        stream << "], \"outputs\": [";
        comma = "";
        for (const OutputSlot& output : layer->Outputs())
        {
            stream << comma << JsonInfo(output.GetTensorInfo());
            comma = ", ";
        }
        stream << "]}";
    }
    stream << "\n  ]\n}\n";
}

} // namespace tenon
