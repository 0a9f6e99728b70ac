// SPDX-License-Identifier: Apache-2.0
// See Options.hpp. CLI11 finds the options; lists are split here, because CLI11's own lists swallow the words that
// follow.
#include "tools/execute_network/Options.hpp"

#include "text/OptionWords.hpp"
#include "tools/common/CommandLine.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/FileSets.hpp"
#include "tools/common/LimitOption.hpp"
#include "tools/common/OptionValues.hpp"
#include "tools/common/Strings.hpp"
#include "tools/compare/Reference.hpp"
#include "tools/execute_network/ArmNNOptions.hpp"
#include "tools/execute_network/OptionList.hpp"

#include <tenon/BackendId.hpp>
#include <tenon/NetworkPlan.hpp>
#include <tenon/Types.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

namespace tenon::tools
{
namespace
{

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
    if (!options.m_ProfileAgainst.empty() && options.m_ProfilePage.empty())
    {
        throw UsageError("--profile-against: the comparison is a part of the page; name it in --profile-html");
    }
    if (options.m_MeasurePeaks && !options.HasProfile())
    {
        throw UsageError("--roofline: it is a part of the profile; add --profile or --profile-html FILE");
    }
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

/// The options that describe models in place of running them: what they print follows from models and backends alone.
void CheckDescription(const CLI::App& app, const std::vector<std::string>& words, Options& options,
                      const std::string& describedPath)
{
    constexpr const char* can = "--can-run";
    constexpr const char* describe = "--describe";
    constexpr std::string_view taken[] = {"--compute",         "--dynamic-backends-path", "--report-json",
                                          "--limit",           "--max-partitions",        "--min-layers-per-partition",
                                          "--all-or-nothing",  "--fp16-turbo-mode",       "--bf16-turbo-mode",
                                          "--enable-fast-math"};
    constexpr std::string_view takenForModel[] = {"--model-path", "--model-format",       "--entry",
                                                  "--signature",  "--subgraph-number",    "--dim",
                                                  "--input-name", "--input-tensor-shape", "--number-of-threads"};
    options.m_Describes = app.count(describe) > 0;
    if (!options.m_Describes && app.count(can) == 0)
    {
        return;
    }
    const char* const given = options.m_Describes ? describe : can;
    if (app.count(can) > 0 && app.get_option(can)->results().back().empty())
    {
        throw UsageError(fmt::format("{}: name a folder of models", can));
    }
    const auto has = [](const auto& names, const std::string& name)
    { return std::find(std::begin(names), std::end(names), name) != std::end(names); };
    for (const CLI::Option* option : app.get_options())
    {
        const std::string name = option->get_name();
        const bool isOfEnvironment =
            !option->get_envname().empty() &&
            std::none_of(words.begin(), words.end(), [&](const std::string& word) { return word.starts_with(name); });
        if (option->count() > 0 && name != given && !isOfEnvironment && !has(taken, name) &&
            !(options.m_Describes && has(takenForModel, name)))
        {
            throw UsageError(
                fmt::format("{0}: with {1} it has no effect, because {1} runs no model; leave it out", name, given));
        }
    }
    if (options.m_Describes && !describedPath.empty())
    {
        if (!options.m_ModelPath.empty())
        {
            throw UsageError(fmt::format("{}: '{}' is given, and '{}' in --model-path; leave one of them out", describe,
                                         OneLine(describedPath), OneLine(options.m_ModelPath)));
        }
        options.m_ModelPath = describedPath;
    }
}

/// "--min_secs=1" as "--min-secs=1", where that is an option: benchmark_model's options have underscores.
void SpellWithHyphens(const CLI::App& app, std::vector<std::string>& words)
{
    for (std::string& word : words)
    {
        const size_t end = std::min(word.find('='), word.size());
        std::string name = word.substr(0, end);
        std::replace(name.begin(), name.end(), '_', '-');
        if (name.starts_with("--") && app.get_option_no_throw(name) != nullptr)
        {
            word = name + word.substr(end);
        }
    }
}

/// Reads --concurrent, a number for --benchmark; gives whether it is on as the flag that it is in Arm NN.
bool ReadCallers(const CLI::App& app, const std::string& value, Options& options)
{
    const bool isGiven = app.count("--concurrent") > 0;
    const std::optional<bool> flag = value.empty() ? std::optional(true) : text::ParseFlag(value);
    const bool isDigit = !value.empty() && value[0] >= '0' && value[0] <= '9';
    if (isGiven && (!flag || (isDigit && options.m_Benchmark.m_IsAsked)))
    {
        options.m_Benchmark.m_Callers = ParseNumber(value, "--concurrent", 1, MaxCallers);
        return false;
    }
    return isGiven && *flag;
}

/// Throws UsageError for options of --benchmark without it, and for options that it gives no effect.
void CheckBenchmark(const CLI::App& app, Options& options)
{
    BenchmarkOptions& benchmark = options.m_Benchmark;
    if (!benchmark.m_IsAsked)
    {
        for (const char* option : {"--warmup-runs", "--min-secs", "--max-secs", "--against", "--serve-turns"})
        {
            if (IsAsked(app, option))
            {
                throw UsageError(fmt::format("{}: it is for --benchmark; add that, or leave it out", option));
            }
        }
        if (benchmark.m_Callers > 1)
        {
            throw UsageError("--concurrent: callers at once are for --benchmark; add that, or leave the number out");
        }
        return;
    }
    for (const char* option : {"--write-outputs-to-file",
                               "--dequantize-output",
                               "--labels",
                               "--top-k",
                               "--compare-with",
                               "--compare-output",
                               "--compare-output-with-backend",
                               "--armnn-output",
                               "--print-intermediate-layers",
                               "--print-intermediate-layers-to-file",
                               "--intermediate-layers-folder",
                               "--event-based-profiling",
                               "--profile-json",
                               "--chrome-trace",
                               "--profile",
                               "--roofline",
                               "--profile-html",
                               "--profile-against",
                               "--output-network-details",
                               "--output-network-details-only",
                               "--print-assignment",
                               "--print-plan",
                               "--plan-json",
                               "--serialize",
                               "--serialize-optimized",
                               "--visualize-optimized-model"})
    {
        if (IsAsked(app, option))
        {
            throw UsageError(
                fmt::format("{}: --benchmark prints and writes times and memory alone; leave one of the two "
                            "out",
                            option));
        }
    }
    if (app.count("--iterations") == 0)
    {
        options.m_Iterations = std::max(options.m_Iterations, RunBounds().m_MinRuns);
    }
    RunBounds& bounds = benchmark.m_Bounds;
    bounds.m_MinRuns = options.m_Iterations;
    if (bounds.m_MinSeconds > bounds.m_MaxSeconds && app.count("--min-secs") > 0)
    {
        throw UsageError(fmt::format("--min-secs: {:g} is more than the {:g} of --max-secs", bounds.m_MinSeconds,
                                     bounds.m_MaxSeconds));
    }
    bounds.m_MinSeconds = std::min(bounds.m_MinSeconds, bounds.m_MaxSeconds);
    const auto many = std::find_if(options.m_InputFiles.begin(), options.m_InputFiles.end(), StandsForMany);
    if (many != options.m_InputFiles.end())
    {
        throw UsageError(fmt::format("--input-tensor-data: '{}' stands for many files; give --benchmark the files "
                                     "themselves, whose sets take turns",
                                     OneLine(*many)));
    }
    if (app.count("--against") == 0)
    {
        return;
    }
    if (benchmark.m_Callers > 1 || !options.m_CachedNetworkFile.empty())
    {
        throw UsageError(fmt::format("{}: --against measures two sides without it; leave one of the two out",
                                     benchmark.m_Callers > 1 ? "--concurrent" : "--cached-network-filepath"));
    }
    for (const std::string& file : options.m_InputFiles)
    {
        if (IsStandardInput(file))
        {
            throw UsageError("--against: both sides read the inputs, so they cannot come from standard input");
        }
    }
    if (IsStandardInput(options.m_ModelPath))
    {
        throw UsageError("--against: both sides read the model, so it cannot come from standard input");
    }
}

/// The options that --compare-with has. They need the files of -d.
void ApplyComparison(const CLI::App& app, const RawOptions& raw, Options& options)
{
    for (const char* option : {"--tolerance", "--compare-layers"})
    {
        if (IsAsked(app, option) && options.m_CompareWith.empty())
        {
            throw UsageError(fmt::format("{}: name a reference in --compare-with", option));
        }
    }
    if (options.m_CompareWith.empty())
    {
        return;
    }
    if (app.count("--tolerance") > 0)
    {
        options.m_Tolerance = ParseTolerance(raw.m_Tolerance);
    }
    const bool isRandom = options.m_InputFiles.empty() && !NamesOutputFiles(options.m_CompareWith);
    if (isRandom && app.count("--iterations") == 0)
    {
        options.m_Iterations = DefaultComparedRuns;
    }
    options.m_DoNotPrintOutput = true; // outputs are of the last run alone
}

/// The name under which the number of a subgraph is given, for messages.
std::string FindSubgraphOption(const std::vector<std::string>& words)
{
    const auto isShorter = [](const std::string& word)
    { return word == "--subgraph" || word.starts_with("--subgraph="); };
    return std::any_of(words.begin(), words.end(), isShorter) ? "--subgraph" : "--subgraph-number";
}

} // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv, size_t helpWidth)
{
    CommandLine line;
    Options& options = line.m_Options;
    RawOptions raw;
    ArmNNOptions armNN;
    CLI::App app;
    app.allow_extras(); // CLI11 names them in reverse order
    std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
    std::replace(given.begin(), given.end(), std::string("-help"), std::string("--help"));
    options.m_SubgraphOption = FindSubgraphOption(given);
    options.m_Benchmark.m_Words = given;
    DeclareOptions(app, options, raw, armNN);
    SpellWithHyphens(app, given);
    const std::vector<std::string> words = JoinArmNNWords(app, given);
    const std::string files = "it is given more than once; give it once, with commas between the files";
    line.m_Text = ParseWords(
        app, words,
        {"--input-tensor-data",
         {{"--input-tensor-data", files},
          {"--write-outputs-to-file", files},
          {"--compare-output", files},
          {"--input-tensor-shape", "it is given more than once; give it once, with colons between the shapes"}},
         [&] { return FormatOptionHelp(app, raw.m_HelpTopic, helpWidth); }});
    if (line.m_Text)
    {
        return line;
    }
    armNN.Apply(app, ReadCallers(app, raw.m_Callers, options), options);
    CheckDescription(app, words, options, raw.m_DescribedPath);
    if (options.m_ModelPath.empty() && options.m_ModelFolder.empty())
    {
        throw UsageError("--model-path: name a model file, or - for standard input (see --help)");
    }
    CheckChoices(options);
    options.m_Compute = SplitList(raw.m_Compute, "--compute", Repeated::LeftOut);
    options.m_CompareWith = SplitList(raw.m_CompareWith, "--compare-with", Repeated::Kept);
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
    for (const char* option : {"--entry", "--against", "--report-json", "--visualize-optimized-model", "--profile-json",
                               "--chrome-trace", "--labels", "--profile-html", "--profile-against", "--serialize",
                               "--serialize-optimized", "--intermediate-layers-folder", "--plan-json"})
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
    CheckBenchmark(app, options);
    ApplyComparison(app, raw, options);
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

} // namespace tenon::tools
