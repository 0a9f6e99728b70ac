// SPDX-License-Identifier: Apache-2.0
// See LayerJson.hpp.
#include "graph/LayerJson.hpp"

namespace tenon
{

namespace
{

void WriteShape(JsonWriter& json, const TensorShape& shape)
{
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        json.Null();
        return;
    }
    json.BeginArray();
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        json.Number(shape.GetDimensionSpecificity(i) ? int64_t{shape[i]} : int64_t{-1});
    }
    json.EndArray();
}

} // namespace

void WriteInfo(JsonWriter& json, const TensorInfo& info)
{
    json.BeginObject(JsonWriter::Layout::Line);
    json.Member("type", GetDataTypeName(info.GetDataType()));
    json.Key("shape");
    WriteShape(json, info.GetShape());
    if (info.HasQuantization())
    {
        json.Numbers("scales", info.GetQuantizationScales());
        json.Numbers("zero_points", info.GetQuantizationOffsets());
        if (info.GetQuantizationDim().has_value())
        {
            json.Member("quantized_dimension", info.GetQuantizationDim().value());
        }
        if (info.HasBlockwiseQuantization())
        {
            json.Member("block_size", info.GetQuantizationBlockSize());
        }
    }
    json.EndObject();
}

void WriteIdentity(JsonWriter& json, const Layer& layer)
{
    json.Member("guid", static_cast<uint64_t>(layer.GetGuid()));
    json.Member("name", layer.GetNameStr());
    json.Member("type", layer.GetSchema().m_Name);
}

void WriteParameters(JsonWriter& json, const Layer& layer)
{
    json.Key("parameters");
    json.BeginObject();
    layer.GetSchema().m_VisitFields(layer.GetParameters(),
                                    [&](const char* name, const std::string& value) { json.Member(name, value); });
    json.EndObject();
}

} // namespace tenon
