// SPDX-License-Identifier: Apache-2.0
// See ArmNNOptions.hpp.
#include "tools/execute_network/ArmNNOptions.hpp"

#include "text/OptionWords.hpp"
#include "text/Remarks.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/OptionValues.hpp"
#include "tools/common/Strings.hpp"
#include "tools/execute_network/OptionGroups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace tenon::tools
{
namespace
{

enum class Answer
{
    None,   ///< the option is taken without a word
    Remark, ///< the option is taken, with a remark about what happens in its place
    Refusal ///< the program ends, because going on would give something else
};

struct KnownOption
{
    const char* m_Group;
    const char* m_Names; ///< as CLI11 takes them, the long name last
    bool m_IsFlag;
    const char* m_Description;
    Answer m_Answer;
    const char* m_Text; ///< the remark or the refusal, behind the option's name; null for Answer::None
};

constexpr const char* NoPackets =
    "there is no external profiling (arm::pipe), so nothing is sent or captured; --profile-json FILE writes where the "
    "time goes as JSON, and --chrome-trace FILE as a timeline";
constexpr const char* NoDelegate = "there is no TensorFlow Lite in this program to delegate from: Tenon's own parser "
                                   "reads the model, and the backends "
                                   "of --compute run all of it";
constexpr const char* NoThreadPool =
    "iterations run one after another, each on the threads of --number-of-threads (default: all cores); --benchmark "
    "--concurrent N measures several at once";
constexpr const char* NoTuning = "no backend here has OpenCL kernels to tune, so the file is neither read nor written";
constexpr const char* TypesOfModel =
    "no effect, because the model says the types; --quantize-input and --dequantize-output convert";

constexpr KnownOption KnownOptions[] = {
    {groups::Model, "--infer-output-shape", true, "Done anyway", Answer::None, nullptr},
    {groups::Model, "--allow-expanded-dims", true, "Done anyway: shapes are inferred", Answer::None, nullptr},
    {groups::Model, "--parse-unsupported", true, "Done anyway: backends are asked for custom operators", Answer::None,
     nullptr},
    {groups::Backends, "-R,--reuse-buffers", true, "Done anyway", Answer::None, nullptr},
    {groups::Inputs, "--import-inputs-if-aligned", true, "Done anyway: inputs and outputs are used in place",
     Answer::None, nullptr},
    {groups::Backends, "-T,--tflite-executor", false,
     "parser, which is Tenon's own; delegate and opaquedelegate use it, too", Answer::None, nullptr},
    {groups::Backends, "-D,--armnn-tflite-delegate", true, "See --tflite-executor", Answer::Remark, NoDelegate},
    {groups::Inputs, "-y,--input-type", false, "Not needed: the model says the types", Answer::Remark, TypesOfModel},
    {groups::Outputs, "-z,--output-type", false, "Not needed: the model says the types", Answer::Remark, TypesOfModel},
    {groups::Benchmark, "-P,--thread-pool-size", false, "Iterations run one after another, on --number-of-threads",
     Answer::None, nullptr},
    {groups::Benchmark, "--simultaneous-iterations", false, "As many --iterations, which run one after another",
     Answer::None, nullptr},
    {groups::Backends, "--tuning-level", false, "0 to 3, with --tuning-path; no backend here has OpenCL kernels",
     Answer::None, nullptr},
    {groups::Backends, "--tuning-path", false, "See --tuning-level", Answer::Remark, NoTuning},
    {groups::Backends, "--MLGOTuningFilePath", false, "See --tuning-level", Answer::Remark, NoTuning},
    {groups::Profile, "-a,--enable-external-profiling", true, "See --profile-json", Answer::Remark, NoPackets},
    {groups::Profile, "-g,--file-only-external-profiling", true, "See --profile-json", Answer::Remark, NoPackets},
    {groups::Profile, "--file-format", false, "See --profile-json", Answer::Remark, NoPackets},
    {groups::Profile, "-j,--outgoing-capture-file", false, "See --profile-json", Answer::Remark, NoPackets},
    {groups::Profile, "-k,--incoming-capture-file", false, "See --profile-json", Answer::Remark, NoPackets},
    {groups::Profile, "--timeline-profiling", true, "See --chrome-trace", Answer::Remark, NoPackets},
    {groups::Profile, "-u,--counter-capture-period", false, "See --profile-json", Answer::Remark, NoPackets},
    {groups::Compare, "-A,--compare-with-tflite", true, "See --compare-output-with-backend CpuRef", Answer::Refusal,
     "there is no TensorFlow Lite in this program; --compare-output-with-backend CpuRef compares with the exact "
     "reference, which gives the bytes of TensorFlow Lite's reference kernels for quantized models, and "
     "--compare-output FILE with a file of any other program"},
    {groups::Files, "--serialize-to-armnn", true, "See --serialize", Answer::Refusal,
     "files of Arm NN's own format are not written; --serialize FILE.tenon writes the network, and "
     "--visualize-optimized-model FILE.dot its graph"},
    {groups::Inputs, "-t,--test-cases", false, "See --input-tensor-data", Answer::Refusal,
     "there are no files of test cases; run this program once for each case, or give --input-tensor-data a set of "
     "files for each of --iterations"},
};

/// Options whose empty value means the same as their absence in Arm NN.
constexpr const char* EmptyIsAbsent[] = {"--input-tensor-data",
                                         "--write-outputs-to-file",
                                         "--compare-output",
                                         "--compare-output-with-backend",
                                         "--input-name",
                                         "--output-name",
                                         "--input-tensor-shape",
                                         "--dynamic-backends-path",
                                         "--cached-network-filepath",
                                         "--tuning-path",
                                         "--MLGOTuningFilePath",
                                         "--model-format",
                                         "--tflite-executor",
                                         "--input-type",
                                         "--output-type",
                                         "--outgoing-capture-file",
                                         "--incoming-capture-file"};

/// Backends of Arm NN's releases.
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

/// Whether the executor is one of TensorFlow Lite that delegates to Arm NN's backends.
bool IsDelegate(const std::string& executor)
{
    if (executor == "tflite")
    {
        throw UsageError("--tflite-executor: 'tflite' is not there: there is no TensorFlow Lite in this program; "
                         "--compute CpuRef runs the exact reference");
    }
    const bool isDelegate = executor == "delegate" || executor == "opaquedelegate";
    if (!isDelegate && executor != "parser")
    {
        throw UsageError(fmt::format("--tflite-executor: '{}' is not known; supported: parser, delegate, "
                                     "opaquedelegate",
                                     OneLine(executor)));
    }
    return isDelegate;
}

/// The long name of each name of an option, both with dashes.
using OptionNames = std::map<std::string, std::string>;

/// The options of `app` that take a value, or the options that take none.
OptionNames FindOptions(const CLI::App& app, bool takesValue)
{
    OptionNames names;
    for (const CLI::Option* option : app.get_options())
    {
        if ((option->get_items_expected_max() > 0) != takesValue || option->get_lnames().empty())
        {
            continue;
        }
        const std::string longName = "--" + option->get_lnames().front();
        for (const std::string& name : option->get_lnames())
        {
            names["--" + name] = longName;
        }
        for (const std::string& name : option->get_snames())
        {
            names["-" + name] = longName;
        }
    }
    return names;
}

/// "-v", or letters of flags with it at the end: "-Nv".
bool EndsWithGraph(const std::string& word, const OptionNames& flags)
{
    const auto isFlag = [&](char letter) { return flags.count(std::string("-") + letter) > 0; };
    return word.size() > 1 && word[0] == '-' && word.back() == 'v' &&
           std::all_of(word.begin() + 1, word.end() - 1, isFlag);
}

/// "--name=value" and "-n=value" cut in two; nothing for a word without a value.
std::optional<std::pair<std::string, std::string>> SplitWord(const std::string& word)
{
    const size_t equals = word.find('=');
    const bool isOption = equals != std::string::npos && (word.starts_with("--") || (equals == 2 && word[0] == '-'));
    return isOption ? std::optional(std::pair(word.substr(0, equals), word.substr(equals + 1))) : std::nullopt;
}

bool TakesBackends(const std::string& word)
{
    return word == "-c" || word == "--compute" || word == "-B" || word == "--compare-output-with-backend";
}

} // namespace

std::vector<std::string> ArmNNOptions::GetNames()
{
    std::vector<std::string> names;
    for (const KnownOption& known : KnownOptions)
    {
        names.emplace_back(LongName(known));
    }
    return names;
}

void ArmNNOptions::Declare(CLI::App& app)
{
    for (const KnownOption& known : KnownOptions)
    {
        const std::string name = LongName(known);
        CLI::Option* const option = known.m_IsFlag ? app.add_flag(known.m_Names, m_Flags[name], known.m_Description)
                                                   : app.add_option(known.m_Names, m_Values[name], known.m_Description);
        option->group(known.m_Group);
    }
}

void ArmNNOptions::Apply(const CLI::App& app, bool isConcurrent, Options& options) const
{
    const auto isGiven = [&](const char* name) { return app.count(name) > 0; };
    const auto number = [&](const char* name, unsigned int min, unsigned int max, unsigned int otherwise)
    { return isGiven(name) ? ParseNumber(m_Values.at(name), name, min, max) : otherwise; };
    constexpr unsigned int anyNumber = std::numeric_limits<unsigned int>::max();
    text::Remarks remarks;
    for (const KnownOption& known : KnownOptions)
    {
        const char* const name = LongName(known);
        const bool isAsked = known.m_IsFlag ? m_Flags.at(name) : isGiven(name);
        if (isAsked && known.m_Answer == Answer::Refusal)
        {
            throw UsageError(fmt::format("{}: {}", name, known.m_Text));
        }
        if (isAsked && known.m_Answer == Answer::Remark)
        {
            remarks.Add(name, known.m_Text);
        }
    }
    for (const char* name : {"--outgoing-capture-file", "--incoming-capture-file"})
    {
        if (isGiven(name) && m_Flags.at("--enable-external-profiling"))
        {
            throw UsageError(fmt::format("{}: {}", name, NoPackets));
        }
    }
    if (isGiven("--tflite-executor") && IsDelegate(m_Values.at("--tflite-executor")))
    {
        remarks.Add("--tflite-executor", NoDelegate);
    }
    number("--counter-capture-period", 0, anyNumber, 0);
    if (const unsigned int atOnce = number("--simultaneous-iterations", 1, MaxIterations, 1); atOnce > 1)
    {
        options.m_Iterations = std::max(options.m_Iterations, atOnce);
        remarks.Add("--simultaneous-iterations", NoThreadPool);
    }
    if (isConcurrent)
    {
        remarks.Add("--concurrent", NoThreadPool);
    }
    if (number("--thread-pool-size", 0, anyNumber, 0) > 0)
    {
        remarks.Add("--thread-pool-size", NoThreadPool);
    }
    if (number("--tuning-level", 0, 3, 0) > 0 && !isGiven("--tuning-path"))
    {
        throw UsageError("--tuning-level: name the file in --tuning-path, or leave both out: no backend here has "
                         "OpenCL kernels to tune");
    }
    options.m_Remarks = remarks.Lines();
}

std::vector<std::string> JoinArmNNWords(const CLI::App& app, const std::vector<std::string>& words)
{
    const OptionNames flags = FindOptions(app, false);
    const OptionNames valued = FindOptions(app, true);
    std::vector<std::string> joined;
    for (size_t i = 0; i < words.size(); ++i)
    {
        const bool isLast = i + 1 == words.size();
        const std::string next = isLast ? "-" : words[i + 1];
        const bool isNextAnOption = isLast || (next.size() > 1 && next[0] == '-');
        const auto [name, value] = SplitWord(words[i]).value_or(std::pair(words[i], next));
        const bool isOneWord = name != words[i];
        const auto flag = flags.find(name);
        const auto option = valued.find(name);
        if (option != valued.end() && value.empty() && Has(EmptyIsAbsent, option->second))
        {
            i += isOneWord ? 0 : 1;
            continue;
        }
        if (const std::optional<bool> isOn = text::ParseFlag(value); flag != flags.end() && (isOn || isOneWord))
        {
            joined.push_back(flag->second + "=" + (!isOn ? value : *isOn ? "true" : "false"));
            i += isOneWord ? 0 : 1;
        }
        else if (option != valued.end() && isOneWord && value.empty()) // CLI11 takes it for a missing value
        {
            joined.insert(joined.end(), {name, value});
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
        if (!TakesBackends(words[i]) || isLast)
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

} // namespace tenon::tools
