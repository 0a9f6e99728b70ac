// SPDX-License-Identifier: Apache-2.0
// Reports as JSON: see Reports.hpp.
#include "reports/Reports.hpp"

namespace tenon
{

void WriteShape(JsonWriter& json, const TensorShape& shape)
{
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        json.Null();
        return;
    }
    json.BeginArray(JsonWriter::Layout::Line);
    for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
    {
        if (shape.GetDimensionSpecificity(d))
        {
            json.Number(uint64_t{shape[d]});
        }
        else
        {
            json.Null();
        }
    }
    json.EndArray();
}

namespace
{

void WriteLayer(JsonWriter& json, const PlannedLayer& layer)
{
    json.BeginObject();
    json.Member("name", layer.m_Name);
    json.Member("type", layer.m_Type);
    json.Member("guid", static_cast<uint64_t>(layer.m_Guid));
    json.Member("backend", layer.m_Backend);
    json.Member("kernel", layer.m_Kernel);
    json.Member("declined", layer.m_Declined);
    json.Member("variant", layer.m_Variant);
    json.Member("is_planned", layer.m_IsPlanned);
    json.Member("scratch_bytes", uint64_t{layer.m_ScratchBytes});
    json.Key("outputs");
    json.BeginArray();
    for (const PlannedTensor& output : layer.m_Outputs)
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("type", GetDataTypeName(output.m_Info.GetDataType()));
        json.Key("shape");
        WriteShape(json, output.m_Info.GetShape());
        json.Key("bytes");
        if (output.m_Info.GetShape().AreAllDimensionsSpecified())
        {
            json.Number(uint64_t{output.m_Info.GetNumBytes()});
        }
        else
        {
            json.Null();
        }
        json.Member("memory", output.m_Memory);
        json.Member("offset", uint64_t{output.m_Offset});
        json.Member("is_tiled", output.m_IsTiled);
        json.EndObject();
    }
    json.EndArray();
    if (!layer.m_Bodies.empty())
    {
        json.Key("bodies");
        json.BeginArray();
        for (const NetworkPlan& body : layer.m_Bodies)
        {
            WritePlan(json, body);
        }
        json.EndArray();
    }
    json.EndObject();
}

} // namespace

void WritePlan(JsonWriter& json, const NetworkPlan& plan)
{
    json.BeginObject();
    json.Member("max_threads", plan.m_MaxThreads);
    json.Member("arena_bytes", uint64_t{plan.m_ArenaBytes});
    json.Key("input_shapes");
    json.BeginArray();
    for (const TensorShape& shape : plan.m_InputShapes)
    {
        WriteShape(json, shape);
    }
    json.EndArray();
    json.Key("layers");
    json.BeginArray();
    for (const PlannedLayer& layer : plan.m_Layers)
    {
        WriteLayer(json, layer);
    }
    json.EndArray();
    json.Key("fusions");
    json.BeginArray();
    for (const FusionReport& fusion : plan.m_Fusions)
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("fusion", fusion.m_Fusion);
        json.Member("first", uint64_t{fusion.m_First});
        json.Member("last", uint64_t{fusion.m_Last});
        json.Member("applied", fusion.m_WhyNot.empty());
        json.Member("why_not", fusion.m_WhyNot);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
}

void WriteAssignment(JsonWriter& json, const std::vector<LayerAssignment>& assignment)
{
    json.BeginArray();
    for (const LayerAssignment& layer : assignment)
    {
        json.BeginObject();
        if (!layer.m_Network.empty())
        {
            json.Member("network", layer.m_Network);
        }
        json.Member("layer", layer.m_Name);
        json.Member("type", GetLayerTypeAsCString(layer.m_Type));
        json.Member("backend", layer.m_Backend.Get());
        if (!layer.m_FusedActivation.empty())
        {
            json.Member("fused_activation", layer.m_FusedActivation);
        }
        json.Member("reason", layer.m_Reason);
        json.EndObject();
    }
    json.EndArray();
}

void WriteStatistics(JsonWriter& json, const NetworkStatistics& statistics)
{
    json.BeginObject();
    json.Member("arena_bytes", uint64_t{statistics.m_ArenaBytes});
    json.Member("arena_lower_bound_bytes", uint64_t{statistics.m_ArenaLowerBoundBytes});
    json.Key("arenas");
    json.BeginArray();
    for (const ArenaStatistics& arena : statistics.m_Arenas)
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("memory", arena.m_Memory);
        json.Member("bytes", uint64_t{arena.m_Bytes});
        json.Member("lower_bound_bytes", uint64_t{arena.m_LowerBoundBytes});
        json.Member("is_smallest", arena.m_IsSmallest);
        json.EndObject();
    }
    json.EndArray();
    json.Member("workloads", uint64_t{statistics.m_NumWorkloads});
    json.Member("contexts", uint64_t{statistics.m_NumContexts});
    json.EndObject();
}

} // namespace tenon
