// SPDX-License-Identifier: Apache-2.0
// The report of a run: --report-json and the lines about times and backends. Run.cpp fills it.
#pragma once

#include "tools/common/Model.hpp"
#include "tools/compare/Comparison.hpp"
#include "tools/profile/Profile.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/NetworkPlan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools
{

struct Report
{
    std::string m_ModelPath;
    std::vector<std::string> m_Compute;
    /// Time of making the runtime, parsing the model and loading the optimized network, without input files.
    double m_LoadMs = 0.0;
    double m_RuntimeMs = 0.0; ///< its part of making the runtime
    double m_ParseMs = 0.0;   ///< and of parsing
    double m_OptimizeMs = 0.0;
    double m_FirstInferenceMs = 0.0;
    /// Times of the iterations after the first.
    std::vector<double> m_InferenceMs;
    uint64_t m_PeakRssBytes = 0;
    uint64_t m_ArenaBytes = 0;
    uint64_t m_ArenaLowerBoundBytes = 0;
    bool m_ArenaIsSmallest = false; ///< see ArenaStatistics; true if it holds for all arenas
    unsigned int m_Threads = 0;
    /// Inputs with the shapes of the last run.
    std::vector<Binding> m_Inputs;
    std::vector<Binding> m_Outputs;
    uint64_t m_LayersBefore = 0; ///< number of the model's layers that compute: all except inputs, outputs and
                                 ///< constants
    std::vector<LayerAssignment> m_Assignment;
    /// Remarks of the optimizer: shapes that the model declares differently, and each layer that a preferred backend
    /// refuses. There are too many for a terminal.
    std::vector<std::string> m_Messages;
    std::vector<std::string> m_Files;  ///< the result of each file of a folder or pattern as JSON, see FileReport.hpp
    std::optional<NetworkPlan> m_Plan; ///< plan of the last run, if requested
    std::optional<Profile> m_Profile;  ///< of all runs, if requested
    std::string m_Benchmark;           ///< the results of --benchmark as JSON, see BenchmarkReport.hpp; may be empty
    const Comparison* m_Comparison = nullptr; ///< of --compare-with, or null
};

/// load_ms, optimize_ms, first_inference_ms, inference_ms (null for a single iteration), peak_rss_bytes, arena_bytes,
/// arena_lower_bound_bytes, threads, inputs and outputs (name, type, shape, quantization), assignment (layer, type,
/// backend, reason), messages, profile, files and benchmark if there are any, and the model, compute and version that
/// they belong to.
std::string FormatReport(const Report& report);

/// "66 layers: CpuAcc 36, CpuRef 30", for the layers that layers_after counts.
std::string SummarizeAssignment(const std::vector<LayerAssignment>& assignment);

/// A line for each layer: name, type, element type, backend and reason, in columns. Constants are left out, because no
/// backend runs them.
std::string FormatAssignment(const std::vector<LayerAssignment>& assignment);

/// Throws RunError if an iteration took more than `maxMs` milliseconds, unless `maxMs` is 0.
void CheckTimes(const Report& report, float maxMs);

/// The memory of a loaded network that has run.
void SetStatistics(Report& report, const NetworkStatistics& statistics);

/// "load 1.2 ms, optimize 3.4 ms, first inference 80.1 ms"
std::string SummarizeTimes(const Report& report);

} // namespace tenon::tools
