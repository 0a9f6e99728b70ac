// SPDX-License-Identifier: Apache-2.0
// The command line of ExecuteNetwork. App.cpp parses it, Run.cpp acts on it.
#pragma once

#include "tools/benchmark/Measure.hpp"
#include "tools/compare/Tolerance.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{

/// The bound of --iterations, because each of them has its time in memory. Nobody waits for more runs.
constexpr unsigned int MaxIterations = 10'000'000;

constexpr unsigned int DefaultTopK = 5;

/// Inferences that are compared if inputs are random, as by TensorFlow Lite's inference_diff.
constexpr unsigned int DefaultComparedRuns = 50;

struct BenchmarkOptions
{
    bool m_IsAsked = false;
    unsigned int m_WarmupRuns = 1;
    RunBounds m_Bounds;
    unsigned int m_Callers = 1;
    std::string m_Against; ///< a model, backends or a library; may be empty
    /// Whether the program is the process of another benchmark and runs turns for it, see TurnServer.hpp.
    bool m_ServesTurns = false;
    std::vector<std::string> m_Words; ///< the command line, without the program's name
};

struct Options
{
    std::string m_ModelPath;
    /// A folder of models, in place of a model, for a table of the models that can run.
    std::string m_ModelFolder;
    bool m_Describes = false; ///< the model is described in place of being run, or all of a folder are
    /// A name of a format, or empty. The file's content decides, with a warning if this differs.
    std::string m_ModelFormat;
    std::string m_Entry; ///< the model that runs of a file that holds several; may be empty
    /// The subgraph of the model file that runs; a signature's name takes precedence over the number.
    unsigned int m_Subgraph = 0;
    std::string m_SubgraphOption; ///< "--subgraph" or "--subgraph-number", whichever is given
    std::string m_Signature;
    /// Backends in order of preference. By default CpuAcc runs the layers for which it has a kernel, and CpuRef the
    /// rest.
    std::vector<std::string> m_Compute;
    /// PartitionOptions of each backend except the last.
    unsigned int m_MaxPartitions = 0;
    unsigned int m_MinLayersPerPartition = 0;
    bool m_AllOrNothing = false;
    std::string m_DynamicBackendsPath;
    std::vector<std::string> m_InputFiles;
    std::vector<std::string> m_OutputFiles;
    std::vector<std::string> m_InputNames;
    std::vector<std::string> m_OutputNames;
    /// One shape for each input; an empty one leaves the model's shape as it is.
    std::vector<std::vector<unsigned int>> m_InputShapes;
    /// Sizes of dimensions that an ONNX model names.
    std::map<std::string, unsigned int> m_Dimensions;
    /// Whether files of quantized inputs hold real numbers, and whether quantized outputs are given as real numbers.
    bool m_QuantizeInputs = false;
    bool m_DequantizeOutputs = false;
    /// The outputs are compared with one file for each, and with a run on these backends, in order of preference.
    std::vector<std::string> m_CompareFiles;
    std::vector<std::string> m_CompareBackends;
    /// Each inference is compared with that of a reference: backends, a model or files.
    std::vector<std::string> m_CompareWith;
    bool m_ComparesLayers = false;
    std::optional<Tolerance> m_Tolerance;
    unsigned int m_Iterations = 1;
    /// The longest time that an iteration may take, in milliseconds.
    std::optional<float> m_MaxInferenceMs;
    BenchmarkOptions m_Benchmark;
    /// Iterations continue with the states of the previous iteration, in place of the initial states.
    bool m_KeepStates = false;
    std::string m_LabelsFile;
    /// The number of best classes to show of each output; absent unless this option or a label file is given. Outputs
    /// with labels of the model itself then show DefaultTopK.
    std::optional<unsigned int> m_TopK;
    bool m_DoNotPrintOutput = false;
    /// Whether the output has the lines of Arm NN's ExecuteNetwork.
    bool m_ArmNNOutput = false;
    /// Threads of one run; 0 stands for all cores.
    unsigned int m_NumberOfThreads = 0;
    std::string m_ReportFile;
    /// The profile as JSON, on standard output and in a file, and as a trace for chrome://tracing.
    bool m_PrintProfile = false;
    std::string m_ProfileFile;
    std::string m_ChromeTraceFile;
    /// The time of each layer and type: as tables, and as a page of HTML, there with an earlier report to compare with.
    bool m_PrintProfileTables = false;
    std::string m_ProfilePage;
    std::string m_ProfileAgainst;
    bool m_MeasurePeaks = false; ///< the machine's, for rooflines
    ProfilingDetailsMethod m_Details = ProfilingDetailsMethod::Undefined;
    /// .tenon files to write: the network before and after optimization.
    std::string m_SerializeFile;
    std::string m_SerializeOptimizedFile;
    /// The optimized network: a table of the backend of each layer, and a Graphviz file.
    bool m_PrintAssignment = false;
    /// The plan of the run: printed, and as JSON in a file.
    bool m_PrintPlan = false;
    std::string m_PlanFile;
    std::vector<std::string> m_DisabledFusions;
    std::string m_DotFile;
    /// The outputs of each layer: printed, and written to files.
    bool m_PrintLayers = false;
    bool m_WriteLayers = false;
    std::string m_LayersFolder; ///< the folder of these files; if empty, the library's default
    /// Float32 becomes Float16 or BFloat16 inside the network; at most one is set.
    bool m_Fp16 = false;
    bool m_Bf16 = false;
    bool m_FastMath = false; ///< the option FastMathEnabled of CpuAcc
    /// Mean and deviation for pictures: none, one number, or one for each channel.
    std::vector<float> m_InputMean;
    std::vector<float> m_InputStd;
    /// The file of CpuAcc's packed weights: written with m_SaveCachedNetwork, else read.
    bool m_SaveCachedNetwork = false;
    std::string m_CachedNetworkFile;
    Limits m_Limits;
    /// The names of the given options that only the optimizer reads.
    std::vector<std::string> m_OptimizerOptions;
    /// Warnings to print about options that are taken without effect.
    std::vector<std::string> m_Remarks;

    /// Whether outputs show labels of the model itself.
    bool ShowsOwnLabels() const
    {
        return m_LabelsFile.empty() && (m_TopK.has_value() || (!m_DoNotPrintOutput && !m_ArmNNOutput));
    }

    /// Whether the time of each layer is to be summed up.
    bool HasProfile() const { return m_PrintProfileTables || !m_ProfilePage.empty(); }

    bool IsProfiling() const
    {
        return HasProfile() || m_PrintProfile || !m_ProfileFile.empty() || !m_ChromeTraceFile.empty() ||
               m_Details == ProfilingDetailsMethod::DetailsWithEvents;
    }
};

struct CommandLine
{
    Options m_Options;
    /// The text to print in place of running, for --help and --version.
    std::optional<std::string> m_Text;
};

/// Lines of --help are at most `helpWidth` wide. Throws UsageError.
CommandLine ParseCommandLine(int argc, const char* const* argv, size_t helpWidth);

} // namespace tenon::tools
