// SPDX-License-Identifier: Apache-2.0
// Options of the delegate as texts: see Options.hpp. Names and values are those of Arm NN's delegate and of TensorFlow
// Lite's own ones (num_threads, max_delegated_partitions, min_nodes_per_partition).
#include "delegate/Options.hpp"

#include "common/Log.hpp"
#include "text/Nearest.hpp"
#include "text/OptionWords.hpp"
#include "text/Remarks.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/delegate/Delegate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

namespace tenon
{

namespace delegate
{
namespace
{

/// What is read so far.
struct Reading
{
    TfLiteDelegateOptions m_Options;
    std::map<std::string, std::string> m_Given; ///< values by name
    std::optional<ProfilingDetailsMethod> m_ProfilingDetails;
    bool m_IsExternalProfilingOn = false;
    text::Remarks m_Remarks;
};

/// Takes a value; false where the option cannot have it.
using Setter = bool (*)(Reading& reading, const std::string& name, const std::string& value);

struct OptionRow
{
    const char* m_Name;
    const char* m_Values;
    const char* m_Meaning;
    Setter m_Set;
};

constexpr unsigned int MaxThreads = 1024;
constexpr unsigned int MaxTuningLevel = 3;
constexpr unsigned int AnyNumber = std::numeric_limits<unsigned int>::max();

constexpr const char* FlagValues = "true or false (1 or 0)";
constexpr const char* FileValues = "a path";
constexpr const char* ThreadValues = "a whole number from 0 to 1024";
constexpr const char* NumberValues = "a whole number from 0 to 4294967295";
constexpr const char* WithoutTuning = "No effect, with a warning: no backend here has OpenCL kernels";
constexpr const char* WithoutPackets = "No effect, with a warning: there is no external profiling (arm::pipe)";
/// What the log says of them.
constexpr const char* NoTuning = "no effect, because no backend here has OpenCL kernels to tune or to measure";
constexpr const char* NoPackets = "no effect, because there is no external profiling (arm::pipe); "
                                  "enable-internal-profiling shows where the time goes";

/// Names of one option, of which one is enough.
constexpr const char* OtherNames[][2] = {{"number-of-threads", "num_threads"},
                                         {"dynamic-backends-path", "runtimepath"}};

bool ReadFlag(const std::string& value, bool& flag)
{
    const std::optional<bool> read = text::ParseFlag(value);
    flag = read.value_or(false);
    return read.has_value();
}

bool ReadNumber(const std::string& value, unsigned int min, unsigned int max, unsigned int& number)
{
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() && end == value.data() + value.size() && number >= min && number <= max;
}

template <bool TfLiteDelegateOptions::*Member>
bool SetFlag(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    return ReadFlag(value, reading.m_Options.*Member);
}

template <unsigned int TfLiteDelegateOptions::*Member, unsigned int Max>
bool SetNumber(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    return ReadNumber(value, 0, Max, reading.m_Options.*Member);
}

template <std::string TfLiteDelegateOptions::*Member>
bool SetFile(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    reading.m_Options.*Member = value;
    return true;
}

template <void (OptimizerOptionsOpaque::*... Set)(bool)>
bool SetOfOptimizer(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    bool flag = false;
    const bool isFlag = ReadFlag(value, flag);
    (..., (reading.m_Options.m_OptimizerOptions.*Set)(flag));
    return isFlag;
}

bool SetBackends(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    std::vector<BackendId>& backends = reading.m_Options.m_Backends;
    backends.clear();
    for (const std::string& backend : text::Split(value, ','))
    {
        if (backend.empty())
        {
            return false;
        }
        if (std::find(backends.begin(), backends.end(), BackendId(backend)) == backends.end())
        {
            backends.emplace_back(backend);
        }
    }
    return !backends.empty();
}

bool SetDynamicBackends(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    reading.m_Options.m_RuntimeOptions.m_DynamicBackendsPath = value;
    return true;
}

bool SetSeverity(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    const auto isSame = [](char a, char b)
    { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); };
    for (const LogSeverity severity : {LogSeverity::Trace, LogSeverity::Debug, LogSeverity::Info, LogSeverity::Warning,
                                       LogSeverity::Error, LogSeverity::Fatal})
    {
        const std::string_view severityName = GetLogSeverityAsCString(severity);
        if (std::equal(severityName.begin(), severityName.end(), value.begin(), value.end(), isSame))
        {
            reading.m_Options.m_LoggingSeverity = severity;
            return true;
        }
    }
    return false;
}

bool SetFastMath(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    bool isFast = false;
    const bool isFlag = ReadFlag(value, isFast);
    if (isFast)
    {
        reading.m_Options.m_OptimizerOptions.AddModelOption(BackendOptions("CpuAcc", {{"FastMathEnabled", true}}));
    }
    return isFlag;
}

bool SetShapeInference(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    bool isInferred = false;
    const bool isFlag = ReadFlag(value, isInferred);
    reading.m_Options.m_OptimizerOptions.SetShapeInferenceMethod(isInferred ? ShapeInferenceMethod::InferAndValidate
                                                                            : ShapeInferenceMethod::ValidateOnly);
    return isFlag;
}

bool SetProfilingDetail(Reading& reading, const std::string& /*name*/, const std::string& value)
{
    unsigned int detail = 0;
    const bool isDetail = ReadNumber(value, 1, 2, detail);
    reading.m_ProfilingDetails =
        detail == 1 ? ProfilingDetailsMethod::DetailsWithEvents : ProfilingDetailsMethod::DetailsOnly;
    return isDetail;
}

bool RemarkTuningFlag(Reading& reading, const std::string& name, const std::string& value)
{
    bool isOn = false;
    const bool isFlag = ReadFlag(value, isOn);
    if (isOn)
    {
        reading.m_Remarks.Add(name, NoTuning);
    }
    return isFlag;
}

bool RemarkTuningLevel(Reading& reading, const std::string& name, const std::string& value)
{
    unsigned int level = 0;
    const bool isLevel = ReadNumber(value, 0, MaxTuningLevel, level);
    if (isLevel && level > 0)
    {
        reading.m_Remarks.Add(name, NoTuning);
    }
    return isLevel;
}

bool RemarkTuningFile(Reading& reading, const std::string& name, const std::string& value)
{
    if (!value.empty())
    {
        reading.m_Remarks.Add(name, NoTuning);
    }
    return true;
}

bool RemarkProfilingFlag(Reading& reading, const std::string& name, const std::string& value)
{
    bool isOn = false;
    const bool isFlag = ReadFlag(value, isOn);
    if (isOn)
    {
        reading.m_Remarks.Add(name, NoPackets);
    }
    return isFlag;
}

bool RemarkExternalProfiling(Reading& reading, const std::string& name, const std::string& value)
{
    return ReadFlag(value, reading.m_IsExternalProfilingOn) && RemarkProfilingFlag(reading, name, value);
}

bool RemarkCaptureFile(Reading& reading, const std::string& name, const std::string& value)
{
    if (!value.empty())
    {
        reading.m_Remarks.Add(name, NoPackets);
    }
    return true;
}

bool RemarkCapturePeriod(Reading& reading, const std::string& name, const std::string& value)
{
    unsigned int period = 0;
    reading.m_Remarks.Add(name, NoPackets);
    return ReadNumber(value, 0, AnyNumber, period);
}

bool RemarkProfilingFormat(Reading& reading, const std::string& name, const std::string& value)
{
    reading.m_Remarks.Add(name, NoPackets);
    return value == "binary";
}

using Options = TfLiteDelegateOptions;
using Optimizing = OptimizerOptionsOpaque;

constexpr OptionRow Rows[] = {
    {"backends", "names with commas between them, such as CpuAcc, CpuRef",
     "Backends in order of preference: a layer runs on the first one that supports it. CpuAcc, CpuRef where it is left "
     "out",
     SetBackends},
    {"number-of-threads", ThreadValues,
     "Threads of a run. 0, the default: the interpreter's number, or 1 where it has none",
     SetNumber<&Options::m_NumberOfThreads, MaxThreads>},
    {"num_threads", ThreadValues, "The same as number-of-threads", SetNumber<&Options::m_NumberOfThreads, MaxThreads>},
    {"max_delegated_partitions", NumberValues,
     "Maximum number of partitions of a subgraph; the largest ones are taken. 0, the default: no limit",
     SetNumber<&Options::m_MaxDelegatedPartitions, AnyNumber>},
    {"min_nodes_per_partition", NumberValues, "Partitions of fewer nodes are left to TensorFlow Lite. Default: 0",
     SetNumber<&Options::m_MinNodesPerPartition, AnyNumber>},
    {"logging-severity", "trace, debug, info, warning, error or fatal",
     "Severity of the log. info adds a table of the nodes that were taken and left, debug the optimizer's messages. "
     "Default: warning",
     SetSeverity},
    {"disable-tflite-runtime-fallback", FlagValues,
     "A node that is not taken is an error, in place of running in TensorFlow Lite",
     SetFlag<&Options::m_DisableFallback>},
    {"dynamic-backends-path", FileValues, "The folder of backends in shared objects, or one such file",
     SetDynamicBackends},
    {"runtimepath", FileValues, "The same as dynamic-backends-path", SetDynamicBackends},
    {"enable-fast-math", FlagValues, "CpuAcc computes convolutions of 3x3 Float32 weights by Winograd's algorithm",
     SetFastMath},
    {"reduce-fp32-to-fp16", FlagValues, "Float32 layers compute with Float16 where backends can",
     SetOfOptimizer<&Optimizing::SetReduceFp32ToFp16>},
    {"reduce-fp32-to-bf16", FlagValues,
     "Float32 layers compute with BFloat16 where backends can and do it faster; not with reduce-fp32-to-fp16",
     SetOfOptimizer<&Optimizing::SetReduceFp32ToBf16>},
    {"cached-network-filepath", FileValues,
     "The file of CpuAcc's packed weights, which are then not packed at loading; further partitions have FILE.1, "
     "FILE.2, …",
     SetFile<&Options::m_CachedNetworkFilePath>},
    {"save-cached-network", FlagValues, "Write the file of cached-network-filepath in place of reading it",
     SetFlag<&Options::m_SaveCachedNetwork>},
    {"memory-import", FlagValues, "Done anyway: memory of TensorFlow Lite is used in place where it can be",
     SetOfOptimizer<&Optimizing::SetImportEnabled, &Optimizing::SetExportEnabled>},
    {"infer-output-shape", FlagValues, "Shapes of outputs are inferred where the model has none", SetShapeInference},
    {"allow-expanded-dims", FlagValues,
     "Declared shapes may differ from inferred ones in sizes of 1; not with infer-output-shape",
     SetOfOptimizer<&Optimizing::SetAllowExpandedDims>},
    {"debug-data", FlagValues, "Each run prints what its layers give as lines of JSON",
     SetOfOptimizer<&Optimizing::SetDebugEnabled>},
    {"serialize-to-dot", FileValues,
     "The file gets the networks as Graphviz's digraphs; further partitions have FILE.1, FILE.2, …",
     SetFile<&Options::m_SerializeToDot>},
    {"enable-internal-profiling", FlagValues,
     "Networks are profiled, and the profile is printed as JSON at the end of each",
     SetFlag<&Options::m_ProfilingEnabled>},
    {"internal-profiling-detail", "1 (with events) or 2 (without)", "Detail of the layers in the profile. Default: 1",
     SetProfilingDetail},
    {"gpu-tuning-level", "0, 1, 2 or 3", WithoutTuning, RemarkTuningLevel},
    {"gpu-tuning-file", FileValues, WithoutTuning, RemarkTuningFile},
    {"gpu-mlgo-tuning-file", FileValues, WithoutTuning, RemarkTuningFile},
    {"gpu-enable-profiling", FlagValues, WithoutTuning, RemarkTuningFlag},
    {"gpu-kernel-profiling-enabled", FlagValues, WithoutTuning, RemarkTuningFlag},
    {"enable-external-profiling", FlagValues, WithoutPackets, RemarkExternalProfiling},
    {"timeline-profiling", FlagValues, WithoutPackets, RemarkProfilingFlag},
    {"file-only-external-profiling", FlagValues, WithoutPackets, RemarkProfilingFlag},
    {"outgoing-capture-file", FileValues, "The same; an error with enable-external-profiling", RemarkCaptureFile},
    {"incoming-capture-file", FileValues, "The same; an error with enable-external-profiling", RemarkCaptureFile},
    {"counter-capture-period", NumberValues, WithoutPackets, RemarkCapturePeriod},
    {"profiling-file-format", "binary", WithoutPackets, RemarkProfilingFormat},
};

const OptionRow& FindOption(const std::string& name)
{
    const auto* const row =
        std::find_if(std::begin(Rows), std::end(Rows), [&](const OptionRow& each) { return each.m_Name == name; });
    if (row != std::end(Rows))
    {
        return *row;
    }
    std::vector<std::string> names;
    std::transform(std::begin(Rows), std::end(Rows), std::back_inserter(names),
                   [](const OptionRow& each) { return each.m_Name; });
    const std::optional<std::string> nearest = text::FindNearest(name, names);
    throw InvalidArgumentException(fmt::format("there is no option '{}'{}; there are {}", name,
                                               nearest ? fmt::format("; the nearest is '{}'", *nearest) : "",
                                               fmt::join(names, ", ")));
}

void CheckTogether(const Reading& reading)
{
    const TfLiteDelegateOptions& options = reading.m_Options;
    const OptimizerOptionsOpaque& optimizing = options.m_OptimizerOptions;
    for (const auto& [first, second] : OtherNames)
    {
        const auto one = reading.m_Given.find(first);
        const auto other = reading.m_Given.find(second);
        if (one != reading.m_Given.end() && other != reading.m_Given.end() && one->second != other->second)
        {
            throw InvalidArgumentException(
                fmt::format("options '{}' and '{}' are one, and are given as '{}' and '{}'; leave one of them out",
                            first, second, one->second, other->second));
        }
    }
    if (optimizing.GetReduceFp32ToFp16() && optimizing.GetReduceFp32ToBf16())
    {
        throw InvalidArgumentException("options 'reduce-fp32-to-fp16' and 'reduce-fp32-to-bf16' are both true; at most "
                                       "one of them may be");
    }
    if (optimizing.GetAllowExpandedDims() &&
        optimizing.GetShapeInferenceMethod() == ShapeInferenceMethod::InferAndValidate)
    {
        throw InvalidArgumentException("options 'infer-output-shape' and 'allow-expanded-dims' are both true; at most "
                                       "one of them may be");
    }
    if (options.m_SaveCachedNetwork && options.m_CachedNetworkFilePath.empty())
    {
        throw InvalidArgumentException("option 'save-cached-network' is true, and no file is named; name it by "
                                       "'cached-network-filepath'");
    }
    for (const char* const name : {"outgoing-capture-file", "incoming-capture-file"})
    {
        const auto file = reading.m_Given.find(name);
        if (reading.m_IsExternalProfilingOn && file != reading.m_Given.end() && !file->second.empty())
        {
            throw InvalidArgumentException(
                fmt::format("option '{}' is '{}', but there is no external profiling (arm::pipe), so that nothing is "
                            "sent or captured; leave it or 'enable-external-profiling' out",
                            name, file->second));
        }
    }
}

} // namespace

std::vector<OptionText> ListOptions()
{
    std::vector<OptionText> options;
    for (const OptionRow& row : Rows)
    {
        options.push_back({row.m_Name, row.m_Values, row.m_Meaning});
    }
    return options;
}

} // namespace delegate

