// SPDX-License-Identifier: Apache-2.0
// See Comparison.hpp: the JSON.
#include "tools/common/Statistics.hpp"
#include "tools/compare/Comparison.hpp"

namespace tenon::tools
{
namespace
{

void WriteOptional(JsonWriter& json, const char* key, const auto& value)
{
    json.Key(key);
    value ? json.Number(*value) : json.Null();
}

/// A text, or null if it is empty.
void WriteText(JsonWriter& json, const char* key, const std::string& text)
{
    json.Key(key);
    text.empty() ? json.Null() : json.String(text);
}

void WriteTimes(JsonWriter& json, const char* key, const std::vector<double>& ms)
{
    json.Key(key);
    const std::optional<Statistics> statistics = ComputeStatistics(ms);
    if (!statistics)
    {
        json.Null();
        return;
    }
    json.BeginObject(JsonWriter::Layout::Line);
    json.Member("mean", statistics->m_Mean);
    json.Member("std", statistics->m_Std);
    json.Member("median", statistics->m_Median);
    json.EndObject();
}

void WriteTolerance(JsonWriter& json, const std::optional<Tolerance>& tolerance)
{
    json.Key("tolerance");
    if (!tolerance)
    {
        json.Null();
        return;
    }
    json.BeginObject(JsonWriter::Layout::Line);
    WriteOptional(json, "abs", tolerance->m_Absolute);
    WriteOptional(json, "rel", tolerance->m_Relative);
    WriteOptional(json, "ulp", tolerance->m_Ulp);
    WriteOptional(json, "steps", tolerance->m_Steps);
    json.EndObject();
}

const char* NameMeasure(Measure measure)
{
    switch (measure)
    {
    case Measure::Floats: return "ulp";
    case Measure::Steps: return "steps";
    case Measure::Reals: return "real";
    case Measure::Exact: break;
    }
    return "exact";
}

void WriteWorst(JsonWriter& json, const std::optional<WorstElement>& worst)
{
    json.Key("worst");
    if (!worst)
    {
        json.Null();
        return;
    }
    json.BeginObject(JsonWriter::Layout::Line);
    json.Member("run", worst->m_Run);
    json.Member("index", worst->m_Index);
    json.Member("tested", worst->m_Tested);
    json.Member("reference", worst->m_Reference);
    json.EndObject();
}

/// The classes with elements, by their largest value; null for the last one, which has no bound.
void WriteHistogram(JsonWriter& json, const TensorDifference& difference)
{
    json.Key("histogram");
    json.BeginArray(JsonWriter::Layout::Line);
    const auto& counts = difference.Histogram();
    for (size_t i = 0; i < counts.size(); ++i)
    {
        if (counts[i] > 0)
        {
            json.BeginObject();
            json.Key("max");
            i < HistogramBounds.size() ? json.Number(HistogramBounds[i]) : json.Null();
            json.Member("count", counts[i]);
            json.EndObject();
        }
    }
    json.EndArray();
}

void WriteFigures(JsonWriter& json, const TensorDifference& difference)
{
    json.Member("measure", NameMeasure(difference.GetMeasure()));
    json.Member("elements", difference.NumElements());
    json.Member("different", difference.NumDifferent());
    json.Member("out_of_tolerance", difference.NumOutOfTolerance());
    json.Member("non_finite_in_one", difference.NumOddNonFinite());
    json.Member("non_finite_in_both", difference.NumEqualNonFinite());
    json.Member("mean_error", difference.MeanError());
    json.Member("max_error", difference.MaxError());
    json.Member("std_error", difference.StdError());
    json.Member("rms_error", difference.RmsError());
    json.Member("bias", difference.Bias());
    json.Member("max_relative_error", difference.MaxRelativeError());
    WriteOptional(json, "relative_rms_error", difference.RelativeRmsError());
    WriteOptional(json, "cosine", difference.Cosine());
    WriteWorst(json, difference.Worst());
    WriteHistogram(json, difference);
}

void WriteOutputs(JsonWriter& json, const std::vector<ComparedOutput>& outputs)
{
    json.Key("outputs");
    json.BeginArray();
    for (const ComparedOutput& output : outputs)
    {
        json.BeginObject();
        json.Member("name", output.m_Name);
        json.Member("reference_name", output.m_ReferenceName);
        json.Member("type", GetDataTypeName(output.m_Info.GetDataType()));
        json.Member("reference_type", GetDataTypeName(output.m_ReferenceInfo.GetDataType()));
        WriteFigures(json, output.m_Difference);
        json.Numbers("mean_errors_of_runs", output.m_Difference.MeanErrorsOfRuns());
        WriteText(json, "note", DescribeTies(output));
        json.EndObject();
    }
    json.EndArray();
}

void WriteLayers(JsonWriter& json, const std::vector<ComparedLayer>& layers)
{
    WriteOptional(json, "first_layer_that_differs", FindFirstDifference(layers));
    WriteOptional(json, "first_layer_out_of_tolerance", FindFirstOutOfTolerance(layers));
    json.Key("layers");
    json.BeginArray();
    for (const ComparedLayer& layer : layers)
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("layer", layer.m_Name);
        json.Member("type", layer.m_Type);
        json.Member("output", layer.m_Output);
        WriteText(json, "backend", layer.m_Backend);
        WriteText(json, "reference_backend", layer.m_ReferenceBackend);
        WriteText(json, "why_not", layer.m_WhyNot);
        WriteText(json, "fusion", layer.m_Fusion);
        if (layer.m_Difference)
        {
            WriteFigures(json, *layer.m_Difference);
        }
        json.EndObject();
    }
    json.EndArray();
}

} // namespace

void WriteComparison(JsonWriter& json, const Comparison& comparison)
{
    json.BeginObject();
    json.Member("tested", comparison.m_Tested);
    json.Member("reference", comparison.m_Reference);
    json.Member("runs", comparison.m_NumRuns);
    json.Key("files");
    json.BeginArray();
    for (const std::string& file : comparison.m_Files)
    {
        json.String(file);
    }
    json.EndArray();
    WriteTimes(json, "tested_ms", comparison.m_TestedMs);
    WriteTimes(json, "reference_ms", comparison.m_ReferenceMs);
    WriteTolerance(json, comparison.m_Tolerance);
    json.Key("is_within_tolerance");
    comparison.m_Tolerance ? json.Boolean(CountOutOfTolerance(comparison) == 0) : json.Null();
    WriteOutputs(json, comparison.m_Outputs);
    if (!comparison.m_Layers.empty())
    {
        WriteLayers(json, comparison.m_Layers);
    }
    json.EndObject();
}

} // namespace tenon::tools
