// SPDX-License-Identifier: Apache-2.0
// See FileReport.hpp.
#include "tools/execute_network/FileReport.hpp"

#include "json/JsonWriter.hpp"
#include "reports/Reports.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Labels.hpp"
#include "tools/common/TensorJson.hpp"
#include "tools/execute_network/Summary.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tenon::tools
{
namespace
{

void WriteValue(JsonWriter& json, DataType type, const std::byte* data, size_t i)
{
    if (IsFloatType(type))
    {
        const double value = GetElement(type, data, i);
        type == DataType::Float64 ? json.Number(value) : json.Number(static_cast<float>(value));
        return;
    }
    std::string text;
    AppendElement(type, data, i, text); // "true" for a Boolean, as in JSON
    const bool isComplex = type == DataType::Complex64 || type == DataType::Complex128;
    isComplex ? json.String(text) : json.Json(text);
}

void WriteValues(JsonWriter& json, const OutputData& output)
{
    json.Key("values");
    const uint64_t count = output.m_Info.GetShape().GetNumElements64();
    if (count > MaxPrintedValues)
    {
        json.Null();
        return;
    }
    json.BeginArray();
    for (size_t i = 0; i < count; ++i)
    {
        WriteValue(json, output.m_Info.GetDataType(), output.m_Data.Data(), i);
    }
    json.EndArray();
}

void WriteBest(JsonWriter& json, const OutputData& output, const ShownClasses& shown)
{
    for (size_t row = 0; row < CountScoreRows(output); ++row)
    {
        json.BeginArray();
        for (const RankedClass& ranking : RankClasses(output, row, shown.m_Count))
        {
            json.BeginObject();
            json.Member("class", ranking.m_Index);
            json.Member("score", ranking.m_Score);
            json.Key("label");
            ranking.m_Index < shown.m_Labels->size() ? json.String((*shown.m_Labels)[ranking.m_Index]) : json.Null();
            json.EndObject();
        }
        json.EndArray();
    }
}

void WriteOutput(JsonWriter& json, const Binding& binding, const OutputData& output,
                 const std::optional<ShownClasses>& shown)
{
    json.BeginObject();
    json.Member("name", binding.m_Name);
    json.Key("shape");
    WriteShape(json, output.m_Info.GetShape());
    WriteValues(json, output);
    json.Key("best");
    json.BeginArray();
    if (shown)
    {
        WriteBest(json, output, *shown);
    }
    json.EndArray();
    json.EndObject();
}

} // namespace

std::string FormatFileReport(const std::vector<std::string>& files, double inferenceMs, const Options& options,
                             const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& labels)
{
    JsonWriter json;
    json.BeginObject(JsonWriter::Layout::Line);
    WriteTexts(json, "files", files);
    json.Member("inference_ms", inferenceMs);
    json.Key("error");
    json.Null();
    json.Key("outputs");
    json.BeginArray();
    for (const Binding& binding : bindings)
    {
        const OutputData& output = outputs.Get(binding.m_Id);
        WriteOutput(json, binding, output, GetShownClasses(options, binding, output, labels));
    }
    json.EndArray();
    json.EndObject();
    return json.Text();
}

std::string FormatFileFailure(const std::vector<std::string>& files, const std::string& error)
{
    JsonWriter json;
    json.BeginObject(JsonWriter::Layout::Line);
    WriteTexts(json, "files", files);
    json.Key("inference_ms");
    json.Null();
    json.Member("error", error);
    json.Key("outputs");
    json.BeginArray();
    json.EndArray();
    json.EndObject();
    return json.Text();
}

} // namespace tenon::tools