TfLiteDelegateOptions TfLiteDelegateOptions::Parse(const std::vector<std::pair<std::string, std::string>>& options)
{
    delegate::Reading reading;
    for (const auto& [name, value] : options)
    {
        const delegate::OptionRow& row = delegate::FindOption(name);
        if (!reading.m_Given.emplace(name, value).second)
        {
            throw InvalidArgumentException(fmt::format("option '{}' is given twice", name));
        }
        if (!row.m_Set(reading, name, value))
        {
            throw InvalidArgumentException(
                fmt::format("option '{}' is '{}'; it must be {}", name, value, row.m_Values));
        }
    }
    delegate::CheckTogether(reading);
    TfLiteDelegateOptions& result = reading.m_Options;
    if (result.m_ProfilingEnabled || reading.m_ProfilingDetails)
    {
        result.m_ProfilingDetails = reading.m_ProfilingDetails.value_or(ProfilingDetailsMethod::DetailsWithEvents);
    }
    if (!result.m_LoggingSeverity.has_value() || result.m_LoggingSeverity.value() <= LogSeverity::Warning)
    {
        for (const std::string& line : reading.m_Remarks.Lines())
        {
            LogWarning("TenonDelegate: {}", line);
        }
    }
    return std::move(reading.m_Options);
}

TfLiteDelegateOptions TfLiteDelegateOptions::Parse(const char* const* names, const char* const* values, size_t count)
{
    std::vector<std::pair<std::string, std::string>> options;
    for (size_t i = 0; i < count; ++i)
    {
        if (names == nullptr || values == nullptr || names[i] == nullptr || values[i] == nullptr)
        {
            throw InvalidArgumentException(fmt::format("option {} of {} has no name or no value", i, count));
        }
        options.emplace_back(names[i], values[i]);
    }
    return Parse(options);
}

} // namespace tenon
