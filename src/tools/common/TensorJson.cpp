// SPDX-License-Identifier: Apache-2.0
// See TensorJson.hpp.
#include "tools/common/TensorJson.hpp"

#include "reports/Reports.hpp"

namespace tenon::tools
{
namespace
{

void WriteQuantization(JsonWriter& json, const TensorInfo& info)
{
    if (!info.HasQuantization())
    {
        json.Null();
        return;
    }
    json.BeginObject();
    if (info.HasMultipleQuantizationScales())
    {
        json.Key("scales");
        json.BeginArray();
        for (const float scale : info.GetQuantizationScales())
        {
            json.Number(static_cast<double>(scale));
        }
        json.EndArray();
        json.Numbers("zero_points", info.GetQuantizationOffsets());
        json.Member("dimension", info.GetQuantizationDim().value_or(0U));
        if (info.HasBlockwiseQuantization())
        {
            json.Member("block_size", info.GetQuantizationBlockSize());
        }
    }
    else
    {
        json.Member("scale", static_cast<double>(info.GetQuantizationScale()));
        json.Member("zero_point", info.GetQuantizationOffset());
    }
    json.EndObject();
}

} // namespace

void WriteTexts(JsonWriter& json, const char* key, const std::vector<std::string>& texts)
{
    json.Key(key);
    json.BeginArray();
    for (const std::string& text : texts)
    {
        json.String(text);
    }
    json.EndArray();
}

void WriteTensor(JsonWriter& json, const Binding& binding)
{
    json.Member("name", binding.m_Name);
    json.Member("type", GetDataTypeName(binding.m_Info.GetDataType()));
    json.Key("shape");
    WriteShape(json, binding.m_Info.GetShape());
    json.Key("quantization");
    WriteQuantization(json, binding.m_Info);
}

void WriteTensors(JsonWriter& json, const char* key, const std::vector<Binding>& bindings)
{
    json.Key(key);
    json.BeginArray();
    for (const Binding& binding : bindings)
    {
        json.BeginObject();
        WriteTensor(json, binding);
        json.EndObject();
    }
    json.EndArray();
}

} // namespace tenon::tools
