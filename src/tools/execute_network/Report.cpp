// SPDX-License-Identifier: Apache-2.0
// See Report.hpp.
#include "tools/execute_network/Report.hpp"

#include "reports/Reports.hpp"
#include "tools/benchmark/BenchmarkReport.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Statistics.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Utils.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

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

void WriteTensors(JsonWriter& json, const char* key, const std::vector<Binding>& bindings)
{
    json.Key(key);
    json.BeginArray();
    for (const Binding& binding : bindings)
    {
        json.BeginObject();
        json.Member("name", binding.m_Name);
        json.Member("type", GetDataTypeName(binding.m_Info.GetDataType()));
        WriteShape(json, binding.m_Info.GetShape());
        json.Key("quantization");
        WriteQuantization(json, binding.m_Info);
        json.EndObject();
    }
    json.EndArray();
}

struct LayerCounter final : IStrategy
{
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                         const char*, LayerBindingId) override
    {
        m_Count += Computes(layer->GetType()) ? 1 : 0;
    }
    uint64_t m_Count = 0;
};

/// As layers_before counts: nested networks are a part of their layer.
bool IsCounted(const LayerAssignment& layer)
{
    return layer.m_Network.empty() && Computes(layer.m_Type);
}

int64_t CountAssigned(const std::vector<LayerAssignment>& assignment)
{
    return std::count_if(assignment.begin(), assignment.end(), IsCounted);
}

uint64_t CountPartitions(const std::vector<LayerAssignment>& assignment)
{
    std::set<unsigned int> numbers;
    for (const LayerAssignment& layer : assignment)
    {
        if (layer.m_Network.empty() && layer.m_Subgraph != LayerAssignment::NoSubgraph)
        {
            numbers.insert(layer.m_Subgraph);
        }
    }
    return numbers.size();
}

} // namespace

bool Computes(LayerType type)
{
    return type != LayerType::Input && type != LayerType::Output && type != LayerType::Constant;
}

uint64_t CountLayers(const INetwork& network)
{
    LayerCounter counter;
    network.ExecuteStrategy(counter);
    return counter.m_Count;
}

void WriteShape(JsonWriter& json, const TensorShape& shape)
{
    json.Key("shape");
    json.BeginArray();
    for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
    {
        json.Number(uint64_t{shape[d]});
    }
    json.EndArray();
}

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

std::string FormatReport(const Report& report)
{
    JsonWriter json;
    json.BeginObject();
    json.Member("version", GetVersion());
    json.Member("model", report.m_ModelPath);
    WriteTexts(json, "compute", report.m_Compute);
    json.Member("load_ms", report.m_LoadMs);
    json.Member("optimize_ms", report.m_OptimizeMs);
    json.Member("first_inference_ms", report.m_FirstInferenceMs);
    WriteTimes(json, "inference_ms", report.m_InferenceMs);
    json.Member("peak_rss_bytes", report.m_PeakRssBytes);
    json.Member("arena_bytes", report.m_ArenaBytes);
    json.Member("arena_lower_bound_bytes", report.m_ArenaLowerBoundBytes);
    json.Member("arena_is_smallest", report.m_ArenaIsSmallest);
    json.Member("threads", report.m_Threads);
    WriteTensors(json, "inputs", report.m_Inputs);
    WriteTensors(json, "outputs", report.m_Outputs);
    json.Member("layers_before", report.m_LayersBefore);
    json.Member("layers_after", CountAssigned(report.m_Assignment));
    json.Member("partitions", CountPartitions(report.m_Assignment));
    json.Key("assignment");
    WriteAssignment(json, report.m_Assignment);
    WriteTexts(json, "messages", report.m_Messages);
    if (report.m_Profile)
    {
        json.Key("profile");
        WriteProfile(json, *report.m_Profile);
    }
    if (!report.m_Files.empty())
    {
        json.Key("files");
        json.BeginArray();
        for (const std::string& file : report.m_Files)
        {
            json.Json(file);
        }
        json.EndArray();
    }
    if (!report.m_Benchmark.empty())
    {
        json.Key("benchmark");
        json.Json(report.m_Benchmark);
    }
    json.EndObject();
    return json.Text() + "\n";
}

std::vector<std::pair<std::string, uint64_t>> CountByBackend(const std::vector<LayerAssignment>& assignment)
{
    std::vector<std::pair<std::string, uint64_t>> counts;
    for (const LayerAssignment& layer : assignment)
    {
        if (!IsCounted(layer))
        {
            continue;
        }
        const std::string& backend = layer.m_Backend.Get();
        const auto found =
            std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == backend; });
        if (found == counts.end())
        {
            counts.emplace_back(backend, 1);
        }
        else
        {
            ++found->second;
        }
    }
    return counts;
}

std::string FormatCounts(const std::vector<std::pair<std::string, uint64_t>>& counts)
{
    std::string text;
    for (const auto& [backend, count] : counts)
    {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", backend, count);
    }
    return text;
}

std::string SummarizeAssignment(const std::vector<LayerAssignment>& assignment)
{
    const std::string counts = FormatCounts(CountByBackend(assignment));
    return fmt::format("{} layers{}{}", CountAssigned(assignment), counts.empty() ? "" : ": ", counts);
}

std::string FormatAssignment(const std::vector<LayerAssignment>& assignment)
{
    TextRows rows = {{"layer", "type", "output", "backend", "reason"}};
    for (const LayerAssignment& layer : assignment)
    {
        if (layer.m_Type != LayerType::Constant)
        {
            rows.push_back({NameCell(layer.m_Network.empty() ? layer.m_Name : layer.m_Network + "/" + layer.m_Name),
                            GetLayerTypeAsCString(layer.m_Type), GetDataTypeName(layer.m_DataType),
                            layer.m_Backend.Get(), OneLine(layer.m_Reason)});
        }
    }
    return FormatRows(rows);
}

void SetStatistics(Report& report, const NetworkStatistics& statistics)
{
    report.m_ArenaBytes = statistics.m_ArenaBytes;
    report.m_ArenaLowerBoundBytes = statistics.m_ArenaLowerBoundBytes;
    report.m_ArenaIsSmallest = std::all_of(statistics.m_Arenas.begin(), statistics.m_Arenas.end(),
                                           [](const ArenaStatistics& arena) { return arena.m_IsSmallest; });
}

std::string SummarizeTimes(const Report& report)
{
    std::string text = fmt::format("load {:.2f} ms, optimize {:.2f} ms, first inference {:.2f} ms", report.m_LoadMs,
                                   report.m_OptimizeMs, report.m_FirstInferenceMs);
    if (const auto statistics = ComputeStatistics(report.m_InferenceMs))
    {
        text += fmt::format("\n{} more: min {:.3f}, median {:.3f}, mean {:.3f}, p90 {:.3f}, max {:.3f}, std {:.3f} ms",
                            report.m_InferenceMs.size(), statistics->m_Min, statistics->m_Median, statistics->m_Mean,
                            statistics->m_P90, statistics->m_Max, statistics->m_Std);
    }
    return text;
}

void CheckTimes(const Report& report, float maxMs)
{
    double slowest = report.m_FirstInferenceMs;
    for (const double time : report.m_InferenceMs)
    {
        slowest = std::max(slowest, time);
    }
    if (maxMs > 0.0f && slowest > static_cast<double>(maxMs))
    {
        throw RunError(fmt::format("--threshold-time: the slowest iteration took {:.3f} ms, more than the {:g} ms that "
                                   "are allowed",
                                   slowest, maxMs));
    }
}

} // namespace tenon::tools
