// SPDX-License-Identifier: Apache-2.0
// What a run tells about itself: --report-json and the lines about times and backends. Run.cpp fills it.
#pragma once

#include "cli/Model.hpp"
#include "json/JsonWriter.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/NetworkPlan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cli
{

struct Statistics
{
    double m_Min = 0.0;
    double m_Median = 0.0;
    double m_Mean = 0.0;
    double m_P90 = 0.0;
    double m_Max = 0.0;
    double m_Std = 0.0;
};

/// Percentiles are interpolated between neighbours, as NumPy's are; the standard deviation is that of the values
/// themselves (divided by their number). Absent for no values.
std::optional<Statistics> ComputeStatistics(std::vector<double> values);

struct Report
{
    std::string m_ModelPath;
    std::vector<std::string> m_Compute;
    /// Making the runtime, parsing the model and loading the optimized network; input files are not in it.
    double m_LoadMs = 0.0;
    double m_OptimizeMs = 0.0;
    double m_FirstInferenceMs = 0.0;
    /// Of the iterations after the first.
    std::vector<double> m_InferenceMs;
    uint64_t m_PeakRssBytes = 0;
    uint64_t m_ArenaBytes = 0;
    uint64_t m_ArenaLowerBoundBytes = 0;
    bool m_ArenaIsSmallest = false; ///< see ArenaStatistics: of all arenas
    unsigned int m_Threads = 0;
    /// With the shapes of the last run.
    std::vector<Binding> m_Inputs;
    std::vector<Binding> m_Outputs;
    uint64_t m_LayersBefore = 0; ///< that compute, as the model has them: all but inputs, outputs and constants
    std::vector<LayerAssignment> m_Assignment;
    /// What the optimizer remarked: shapes that the model declared otherwise, and each layer that a preferred backend
    /// passed on. Too many for a terminal.
    std::vector<std::string> m_Messages;
    std::optional<NetworkPlan> m_Plan; ///< of the last run, where it is asked for
};

/// A name and a list of texts.
void WriteTexts(JsonWriter& json, const char* key, const std::vector<std::string>& texts);

/// Whether a layer is neither input nor output nor constant.
bool Computes(LayerType type);

/// How many layers of a network compute; nested networks are a part of their layer.
uint64_t CountLayers(const INetwork& network);

/// load_ms, optimize_ms, first_inference_ms, inference_ms (null for a single iteration), peak_rss_bytes, arena_bytes,
/// arena_lower_bound_bytes, threads, inputs and outputs (name, type, shape, quantization), assignment (layer, type,
/// backend, reason), messages, and the model, compute and version that they belong to.
std::string FormatReport(const Report& report);

/// How many layers each backend runs, in the order of first use, of those that layers_after counts.
std::vector<std::pair<std::string, uint64_t>> CountByBackend(const std::vector<LayerAssignment>& assignment);

/// "CpuAcc 36, CpuRef 30"
std::string FormatCounts(const std::vector<std::pair<std::string, uint64_t>>& counts);

/// "66 layers: CpuAcc 36, CpuRef 30", of those that layers_after counts.
std::string SummarizeAssignment(const std::vector<LayerAssignment>& assignment);

/// A line for each layer: name, type, element type, backend and reason, in columns. Constants are left out: nobody runs
/// them.
std::string FormatAssignment(const std::vector<LayerAssignment>& assignment);

/// Throws RunError where an iteration took more than `maxMs` milliseconds, if that is not 0.
void CheckTimes(const Report& report, float maxMs);

/// "load 1.2 ms, optimize 3.4 ms, first inference 80.1 ms"
std::string SummarizeTimes(const Report& report);

} // namespace tenon::cli
