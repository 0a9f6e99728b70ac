// SPDX-License-Identifier: Apache-2.0
// Comparison: the result of --compare-with, as text and as JSON.
#pragma once

#include "json/JsonWriter.hpp"
#include "tools/compare/LayerComparison.hpp"
#include "tools/compare/TensorDifference.hpp"
#include "tools/compare/Tolerance.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{

struct ComparedOutput
{
    std::string m_Name;
    std::string m_ReferenceName;
    TensorInfo m_Info; ///< of the last run, as m_ReferenceInfo
    TensorInfo m_ReferenceInfo;
    TensorDifference m_Difference;
};

struct Comparison
{
    std::string m_Tested;    ///< for people: "model.tflite on CpuAcc, CpuRef"
    std::string m_Reference; ///< as well
    std::optional<Tolerance> m_Tolerance;
    size_t m_NumRuns = 0;
    std::vector<std::string> m_Files; ///< those of each run, if -d has a folder or a pattern
    /// Times of the runs. The first run is left out if there are more. There are none of expected outputs in files.
    std::vector<double> m_TestedMs;
    std::vector<double> m_ReferenceMs;
    std::vector<ComparedOutput> m_Outputs;
    std::vector<ComparedLayer> m_Layers; ///< of --compare-layers
};

/// An output of a run, and that of the reference.
struct OutputPair
{
    std::string m_Name;
    TensorView m_Tested;
    std::string m_ReferenceName;
    TensorView m_Reference;
};

/// Adds all outputs of a run, or none: throws InputError, which names the output, if the shapes or the types cannot be
/// compared, and UsageError if the tolerance has no bound for it. The outputs are the same in each run.
void AddOutputs(Comparison& comparison, const std::vector<OutputPair>& outputs);

/// A remark if the output looks like classes or indices and differs; else empty.
std::string DescribeTies(const ComparedOutput& output);

/// The number of elements of all outputs that are out of the tolerance.
uint64_t CountOutOfTolerance(const Comparison& comparison);

/// The lines of TensorFlow Lite's inference_diff ("Num evaluation runs: 50", ...), and tables for people.
std::string FormatComparison(const Comparison& comparison);

/// Writes an object: tested, reference, runs, files, tested_ms, reference_ms, tolerance, is_within_tolerance, outputs,
/// layers.
void WriteComparison(JsonWriter& json, const Comparison& comparison);

} // namespace tenon::tools
