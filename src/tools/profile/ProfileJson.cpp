// SPDX-License-Identifier: Apache-2.0
// See Profile.hpp: the profile as JSON.
#include "tools/profile/Profile.hpp"

#include <tenon/Types.hpp>
#include <tenon/Utils.hpp>

namespace tenon::tools
{
namespace
{

using Layout = JsonWriter::Layout;

void WriteOptional(JsonWriter& json, const char* key, const std::optional<uint64_t>& value)
{
    if (value)
    {
        json.Member(key, *value);
    }
}

void WriteText(JsonWriter& json, const char* key, const std::string& text)
{
    if (!text.empty())
    {
        json.Member(key, text);
    }
}

void WriteTimes(JsonWriter& json, const char* key, const std::optional<Statistics>& times)
{
    json.Key(key);
    if (!times)
    {
        json.Null();
        return;
    }
    json.BeginObject(Layout::Line);
    json.Member("mean", times->m_Mean);
    json.Member("min", times->m_Min);
    json.Member("median", times->m_Median);
    json.Member("max", times->m_Max);
    json.EndObject();
}

void WriteInfo(JsonWriter& json, const TensorInfo& info)
{
    json.Member("type", GetDataTypeName(info.GetDataType()));
    json.Member("shape", info.GetShape().ToString());
}

void WritePeaks(JsonWriter& json, const std::optional<MachinePeaks>& peaks)
{
    json.Key("peaks");
    if (!peaks)
    {
        json.Null();
        return;
    }
    json.BeginObject(Layout::Line);
    json.Member("threads", peaks->m_Threads);
    json.Member("float32_macs_per_s", peaks->m_Float32);
    for (const auto& [key, rate] :
         {std::pair("bfloat16_macs_per_s", peaks->m_BFloat16), std::pair("int16_macs_per_s", peaks->m_Int16),
          std::pair("int8_macs_per_s", peaks->m_Int8)})
    {
        if (rate)
        {
            json.Member(key, *rate);
        }
    }
    json.Key("copies");
    json.BeginArray();
    for (const auto& [bytes, rate] : peaks->m_BytesBySize)
    {
        json.BeginObject();
        json.Member("bytes", bytes);
        json.Member("bytes_per_s", rate);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
}

void WriteBound(JsonWriter& json, const char* key, const std::vector<Profile::Bound>& tensors, bool isOutput)
{
    json.Key(key);
    json.BeginArray();
    for (const Profile::Bound& tensor : tensors)
    {
        json.BeginObject(Layout::Line);
        json.Member("name", tensor.m_Name);
        WriteInfo(json, tensor.m_Info);
        if (isOutput)
        {
            json.Member("layer", tensor.m_Layer);
        }
        json.EndObject();
    }
    json.EndArray();
}

void WriteTypes(JsonWriter& json, const Profile& profile)
{
    json.Key("types");
    json.BeginArray();
    for (const ProfiledType& type : profile.m_Types)
    {
        json.BeginObject(Layout::Line);
        json.Member("type", type.m_Type);
        json.Member("count", type.m_Count);
        json.Member("ms", type.m_Ms);
        json.Member("share", type.m_Ms / profile.GetLayersMs());
        if (type.m_OperationsMs > 0.0)
        {
            json.Member("gop_per_s", type.m_Operations / type.m_OperationsMs * 1e-6);
        }
        if (type.m_BytesMs > 0.0)
        {
            json.Member("gb_per_s", type.m_Bytes / type.m_BytesMs * 1e-6);
        }
        if (type.m_RooflineOfMs > 0.0)
        {
            json.Member("roofline_share", type.m_RooflineMs / type.m_RooflineOfMs);
        }
        json.EndObject();
    }
    json.EndArray();
}

void WriteOutput(JsonWriter& json, const ProfiledTensor& output)
{
    const PlannedTensor& tensor = output.m_Planned;
    json.BeginObject(Layout::Line);
    WriteInfo(json, tensor.m_Info);
    if (tensor.m_Info.GetShape().AreAllDimensionsSpecified())
    {
        json.Member("bytes", uint64_t{tensor.m_Info.GetNumBytes()});
    }
    json.Member("memory", tensor.m_Memory);
    json.Member("offset", uint64_t{tensor.m_Offset});
    json.Member("last_reader", output.m_LastReader);
    if (tensor.m_IsTiled)
    {
        json.Member("is_tiled", true);
    }
    json.EndObject();
}

void WriteLayer(JsonWriter& json, const ProfiledLayer& layer)
{
    const PlannedLayer& planned = layer.m_Planned;
    json.BeginObject();
    json.Member("name", planned.m_Name);
    json.Member("type", planned.m_Type);
    json.Member("data_type", GetDataTypeName(layer.m_DataType));
    WriteText(json, "network", layer.m_Network);
    json.Member("backend", planned.m_Backend);
    WriteText(json, "reason", layer.m_Reason);
    WriteText(json, "fused_activation", layer.m_FusedActivation);
    json.Member("kernel", planned.m_Kernel);
    WriteText(json, "variant", planned.m_Variant);
    WriteText(json, "declined", planned.m_Declined);
    if (layer.m_RunsIn)
    {
        json.Member("runs_in", *layer.m_RunsIn);
    }
    WriteTimes(json, "ms", layer.m_Ms);
    if (!layer.m_ThreadMs.empty())
    {
        json.Key("thread_ms");
        json.BeginArray(Layout::Line);
        for (const double ms : layer.m_ThreadMs)
        {
            json.Number(ms);
        }
        json.EndArray();
    }
    WriteOptional(json, "macs", layer.m_Work.m_Macs);
    WriteOptional(json, "operations", layer.m_Work.CountOperations());
    WriteOptional(json, "input_bytes", layer.m_Work.m_InputBytes);
    WriteOptional(json, "output_bytes", layer.m_Work.m_OutputBytes);
    WriteOptional(json, "constant_bytes", layer.m_Work.m_ConstantBytes);
    if (layer.m_RooflineMs)
    {
        json.Member("roofline_ms", *layer.m_RooflineMs);
    }
    json.Member("scratch_bytes", uint64_t{planned.m_ScratchBytes});
    json.Key("inputs");
    json.BeginArray(Layout::Line);
    for (const int64_t producer : layer.m_Producers)
    {
        json.Number(producer);
    }
    json.EndArray();
    json.Key("outputs");
    json.BeginArray();
    for (const ProfiledTensor& output : layer.m_Outputs)
    {
        WriteOutput(json, output);
    }
    json.EndArray();
    json.EndObject();
}

} // namespace

void WriteProfile(JsonWriter& json, const Profile& profile)
{
    json.BeginObject();
    json.Member("version", GetVersion());
    json.Member("model", profile.m_Model);
    json.Member("threads", profile.m_Threads);
    json.Member("inferences", profile.m_NumInferences);
    json.Member("is_first", profile.m_IsFirst);
    json.Member("dropped_events", profile.m_NumDropped);
    WriteTimes(json, "inference_ms", profile.m_InferenceMs);
    json.Member("layers_ms", profile.GetLayersMs());
    json.Member("arena_bytes", uint64_t{profile.m_Statistics.m_ArenaBytes});
    json.Member("arena_lower_bound_bytes", uint64_t{profile.m_Statistics.m_ArenaLowerBoundBytes});
    WritePeaks(json, profile.m_Peaks);
    WriteBound(json, "inputs", profile.m_Inputs, false);
    WriteBound(json, "outputs", profile.m_Outputs, true);
    WriteTypes(json, profile);
    json.Key("layers");
    json.BeginArray();
    for (const ProfiledLayer& layer : profile.m_Layers)
    {
        WriteLayer(json, layer);
    }
    json.EndArray();
    json.Key("fusions");
    json.BeginArray();
    for (const FusionReport& fusion : profile.m_Fusions)
    {
        json.BeginObject(Layout::Line);
        json.Member("fusion", fusion.m_Fusion);
        json.Member("first", uint64_t{fusion.m_First});
        json.Member("last", uint64_t{fusion.m_Last});
        WriteText(json, "why_not", fusion.m_WhyNot);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
}

} // namespace tenon::tools
