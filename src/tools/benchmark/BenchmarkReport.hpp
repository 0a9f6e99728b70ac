// SPDX-License-Identifier: Apache-2.0
// The results of a benchmark: lines as TFLite's benchmark_model prints them, tables and pictures for people, and JSON.
#pragma once

#include "json/JsonWriter.hpp"
#include "tools/benchmark/Figures.hpp"
#include "tools/benchmark/Measure.hpp"
#include "tools/benchmark/Ratio.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{

struct BenchmarkSide
{
    std::string m_Name;
    Figures m_Figures;
    std::vector<double> m_WarmupMs;
    CallerRuns m_Runs;
};

struct BenchmarkResult
{
    unsigned int m_WarmupRuns = 1;
    RunBounds m_Bounds;
    std::vector<BenchmarkSide> m_Sides; ///< one, or two with --against
    std::optional<double> m_JoulesPerInference;
    std::string m_WhyNoEnergy;
    std::string m_AgainstKind;    ///< "model", "backends" or "library"; the rest is for two sides, too
    std::optional<Ratio> m_Ratio; ///< of the times of the second side by those of the first
    size_t m_NumRounds = 0;
};

// Lines of benchmark_model.

/// "The input model file size (MB): 4.27635"
std::string FormatModelSize(uint64_t bytes);
/// "Initialized session in 3.84ms."
std::string FormatInit(const Figures& figures);
/// "Running benchmark for at least 1 iterations and at least 0.5 seconds but terminate if exceeding 150 seconds."
std::string FormatBounds(const RunBounds& bounds);
/// "count=361 first=2795 curr=2704 min=2653 max=2849 avg=2693.12 std=21", and "count=1 curr=2795" for a single run
std::string FormatCounts(const std::vector<double>& milliseconds);
/// "Inference timings in us: Init: 3840, First inference: 6036, Warmup (avg): 6036.8, Inference (avg): 2693.12", and
/// "Peak memory footprint (MB): init=2.75391 overall=29.0273" where it is known.
std::string FormatTimings(const BenchmarkSide& side);

/// A table with a column for each side, that of several callers, histograms, and the ratio of two sides. Histograms are
/// `width` wide at most.
std::string FormatBenchmark(const BenchmarkResult& result, size_t width);

std::string FormatBenchmarkJson(const BenchmarkResult& result);

/// A name, and count, min, median, mean, p90, p99, max and std of times, or null if there are none.
void WriteTimes(JsonWriter& json, const char* key, const std::vector<double>& times);

} // namespace tenon::tools
