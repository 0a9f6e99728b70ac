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
    json.Key("type");
    json.String(GetDataTypeName(info.GetDataType()));
    json.Key("shape");
    WriteShape(json, info.GetShape());
    if (info.HasQuantization())
    {
        json.Key("scales");
        json.BeginArray();
        for (const float scale : info.GetQuantizationScales())
        {
            json.Number(scale);
        }
        json.EndArray();
        json.Key("zero_points");
        json.BeginArray();
        for (const int32_t offset : info.GetQuantizationOffsets())
        {
            json.Number(int64_t{offset});
        }
        json.EndArray();
        if (info.GetQuantizationDim().has_value())
        {
            json.Key("quantized_dimension");
            json.Number(uint64_t{info.GetQuantizationDim().value()});
        }
    }
    json.EndObject();
}

void WriteIdentity(JsonWriter& json, const Layer& layer)
{
    json.Key("guid");
    json.Number(static_cast<uint64_t>(layer.GetGuid()));
    json.Key("name");
    json.String(layer.GetNameStr());
    json.Key("type");
    json.String(layer.GetSchema().m_Name);
}

void WriteParameters(JsonWriter& json, const Layer& layer)
{
    json.Key("parameters");
    json.BeginObject();
    layer.GetSchema().m_VisitFields(layer.GetParameters(),
                                    [&](const char* name, const std::string& value)
                                    {
                                        json.Key(name);
                                        json.String(value);
                                    });
    json.EndObject();
}

} // namespace tenon
