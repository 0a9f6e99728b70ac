// SPDX-License-Identifier: Apache-2.0
// The command line: every option in both spellings, defaults, and what is refused.
#include "tools/execute_network/Options.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tenon::tools
{
namespace
{

using Words = std::vector<std::string>;

CommandLine Parse(Words words)
{
    std::vector<const char*> argv = {"ExecuteNetwork"};
    for (const std::string& word : words)
    {
        argv.push_back(word.c_str());
    }
    return ParseCommandLine(static_cast<int>(argv.size()), argv.data(), 80);
}

/// With a model, which is required.
Options ParseRest(Words words)
{
    words.insert(words.begin(), {"-m", "model.tflite"});
    return Parse(words).m_Options;
}

TEST(Options, Defaults)
{
    const Options options = ParseRest({});
    EXPECT_EQ(options.m_ModelPath, "model.tflite");
    EXPECT_EQ(options.m_Compute, (Words{"CpuAcc", "CpuRef"}));
    EXPECT_TRUE(options.m_InputFiles.empty());
    EXPECT_TRUE(options.m_OutputFiles.empty());
    EXPECT_EQ(options.m_Iterations, 1U);
    EXPECT_EQ(options.m_NumberOfThreads, 0U);
    EXPECT_FALSE(options.m_DoNotPrintOutput);
    EXPECT_FALSE(options.m_TopK.has_value());
    EXPECT_TRUE(options.m_InputMean.empty());
    EXPECT_TRUE(options.m_InputStd.empty());
}

TEST(Options, Profiles)
{
    const Options printed = ParseRest({"-e"});
    EXPECT_TRUE(printed.m_PrintProfile);
    EXPECT_TRUE(printed.IsProfiling());
    EXPECT_TRUE(ParseRest({"--event-based-profiling"}).m_PrintProfile);
    const Options written = ParseRest({"--profile-json", "p.json", "--chrome-trace", "t.json"});
    EXPECT_FALSE(written.m_PrintProfile);
    EXPECT_TRUE(written.IsProfiling());
    EXPECT_EQ(written.m_ProfileFile, "p.json");
    EXPECT_EQ(written.m_ChromeTraceFile, "t.json");
    const Options details = ParseRest({"--output-network-details"});
    EXPECT_EQ(details.m_Details, ProfilingDetailsMethod::DetailsWithEvents);
    EXPECT_TRUE(details.m_PrintProfile);
    EXPECT_TRUE(details.IsProfiling());
    EXPECT_FALSE(ParseRest({"--output-network-details", "--profile-json", "p.json"}).m_PrintProfile);
    EXPECT_EQ(ParseRest({"--output-network-details-only"}).m_Details, ProfilingDetailsMethod::DetailsOnly);
    const Options both = ParseRest({"--output-network-details-only", "--output-network-details"});
    EXPECT_EQ(both.m_Details, ProfilingDetailsMethod::DetailsOnly);
    EXPECT_EQ(both.m_Remarks.size(), 1U);
    EXPECT_THROW(ParseRest({"--chrome-trace", ""}), UsageError);
}

void ExpectAllSet(const Options& options)
{
    EXPECT_EQ(options.m_ModelPath, "model.tflite");
    EXPECT_EQ(options.m_Compute, (Words{"CpuRef"}));
    EXPECT_EQ(options.m_InputFiles, (Words{"a.npy", "b.npy"}));
    EXPECT_EQ(options.m_OutputFiles, (Words{"x.npy", "y.npy"}));
    EXPECT_EQ(options.m_InputNames, (Words{"in0", "in1"}));
    EXPECT_EQ(options.m_OutputNames, (Words{"out0"}));
    EXPECT_EQ(options.m_InputShapes, (std::vector<std::vector<unsigned int>>{{1, 224, 224, 3}, {}, {10}}));
    EXPECT_EQ(options.m_Iterations, 5U);
    EXPECT_TRUE(options.m_DoNotPrintOutput);
}

TEST(Options, ShortSpellings)
{
    ExpectAllSet(
        Parse(
            {"-m", "model.tflite", "-f", "tflite-binary", "-c", "CpuRef", "-d", "a.npy,b.npy",     "-w", "x.npy,y.npy",
             "-i", "in0",          "-i", "in1",           "-o", "out0",   "-s", "1,224,224,3::10", "-I", "5",
             "-N"})
            .m_Options);
}

TEST(Options, LongSpellings)
{
    ExpectAllSet(Parse({"--model-path", "model.tflite", "--model-format=tflite-binary", "--compute", "CpuRef",
                        "--input-tensor-data", "a.npy, b.npy", "--write-outputs-to-file", "x.npy,y.npy", "--input-name",
                        "in0,in1", "--output-name", "out0", "--input-tensor-shape", "1,224,224,3::10", "--iterations",
                        "5", "--do-not-print-output"})
                     .m_Options);
    const Options rest = ParseRest({"--labels", "l.txt", "--top-k", "3", "--number-of-threads", "2", "--report-json",
                                    "r.json", "--input-mean", "-1.5", "--input-std", "58.8,2,3"});
    EXPECT_EQ(rest.m_LabelsFile, "l.txt");
    EXPECT_EQ(rest.m_TopK, 3U);
    EXPECT_EQ(rest.m_NumberOfThreads, 2U);
    EXPECT_EQ(rest.m_ReportFile, "r.json");
    EXPECT_FALSE(rest.IsProfiling());
    EXPECT_EQ(rest.m_InputMean, std::vector<float>{-1.5f});
    EXPECT_EQ(rest.m_InputStd, (std::vector<float>{58.8f, 2.0f, 3.0f}));
}

TEST(Options, WhatIsShownOfTheNetworkAndItsTypes)
{
    const Options none = ParseRest({});
    EXPECT_FALSE(none.m_PrintLayers || none.m_WriteLayers || none.m_Fp16 || none.m_Bf16 || none.m_FastMath ||
                 none.m_PrintAssignment || none.m_PrintPlan || !none.m_PlanFile.empty() ||
                 !none.m_DisabledFusions.empty());
    EXPECT_TRUE(none.m_DotFile.empty());
    const Options brief =
        ParseRest({"-p", "-F", "-v", "a.dot", "--fp16-turbo-mode", "--print-assignment", "--enable-fast-math"});
    EXPECT_TRUE(brief.m_FastMath);
    EXPECT_TRUE(brief.m_PrintLayers && brief.m_WriteLayers && brief.m_Fp16 && brief.m_PrintAssignment);
    EXPECT_FALSE(brief.m_Bf16);
    EXPECT_EQ(brief.m_DotFile, "a.dot");
    const Options whole = ParseRest({"--print-intermediate-layers", "--print-intermediate-layers-to-file",
                                     "--visualize-optimized-model", "a.dot", "--bf16-turbo-mode"});
    EXPECT_TRUE(whole.m_PrintLayers && whole.m_WriteLayers && whole.m_Bf16);
    EXPECT_FALSE(whole.m_Fp16);
    EXPECT_EQ(whole.m_DotFile, "a.dot");
}

TEST(Options, PartitionOptionsNeedABackendForTheRest)
{
    const Options options = ParseRest(
        {"-c", "CpuAcc,CpuRef", "--max-partitions", "3", "--min-layers-per-partition", "2", "--all-or-nothing"});
    EXPECT_EQ(options.m_MaxPartitions, 3U);
    EXPECT_EQ(options.m_MinLayersPerPartition, 2U);
    EXPECT_TRUE(options.m_AllOrNothing);
    EXPECT_THROW_WITH(ParseRest({"-c", "CpuRef", "--max-partitions", "3"}), UsageError, "a second backend");
    EXPECT_FALSE(ParseRest({}).m_AllOrNothing);
}

TEST(Options, BackendsGivenAgainAreLeftOut)
{
    EXPECT_EQ(ParseRest({"-c", "CpuRef,CpuAcc,CpuRef", "-c", "CpuAcc"}).m_Compute, (Words{"CpuRef", "CpuAcc"}));
}

TEST(Options, CachedNetwork)
{
    const Options none = ParseRest({});
    EXPECT_TRUE(!none.m_SaveCachedNetwork && none.m_CachedNetworkFile.empty());
    const Options read = ParseRest({"--cached-network-filepath", "packed"});
    EXPECT_TRUE(!read.m_SaveCachedNetwork && read.m_CachedNetworkFile == "packed");
    const Options save = ParseRest({"--save-cached-network", "--cached-network-filepath", "packed"});
    EXPECT_TRUE(save.m_SaveCachedNetwork && save.m_CachedNetworkFile == "packed");
}

TEST(Options, OptionsOfCpuAccHaveNoEffectWithoutIt)
{
    for (const Words& words : {Words{"--enable-fast-math"}, Words{"--cached-network-filepath", "packed"},
                               Words{"--save-cached-network", "--cached-network-filepath", "packed"}})
    {
        Words line = {"-c", "CpuRef"};
        line.insert(line.end(), words.begin(), words.end());
        const Options without = ParseRest(line);
        ASSERT_EQ(without.m_Remarks.size(), 1U);
        EXPECT_TRUE(without.m_Remarks[0].starts_with(words[0])) << without.m_Remarks[0];
        EXPECT_NE(without.m_Remarks[0].find("name it in --compute"), std::string::npos) << without.m_Remarks[0];
        EXPECT_FALSE(without.m_FastMath || without.m_SaveCachedNetwork || !without.m_CachedNetworkFile.empty());
        line[1] = "CpuRef,CpuAcc";
        const Options with = ParseRest(line);
        EXPECT_TRUE(with.m_Remarks.empty());
        EXPECT_TRUE(with.m_FastMath || !with.m_CachedNetworkFile.empty());
    }
}

TEST(Options, EmptyEntriesOfListsArePassedOver)
{
    const Options options = ParseRest({"-c", ",CpuRef,,CpuAcc,", "-B", "CpuRef,", "-d", "a.npy, ,b.npy,", "-w",
                                       ",c.npy", "-C", "d.npy,", "-i", "in0,,in1", "-o", "out0,", "-y", "float,,int,"});
    EXPECT_EQ(options.m_Compute, (Words{"CpuRef", "CpuAcc"}));
    EXPECT_EQ(options.m_CompareBackends, Words{"CpuRef"});
    EXPECT_EQ(options.m_InputFiles, (Words{"a.npy", "b.npy"}));
    EXPECT_EQ(options.m_OutputFiles, Words{"c.npy"});
    EXPECT_EQ(options.m_CompareFiles, Words{"d.npy"});
    EXPECT_EQ(options.m_InputNames, (Words{"in0", "in1"}));
    EXPECT_EQ(options.m_OutputNames, Words{"out0"});
    for (const char* option :
         {"--compute", "--compare-output-with-backend", "--input-tensor-data", "--write-outputs-to-file",
          "--compare-output", "--input-name", "--output-name", "--without-fusion"})
    {
        EXPECT_THROW_WITH(ParseRest({option, " , "}), UsageError, std::string(option) + ": nothing is given");
    }
}

TEST(Options, EmptyValuesOfArmNNsOptionsCountAsAbsent)
{
    const Options none = ParseRest({});
    for (const char* option :
         {"--input-tensor-data", "--write-outputs-to-file", "--compare-output", "--compare-output-with-backend",
          "--input-name", "--output-name", "--input-tensor-shape", "--dynamic-backends-path",
          "--cached-network-filepath", "--tuning-path", "--MLGOTuningFilePath", "--model-format", "--tflite-executor",
          "--input-type", "--output-type", "--outgoing-capture-file", "--incoming-capture-file"})
    {
        for (const Words& words : {Words{option, ""}, Words{std::string(option) + "="}})
        {
            const Options options = ParseRest(words);
            EXPECT_TRUE(options.m_Remarks.empty()) << option;
            EXPECT_TRUE(
                options.m_InputFiles.empty() && options.m_OutputFiles.empty() && options.m_CompareFiles.empty() &&
                options.m_CompareBackends.empty() && options.m_InputNames.empty() && options.m_OutputNames.empty() &&
                options.m_InputShapes.empty() && options.m_CachedNetworkFile.empty() && options.m_ModelFormat.empty())
                << option;
            EXPECT_EQ(options.m_DynamicBackendsPath, none.m_DynamicBackendsPath) << option;
        }
    }
    EXPECT_THROW_WITH(ParseRest({"--save-cached-network", "--cached-network-filepath="}), UsageError,
                      "name the file in --cached-network-filepath");
}

TEST(Options, OptionsGivenAgainSayHowToGiveThemOnce)
{
    for (const char* option : {"--input-tensor-data", "--write-outputs-to-file", "--compare-output"})
    {
        EXPECT_THROW_WITH(ParseRest({option, "a", option, "b"}), UsageError,
                          std::string(option) + ": it is given more than once; give it once, with commas");
    }
    EXPECT_THROW_WITH(ParseRest({"-s", "1", "-s", "2"}), UsageError,
                      "--input-tensor-shape: it is given more than once; give it once, with colons");
    EXPECT_THROW_WITH(ParseRest({"-I", "1", "-I", "2"}), UsageError,
                      "--iterations: it is given more than once; leave all but one out");
}

TEST(Options, SimultaneousIterationsAreIterations)
{
    EXPECT_EQ(ParseRest({"--simultaneous-iterations", "4"}).m_Iterations, 4U);
    EXPECT_EQ(ParseRest({"--simultaneous-iterations", "4", "-I", "9"}).m_Iterations, 9U);
    EXPECT_TRUE(ParseRest({"--simultaneous-iterations", "1"}).m_Remarks.empty());
}

TEST(Options, LabelsAloneShowFive)
{
    EXPECT_EQ(ParseRest({"--labels", "l.txt"}).m_TopK, 5U);
}

TEST(Options, HelpAndVersionNeedNoModel)
{
    for (const char* help : {"-h", "--help"})
    {
        const CommandLine line = Parse({help});
        ASSERT_TRUE(line.m_Text.has_value());
        EXPECT_NE(line.m_Text->find("--input-tensor-data"), std::string::npos);
        EXPECT_NE(line.m_Text->find("Exit status"), std::string::npos);
    }
    const CommandLine line = Parse({"--version"});
    ASSERT_TRUE(line.m_Text.has_value());
    EXPECT_NE(line.m_Text->find("Tenon"), std::string::npos);
}

TEST(Options, NumbersThatAreNoneAreToldWhichThereAre)
{
    const std::vector<std::pair<Words, std::string>> refused = {
        {{"-I", "-1"}, "--iterations: '-1' is no whole number in 1..10000000"},
        {{"-I", "abc"}, "--iterations: 'abc' is no whole number in 1..10000000"},
        {{"-I", "0"}, "--iterations: '0' is no whole number in 1..10000000"},
        {{"-I", "1.5"}, "--iterations: '1.5' is no whole number in 1..10000000"},
        {{"-I", "0x10"}, "--iterations: '0x10' is no whole number in 1..10000000"},
        {{"--subgraph", "-1"}, "--subgraph: '-1' is no whole number in 0..4294967295"},
        {{"--subgraph=x"}, "--subgraph: 'x' is no whole number"},
        {{"--subgraph-number", "x"}, "--subgraph-number: 'x' is no whole number"},
        {{"-x", "x"}, "--subgraph-number: 'x' is no whole number"},
        {{"-x", "0", "--signature", "s"}, "not be given with --subgraph-number"},
        {{"--subgraph", "0", "--signature", "s"}, "not be given with --subgraph"},
        {{"--top-k", "999999999999"}, "--top-k: '999999999999' is no whole number in 1..4294967295"},
        {{"--max-partitions", ""}, "--max-partitions: '' is no whole number in 0..4294967295"},
        {{"--min-layers-per-partition", "few"},
         "--min-layers-per-partition: 'few' is no whole number in 0..4294967295"},
        {{"--number-of-threads", "257"}, "--number-of-threads: '257' is no whole number in 0..256"},
        {{"--input-mean", "grey"}, "--input-mean: 'grey' is no finite number"},
        {{"--input-mean", "1e99"}, "--input-mean: '1e99' is no finite number of 32 bits"},
        {{"--input-mean", "1,"}, "--input-mean: '' is no finite number"},
        {{"--input-std", "1,0,1"}, "--input-std: '0' is no finite number of 32 bits other than 0"},
        {{"--input-std", "0"}, "--input-std: '0' is no finite number of 32 bits other than 0"},
    };
    for (const auto& [words, message] : refused)
    {
        EXPECT_THROW_WITH(ParseRest(words), UsageError, message);
    }
    EXPECT_EQ(ParseRest({"-I", "010"}).m_Iterations, 10U);
    EXPECT_EQ(ParseRest({"--subgraph", "4294967295"}).m_Subgraph, 4294967295U);
}

TEST(Options, WithoutTheirValuesAreNamed)
{
    const std::pair<const char*, const char*> refused[] = {
        {"-m", "--model-path"}, {"--compute", "--compute"}, {"-I", "--iterations"}, {"--input-mean", "--input-mean"},
        {"--limit", "--limit"}, {"--labels", "--labels"},   {"-i", "--input-name"},
    };
    for (const auto& [word, option] : refused)
    {
        EXPECT_THROW_WITH(Parse({word}), UsageError, std::string(option) + ": it needs a value (see --help)");
    }
}

TEST(Options, BadArgumentsAreRefused)
{
    EXPECT_THROW_WITH(Parse({}), UsageError, "--model-path");
    const Words bad[] = {
        {"--no-such-option"},
        {"stray"},
        {"-m", "again.tflite"},
        {"-c"},
        {"-c", ""},
        {"-c", ","},
        {"-v", ""},
        {"--fp16-turbo-mode", "--bf16-turbo-mode"},
        {"--save-cached-network"},
        {"-d", ","},
        {"-w", ","},
        {"-i", "a,a"},
        {"-s", "1,x"},
        {"-s", "1,-2"},
        {"-s", "4294967296"},
        {"-s", "1,,2"},
        {"-s", "1,2,3,4,5,6,7,8,9"},
        {"-I", "0"},
        {"-I", "-1"},
        {"-I", "1e9"},
        {"-I", "4000000000"},
        {"--top-k", "0"},
        {"--max-partitions", "-1"},
        {"-c", "CpuRef", "--all-or-nothing"},
        {"--number-of-threads", "-1"},
        {"--number-of-threads", "257"},
        {"--input-std", "0"},
        {"--input-std", "inf"},
        {"--input-mean", "nan"},
        {"--input-mean", "grey"},
    };
    for (const Words& words : bad)
    {
        EXPECT_THROW(ParseRest(words), UsageError) << testing::PrintToString(words);
    }
}

} // namespace
} // namespace tenon::tools
