// SPDX-License-Identifier: Apache-2.0
// --benchmark and its options.
#include "Program.hpp"
#include "tools/harness/PseudoTerminal.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

namespace tenon::tools
{
namespace
{

class BenchmarkProgram : public Program
{
protected:
    /// As short as it gets.
    static Outcome Run(const Words& rest)
    {
        Words words = {"-m", FloatModel, "--benchmark", "--min-secs", "0", "-I", "5"};
        words.insert(words.end(), rest.begin(), rest.end());
        return Execute(words);
    }

    /// The library of the build.
    static std::string LibraryPath()
    {
        return std::filesystem::path(ProgramPath()).parent_path().parent_path() / "lib/libtenon.so";
    }

    /// A program of another machine starts no process of itself.
    static bool IsEmulated()
    {
        const char* const emulator = std::getenv("TENON_TEST_EMULATOR");
        return emulator != nullptr && *emulator != '\0';
    }
};

TEST_F(BenchmarkProgram, PrintsTheLinesOfBenchmarkModel)
{
    const Outcome outcome = Run({"--warmup_runs=2"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error, "");
    for (
        const char* line :
        {R"(The input model file size \(MB\): 0\.0\d+)", R"(Initialized session in [\d.]+ms\.)",
         "Running benchmark for at least 2 iterations and at least 0 seconds but terminate if exceeding 150 seconds\\.",
         R"(count=2 first=\d+ curr=\d+ min=\d+ max=\d+ avg=[\d.e+]+ std=\d+)",
         "Running benchmark for at least 5 iterations and at least 0 seconds but terminate if exceeding 150 seconds\\.",
         R"(count=5 first=\d+ curr=\d+ min=\d+ max=\d+ avg=[\d.e+]+ std=\d+)",
         R"(Inference timings in us: Init: \d+, First inference: \d+, Warmup \(avg\): [\d.e+]+, Inference \(avg\): [\d.e+]+)",
         R"(Peak memory footprint \(MB\): init=[\d.]+ overall=[\d.]+)", R"(10 layers: CpuAcc 10, \d+ threads)",
         "inferences +5", "latency, ms +inferences *"})
    {
        EXPECT_TRUE(std::regex_search(outcome.m_Out, std::regex("(^|\n)" + std::string(line) + "\n"))) << line << "\n"
                                                                                                       << outcome.m_Out;
    }
    EXPECT_FALSE(Has(outcome.m_Out, "output '")) << "no tensors are printed\n" << outcome.m_Out;
}

TEST_F(BenchmarkProgram, RunsAsOftenAndLongAsAsked)
{
    EXPECT_TRUE(Has(Execute({"-m", FloatModel, "--benchmark", "--min-secs", "0"}).m_Out, "\ncount=50 "))
        << "the default";
    EXPECT_TRUE(Has(Run({"--num_runs", "6"}).m_Error, "--iterations: it is given more than once"));
    EXPECT_TRUE(Has(Execute({"-m", FloatModel, "--benchmark", "--min_secs=0", "--num_runs=6"}).m_Out, "\ncount=6 "));
    EXPECT_TRUE(Has(Run({"--max-secs", "0"}).m_Out, "\ncount=1 curr="));
    EXPECT_TRUE(Has(Run({"--warmup-runs", "0"}).m_Out, " Warmup (avg): 0, "));
}

TEST_F(BenchmarkProgram, WritesJson)
{
    const std::string file = m_Folder.Path("report.json");
    ASSERT_EQ(Run({"--report-json", file, "-n", "2"}).m_Status, 0);
    const std::string json = ReadFile(file);
    for (const char* part : {"\"benchmark\": {", "\"min_runs\": 5", "\"callers\": [",
                             "\"joules_per_inference\": ", "\"assignment\": [", "\"histogram\": ["})
    {
        EXPECT_TRUE(Has(json, part)) << part << json;
    }
    const Outcome toOutput = Run({"--report-json", "-"});
    EXPECT_EQ(toOutput.m_Out.front(), '{') << "text goes to standard error";
    EXPECT_TRUE(Has(toOutput.m_Error, "Inference timings in us: ")) << toOutput.m_Error;
}

TEST_F(BenchmarkProgram, RunsCallersAtOnce)
{
    const Outcome outcome = Run({"--concurrent", "3", "--number-of-threads", "1"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, ", 1 threads for each of 3 callers\n")) << outcome.m_Out;
    EXPECT_TRUE(std::regex_search(outcome.m_Out, std::regex("\n3 +\\d+ +[\\d.]+ +"))) << outcome.m_Out;
    const Outcome flag = Run({"-n"});
    EXPECT_EQ(flag.m_Status, 0);
    EXPECT_TRUE(Has(flag.m_Error, "warning: --concurrent: iterations run one after another")) << flag.m_Error;
    EXPECT_EQ(Run({"-n", "1"}).m_Error, "");
}

TEST_F(BenchmarkProgram, SetsOfInputsTakeTurns)
{
    const std::string a = WriteInput("a.npy", DataType::Float32);
    const std::string b = WriteInput("b.npy", DataType::Float32);
    const Outcome outcome = Run({"-d", a + "," + b});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "\ncount=5 ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "a.npy")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "\n2 sets of inputs take turns, of which this is the first\n")) << outcome.m_Out;
    ExpectFailure(Run({"-d", a + "," + b + "," + a, "-I", "2"}), 2, "--iterations: it is given more than once");
}

TEST_F(BenchmarkProgram, RunsAgainstBackendsAndModels)
{
    const std::string file = m_Folder.Path("report.json");
    const Outcome backends = Run({"--against", "CpuRef", "--report-json", file});
    ASSERT_EQ(backends.m_Status, 0) << backends.m_Error;
    EXPECT_TRUE(Has(backends.m_Out, "CpuAcc,CpuRef  CpuRef\n")) << backends.m_Out;
    EXPECT_TRUE(
        std::regex_search(backends.m_Out, std::regex("'CpuRef' takes [\\d.]+ times as long as 'CpuAcc,CpuRef' "
                                                     "\\(95% confidence: [\\d.]+ to [\\d.]+, \\d+ rounds\\)\n")))
        << backends.m_Out;
    EXPECT_TRUE(Has(ReadFile(file), "\"kind\": \"backends\"")) << ReadFile(file);
    const Outcome model = Run({"--against", Int8Model});
    ASSERT_EQ(model.m_Status, 0) << model.m_Error;
    EXPECT_TRUE(Has(model.m_Out, "'digits_int8.tflite' takes ")) << model.m_Out;
    EXPECT_TRUE(Has(model.m_Out, " times as long as 'digits_float.tflite'")) << model.m_Out;
    const std::string optimized = m_Folder.Path("optimized.tenon");
    ASSERT_EQ(Execute({"-m", FloatModel, "-N", "--serialize-optimized", optimized}).m_Status, 0);
    ExpectFailure(Execute({"-m", optimized, "--benchmark", "--against", "CpuRef"}), 2,
                  "the model is optimized already, so no other backends can run it");
}

TEST_F(BenchmarkProgram, RunsAgainstAnotherLibrary)
{
    if (IsEmulated() || !std::filesystem::exists(LibraryPath()))
    {
        GTEST_SKIP() << "needs '" << LibraryPath() << "'";
    }
    const std::string copy = m_Folder.Path("other name.so");
    std::filesystem::copy_file(LibraryPath(), copy);
    const std::string file = m_Folder.Path("report.json");
    const Outcome outcome = Run({"--against", copy, "--report-json", file});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "'other name.so' takes ")) << outcome.m_Out;
    EXPECT_TRUE(std::regex_search(outcome.m_Out, std::regex("peak memory overall, MB +\\d+\\.\\d\\d +\\d+\\.\\d\\d\n")))
        << "each in a process of its own\n"
        << outcome.m_Out;
    EXPECT_TRUE(Has(ReadFile(file), "\"kind\": \"library\"")) << ReadFile(file);
    EXPECT_FALSE(Has(ReadFile(file), "\"arena_bytes\": 0")) << ReadFile(file);
}

TEST_F(BenchmarkProgram, LibrariesThatCannotRunAreRefused)
{
    if (IsEmulated())
    {
        GTEST_SKIP() << "no process starts itself";
    }
    const std::string cut = m_Folder.Write("cut.so", std::string("\x7f"
                                                                 "ELF\2\1\1 and no more",
                                                                 19));
    ExpectFailure(Run({"--against", cut}), 2, "cannot run with '" + cut + "' in place of its own library: ");
    ExpectFailure(Run({"--against", std::filesystem::canonical(ProgramPath())}), 2, "in place of its own library: ");
}

TEST_F(BenchmarkProgram, AnswersTheRequestsOfAnotherProcess)
{
    const Words words = {"-m", FloatModel, "--benchmark", "--serve-turns"};
    const Outcome outcome = ExecuteInShell("printf 'library\\nturn 3\\nfigures\\n' | \"$@\"", words);
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(std::regex_match(outcome.m_Out, std::regex("[^\n]*\n\\d+ \\d+ \\d+\n([\\d.e-]+ ){8}\\d+\n")))
        << outcome.m_Out;
    for (const std::string line : {"nonsense", "turn", "turn 0", "turn -1", "turn 1001", "turn x"})
    {
        ExpectFailure(ExecuteInShell("printf '" + line + "\\n' | \"$@\"", words), 2,
                      "--serve-turns: '" + line + "' is no request");
    }
}

TEST_F(BenchmarkProgram, RefusesWhatHasNoEffect)
{
    for (const Words& words : std::vector<Words>{{"-w", "x.npy"},
                                                 {"--top-k", "1"},
                                                 {"-B", "CpuRef"},
                                                 {"--print-plan"},
                                                 {"-e"},
                                                 {"--armnn-output"},
                                                 {"-l"},
                                                 {"--serialize", m_Folder.Path("x.tenon")}})
    {
        ExpectFailure(Run(words), 2, "--benchmark prints and writes times and memory alone");
    }
    for (const Words& words : std::vector<Words>{{"--min-secs", "1"},
                                                 {"--max-secs", "1"},
                                                 {"--warmup-runs", "1"},
                                                 {"--against", "CpuRef"},
                                                 {"--serve-turns"}})
    {
        Words all = {"-m", FloatModel};
        all.insert(all.end(), words.begin(), words.end());
        ExpectFailure(Execute(all), 2, words[0] + ": it is for --benchmark");
    }
    ExpectFailure(Execute({"-m", FloatModel, "-n", "4"}), 2, "--concurrent: callers at once are for --benchmark");
}

TEST_F(BenchmarkProgram, RefusesWrongValues)
{
    ExpectFailure(Run({"--warmup-runs", "-1"}), 2, "--warmup-runs: '-1' is no whole number in 0..10000000");
    ExpectFailure(Run({"--max-secs", "-1"}), 2, "--max-secs: '-1' is below 0");
    ExpectFailure(Run({"--max-secs", "soon"}), 2, "--max-secs: 'soon' is no finite number");
    ExpectFailure(Execute({"-m", FloatModel, "--benchmark", "--min-secs", "3", "--max-secs", "2"}), 2,
                  "--min-secs: 3 is more than the 2 of --max-secs");
    ExpectFailure(Run({"-n", "257"}), 2, "--concurrent: '257' is no whole number in 1..256");
    ExpectFailure(Run({"-n", "0"}), 2, "--concurrent: '0' is no whole number in 1..256");
    ExpectFailure(Run({"-n", "some"}), 2, "--concurrent: 'some' is no whole number in 1..256");
    ExpectFailure(Run({"-d", "samples/digits"}), 2, "'samples/digits' stands for many files");
    ExpectFailure(Run({"--against", "CpuNone"}), 2, "give a model file, backends in order of preference, or a file");
    ExpectFailure(Run({"--against", ""}), 2, "--against: nothing is given");
    ExpectFailure(Run({"--against", "CpuRef", "-n", "2"}), 2, "--concurrent: --against measures two sides without it");
    ExpectFailure(Run({"--against", "CpuRef", "-d", "-"}), 2, "they cannot come from standard input");
    ExpectFailure(Execute({"-m", "-", "--benchmark", "--against", "CpuRef"}), 2, "it cannot come from standard input");
    ExpectFailure(Run({"--against", "samples/digits/seven.png"}), 2, "is a file of no known format");
    ExpectFailure(Run({"-r", "0.0000001"}), 5, "--threshold-time: the slowest iteration took ");
}

TEST_F(BenchmarkProgram, ShowsProgressOnATerminalAlone)
{
    test::PseudoTerminal terminal(80);
    test::RunProgram({ProgramPath(), "-m", FloatModel, "--benchmark", "--min-secs", "0.5"}, "",
                     {"/bin/sh", "-c", "\"$@\" 2>" + terminal.Path(), "sh"});
    EXPECT_TRUE(std::regex_search(terminal.Finish(), std::regex("\\d+ inferences  \\d+ s of 0\\.5 s")));
    EXPECT_EQ(Execute({"-m", FloatModel, "--benchmark", "--min-secs", "0.5"}).m_Error, "");
}

} // namespace
} // namespace tenon::tools
