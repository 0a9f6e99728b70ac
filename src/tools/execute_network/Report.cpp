// SPDX-License-Identifier: Apache-2.0
// See Report.hpp.
#include "tools/execute_network/Report.hpp"

#include "reports/Reports.hpp"
#include "tools/benchmark/BenchmarkReport.hpp"
#include "tools/common/Assignment.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Statistics.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TensorJson.hpp"

#include <tenon/Utils.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tenon::tools
{
namespace
{

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
    json.Member("layers_after", CountLayers(report.m_Assignment));
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
    if (report.m_Comparison != nullptr)
    {
        json.Key("comparison");
        WriteComparison(json, *report.m_Comparison);
    }
    json.EndObject();
    return json.Text() + "\n";
}

std::string SummarizeAssignment(const std::vector<LayerAssignment>& assignment)
{
    const std::string counts = FormatCounts(CountByBackend(assignment));
    return fmt::format("{} layers{}{}", CountLayers(assignment), counts.empty() ? "" : ": ", counts);
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
