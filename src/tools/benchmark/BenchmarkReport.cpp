// SPDX-License-Identifier: Apache-2.0
// See BenchmarkReport.hpp.
#include "tools/benchmark/BenchmarkReport.hpp"

#include "tools/benchmark/Histogram.hpp"
#include "tools/common/Statistics.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tenon::tools
{
namespace
{

constexpr double MicrosecondsPerMs = 1000.0;
constexpr double BytesPerMb = 1024.0 * 1024.0;
constexpr const char* Unknown = "-";

double Mean(const std::vector<double>& values)
{
    return ComputeStatistics(values).value_or(Statistics()).m_Mean;
}

int64_t Microseconds(double ms)
{
    return std::llround(ms * MicrosecondsPerMs);
}

std::vector<double> JoinCallers(const BenchmarkSide& side)
{
    std::vector<double> all;
    for (const std::vector<double>& times : side.m_Runs.m_Ms)
    {
        all.insert(all.end(), times.begin(), times.end());
    }
    return all;
}

/// Of all callers together.
double InferencesPerSecond(const BenchmarkSide& side)
{
    const std::vector<double> all = JoinCallers(side);
    return side.m_Runs.m_Seconds > 0.0 ? static_cast<double>(all.size()) / side.m_Runs.m_Seconds : 0.0;
}

/// The growth of a peak since the begin; nothing if it is not known.
std::optional<double> Growth(const Figures& figures, uint64_t bytes)
{
    return bytes > 0 ? std::optional(static_cast<double>(bytes - std::min(bytes, figures.m_StartBytes))) : std::nullopt;
}

/// Four digits or more.
std::string FormatNumber(double number)
{
    const int whole = number >= 1.0 ? static_cast<int>(std::log10(number)) + 1 : 1;
    return fmt::format("{:.{}f}", number, std::max(0, 4 - whole) + (number < 1.0 ? 1 : 0));
}

std::string FormatMb(std::optional<double> bytes)
{
    return bytes ? fmt::format("{:.2f}", *bytes / BytesPerMb) : Unknown;
}

/// A title, and its text for a side.
using Row = std::pair<const char*, std::function<std::string(const BenchmarkSide&, const Statistics&)>>;

std::vector<Row> MakeRows(const BenchmarkResult& result)
{
    const auto ofFigures = [](double Figures::*ms)
    { return [ms](const BenchmarkSide& side, const Statistics&) { return FormatNumber(side.m_Figures.*ms); }; };
    const auto ofTimes = [](double Statistics::*ms)
    { return [ms](const BenchmarkSide&, const Statistics& statistics) { return FormatNumber(statistics.*ms); }; };
    std::vector<Row> rows = {{"make the runtime, ms", ofFigures(&Figures::m_RuntimeMs)},
                             {"parse, ms", ofFigures(&Figures::m_ParseMs)},
                             {"optimize, ms", ofFigures(&Figures::m_OptimizeMs)},
                             {"load, ms", ofFigures(&Figures::m_LoadMs)},
                             {"first inference, ms", ofFigures(&Figures::m_FirstMs)},
                             {"inferences", [](const BenchmarkSide& side, const Statistics&)
                              { return std::to_string(JoinCallers(side).size()); }},
                             {"min, ms", ofTimes(&Statistics::m_Min)},
                             {"median, ms", ofTimes(&Statistics::m_Median)},
                             {"mean, ms", ofTimes(&Statistics::m_Mean)},
                             {"p90, ms", ofTimes(&Statistics::m_P90)},
                             {"p99, ms", ofTimes(&Statistics::m_P99)},
                             {"max, ms", ofTimes(&Statistics::m_Max)},
                             {"std, ms", ofTimes(&Statistics::m_Std)},
                             {"inferences per second", [](const BenchmarkSide& side, const Statistics&)
                              { return FormatNumber(InferencesPerSecond(side)); }},
                             {"peak memory at init, MB", [](const BenchmarkSide& side, const Statistics&)
                              { return FormatMb(Growth(side.m_Figures, side.m_Figures.m_InitBytes)); }},
                             {"peak memory overall, MB", [](const BenchmarkSide& side, const Statistics&)
                              { return FormatMb(Growth(side.m_Figures, side.m_Figures.m_OverallBytes)); }},
                             {"arena, MB", [](const BenchmarkSide& side, const Statistics&)
                              { return FormatMb(static_cast<double>(side.m_Figures.m_ArenaBytes)); }}};
    if (result.m_JoulesPerInference)
    {
        rows.emplace_back("energy per inference, mJ", [joules = *result.m_JoulesPerInference](const auto&, const auto&)
                          { return FormatNumber(joules * 1000.0); });
    }
    return rows;
}

std::string FormatSides(const BenchmarkResult& result)
{
    TextRows cells(1);
    std::vector<Statistics> statistics;
    cells.front().emplace_back();
    for (const BenchmarkSide& side : result.m_Sides)
    {
        cells.front().push_back(NameCell(side.m_Name));
        statistics.push_back(ComputeStatistics(JoinCallers(side)).value_or(Statistics()));
    }
    for (const auto& [title, format] : MakeRows(result))
    {
        std::vector<std::string> line = {title};
        bool isKnown = false;
        for (size_t i = 0; i < result.m_Sides.size(); ++i)
        {
            line.push_back(format(result.m_Sides[i], statistics[i]));
            isKnown = isKnown || line.back() != Unknown;
        }
        if (isKnown)
        {
            cells.push_back(line);
        }
    }
    return FormatRows(cells);
}

std::string FormatCallers(const std::vector<std::vector<double>>& callers)
{
    TextRows cells = {{"caller", "inferences", "min, ms", "median, ms", "p90, ms", "p99, ms", "max, ms"}};
    for (size_t caller = 0; caller < callers.size(); ++caller)
    {
        const Statistics statistics = ComputeStatistics(callers[caller]).value_or(Statistics());
        cells.push_back({std::to_string(caller + 1), std::to_string(callers[caller].size()),
                         FormatNumber(statistics.m_Min), FormatNumber(statistics.m_Median),
                         FormatNumber(statistics.m_P90), FormatNumber(statistics.m_P99),
                         FormatNumber(statistics.m_Max)});
    }
    return FormatRows(cells);
}

/// Sides of similar times share their rows.
std::string FormatHistograms(const BenchmarkResult& result, size_t width)
{
    constexpr double maxRatio = 4.0;
    std::vector<std::vector<double>> times;
    std::vector<std::string> names;
    for (const BenchmarkSide& side : result.m_Sides)
    {
        times.push_back(JoinCallers(side));
        names.push_back(NameCell(side.m_Name));
    }
    const double ratio = result.m_Ratio.value_or(Ratio()).m_Ratio;
    if (std::max(ratio, 1.0 / ratio) <= maxRatio)
    {
        return FormatHistogram(MakeHistogram(times), names, width);
    }
    std::string text;
    for (size_t i = 0; i < times.size(); ++i)
    {
        text += fmt::format("{}{}\n", i > 0 ? "\n" : "", names[i]) +
                FormatHistogram(MakeHistogram({times[i]}), {names[i]}, width);
    }
    return text;
}

std::string FormatRatio(const BenchmarkResult& result)
{
    const Ratio& ratio = *result.m_Ratio;
    std::string text = fmt::format("'{}' takes {} times as long as '{}'", OneLine(result.m_Sides[1].m_Name),
                                   FormatNumber(ratio.m_Ratio), OneLine(result.m_Sides[0].m_Name));
    if (!ratio.m_Interval)
    {
        return text + fmt::format("; {} rounds are too few for a confidence interval\n", result.m_NumRounds);
    }
    const auto& [low, high] = *ratio.m_Interval;
    text += fmt::format(" ({:.0f}% confidence: {} to {}, {} rounds)\n", RatioConfidence * 100.0, FormatNumber(low),
                        FormatNumber(high), result.m_NumRounds);
    return text + (low <= 1.0 && high >= 1.0 ? "no difference can be told\n" : "");
}

void WriteBytes(JsonWriter& json, const char* key, uint64_t bytes)
{
    json.Key(key);
    bytes > 0 ? json.Number(bytes) : json.Null();
}

void WriteHistogram(JsonWriter& json, const std::vector<double>& times)
{
    json.Key("histogram");
    json.BeginArray();
    for (const HistogramRow& row : MakeHistogram({times}))
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("from_ms", row.m_From);
        json.Member("to_ms", row.m_To);
        json.Member("count", row.m_Counts.front());
        json.EndObject();
    }
    json.EndArray();
}

void WriteSide(JsonWriter& json, const BenchmarkSide& side)
{
    const Figures& figures = side.m_Figures;
    json.BeginObject();
    json.Member("name", side.m_Name);
    json.Member("runtime_ms", figures.m_RuntimeMs);
    json.Member("parse_ms", figures.m_ParseMs);
    json.Member("optimize_ms", figures.m_OptimizeMs);
    json.Member("load_ms", figures.m_LoadMs);
    json.Member("first_inference_ms", figures.m_FirstMs);
    WriteTimes(json, "warmup_ms", side.m_WarmupMs);
    const std::vector<double> all = JoinCallers(side);
    WriteTimes(json, "inference_ms", all);
    json.Member("inferences_per_second", InferencesPerSecond(side));
    WriteBytes(json, "start_peak_rss_bytes", figures.m_StartBytes);
    WriteBytes(json, "init_peak_rss_bytes", figures.m_InitBytes);
    WriteBytes(json, "overall_peak_rss_bytes", figures.m_OverallBytes);
    json.Member("arena_bytes", figures.m_ArenaBytes);
    json.Key("callers");
    json.BeginArray();
    for (const std::vector<double>& times : side.m_Runs.m_Ms)
    {
        json.BeginObject();
        WriteTimes(json, "inference_ms", times);
        json.EndObject();
    }
    json.EndArray();
    WriteHistogram(json, all);
    json.EndObject();
}

void WriteAgainst(JsonWriter& json, const BenchmarkResult& result)
{
    json.Key("against");
    json.BeginObject();
    json.Member("kind", result.m_AgainstKind);
    json.Member("rounds", result.m_NumRounds);
    json.Key("ratio");
    result.m_Ratio ? json.Number(result.m_Ratio->m_Ratio) : json.Null();
    json.Key("interval");
    if (result.m_Ratio && result.m_Ratio->m_Interval)
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("low", result.m_Ratio->m_Interval->m_Low);
        json.Member("high", result.m_Ratio->m_Interval->m_High);
        json.Member("confidence", RatioConfidence);
        json.EndObject();
    }
    else
    {
        json.Null();
    }
    json.EndObject();
}

} // namespace

