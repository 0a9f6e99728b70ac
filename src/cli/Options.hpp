// SPDX-License-Identifier: Apache-2.0
// The command line of ExecuteNetwork. App.cpp parses it, Run.cpp acts on it.
#pragma once

#include <tenon/Limits.hpp>
#include <tenon/Types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tenon::cli
{

/// One time in memory for each iteration; far more runs than anybody waits for.
constexpr unsigned int MaxIterations = 10'000'000;

struct Options
{
    std::string m_ModelPath;
    /// A name of FindModelFormat(), or empty: the file's content decides, with a warning where this differs.
    std::string m_ModelFormat;
    /// Of the model file: which subgraph runs; a signature's name goes before the number.
    unsigned int m_Subgraph = 0;
    std::string m_SubgraphOption; ///< "--subgraph" or "--subgraph-number", whichever is given
    std::string m_Signature;
    /// In order of preference. CpuAcc first: it takes what it has a fast kernel for, CpuRef takes the rest.
    std::vector<std::string> m_Compute;
    /// For each backend but the last: see PartitionOptions.
    unsigned int m_MaxPartitions = 0;
    unsigned int m_MinLayersPerPartition = 0;
    bool m_AllOrNothing = false;
    std::string m_DynamicBackendsPath;
    std::vector<std::string> m_InputFiles;
    std::vector<std::string> m_OutputFiles;
    std::vector<std::string> m_InputNames;
    std::vector<std::string> m_OutputNames;
    /// One per input; an empty one leaves the model's shape as it is.
    std::vector<std::vector<unsigned int>> m_InputShapes;
    /// Files of real numbers for quantized inputs, and quantized outputs given as real numbers.
    bool m_QuantizeInputs = false;
    bool m_DequantizeOutputs = false;
    /// One file per output, and backends in order of preference: the outputs are compared with theirs.
    std::vector<std::string> m_CompareFiles;
    std::vector<std::string> m_CompareBackends;
    unsigned int m_Iterations = 1;
    /// No iteration may take longer, in milliseconds.
    std::optional<float> m_MaxInferenceMs;
    /// Iterations go on with the states of the one before, in place of the initial ones.
    bool m_KeepStates = false;
    std::string m_LabelsFile;
    /// How many of the best classes to show; absent unless asked for, by this or by a label file.
    std::optional<unsigned int> m_TopK;
    bool m_DoNotPrintOutput = false;
    /// Print as Arm NN's ExecuteNetwork does.
    bool m_ArmNNOutput = false;
    /// 0: all cores.
    unsigned int m_NumberOfThreads = 0;
    std::string m_ReportFile;
    /// The profile as JSON, on standard output and in a file, and as a trace for chrome://tracing.
    bool m_PrintProfile = false;
    std::string m_ProfileFile;
    std::string m_ChromeTraceFile;
    ProfilingDetailsMethod m_Details = ProfilingDetailsMethod::Undefined;
    /// .tenon files to write: the network before and after optimization.
    std::string m_SerializeFile;
    std::string m_SerializeOptimizedFile;
    /// Of the optimized network: a table of who runs what, and a Graphviz file.
    bool m_PrintAssignment = false;
    /// How it runs: printed, and as JSON in a file.
    bool m_PrintPlan = false;
    std::string m_PlanFile;
    std::vector<std::string> m_DisabledFusions;
    std::string m_DotFile;
    /// What each layer gives: printed, and written to files.
    bool m_PrintLayers = false;
    bool m_WriteLayers = false;
    std::string m_LayersFolder; ///< empty: the library's own
    /// Float32 becomes Float16 or BFloat16 inside the network; at most one is set.
    bool m_Fp16 = false;
    bool m_Bf16 = false;
    bool m_FastMath = false; ///< CpuAcc's FastMathEnabled
    std::optional<float> m_InputMean;
    std::optional<float> m_InputStd;
    /// For CpuAcc: a file of packed weights, to be written or else read.
    bool m_SaveCachedNetwork = false;
    std::string m_CachedNetworkFile;
    Limits m_Limits;
    /// The names of the options given that only the optimizer reads.
    std::vector<std::string> m_OptimizerOptions;
    /// About options that ask for nothing or for more than there is, to be printed as warnings.
    std::vector<std::string> m_Remarks;

    bool IsProfiling() const
    {
        return m_PrintProfile || !m_ProfileFile.empty() || !m_ChromeTraceFile.empty() ||
               m_Details == ProfilingDetailsMethod::DetailsWithEvents;
    }
};

struct CommandLine
{
    Options m_Options;
    /// Set for --help and --version: what to print in place of running.
    std::optional<std::string> m_Text;
};

/// Throws UsageError.
CommandLine ParseCommandLine(int argc, const char* const* argv);

} // namespace tenon::cli
