// SPDX-License-Identifier: Apache-2.0
// See Options.hpp. CLI11 finds the options; lists are split here, because CLI11's own lists swallow the words that
// follow.
#include "cli/Options.hpp"

#include "cli/Errors.hpp"
#include "cli/Strings.hpp"

#include <tenon/BackendId.hpp>
#include <tenon/Types.hpp>
#include <tenon/Utils.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace tenon::cli
{
namespace
{

/// One time in memory for each iteration; far more runs than anybody waits for.
constexpr unsigned int MaxIterations = 10'000'000;
/// What one run of the library spreads over at most.
constexpr unsigned int MaxThreads = 256;
constexpr unsigned int DefaultTopK = 5;

constexpr const char* Description = "Runs a neural network on input files and prints or writes what comes out.\n\n"
                                    "  ExecuteNetwork -m model.tflite -d picture.jpg --labels labels.txt\n"
                                    "  ExecuteNetwork -m model.tflite -c CpuRef -d a.npy,b.npy -w x.npy,y.npy -N\n";

constexpr const char* Footer =
    "\nExit status: 0 success; 2 bad arguments; 3 the model or an input file is missing, corrupt or contradictory;\n"
    "4 an operator or type is not supported by the chosen backends; 5 a failure while running.";

/// The options as the command line spells them, before lists are split and values are checked.
struct RawOptions
{
    std::string m_ModelFormat;
    std::vector<std::string> m_Compute;
    std::string m_InputFiles;
    std::string m_OutputFiles;
    std::vector<std::string> m_InputNames;
    std::vector<std::string> m_OutputNames;
    std::string m_InputShapes;
    unsigned int m_TopK = DefaultTopK;
    float m_InputMean = 0.0f;
    float m_InputStd = 0.0f;
    bool m_Details = false;
    bool m_DetailsOnly = false;
};

std::vector<std::string> SplitFiles(const std::string& list, const char* option)
{
    std::vector<std::string> files = Split(list, ',');
    for (const std::string& file : files)
    {
        if (file.empty())
        {
            throw UsageError(fmt::format("{}: a file name in '{}' is empty", option, OneLine(list)));
        }
    }
    return files;
}

std::vector<std::string> SplitNames(const std::vector<std::string>& lists, const char* option)
{
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const std::string& list : lists)
    {
        for (std::string& name : Split(list, ','))
        {
            if (name.empty() || !seen.insert(name).second)
            {
                throw UsageError(fmt::format("{}: a name in '{}' is empty or given twice", option, OneLine(list)));
            }
            names.push_back(std::move(name));
        }
    }
    return names;
}

std::vector<unsigned int> ParseShape(const std::string& text, const std::string& whole)
{
    std::vector<unsigned int> shape;
    for (const std::string& part : Split(text, ','))
    {
        unsigned int size = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
        if (part.empty() || error != std::errc() || end != part.data() + part.size())
        {
            throw UsageError(
                fmt::format("--input-tensor-shape: '{}' in '{}' is no dimension; expected sizes with commas "
                            "between them and a colon between inputs, e.g. 1,224,224,3:1,10",
                            OneLine(part), OneLine(whole)));
        }
        shape.push_back(size);
    }
    if (shape.size() > MaxNumOfTensorDimensions)
    {
        throw UsageError(fmt::format("--input-tensor-shape: '{}' has {} dimensions; at most {} are possible",
                                     OneLine(text), shape.size(), MaxNumOfTensorDimensions));
    }
    return shape;
}

void DeclareOptions(CLI::App& app, Options& options, RawOptions& raw)
{
    app.footer(Footer);
    app.set_help_flag("-h,--help", "Print this and exit");
    app.set_version_flag("--version", [] { return "ExecuteNetwork (Tenon) " + GetVersion(); });

    app.add_option("-m,--model-path", options.m_ModelPath, "The model file; its format is detected from its content")
        ->required();
    app.add_option("-f,--model-format", raw.m_ModelFormat,
                   "tflite-binary, tflite or tenon; not needed, but a file of another format is refused");
    app.add_option("--signature", options.m_Signature, "The signature of the model to run, by name");
    app.add_option("--subgraph", options.m_Subgraph, "The subgraph of the model to run, by number (default 0)");
    app.add_option("-c,--compute", raw.m_Compute, "Backends in order of preference, e.g. CpuAcc,CpuRef (the default)")
        ->allow_extra_args(false);
    app.add_option("--max-partitions", options.m_MaxPartitions,
                   "For each backend of -c but the last, which takes the rest: how many of its largest subgraphs it "
                   "runs (default 0: all)");
    app.add_option("--min-layers-per-partition", options.m_MinLayersPerPartition,
                   "For each backend of -c but the last: subgraphs with fewer layers go to the next one");
    app.add_flag("--all-or-nothing", options.m_AllOrNothing,
                 "For each backend of -c but the last: it runs all layers or none");
    app.add_option("-b,--dynamic-backends-path", options.m_DynamicBackendsPath,
                   "A folder of backends (*_backend.so) to load, or one such file")
        ->envname("TENON_DYNAMIC_BACKENDS_PATH");
    app.add_option(
        "-d,--input-tensor-data", raw.m_InputFiles,
        "One file per input, with commas between them: .npy; a picture (PNG, JPEG, BMP), which is resized to "
        "the input; .bin with the tensor's raw bytes; text with numbers. Without it, inputs are filled with "
        "seeded random values");
    app.add_option("-w,--write-outputs-to-file", raw.m_OutputFiles, "One .npy file to write per output");
    app.add_option("-i,--input-name", raw.m_InputNames, "Names of the inputs, in the order of -d and -s")
        ->allow_extra_args(false);
    app.add_option("-o,--output-name", raw.m_OutputNames, "Names of the outputs to give, in the order of -w")
        ->allow_extra_args(false);
    app.add_option("-s,--input-tensor-shape", raw.m_InputShapes,
                   "New shapes of the inputs, e.g. 1,224,224,3:1,10; an empty one keeps the model's");
    app.add_option("-I,--iterations", options.m_Iterations, "How often to run (default 1)");
    app.add_option("--labels", options.m_LabelsFile, "A text file with the name of class i in line i");
    app.add_option("--top-k", raw.m_TopK,
                   "How many of the best classes to show, or all where there are fewer (default 5, with --labels)");
    app.add_option("--input-mean", raw.m_InputMean,
                   "For pictures alone. They become (p - mean) / std: for float inputs always (default 127.5), for "
                   "8-bit inputs, which "
                   "otherwise take the bytes as they are, only if mean or std is given");
    app.add_option("--input-std", raw.m_InputStd, "See --input-mean (default 127.5)");
    app.add_flag("-N,--do-not-print-output", options.m_DoNotPrintOutput, "Print no tensors");
    app.add_option("--number-of-threads", options.m_NumberOfThreads, "Threads of one run; 0, the default: all cores");
    app.add_flag("--print-assignment", options.m_PrintAssignment, "Print which backend runs which layer, and why");
    app.add_option("-v,--visualize-optimized-model", options.m_DotFile,
                   "Write the optimized network to this file, in Graphviz' language (dot -Tsvg file)");
    app.add_flag("-p,--print-intermediate-layers", options.m_PrintLayers,
                 "Print what each layer gives, a line of JSON for each");
    app.add_flag("-F,--print-intermediate-layers-to-file", options.m_WriteLayers,
                 "Write what each layer gives to .npy files in the folder TenonIntermediateLayerOutputs");
    app.add_flag("--fp16-turbo-mode", options.m_Fp16, "Tensors of Float16 in place of Float32 wherever backends can");
    app.add_flag("--bf16-turbo-mode", options.m_Bf16, "Tensors of BFloat16 in place of Float32 wherever backends can");
    app.add_flag("--enable-fast-math", options.m_FastMath,
                 "Let CpuAcc compute Float32 convolutions of 3x3 with fewer multiplications, rounded otherwise");
    app.add_flag("--save-cached-network", options.m_SaveCachedNetwork,
                 "Write what CpuAcc packs of the weights to the file of --cached-network-filepath");
    app.add_option("--cached-network-filepath", options.m_CachedNetworkFile,
                   "Without --save-cached-network: a file that was saved so, for CpuAcc to read in place of packing. "
                   "One of another model, other instructions or another version is refused");
    app.add_option("--report-json", options.m_ReportFile, "Write times, memory, tensors and assignment as JSON");
    app.add_flag("-e,--event-based-profiling", options.m_PrintProfile,
                 "Print when each step of optimizing, loading and running began and how long it took, as JSON");
    app.add_option("--profile-json", options.m_ProfileFile, "Write the same to a file");
    app.add_option("--chrome-trace", options.m_ChromeTraceFile,
                   "Write the same as a trace, to be opened in chrome://tracing or Perfetto");
    app.add_flag("--output-network-details", raw.m_Details,
                 "Let -e, which this implies, or --profile-json also describe each layer's workload");
    app.add_flag("--output-network-details-only", raw.m_DetailsOnly, "The same without events");
    app.add_option("--serialize", options.m_SerializeFile, "Write the network as a .tenon file, before optimization");
    app.add_option("--serialize-optimized", options.m_SerializeOptimizedFile,
                   "Write the optimized network as a .tenon file, which loads without optimization");
}

void CheckRanges(const CLI::App& app, const RawOptions& raw, const Options& options)
{
    if (!raw.m_ModelFormat.empty() && raw.m_ModelFormat != "tflite-binary" && raw.m_ModelFormat != "tflite" &&
        raw.m_ModelFormat != "tenon")
    {
        throw UsageError(fmt::format("--model-format: '{}' is not known; supported: tflite-binary, tflite, tenon",
                                     OneLine(raw.m_ModelFormat)));
    }
    if (options.m_Iterations < 1 || options.m_Iterations > MaxIterations)
    {
        throw UsageError(fmt::format("--iterations: {} is not in 1..{}", options.m_Iterations, MaxIterations));
    }
    if (options.m_NumberOfThreads > MaxThreads)
    {
        throw UsageError(fmt::format("--number-of-threads: {} is more than {}", options.m_NumberOfThreads, MaxThreads));
    }
    if (options.m_Fp16 && options.m_Bf16)
    {
        throw UsageError("--fp16-turbo-mode and --bf16-turbo-mode exclude each other");
    }
    if (options.m_SaveCachedNetwork && options.m_CachedNetworkFile.empty())
    {
        throw UsageError("--save-cached-network: name the file in --cached-network-filepath");
    }
    if (raw.m_TopK < 1)
    {
        throw UsageError("--top-k: must be at least 1");
    }
    if (app.count("--input-mean") > 0 && !std::isfinite(raw.m_InputMean))
    {
        throw UsageError("--input-mean: must be a finite number");
    }
    if (app.count("--input-std") > 0 && (!std::isfinite(raw.m_InputStd) || raw.m_InputStd == 0.0f))
    {
        throw UsageError("--input-std: must be a finite number other than 0");
    }
    if (raw.m_Details && raw.m_DetailsOnly)
    {
        throw UsageError("--output-network-details: must not be given beside --output-network-details-only");
    }
}

/// What only CpuAcc heeds would have no effect without it, and nobody would notice.
void RefuseForOtherBackends(const CLI::App& app, const std::vector<std::string>& backends)
{
    const std::string reader = GetComputeDeviceAsCString(Compute::CpuAcc);
    if (std::find(backends.begin(), backends.end(), reader) != backends.end())
    {
        return;
    }
    for (const char* option : {"--enable-fast-math", "--save-cached-network", "--cached-network-filepath"})
    {
        if (app.count(option) > 0)
        {
            throw UsageError(fmt::format("{}: {} alone heeds it, so this can have no effect; name {} in --compute, or "
                                         "leave the option out",
                                         option, reader, reader));
        }
    }
}

} // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv)
{
    CommandLine line;
    Options& options = line.m_Options;
    RawOptions raw;
    CLI::App app(Description, "ExecuteNetwork");
    DeclareOptions(app, options, raw);
    try
    {
        app.parse(argc, argv);
    }
    catch (const CLI::CallForVersion& version)
    {
        line.m_Text = std::string(version.what()) + "\n";
        return line;
    }
    catch (const CLI::CallForHelp&)
    {
        line.m_Text = app.help();
        return line;
    }
    catch (const CLI::Error& error)
    {
        throw UsageError(fmt::format("{} (see --help)", OneLine(error.what())));
    }
    CheckRanges(app, raw, options);

    options.m_Compute = SplitNames(raw.m_Compute, "--compute");
    if (options.m_Compute.empty())
    {
        if (app.count("--compute") > 0)
        {
            throw UsageError("--compute: no backend is given");
        }
        options.m_Compute = {"CpuAcc", "CpuRef"};
    }
    for (const char* option : {"--max-partitions", "--min-layers-per-partition", "--all-or-nothing"})
    {
        if (app.count(option) > 0 && options.m_Compute.size() < 2)
        {
            throw UsageError(fmt::format("{}: name a second backend in --compute, which takes the layers that the "
                                         "first does not get",
                                         option));
        }
    }
    RefuseForOtherBackends(app, options.m_Compute);
    for (const char* option : {"--compute", "--max-partitions", "--min-layers-per-partition", "--all-or-nothing",
                               "--fp16-turbo-mode", "--bf16-turbo-mode", "--enable-fast-math",
                               "--print-intermediate-layers", "--print-intermediate-layers-to-file"})
    {
        if (app.count(option) > 0)
        {
            options.m_OptimizerOptions.emplace_back(option);
        }
    }
    options.m_ModelFormat = raw.m_ModelFormat == "tflite-binary" ? "tflite" : raw.m_ModelFormat;
    for (const char* option : {"--input-tensor-data", "--write-outputs-to-file"})
    {
        if (app.count(option) > 0 && app.get_option(option)->as<std::string>().empty())
        {
            throw UsageError(fmt::format("{}: no file is given", option));
        }
    }
    if (app.count("--signature") > 0 && (options.m_Signature.empty() || app.count("--subgraph") > 0))
    {
        throw UsageError("--signature: must be a name, and not be given beside --subgraph");
    }
    for (const char* option :
         {"--report-json", "--visualize-optimized-model", "--profile-json", "--chrome-trace", "--labels",
          "--input-name", "--output-name", "--serialize", "--serialize-optimized", "--cached-network-filepath"})
    {
        const std::vector<std::string>& given = app.get_option(option)->results();
        if (std::find(given.begin(), given.end(), "") != given.end())
        {
            throw UsageError(fmt::format("{}: nothing is given", option));
        }
    }
    options.m_InputFiles = SplitFiles(raw.m_InputFiles, "--input-tensor-data");
    options.m_OutputFiles = SplitFiles(raw.m_OutputFiles, "--write-outputs-to-file");
    options.m_InputNames = SplitNames(raw.m_InputNames, "--input-name");
    options.m_OutputNames = SplitNames(raw.m_OutputNames, "--output-name");
    for (const std::string& shape : Split(raw.m_InputShapes, ':'))
    {
        options.m_InputShapes.push_back(ParseShape(shape, raw.m_InputShapes));
    }
    if (app.count("--top-k") > 0 || !options.m_LabelsFile.empty())
    {
        options.m_TopK = raw.m_TopK;
    }
    if (raw.m_Details || raw.m_DetailsOnly)
    {
        options.m_Details =
            raw.m_Details ? ProfilingDetailsMethod::DetailsWithEvents : ProfilingDetailsMethod::DetailsOnly;
        options.m_PrintProfile = options.m_PrintProfile || options.m_ProfileFile.empty();
    }
    if (app.count("--input-mean") > 0)
    {
        options.m_InputMean = raw.m_InputMean;
    }
    if (app.count("--input-std") > 0)
    {
        options.m_InputStd = raw.m_InputStd;
    }
    return line;
}

} // namespace tenon::cli
