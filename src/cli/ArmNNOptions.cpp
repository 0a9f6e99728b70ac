// SPDX-License-Identifier: Apache-2.0
// See ArmNNOptions.hpp.
#include "cli/ArmNNOptions.hpp"

#include "cli/Errors.hpp"
#include "cli/OptionValues.hpp"
#include "cli/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

namespace tenon::cli
{
namespace
{

constexpr const char* ArmNNGroup = "Options of Arm NN's ExecuteNetwork without effect, or answered with another option";

struct KnownOption
{
    const char* m_Names; ///< as CLI11 takes them, the long name last
    bool m_IsFlag;
    const char* m_Description;
    /// For an option that cannot be honoured: the option to use in its place. Null for one that is taken.
    const char* m_Instead;
};

constexpr const char* NoPacketsOfProfiles =
    "there is no external profiling (arm::pipe); --profile-json FILE writes where the time goes as JSON, and "
    "--chrome-trace FILE as a timeline";
constexpr const char* NoDelegate =
    "there is no TensorFlow Lite in this program to delegate from; leave the option out, and Tenon's own parser reads "
    "the model";

constexpr KnownOption KnownOptions[] = {
    {"--infer-output-shape", true, "Done anyway", nullptr},
    {"--allow-expanded-dims", true, "Done anyway: shapes are inferred", nullptr},
    {"--parse-unsupported", true, "Done anyway: backends are asked for custom operators", nullptr},
    {"-R,--reuse-buffers", true, "Done anyway", nullptr},
    {"--import-inputs-if-aligned", true, "Done anyway: inputs and outputs are used in place", nullptr},
    {"-T,--tflite-executor", false, "parser, which is Tenon's own; there are no others", nullptr},
    {"-y,--input-type", false, "Not needed: the model says the types", nullptr},
    {"-z,--output-type", false, "Not needed: the model says the types", nullptr},
    {"-P,--thread-pool-size", false, "Iterations run one after another, on --number-of-threads", nullptr},
    {"-n,--concurrent", true, "Iterations run one after another, on --number-of-threads", nullptr},
    {"--simultaneous-iterations", false, "1; see --iterations", nullptr},
    {"--tuning-level", false, "0 to 3, with --tuning-path; no backend here has OpenCL kernels", nullptr},
    {"--tuning-path", false, "See --tuning-level", nullptr},
    {"--MLGOTuningFilePath", false, "See --tuning-level", nullptr},
    {"-A,--compare-with-tflite", true, "See --compare-output-with-backend CpuRef",
     "there is no TensorFlow Lite in this program; --compare-output-with-backend CpuRef compares with the exact "
     "reference, which gives the bytes of TensorFlow Lite's reference kernels for quantized models, and "
     "--compare-output FILE with a file of any other program"},
    {"-D,--armnn-tflite-delegate", true, "See --tflite-executor", NoDelegate},
    {"-a,--enable-external-profiling", true, "See --profile-json", NoPacketsOfProfiles},
    {"-g,--file-only-external-profiling", true, "See --profile-json", NoPacketsOfProfiles},
    {"--file-format", false, "See --profile-json", NoPacketsOfProfiles},
    {"-j,--outgoing-capture-file", false, "See --profile-json", NoPacketsOfProfiles},
    {"-k,--incoming-capture-file", false, "See --profile-json", NoPacketsOfProfiles},
    {"--timeline-profiling", true, "See --chrome-trace", NoPacketsOfProfiles},
    {"-u,--counter-capture-period", false, "See --profile-json", NoPacketsOfProfiles},
    {"--serialize-to-armnn", true, "See --serialize",
     "files of Arm NN's own format are not written; --serialize FILE.tenon writes the network, and "
     "--visualize-optimized-model FILE.dot its graph"},
    {"-t,--test-cases", false, "See --input-tensor-data",
     "there are no files of test cases; run this program once for each case, or give --input-tensor-data a set of "
     "files for each of --iterations"},
};

/// Types that --input-type and --output-type have had.
constexpr const char* ArmNNTypes[] = {"float", "int", "int8", "qasymm8", "qasymms8", "qasymmu8", "qsymms8"};

/// Backends that Arm NN has had.
constexpr const char* ArmNNBackends[] = {"CpuRef", "CpuAcc", "GpuAcc", "GpuFsa", "EthosNAcc"};

template <size_t Count>
bool Has(const char* const (&words)[Count], const std::string& word)
{
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

const char* LongName(const KnownOption& option)
{
    return std::strstr(option.m_Names, "--");
}

void CheckExecutor(const std::string& executor)
{
    if (executor == "delegate" || executor == "opaquedelegate")
    {
        throw UsageError(fmt::format("--tflite-executor: '{}' is not there: {}", executor, NoDelegate));
    }
    if (executor == "tflite")
    {
        throw UsageError("--tflite-executor: 'tflite' is not there: there is no TensorFlow Lite in this program; "
                         "--compute CpuRef runs the exact reference");
    }
    if (executor != "parser")
    {
        throw UsageError(fmt::format("--tflite-executor: '{}' is not known; supported: parser", OneLine(executor)));
    }
}

void CheckTypes(const std::string& types, const char* option)
{
    const std::vector<std::string> names = Split(types, ',');
    const auto wrong =
        std::find_if(names.begin(), names.end(), [](const std::string& name) { return !Has(ArmNNTypes, name); });
    if (wrong != names.end() || names.empty())
    {
        throw UsageError(fmt::format("{}: '{}' is no type; there are {}", option,
                                     wrong != names.end() ? OneLine(*wrong) : "", fmt::join(ArmNNTypes, ", ")));
    }
}

/// The long name of each name of a flag, both with dashes.
using FlagNames = std::map<std::string, std::string>;

FlagNames FindFlags(const CLI::App& app)
{
    FlagNames flags;
    for (const CLI::Option* option : app.get_options())
    {
        if (option->get_items_expected_max() > 0 || option->get_lnames().empty())
        {
            continue;
        }
        const std::string longName = "--" + option->get_lnames().back();
        for (const std::string& name : option->get_lnames())
        {
            flags["--" + name] = longName;
        }
        for (const std::string& name : option->get_snames())
        {
            flags["-" + name] = longName;
        }
    }
    return flags;
}

/// "-v", or letters of flags with it at the end: "-Nv".
bool EndsWithGraph(const std::string& word, const FlagNames& flags)
{
    const auto isFlag = [&](char letter) { return flags.count(std::string("-") + letter) > 0; };
    return word.size() > 1 && word[0] == '-' && word.back() == 'v' &&
           std::all_of(word.begin() + 1, word.end() - 1, isFlag);
}

bool TakesBackends(const std::string& word)
{
    return word == "-c" || word == "--compute" || word == "-B" || word == "--compare-output-with-backend";
}

} // namespace

void ArmNNOptions::Declare(CLI::App& app)
{
    for (const KnownOption& known : KnownOptions)
    {
        const std::string name = LongName(known);
        CLI::Option* const option = known.m_IsFlag ? app.add_flag(known.m_Names, m_Flags[name], known.m_Description)
                                                   : app.add_option(known.m_Names, m_Values[name], known.m_Description);
        option->group(ArmNNGroup);
    }
}

std::vector<std::string> ArmNNOptions::CheckAndRemark(const CLI::App& app) const
{
    for (const KnownOption& known : KnownOptions)
    {
        const char* const name = LongName(known);
        const bool isAsked = known.m_IsFlag ? m_Flags.at(name) : app.count(name) > 0;
        if (isAsked && known.m_Instead != nullptr)
        {
            throw UsageError(fmt::format("{}: {}", name, known.m_Instead));
        }
    }
    const auto isGiven = [&](const char* name) { return app.count(name) > 0; };
    const auto number = [&](const char* name, unsigned int min, unsigned int max, unsigned int otherwise)
    { return isGiven(name) ? ParseNumber(m_Values.at(name), name, min, max) : otherwise; };
    constexpr unsigned int anyNumber = std::numeric_limits<unsigned int>::max();
    std::vector<std::string> remarks;
    if (isGiven("--tflite-executor"))
    {
        CheckExecutor(m_Values.at("--tflite-executor"));
    }
    for (const char* name : {"--input-type", "--output-type"})
    {
        if (isGiven(name))
        {
            CheckTypes(m_Values.at(name), name);
            remarks.push_back(
                fmt::format("{}: it has no effect, because the model says the types; --quantize-input and "
                            "--dequantize-output convert",
                            name));
        }
    }
    if (number("--simultaneous-iterations", 1, anyNumber, 1) > 1)
    {
        throw UsageError(
            "--simultaneous-iterations: iterations do not run at once; --iterations N runs N of them, each "
            "on the threads of --number-of-threads");
    }
    const bool hasPool = number("--thread-pool-size", 0, anyNumber, 0) > 0;
    if (hasPool || m_Flags.at("--concurrent"))
    {
        remarks.push_back(fmt::format("{}: iterations run one after another, each on the threads of "
                                      "--number-of-threads (default: all cores)",
                                      hasPool ? "--thread-pool-size" : "--concurrent"));
    }
    if (number("--tuning-level", 0, 3, 0) > 0 && !isGiven("--tuning-path"))
    {
        throw UsageError("--tuning-level: name the file in --tuning-path, or leave both out: no backend here has "
                         "OpenCL kernels to tune");
    }
    for (const char* name : {"--tuning-path", "--MLGOTuningFilePath"})
    {
        if (isGiven(name))
        {
            remarks.push_back(fmt::format("{}: no backend here has OpenCL kernels to tune, so the file is neither read "
                                          "nor written",
                                          name));
        }
    }
    return remarks;
}

std::vector<std::string> JoinArmNNWords(const CLI::App& app, const std::vector<std::string>& words)
{
    const FlagNames flags = FindFlags(app);
    std::vector<std::string> joined;
    for (size_t i = 0; i < words.size(); ++i)
    {
        const std::string next = i + 1 < words.size() ? words[i + 1] : "-";
        const bool isNextAnOption = i + 1 == words.size() || (next.size() > 1 && next[0] == '-');
        if (const auto flag = flags.find(words[i]); flag != flags.end() && (next == "true" || next == "false"))
        {
            joined.push_back(flag->second + "=" + next);
            ++i;
        }
        else if (words[i].find('=') == 2 && flags.count(words[i].substr(0, 2)) > 0)
        {
            joined.push_back(flags.at(words[i].substr(0, 2)) + words[i].substr(2));
        }
        else if (words[i] == "--visualize-optimized-model" && isNextAnOption)
        {
            joined.push_back(words[i] + "=true");
        }
        else if (EndsWithGraph(words[i], flags) && isNextAnOption)
        {
            if (words[i].size() > 2)
            {
                joined.push_back(words[i].substr(0, words[i].size() - 1));
            }
            joined.push_back("--visualize-optimized-model=true");
        }
        else
        {
            joined.push_back(words[i]);
        }
        if (!TakesBackends(words[i]) || i + 1 == words.size())
        {
            continue;
        }
        joined.push_back(words[++i]);
        while (i + 1 < words.size() && Has(ArmNNBackends, words[i + 1]))
        {
            joined.back() += "," + words[++i];
        }
    }
    return joined;
}

} // namespace tenon::cli
