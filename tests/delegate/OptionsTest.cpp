// SPDX-License-Identifier: Apache-2.0
// Options as texts: each with values that it takes and values that it refuses, those that exclude each other, and the
// table in docs/delegate.md.
#include "delegate/Options.hpp"

#include "harness/WarningRecorder.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/delegate/Delegate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tenon::delegate
{
namespace
{

using testing::HasSubstr;
using testing::Not;
using Texts = std::vector<std::pair<std::string, std::string>>;
using Options = TfLiteDelegateOptions;

/// What Parse throws; empty if nothing.
std::string Refusal(const Texts& texts)
{
    try
    {
        Options::Parse(texts);
    }
    catch (const InvalidArgumentException& error)
    {
        return error.what();
    }
    return {};
}

struct OptionCase
{
    const char* m_Name;
    const char* m_Value;
    std::function<bool(const Options& options)> m_IsSet;
};

bool HasFastMath(const Options& options)
{
    int count = 0;
    ParseOptions(options.m_OptimizerOptions.GetModelOptions(), "CpuAcc",
                 [&](const std::string& name, const BackendOptions::Var& value)
                 { count += name == "FastMathEnabled" && value.AsBool() ? 1 : 0; });
    return count == 1;
}

bool IsDefault(const Options& options)
{
    return options.m_OptimizerOptions.ToString() == OptimizerOptionsOpaque().ToString();
}

const std::string& DynamicPath(const Options& options)
{
    return options.m_RuntimeOptions.m_DynamicBackendsPath;
}

const std::vector<OptionCase>& GoodValues()
{
    using Ids = std::vector<BackendId>;
    static const std::vector<OptionCase> cases = {
        {"backends", "CpuRef", [](const Options& o) { return o.m_Backends == Ids{"CpuRef"}; }},
        {"backends", "VsiNpu, CpuAcc, CpuRef",
         [](const Options& o) {
             return o.m_Backends == (Ids{"VsiNpu", "CpuAcc", "CpuRef"});
         }},
        {"backends", " CpuRef ,CpuAcc,CpuRef",
         [](const Options& o) {
             return o.m_Backends == (Ids{"CpuRef", "CpuAcc"});
         }},
        {"number-of-threads", "0", [](const Options& o) { return o.m_NumberOfThreads == 0; }},
        {"number-of-threads", "64", [](const Options& o) { return o.m_NumberOfThreads == 64; }},
        {"num_threads", "1024", [](const Options& o) { return o.m_NumberOfThreads == 1024; }},
        {"max_delegated_partitions", "3", [](const Options& o) { return o.m_MaxDelegatedPartitions == 3; }},
        {"min_nodes_per_partition", "4294967295",
         [](const Options& o) { return o.m_MinNodesPerPartition == 4294967295U; }},
        {"logging-severity", "trace",
         [](const Options& o) { return o.m_LoggingSeverity.value() == LogSeverity::Trace; }},
        {"logging-severity", "Debug",
         [](const Options& o) { return o.m_LoggingSeverity.value() == LogSeverity::Debug; }},
        {"logging-severity", "info", [](const Options& o) { return o.m_LoggingSeverity.value() == LogSeverity::Info; }},
        {"logging-severity", "WARNING",
         [](const Options& o) { return o.m_LoggingSeverity.value() == LogSeverity::Warning; }},
        {"logging-severity", "error",
         [](const Options& o) { return o.m_LoggingSeverity.value() == LogSeverity::Error; }},
        {"logging-severity", "fatal",
         [](const Options& o) { return o.m_LoggingSeverity.value() == LogSeverity::Fatal; }},
        {"disable-tflite-runtime-fallback", "True", [](const Options& o) { return o.m_DisableFallback; }},
        {"disable-tflite-runtime-fallback", "False", [](const Options& o) { return !o.m_DisableFallback; }},
        {"dynamic-backends-path", "/some/folder", [](const Options& o) { return DynamicPath(o) == "/some/folder"; }},
        {"dynamic-backends-path", "", [](const Options& o) { return DynamicPath(o).empty(); }},
        {"runtimepath", "a b/libx.so", [](const Options& o) { return DynamicPath(o) == "a b/libx.so"; }},
        {"enable-fast-math", "1", HasFastMath},
        {"enable-fast-math", "0", IsDefault},
        {"reduce-fp32-to-fp16", "true", [](const Options& o) { return o.m_OptimizerOptions.GetReduceFp32ToFp16(); }},
        {"reduce-fp32-to-fp16", "false", IsDefault},
        {"reduce-fp32-to-bf16", "true", [](const Options& o) { return o.m_OptimizerOptions.GetReduceFp32ToBf16(); }},
        {"cached-network-filepath", "weights.bin",
         [](const Options& o) { return o.m_CachedNetworkFilePath == "weights.bin" && !o.m_SaveCachedNetwork; }},
        {"save-cached-network", "0", [](const Options& o) { return !o.m_SaveCachedNetwork; }},
        {"memory-import", "true",
         [](const Options& o)
         { return o.m_OptimizerOptions.GetImportEnabled() && o.m_OptimizerOptions.GetExportEnabled(); }},
        {"memory-import", "false", IsDefault},
        {"infer-output-shape", "true",
         [](const Options& o)
         { return o.m_OptimizerOptions.GetShapeInferenceMethod() == ShapeInferenceMethod::InferAndValidate; }},
        {"infer-output-shape", "false", IsDefault},
        {"allow-expanded-dims", "true", [](const Options& o) { return o.m_OptimizerOptions.GetAllowExpandedDims(); }},
        {"debug-data", "true", [](const Options& o) { return o.m_OptimizerOptions.GetDebugEnabled(); }},
        {"serialize-to-dot", "net.dot", [](const Options& o) { return o.m_SerializeToDot == "net.dot"; }},
        {"enable-internal-profiling", "true",
         [](const Options& o)
         { return o.m_ProfilingEnabled && o.m_ProfilingDetails == ProfilingDetailsMethod::DetailsWithEvents; }},
        {"enable-internal-profiling", "0",
         [](const Options& o)
         { return !o.m_ProfilingEnabled && o.m_ProfilingDetails == ProfilingDetailsMethod::Undefined; }},
        {"internal-profiling-detail", "1",
         [](const Options& o) { return o.m_ProfilingDetails == ProfilingDetailsMethod::DetailsWithEvents; }},
        {"internal-profiling-detail", "2",
         [](const Options& o) { return o.m_ProfilingDetails == ProfilingDetailsMethod::DetailsOnly; }},
        // Without effect; those that are named in a warning are in the next list, too.
        {"gpu-tuning-level", "0", IsDefault},
        {"gpu-tuning-file", "", IsDefault},
        {"gpu-mlgo-tuning-file", "", IsDefault},
        {"gpu-enable-profiling", "0", IsDefault},
        {"gpu-kernel-profiling-enabled", "false", IsDefault},
        {"enable-external-profiling", "false", IsDefault},
        {"timeline-profiling", "false", IsDefault},
        {"file-only-external-profiling", "false", IsDefault},
        {"outgoing-capture-file", "", IsDefault},
        {"incoming-capture-file", "", IsDefault},
    };
    return cases;
}

const Texts& ValuesWithWarning()
{
    static const Texts texts = {
        {"gpu-tuning-level", "3"},
        {"gpu-tuning-file", "t.bin"},
        {"gpu-mlgo-tuning-file", "m.mlgo"},
        {"gpu-enable-profiling", "true"},
        {"gpu-kernel-profiling-enabled", "True"},
        {"enable-external-profiling", "1"},
        {"timeline-profiling", "true"},
        {"file-only-external-profiling", "true"},
        {"counter-capture-period", "10000"},
        {"profiling-file-format", "binary"},
    };
    return texts;
}

TEST(DelegateOptions, DefaultsWithoutAny)
{
    const test::WarningRecorder warnings;
    const Options options = Options::Parse({});
    EXPECT_EQ(options.m_Backends, (std::vector<BackendId>{"CpuAcc", "CpuRef"}));
    EXPECT_EQ(options.m_NumberOfThreads, 0U);
    EXPECT_EQ(options.m_MaxDelegatedPartitions, 0U);
    EXPECT_EQ(options.m_MinNodesPerPartition, 0U);
    EXPECT_FALSE(options.m_LoggingSeverity.has_value());
    EXPECT_FALSE(options.m_DisableFallback);
    EXPECT_TRUE(IsDefault(options));
    EXPECT_EQ(options.m_ProfilingDetails, ProfilingDetailsMethod::Undefined);
    EXPECT_TRUE(warnings.Get().empty());
}

TEST(DelegateOptions, GoodValuesAreTakenWithoutAWord)
{
    const test::WarningRecorder warnings;
    for (const OptionCase& each : GoodValues())
    {
        Options options;
        ASSERT_NO_THROW(options = Options::Parse({{each.m_Name, each.m_Value}})) << each.m_Name << "=" << each.m_Value;
        EXPECT_TRUE(each.m_IsSet(options)) << each.m_Name << "=" << each.m_Value;
    }
    EXPECT_TRUE(warnings.Get().empty()) << warnings.Get().front();
}

TEST(DelegateOptions, AllTogether)
{
    const Options options = Options::Parse({{"backends", "CpuAcc"},
                                            {"logging-severity", "error"},
                                            {"number-of-threads", "2"},
                                            {"num_threads", "2"},
                                            {"dynamic-backends-path", "folder"},
                                            {"runtimepath", "folder"},
                                            {"enable-fast-math", "true"},
                                            {"save-cached-network", "true"},
                                            {"cached-network-filepath", "weights"},
                                            {"enable-internal-profiling", "true"},
                                            {"internal-profiling-detail", "2"}});
    EXPECT_EQ(options.m_Backends, (std::vector<BackendId>{"CpuAcc"}));
    EXPECT_EQ(options.m_NumberOfThreads, 2U);
    EXPECT_EQ(DynamicPath(options), "folder");
    EXPECT_TRUE(HasFastMath(options));
    EXPECT_TRUE(options.m_SaveCachedNetwork);
    EXPECT_EQ(options.m_CachedNetworkFilePath, "weights");
    EXPECT_TRUE(options.m_ProfilingEnabled);
    EXPECT_EQ(options.m_ProfilingDetails, ProfilingDetailsMethod::DetailsOnly);
}

TEST(DelegateOptions, OneWarningForAllOfOneReason)
{
    const test::WarningRecorder warnings;
    const Options options = Options::Parse(ValuesWithWarning());
    EXPECT_TRUE(IsDefault(options));
    ASSERT_EQ(warnings.Get().size(), 2U);
    EXPECT_EQ(
        warnings.Get()[0],
        "TenonDelegate: gpu-tuning-level, gpu-tuning-file, gpu-mlgo-tuning-file, gpu-enable-profiling, "
        "gpu-kernel-profiling-enabled: no effect, because no backend here has OpenCL kernels to tune or to measure");
    EXPECT_THAT(warnings.Get()[1],
                HasSubstr("TenonDelegate: enable-external-profiling, timeline-profiling, "
                          "file-only-external-profiling, counter-capture-period, "
                          "profiling-file-format: no effect, because there is no external profiling"));
    Options::Parse({{"outgoing-capture-file", "out"}, {"incoming-capture-file", "in"}});
    ASSERT_EQ(warnings.Get().size(), 3U);
    EXPECT_THAT(warnings.Get()[2], HasSubstr("outgoing-capture-file, incoming-capture-file: no effect"));
}

TEST(DelegateOptions, NoWarningWhereErrorsAloneAreWanted)
{
    const test::WarningRecorder warnings;
    Options::Parse({{"gpu-tuning-level", "1"}, {"logging-severity", "error"}});
    EXPECT_TRUE(warnings.Get().empty());
    Options::Parse({{"gpu-tuning-level", "1"}, {"logging-severity", "warning"}});
    EXPECT_EQ(warnings.Get().size(), 1U);
}

TEST(DelegateOptions, BadValuesAreNamedWithWhatIsAllowed)
{
    const std::vector<std::pair<Texts, const char*>> refused = {
        {{{"backends", ""},
          {"backends", " "},
          {"backends", ","},
          {"backends", "CpuAcc,"},
          {"backends", "CpuAcc,,CpuRef"}},
         "names with commas between them, such as CpuAcc, CpuRef"},
        {{{"number-of-threads", ""},
          {"number-of-threads", "-1"},
          {"number-of-threads", "1025"},
          {"number-of-threads", "two"},
          {"number-of-threads", "2.0"},
          {"number-of-threads", " 2"},
          {"number-of-threads", "99999999999999999999"},
          {"num_threads", "None"}},
         "a whole number from 0 to 1024"},
        {{{"max_delegated_partitions", "-1"},
          {"min_nodes_per_partition", "4294967296"},
          {"counter-capture-period", "1 s"}},
         "a whole number from 0 to 4294967295"},
        {{{"logging-severity", ""},
          {"logging-severity", "warn"},
          {"logging-severity", "2"},
          {"logging-severity", "infos"}},
         "trace, debug, info, warning, error or fatal"},
        {{{"disable-tflite-runtime-fallback", "maybe"},
          {"enable-fast-math", ""},
          {"reduce-fp32-to-fp16", "2"},
          {"reduce-fp32-to-bf16", "None"},
          {"save-cached-network", "file"},
          {"memory-import", "t"},
          {"infer-output-shape", "-1"},
          {"allow-expanded-dims", " true"},
          {"debug-data", "tru"},
          {"enable-internal-profiling", "10"},
          {"gpu-enable-profiling", "x"},
          {"gpu-kernel-profiling-enabled", "x"},
          {"enable-external-profiling", "x"},
          {"timeline-profiling", "x"},
          {"file-only-external-profiling", "x"}},
         "true or false (1 or 0)"},
        {{{"internal-profiling-detail", "0"}, {"internal-profiling-detail", "3"}, {"internal-profiling-detail", ""}},
         "1 (with events) or 2 (without)"},
        {{{"gpu-tuning-level", "4"}, {"gpu-tuning-level", "-1"}, {"gpu-tuning-level", ""}}, "0, 1, 2 or 3"},
        {{{"profiling-file-format", ""}, {"profiling-file-format", "json"}}, "binary"},
    };
    for (const auto& [texts, allowed] : refused)
    {
        for (const auto& [name, value] : texts)
        {
            EXPECT_EQ(Refusal({{name, value}}), "option '" + name + "' is '" + value + "'; it must be " + allowed);
        }
    }
}

TEST(DelegateOptions, UnknownOnesGetTheNearestAndTheList)
{
    const std::string refusal = Refusal({{"backend", "CpuAcc"}});
    EXPECT_THAT(refusal, HasSubstr("there is no option 'backend'; the nearest is 'backends'; there are backends, "));
    for (const OptionText& option : ListOptions())
    {
        EXPECT_THAT(refusal, HasSubstr(option.m_Name));
    }
    EXPECT_THAT(Refusal({{"number_of_threads", "1"}}), HasSubstr("the nearest is 'number-of-threads'"));
    EXPECT_THAT(Refusal({{"Backends", "CpuAcc"}}), HasSubstr("the nearest is 'backends'")) << "names are exact";
    EXPECT_THAT(Refusal({{"zzz", "1"}}), HasSubstr("there is no option 'zzz'; there are backends, "));
    EXPECT_THAT(Refusal({{"", ""}}), HasSubstr("there is no option ''; there are backends, "));
    EXPECT_THAT(Refusal({{"a\x1b[31m", "1"}}), Not(HasSubstr("\x1b"))) << "names may come from anywhere";
}

TEST(DelegateOptions, TwiceIsAnError)
{
    for (const OptionText& option : ListOptions())
    {
        const std::string name = option.m_Name;
        std::string value;
        for (const OptionCase& each : GoodValues())
        {
            value = each.m_Name == name ? each.m_Value : value;
        }
        for (const auto& [warned, itsValue] : ValuesWithWarning())
        {
            value = warned == name ? itsValue : value;
        }
        EXPECT_EQ(Refusal({{name, value}, {name, value}}), "option '" + name + "' is given twice");
    }
}

TEST(DelegateOptions, OnesThatExcludeEachOther)
{
    EXPECT_EQ(
        Refusal({{"number-of-threads", "1"}, {"num_threads", "2"}}),
        "options 'number-of-threads' and 'num_threads' are one, and are given as '1' and '2'; leave one of them out");
    EXPECT_THAT(Refusal({{"runtimepath", "b"}, {"dynamic-backends-path", "a"}}),
                HasSubstr("'dynamic-backends-path' and 'runtimepath' are one, and are given as 'a' and 'b'"));
    EXPECT_THAT(Refusal({{"reduce-fp32-to-fp16", "1"}, {"reduce-fp32-to-bf16", "1"}}),
                HasSubstr("'reduce-fp32-to-fp16' and 'reduce-fp32-to-bf16' are both true"));
    EXPECT_EQ(Refusal({{"reduce-fp32-to-fp16", "1"}, {"reduce-fp32-to-bf16", "0"}}), "");
    EXPECT_THAT(Refusal({{"allow-expanded-dims", "1"}, {"infer-output-shape", "1"}}),
                HasSubstr("'infer-output-shape' and 'allow-expanded-dims' are both true"));
    EXPECT_EQ(Refusal({{"allow-expanded-dims", "1"}, {"infer-output-shape", "0"}}), "");
    EXPECT_THAT(Refusal({{"save-cached-network", "1"}}), HasSubstr("name it by 'cached-network-filepath'"));
    EXPECT_THAT(Refusal({{"cached-network-filepath", ""}, {"save-cached-network", "1"}}),
                HasSubstr("no file is named"));
    for (const char* const name : {"outgoing-capture-file", "incoming-capture-file"})
    {
        EXPECT_THAT(Refusal({{name, "file"}, {"enable-external-profiling", "1"}}),
                    HasSubstr(std::string("option '") + name + "' is 'file', but there is no external profiling"));
        EXPECT_EQ(Refusal({{name, ""}, {"enable-external-profiling", "1"}}), "");
        EXPECT_EQ(Refusal({{name, "file"}, {"enable-external-profiling", "0"}}), "");
    }
}

TEST(DelegateOptions, EachHasACase)
{
    std::set<std::string> tested;
    for (const OptionCase& each : GoodValues())
    {
        tested.insert(each.m_Name);
    }
    for (const auto& [name, value] : ValuesWithWarning())
    {
        tested.insert(name);
    }
    std::set<std::string> listed;
    for (const OptionText& option : ListOptions())
    {
        EXPECT_TRUE(listed.insert(option.m_Name).second) << option.m_Name << " has two rows";
    }
    EXPECT_EQ(tested, listed);
}

/// With TENON_WRITE_DOCS=1, which the target generate_delegate_docs sets, the table is written.
TEST(DelegateOptions, TheTableOfTheDocument)
{
    const std::string path = "docs/delegate.md";
    const std::string begin = "<!-- options: written by generate_delegate_docs -->\n";
    const std::string end = "<!-- end of options -->\n";
    std::string table = "| Option | Value | Effect |\n|---|---|---|\n";
    for (const OptionText& option : ListOptions())
    {
        table += std::string("| `") + option.m_Name + "` | " + option.m_Values + " | " + option.m_Meaning + " |\n";
    }
    std::ifstream in(path, std::ios::binary);
    const std::string document{std::istreambuf_iterator<char>(in), {}};
    in.close();
    const size_t from = document.find(begin);
    const size_t to = document.find(end);
    ASSERT_TRUE(from != std::string::npos && to != std::string::npos && from < to)
        << path << " has no place for the table";
    const size_t start = from + begin.size();
    if (std::getenv("TENON_WRITE_DOCS") != nullptr)
    {
        std::ofstream(path, std::ios::binary) << document.substr(0, start) << table << document.substr(to);
        return;
    }
    EXPECT_EQ(document.substr(start, to - start), table)
        << "write it anew: cmake --build build/release --target generate_delegate_docs";
}

} // namespace
} // namespace tenon::delegate
