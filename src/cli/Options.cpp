// SPDX-License-Identifier: Apache-2.0
// See Options.hpp. CLI11 finds the options; lists are split here, because CLI11's own lists swallow the words that
// follow.
#include "cli/Options.hpp"

#include "cli/ArmNNOptions.hpp"
#include "cli/Errors.hpp"
#include "cli/File.hpp"
#include "cli/LimitOption.hpp"
#include "cli/OptionValues.hpp"
#include "cli/Strings.hpp"
#include "cli/UnknownWords.hpp"
#include "text/OptionWords.hpp"

#include <tenon/BackendId.hpp>
#include <tenon/NetworkPlan.hpp>
#include <tenon/Types.hpp>
#include <tenon/Utils.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string_view>

namespace tenon::cli
{
namespace
{

/// The most threads that one run of the library spreads over.
constexpr unsigned int MaxThreads = 256;
constexpr unsigned int AnyNumber = std::numeric_limits<unsigned int>::max();

constexpr const char* Description = "Runs a neural network on input files and prints or writes what comes out.\n\n"
                                    "  ExecuteNetwork -m model.tflite -d picture.jpg --labels labels.txt\n"
                                    "  ExecuteNetwork -m model.tflite -c CpuRef -d a.npy,b.npy -w x.npy,y.npy -N\n"
                                    "  ExecuteNetwork -m model.onnx --dim batch=4 -d batch.npy\n"
                                    "  ExecuteNetwork --can-run models -c CpuAcc\n"
                                    "  fetch | ExecuteNetwork -m - --report-json - > report.json\n";

constexpr const char* Footer =
    "\nFiles: '-' is standard input where one is read, and standard output where one is written, which then takes\n"
    "nothing else; what is for people goes to standard error. Pipes and devices are read and written as they are, but\n"
    "for --cached-network-filepath, which takes regular files alone. In lists a backslash before a comma makes it a\n"
    "part of the name (a\\,b.npy is one file), and \\\\ is a backslash.\n"
    "\nExit status: 0 success; 2 bad arguments; 3 the model or an input file is missing, corrupt or contradictory;\n"
    "4 an operator or type is not supported by the chosen backends; 5 a failure while running.";

/// The options as the command line spells them, before lists are split and values are checked.
struct RawOptions
{
    std::vector<std::string> m_Compute;
    std::string m_InputFiles;
    std::string m_OutputFiles;
    std::vector<std::string> m_InputNames;
    std::vector<std::string> m_OutputNames;
    std::string m_InputShapes;
    std::vector<std::string> m_CompareBackends;
    std::string m_CompareFiles;
    std::string m_Graph; ///< the file, or the value of a flag; see GetGraphFile()
    unsigned int m_TopK = DefaultTopK;
    bool m_Details = false;
    bool m_DetailsOnly = false;
    std::vector<std::string> m_Limits;
    std::vector<std::string> m_DisabledFusions;
    std::vector<std::string> m_Dimensions;
};

/// Numbers are parsed here, because messages of CLI11 do not name the range. They have the name `option`, or the last
/// one of `names`.
void AddNumber(CLI::App& app, const char* names, unsigned int& target, unsigned int min, unsigned int max,
               const char* description, const std::string& option = {})
{
    const char* const comma = std::strrchr(names, ',');
    const std::string last = comma != nullptr ? comma + 1 : names;
    const auto parse = [&target, min, max, name = option.empty() ? last : option](const std::string& text)
    { target = ParseNumber(text, name.c_str(), min, max); };
    app.add_option_function<std::string>(names, parse, description)->type_name("UINT");
}

/// Numbers with commas between them.
void AddNumbers(CLI::App& app, const char* option, std::vector<float>& target, bool mayBeZero, const char* description)
{
    const auto parse = [&target, mayBeZero, option](const std::string& text)
    {
        for (const std::string& number : text::Split(text, ','))
        {
            target.push_back(ParseFinite(number, option, mayBeZero));
        }
    };
    app.add_option_function<std::string>(option, parse, description)->type_name("FLOAT,...");
}

void DeclareOptions(CLI::App& app, Options& options, RawOptions& raw, ArmNNOptions& armNN)
{
    app.footer(Footer);
    app.set_help_flag("-h,--help", "Print this and exit");
    app.set_version_flag("--version", [] { return "ExecuteNetwork (Tenon) " + GetVersion(); });

    app.add_option(
        "-m,--model-path", options.m_ModelPath,
        "The model file, or - for standard input: TensorFlow Lite (.tflite, or a .task or .litertlm file with "
        "such models), ONNX (.onnx), a network of Arm NN (.armnn) or one of --serialize (.tenon). Its format is "
        "detected from its content");
    app.add_option(
           "--can-run", options.m_ModelFolder,
           "In place of -m: print a table of all models in this folder and those within, whether the backends of "
           "-c can run them, and why not. --report-json writes it as JSON")
        ->type_name("FOLDER");
    app.add_option(
        "-f,--model-format", options.m_ModelFormat,
        "tflite-binary, tflite, onnx-binary, onnx, armnn-binary, armnn or tenon; not needed: the file's content "
        "decides, with a warning where it is of another format");
    app.add_option(
        "--entry", options.m_Entry,
        "The model to run of a .task or .litertlm file that holds several, by name; without it they are listed");
    app.add_option("--signature", options.m_Signature, "The signature of the model to run, by name");
    AddNumber(app, "-x,--subgraph-number,--subgraph", options.m_Subgraph, 0, AnyNumber,
              "The subgraph of the model to run, by number (default 0)", options.m_SubgraphOption);
    app.add_option(
           "-c,--compute", raw.m_Compute,
           "Backends in order of preference, e.g. CpuAcc,CpuRef (the default). Possible choices: [ CpuAcc, CpuRef ] "
           "and the backends of -b")
        ->allow_extra_args(false);
    AddNumber(app, "--max-partitions", options.m_MaxPartitions, 0, AnyNumber,
              "For each backend of -c but the last, which takes the rest: how many of its largest subgraphs it "
              "runs (default 0: all)");
    AddNumber(app, "--min-layers-per-partition", options.m_MinLayersPerPartition, 0, AnyNumber,
              "For each backend of -c but the last: subgraphs with fewer layers go to the next one");
    app.add_flag("--all-or-nothing", options.m_AllOrNothing,
                 "For each backend of -c but the last: it runs all layers or none");
    app.add_option("-b,--dynamic-backends-path", options.m_DynamicBackendsPath,
                   "A folder of backends (*_backend.so) to load, or one such file")
        ->envname("TENON_DYNAMIC_BACKENDS_PATH");
    app.add_option(
        "-d,--input-tensor-data", raw.m_InputFiles,
        "One file per input, with commas between them: .npy; a picture (PNG, JPEG, BMP), which is resized to "
        "the input; .bin with the tensor's raw bytes; text with numbers. With -I N also several sets of them, all "
        "files of the first set before those of the second: iterations take the sets in turn. Without it, inputs are "
        "filled with seeded random values");
    app.add_flag(
        "-q,--quantize-input", options.m_QuantizeInputs,
        "Files of -d for quantized inputs hold real numbers (pictures aside), to be quantized as the model says");
    app.add_option("-w,--write-outputs-to-file", raw.m_OutputFiles,
                   "One file to write per output, for the last iteration: .npy, or text where its name ends with .txt. "
                   "With -I N also several sets of them, which iterations take in turn");
    app.add_flag("-l,--dequantize-output", options.m_DequantizeOutputs,
                 "Print, write and compare quantized outputs as the real numbers (Float32) for which they stand");
    app.add_option(
        "-C,--compare-output", raw.m_CompareFiles,
        "One file per output, as -w writes them, to print the root of the mean square difference of bytes, and "
        "the largest difference of floats");
    app.add_option("-B,--compare-output-with-backend", raw.m_CompareBackends,
                   "The same against a run of the last iteration on these backends")
        ->allow_extra_args(false);
    app.add_option("-i,--input-name", raw.m_InputNames, "Names of the inputs, in the order of -d and -s")
        ->allow_extra_args(false);
    app.add_option("-o,--output-name", raw.m_OutputNames, "Names of the outputs to give, in the order of -w")
        ->allow_extra_args(false);
    app.add_option("-s,--input-tensor-shape", raw.m_InputShapes,
                   "New shapes of the inputs, e.g. 1,224,224,3:1,10; an empty one keeps the model's");
    app.add_option(
           "--dim", raw.m_Dimensions,
           "The size of a dimension that an ONNX model leaves open, by its name in the model, e.g. batch=4; "
           "INPUT.N is the name of dimension N of an input where the model has none. May be given several times")
        ->allow_extra_args(false)
        ->type_name("NAME=SIZE");
    AddNumber(app, "-I,--iterations", options.m_Iterations, 1, MaxIterations, "How often to run (default 1)");
    const auto parseThreshold = [&options](const std::string& text)
    {
        options.m_MaxInferenceMs = ParseFinite(text, "--threshold-time", true);
        if (*options.m_MaxInferenceMs < 0.0f)
        {
            throw UsageError(
                fmt::format("--threshold-time: '{}' is below 0; milliseconds are expected", OneLine(text)));
        }
    };
    app.add_option_function<std::string>("-r,--threshold-time", parseThreshold,
                                         "End with status 5 where an iteration took more than these milliseconds "
                                         "(default 0: no bound)")
        ->type_name("FLOAT");
    app.add_flag("--keep-states", options.m_KeepStates,
                 "Let each iteration go on with the states (of variables and recurrent layers) that the one before "
                 "left: with files for each iteration in -d it steps through a sequence. Otherwise each iteration is a "
                 "first step");
    app.add_option("--labels", options.m_LabelsFile,
                   "A text file with the name of class i in line i (default: the labels in the metadata of a .tflite "
                   "model, for outputs with as many classes)");
    AddNumber(app, "--top-k", raw.m_TopK, 1, AnyNumber,
              "How many of the best classes to show, or all where there are fewer (default 5, with labels)");
    AddNumbers(
        app, "--input-mean", options.m_InputMean, true,
        "For pictures alone. They become (p - mean) / std: for float inputs always (default: that of the metadata "
        "of a .tflite model, else 127.5), for 8-bit inputs, which otherwise take the bytes as they are, only if mean "
        "or std is given. One number, or one for each channel, e.g. 123.675,116.28,103.53");
    AddNumbers(app, "--input-std", options.m_InputStd, false, "See --input-mean, with the same defaults");
    app.add_flag("-N,--do-not-print-output", options.m_DoNotPrintOutput, "Print no tensors");
    app.add_flag("--armnn-output", options.m_ArmNNOutput,
                 "Print as Arm NN's ExecuteNetwork does: times as 'Info: Inference time: X ms', all values of each "
                 "output and iteration as 'name: v v v', 'ArmNN' as root of the profile; -w writes text but for .npy")
        ->envname("TENON_ARMNN_OUTPUT");
    AddNumber(app, "--number-of-threads", options.m_NumberOfThreads, 0, MaxThreads,
              "Threads of one run; 0, the default: all cores");
    app.add_flag("--print-assignment", options.m_PrintAssignment, "Print which backend runs which layer, and why");
    app.add_flag(
        "--print-plan", options.m_PrintPlan,
        "Print how the network runs: each layer's kernel and memory, the kernels that declined it, the kernel's "
        "variant and why it was chosen, and each fusion of layers that was tried, with the reason where it is "
        "not applied");
    app.add_option("--plan-json", options.m_PlanFile, "Write the same to a file, as JSON");
    app.add_option("--without-fusion", raw.m_DisabledFusions,
                   "Run layers without one of the fusions that --print-plan names, to see whether it makes a "
                   "difference. May be given several times")
        ->allow_extra_args(false)
        ->type_name("NAME");
    app.add_option("-v,--visualize-optimized-model", raw.m_Graph,
                   "Write the optimized network to this file, in Graphviz' language (dot -Tsvg file); without a name, "
                   "to that of the model with .dot as ending, as Arm NN's program does")
        ->type_name("[FILE]");
    app.add_flag("-p,--print-intermediate-layers", options.m_PrintLayers,
                 "Print what each layer gives, a line of JSON for each");
    app.add_flag("-F,--print-intermediate-layers-to-file", options.m_WriteLayers,
                 "Write what each layer gives to .npy files in the folder TenonIntermediateLayerOutputs, or in that of "
                 "--intermediate-layers-folder");
    app.add_option("--intermediate-layers-folder", options.m_LayersFolder,
                   "The folder of -F, which this implies; it is made where it is not there");
    app.add_flag(
        "--fp16-turbo-mode", options.m_Fp16,
        "Tensors of Float16 in place of Float32 wherever backends can: numbers above 65504 become infinite, and those "
        "below 6e-8 zero");
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
    app.add_option("--serialize", options.m_SerializeFile,
                   "Write the network as a .tenon file, before optimization; no other format is written");
    app.add_option("--serialize-optimized", options.m_SerializeOptimizedFile,
                   "Write the optimized network as a .tenon file, which loads without optimization");
    app.add_option("--limit", raw.m_Limits,
                   "Raise or lower a bound on what a model may ask for, e.g. tensor-bytes=8G (K, M, G, T: powers of "
                   "1024; none: no bound). May be given several times. Defaults: " +
                       DescribeLimits())
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
    armNN.Declare(app);
}

void CheckChoices(const Options& options)
{
    if (options.m_Fp16 && options.m_Bf16)
    {
        throw UsageError("--fp16-turbo-mode and --bf16-turbo-mode exclude each other");
    }
    if (options.m_SaveCachedNetwork && options.m_CachedNetworkFile.empty())
    {
        throw UsageError("--save-cached-network: name the file in --cached-network-filepath");
    }
}

/// This comes before any other error, because an option that is missing may be the one that is misspelt.
void RefuseUnknownWords(const CLI::App& app, const std::vector<std::string>& given)
{
    std::vector<std::string> unknown = app.remaining();
    unknown.erase(std::remove(unknown.begin(), unknown.end(), "--"), unknown.end());
    std::vector<std::string> names;
    std::vector<std::string> withValue;
    for (const CLI::Option* option : app.get_options())
    {
        const size_t first = names.size();
        for (const std::string& name : option->get_lnames())
        {
            names.push_back("--" + name);
        }
        for (const std::string& name : option->get_snames())
        {
            names.push_back("-" + name);
        }
        if (option->get_items_expected_min() > 0)
        {
            withValue.insert(withValue.end(), names.begin() + static_cast<std::ptrdiff_t>(first), names.end());
        }
    }
    const std::string oneDash = DescribeOneDash(given, names, withValue);
    if (!oneDash.empty())
    {
        throw UsageError(oneDash + " (see --help)");
    }
    if (!unknown.empty())
    {
        throw UsageError(DescribeUnknownWords(unknown, given, names) + " (see --help)");
    }
}

/// CLI11 counts the values that are missing ("--labels: 1 required TEXT missing"), and those of an option that is given
/// again ("--labels: At Most 1 required but received 2").
std::string DescribeParseError(const CLI::Error& error)
{
    const std::string message = error.what();
    const std::string option = message.substr(0, message.find(": "));
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr)
    {
        return OneLine(message);
    }
    if (message.ends_with(" missing"))
    {
        return option + ": it needs a value";
    }
    const bool isList =
        option == "--input-tensor-data" || option == "--write-outputs-to-file" || option == "--compare-output";
    return option + (isList ? ": it is given more than once; give it once, with commas between the files"
                     : option == "--input-tensor-shape"
                         ? ": it is given more than once; give it once, with colons between the shapes"
                         : ": it is given more than once; leave all but one out");
}

/// Whether an option is given with another value than "--option=false".
bool IsAsked(const CLI::App& app, const char* option)
{
    const std::vector<std::string>& values = app.get_option(option)->results();
    return !values.empty() && (app.get_option(option)->get_items_expected_max() > 0 || values.back() != "false");
}

/// The file of --visualize-optimized-model, whose value may also be that of a flag, as in Arm NN; empty for none.
std::string GetGraphFile(const std::string& value, const std::string& modelPath)
{
    const std::optional<bool> flag = text::ParseFlag(value);
    if (!flag.value_or(false))
    {
        return flag ? "" : value;
    }
    if (IsStandardInput(modelPath))
    {
        throw UsageError("--visualize-optimized-model: name a file, because the model of standard input has no name");
    }
    return std::filesystem::path(modelPath).replace_extension("dot").string();
}

/// Without CpuAcc, options that it alone has are taken without effect, as by Arm NN's backends, with a remark.
void LeaveOutOptionsOfCpuAcc(const CLI::App& app, Options& options)
{
    const std::string reader = GetComputeDeviceAsCString(Compute::CpuAcc);
    if (std::find(options.m_Compute.begin(), options.m_Compute.end(), reader) != options.m_Compute.end())
    {
        return;
    }
    std::vector<std::string> given;
    for (const char* option : {"--enable-fast-math", "--save-cached-network", "--cached-network-filepath"})
    {
        if (IsAsked(app, option))
        {
            given.emplace_back(option);
        }
    }
    if (!given.empty())
    {
        const bool hasFile = !options.m_CachedNetworkFile.empty();
        options.m_Remarks.push_back(fmt::format("{}: no effect, because {} alone has {}{}; name it in --compute",
                                                fmt::join(given, ", "), reader,
                                                given.size() > 1 ? "these options" : "this option",
                                                hasFile ? ", and the file is neither read nor written" : ""));
    }
    options.m_FastMath = false;
    options.m_SaveCachedNetwork = false;
    options.m_CachedNetworkFile.clear();
}

/// The table of --can-run follows from models and backends alone.
void CheckCanRun(const CLI::App& app)
{
    constexpr const char* can = "--can-run";
    constexpr std::string_view taken[] = {can,
                                          "--compute",
                                          "--dynamic-backends-path",
                                          "--report-json",
                                          "--limit",
                                          "--max-partitions",
                                          "--min-layers-per-partition",
                                          "--all-or-nothing",
                                          "--fp16-turbo-mode",
                                          "--bf16-turbo-mode",
                                          "--enable-fast-math"};
    if (app.count(can) == 0)
    {
        return;
    }
    if (app.get_option(can)->results().back().empty())
    {
        throw UsageError(fmt::format("{}: name a folder of models", can));
    }
    for (const CLI::Option* option : app.get_options())
    {
        const std::string name = option->get_name();
        if (option->count() > 0 && std::find(std::begin(taken), std::end(taken), name) == std::end(taken))
        {
            throw UsageError(
                fmt::format("{0}: with {1} it has no effect, because {1} runs no model; leave it out", name, can));
        }
    }
}

/// The name under which the number of a subgraph is given, for messages.
std::string FindSubgraphOption(const std::vector<std::string>& words)
{
    const auto isShorter = [](const std::string& word)
    { return word == "--subgraph" || word.starts_with("--subgraph="); };
    return std::any_of(words.begin(), words.end(), isShorter) ? "--subgraph" : "--subgraph-number";
}

} // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv)
{
    CommandLine line;
    Options& options = line.m_Options;
    RawOptions raw;
    ArmNNOptions armNN;
    CLI::App app(Description, "ExecuteNetwork");
    app.allow_extras(); // CLI11 names them in reverse order
    const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
    options.m_SubgraphOption = FindSubgraphOption(given);
    DeclareOptions(app, options, raw, armNN);
    const std::vector<std::string> words = JoinArmNNWords(app, given);
    try
    {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
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
        RefuseUnknownWords(app, words);
        throw UsageError(DescribeParseError(error) + " (see --help)");
    }
    catch (const UsageError&)
    {
        RefuseUnknownWords(app, words);
        throw;
    }
    RefuseUnknownWords(app, words);
    armNN.Apply(app, options);
    CheckCanRun(app);
    if (options.m_ModelPath.empty() && options.m_ModelFolder.empty())
    {
        throw UsageError("--model-path: name a model file, or - for standard input (see --help)");
    }
    CheckChoices(options);
    options.m_Compute = SplitList(raw.m_Compute, "--compute", Repeated::LeftOut);
    options.m_CompareBackends = SplitList(raw.m_CompareBackends, "--compare-output-with-backend", Repeated::LeftOut);
    if (options.m_Compute.empty())
    {
        options.m_Compute = {"CpuAcc", "CpuRef"};
    }
    for (const char* option : {"--max-partitions", "--min-layers-per-partition", "--all-or-nothing"})
    {
        if (IsAsked(app, option) && options.m_Compute.size() < 2)
        {
            throw UsageError(fmt::format("{}: name a second backend in --compute, which takes the layers that the "
                                         "first does not get",
                                         option));
        }
    }
    LeaveOutOptionsOfCpuAcc(app, options);
    for (const char* option :
         {"--compute", "--max-partitions", "--min-layers-per-partition", "--all-or-nothing", "--fp16-turbo-mode",
          "--bf16-turbo-mode", "--enable-fast-math", "--print-intermediate-layers",
          "--print-intermediate-layers-to-file", "--intermediate-layers-folder"})
    {
        if (IsAsked(app, option))
        {
            options.m_OptimizerOptions.emplace_back(option);
        }
    }
    if (app.count("--signature") > 0 && (options.m_Signature.empty() || app.count("--subgraph") > 0))
    {
        throw UsageError(
            fmt::format("--signature: must be a name, and not be given with {}", options.m_SubgraphOption));
    }
    for (const char* option :
         {"--entry", "--report-json", "--visualize-optimized-model", "--profile-json", "--chrome-trace", "--labels",
          "--serialize", "--serialize-optimized", "--intermediate-layers-folder", "--plan-json"})
    {
        const std::vector<std::string>& values = app.get_option(option)->results();
        if (std::find(values.begin(), values.end(), "") != values.end())
        {
            throw UsageError(fmt::format("{}: nothing is given", option));
        }
    }
    const auto filesOf = [](const std::string& list, const char* option)
    {
        const std::vector<std::string> lists(list.empty() ? 0 : 1, list);
        return SplitList(lists, option, Repeated::Kept);
    };
    options.m_InputFiles = filesOf(raw.m_InputFiles, "--input-tensor-data");
    options.m_CompareFiles = filesOf(raw.m_CompareFiles, "--compare-output");
    options.m_OutputFiles = filesOf(raw.m_OutputFiles, "--write-outputs-to-file");
    options.m_DotFile = GetGraphFile(raw.m_Graph, options.m_ModelPath);
    options.m_InputNames = SplitList(raw.m_InputNames, "--input-name", Repeated::Refused);
    options.m_OutputNames = SplitList(raw.m_OutputNames, "--output-name", Repeated::Refused);
    for (const std::string& shape : text::Split(raw.m_InputShapes, ':'))
    {
        options.m_InputShapes.push_back(ParseShape(shape, raw.m_InputShapes));
    }
    options.m_WriteLayers = options.m_WriteLayers || !options.m_LayersFolder.empty();
    options.m_Dimensions = ParseDimensions(raw.m_Dimensions);
    options.m_Limits = ParseLimits(raw.m_Limits);
    options.m_DisabledFusions = SplitList(raw.m_DisabledFusions, "--without-fusion", Repeated::Refused);
    const std::vector<std::string> known = GetFusionNames();
    for (const std::string& name : options.m_DisabledFusions)
    {
        if (std::find(known.begin(), known.end(), name) == known.end())
        {
            throw UsageError(fmt::format("--without-fusion: there is no fusion '{}'; there are {}", OneLine(name),
                                         fmt::join(known, ", ")));
        }
    }
    if (app.count("--top-k") > 0 || !options.m_LabelsFile.empty())
    {
        options.m_TopK = raw.m_TopK;
    }
    if (raw.m_Details || raw.m_DetailsOnly)
    {
        if (raw.m_Details && raw.m_DetailsOnly)
        {
            options.m_Remarks.emplace_back("--output-network-details: --output-network-details-only is given, too, so "
                                           "events are left out");
        }
        options.m_Details =
            raw.m_DetailsOnly ? ProfilingDetailsMethod::DetailsOnly : ProfilingDetailsMethod::DetailsWithEvents;
        options.m_PrintProfile = options.m_PrintProfile || options.m_ProfileFile.empty();
    }
    return line;
}

} // namespace tenon::cli