std::string FormatModelSize(uint64_t bytes)
{
    constexpr double bytesPerMb = 1e6; // benchmark_model has decimal megabytes here alone
    return fmt::format("The input model file size (MB): {:g}\n", static_cast<double>(bytes) / bytesPerMb);
}

std::string FormatInit(const Figures& figures)
{
    return fmt::format("Initialized session in {:g}ms.\n",
                       static_cast<double>(Microseconds(figures.InitMs())) / MicrosecondsPerMs);
}

std::string FormatBounds(const RunBounds& bounds)
{
    return fmt::format(
        "Running benchmark for at least {} iterations and at least {:g} seconds but terminate if exceeding "
        "{:g} seconds.\n",
        bounds.m_MinRuns, bounds.m_MinSeconds, bounds.m_MaxSeconds);
}

std::string FormatCounts(const std::vector<double>& milliseconds)
{
    const std::optional<Statistics> statistics = ComputeStatistics(milliseconds);
    if (milliseconds.size() < 2)
    {
        return statistics ? fmt::format("count=1 curr={}\n", Microseconds(statistics->m_Mean)) : "count=0\n";
    }
    return fmt::format("count={} first={} curr={} min={} max={} avg={:g} std={}\n", milliseconds.size(),
                       Microseconds(milliseconds.front()), Microseconds(milliseconds.back()),
                       Microseconds(statistics->m_Min), Microseconds(statistics->m_Max),
                       statistics->m_Mean * MicrosecondsPerMs, Microseconds(statistics->m_Std));
}

