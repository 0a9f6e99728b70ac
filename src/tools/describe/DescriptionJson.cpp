// SPDX-License-Identifier: Apache-2.0
// See DescriptionJson.hpp.
#include "tools/describe/DescriptionJson.hpp"

#include "json/JsonWriter.hpp"
#include "tools/common/TensorJson.hpp"

#include <tenon/Utils.hpp>

namespace tenon::tools
{
namespace
{

void WriteOptional(JsonWriter& json, const char* key, const std::optional<uint64_t>& number)
{
    json.Key(key);
    number ? json.Number(*number) : json.Null();
}

void WriteCounts(JsonWriter& json, const ModelDescription& model)
{
    json.Key("backends");
    json.BeginObject(JsonWriter::Layout::Line);
    for (const auto& [backend, count] : model.m_Backends)
    {
        json.Member(backend, count);
    }
    json.EndObject();
}

void WriteReason(JsonWriter& json, const ModelDescription& model)
{
    json.Member("can_run", model.m_Verdict == Verdict::Runs);
    WriteTexts(json, "with_sizes_for", model.m_GivenSizes);
    json.Key("reason");
    model.m_Verdict == Verdict::Runs ? json.Null() : json.String(model.m_Reason);
}

void WriteInputsAndOutputs(JsonWriter& json, const ModelDescription& model)
{
    const auto writeDescription = [&](const Binding& binding)
    {
        if (!binding.m_Description.empty())
        {
            json.Member("description", binding.m_Description);
        }
    };
    json.Key("inputs");
    json.BeginArray();
    for (const Binding& input : model.m_Inputs)
    {
        json.BeginObject();
        WriteTensor(json, input);
        writeDescription(input);
        json.Numbers("mean", input.m_Normalisation.m_Mean);
        json.Numbers("std", input.m_Normalisation.m_Std);
        json.EndObject();
    }
    json.EndArray();
    json.Key("outputs");
    json.BeginArray();
    for (const Binding& output : model.m_Outputs)
    {
        json.BeginObject();
        WriteTensor(json, output);
        writeDescription(output);
        WriteTexts(json, "labels", output.m_Labels);
        json.EndObject();
    }
    json.EndArray();
}

/// Work is null where that of no layer is known.
void WriteWork(JsonWriter& json, const WorkSum& work, uint64_t numLayers)
{
    const auto known = [&](uint64_t sum, uint64_t numWithout)
    { return numWithout < numLayers || numLayers == 0 ? std::optional<uint64_t>(sum) : std::nullopt; };
    WriteOptional(json, "macs", known(work.m_Macs, work.m_NumWithoutMacs));
    WriteOptional(json, "other_operations", known(work.m_Operations, work.m_NumWithoutOperations));
    json.Member("layers_without_macs", work.m_NumWithoutMacs);
    json.Member("layers_without_other_operations", work.m_NumWithoutOperations);
}

void WriteParameters(JsonWriter& json, const Parameters& parameters)
{
    json.BeginObject(JsonWriter::Layout::Line);
    json.Member("tensors", parameters.m_Tensors);
    json.Member("elements", parameters.m_Elements);
    json.Member("bytes", parameters.m_Bytes);
    json.EndObject();
}

void WriteNetwork(JsonWriter& json, const NetworkSummary& network)
{
    json.Key("parameters");
    WriteParameters(json, network.SumParameters());
    json.Key("parameters_by_type");
    json.BeginObject();
    for (const auto& [type, parameters] : network.m_Parameters)
    {
        json.Key(GetDataTypeName(type));
        WriteParameters(json, parameters);
    }
    json.EndObject();
    json.Key("work");
    json.BeginObject();
    WriteWork(json, network.SumWork(), network.CountLayers());
    json.EndObject();
    json.Key("operators");
    json.BeginArray();
    for (const OperatorSummary& summary : network.m_Operators)
    {
        json.BeginObject();
        json.Member("type", summary.m_Type);
        json.Member("count", summary.m_Count);
        json.Key("output_types");
        json.BeginObject(JsonWriter::Layout::Line);
        for (const auto& [type, count] : summary.m_OutputTypes)
        {
            json.Member(type, count);
        }
        json.EndObject();
        json.Key("parameters");
        WriteParameters(json, summary.m_Parameters);
        WriteWork(json, summary.m_Work, summary.m_Count);
        json.EndObject();
    }
    json.EndArray();
}

void WriteModel(JsonWriter& json, const ModelDescription& model, bool isBrief)
{
    json.Member("model", model.m_Path);
    if (!model.m_Entry.empty())
    {
        json.Member("entry", model.m_Entry);
    }
    json.Member("format", model.m_Format);
    if (isBrief)
    {
        WriteOptional(json, "layers", model.m_Layers);
        WriteCounts(json, model);
        WriteReason(json, model);
        return;
    }
    json.Member("file_bytes", model.m_FileBytes);
    json.Key("texts");
    json.BeginObject();
    for (const auto& [name, text] : model.m_Texts)
    {
        json.Member(name, text);
    }
    json.EndObject();
    WriteInputsAndOutputs(json, model);
    WriteTexts(json, "signatures", model.m_Signatures);
    json.Member("subgraphs", uint64_t{model.m_NumSubgraphs});
    WriteOptional(json, "layers",
                  model.m_Network ? std::optional<uint64_t>(model.m_Network->CountLayers()) : std::nullopt);
    if (model.m_Network)
    {
        WriteNetwork(json, *model.m_Network);
    }
    WriteTexts(json, "dimensions_taken_as_1", model.m_AssumedDimensions);
    WriteOptional(json, "arena_bytes", model.m_ArenaBytes);
    WriteCounts(json, model);
    json.Member("nested_layers", model.m_NumNestedLayers);
    WriteReason(json, model);
    WriteTexts(json, "unsupported", model.m_Unsupported);
    WriteTexts(json, "remarks", model.m_Remarks);
}

} // namespace

std::string FormatDescriptionJson(const DescribeSettings& settings, const ModelDescription& description)
{
    JsonWriter json;
    json.BeginObject();
    json.Member("version", GetVersion());
    WriteTexts(json, "compute", settings.m_Compute);
    WriteModel(json, description, false);
    json.EndObject();
    return json.Text() + "\n";
}

std::string FormatDescriptionsJson(const DescribeSettings& settings, const std::vector<ModelDescription>& descriptions,
                                   bool isBrief)
{
    JsonWriter json;
    json.BeginObject();
    json.Member("version", GetVersion());
    const bool isOfFile = descriptions.front().m_Path == settings.m_Path; // in a folder paths are relative
    json.Member(isOfFile ? "file" : "folder", settings.m_Path);
    WriteTexts(json, "compute", settings.m_Compute);
    json.Key("models");
    json.BeginArray();
    for (const ModelDescription& description : descriptions)
    {
        json.BeginObject();
        WriteModel(json, description, isBrief);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    return json.Text() + "\n";
}

} // namespace tenon::tools