std::string FormatTimings(const BenchmarkSide& side)
{
    const Figures& figures = side.m_Figures;
    std::string text =
        fmt::format("Inference timings in us: Init: {}, First inference: {}, Warmup (avg): {:g}, Inference "
                    "(avg): {:g}\n",
                    Microseconds(figures.InitMs()), Microseconds(figures.m_FirstMs),
                    Mean(side.m_WarmupMs) * MicrosecondsPerMs, Mean(JoinCallers(side)) * MicrosecondsPerMs);
    const std::optional<double> init = Growth(figures, figures.m_InitBytes);
    const std::optional<double> overall = Growth(figures, figures.m_OverallBytes);
    if (init && overall)
    {
        text += fmt::format("Peak memory footprint (MB): init={:g} overall={:g}\n", *init / BytesPerMb,
                            *overall / BytesPerMb);
    }
    return text;
}

std::string FormatBenchmark(const BenchmarkResult& result, size_t width)
{
    std::string text = FormatSides(result);
    if (result.m_Sides.front().m_Runs.m_Ms.size() > 1)
    {
        text += "\n" + FormatCallers(result.m_Sides.front().m_Runs.m_Ms);
    }
    text += "\n" + FormatHistograms(result, width);
    return text + (result.m_Ratio ? "\n" + FormatRatio(result) : "");
}

std::string FormatBenchmarkJson(const BenchmarkResult& result)
{
    JsonWriter json;
    json.BeginObject();
    json.Member("warmup_runs", result.m_WarmupRuns);
    json.Member("min_runs", result.m_Bounds.m_MinRuns);
    json.Member("min_secs", result.m_Bounds.m_MinSeconds);
    json.Member("max_secs", result.m_Bounds.m_MaxSeconds);
    json.Key("sides");
    json.BeginArray();
    for (const BenchmarkSide& side : result.m_Sides)
    {
        WriteSide(json, side);
    }
    json.EndArray();
    if (result.m_Sides.size() > 1)
    {
        WriteAgainst(json, result);
    }
    else
    {
        json.Key("joules_per_inference");
        result.m_JoulesPerInference ? json.Number(*result.m_JoulesPerInference) : json.Null();
        json.Member("why_no_energy", result.m_WhyNoEnergy);
    }
    json.EndObject();
    return json.Text();
}

void WriteTimes(JsonWriter& json, const char* key, const std::vector<double>& times)
{
    json.Key(key);
    const std::optional<Statistics> statistics = ComputeStatistics(times);
    if (!statistics)
    {
        json.Null();
        return;
    }
    json.BeginObject();
    json.Member("count", times.size());
    json.Member("min", statistics->m_Min);
    json.Member("median", statistics->m_Median);
    json.Member("mean", statistics->m_Mean);
    json.Member("p90", statistics->m_P90);
    json.Member("p99", statistics->m_P99);
    json.Member("max", statistics->m_Max);
    json.Member("std", statistics->m_Std);
    json.EndObject();
}

} // namespace tenon::tools
