// SPDX-License-Identifier: Apache-2.0
// Standard input and output and named pipes in place of files: what is read from them, and that nothing else is written
// to them.
#include "Program.hpp"
#include "harness/Json.hpp"
#include "tools/harness/TinyModel.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool CountsMemory = false;
#else
constexpr bool CountsMemory = true;
#endif

class Streams : public Program
{
protected:
    void SetUp() override
    {
        const Words files = {"--serialize", m_Folder.Path("plain.tenon"), "--serialize-optimized",
                             m_Folder.Path("optimized.tenon")};
        Words command = {"-m", FloatModel, "-N", "-d", m_Input, "-w", m_Folder.Path("wanted.npy")};
        command.insert(command.end(), files.begin(), files.end());
        ASSERT_EQ(Execute(command).m_Status, 0);
    }

    std::string MakePipe(const std::string& name)
    {
        EXPECT_EQ(mkfifo(m_Folder.Path(name).c_str(), 0600), 0);
        return m_Folder.Path(name);
    }

    const std::string m_Input = WriteInput("in.npy", DataType::Float32);
};

TEST_F(Streams, ModelsComeFromStandardInput)
{
    const std::string out = m_Folder.Path("out.npy");
    for (const std::string& model : {FloatModel, m_Folder.Path("plain.tenon"), m_Folder.Path("optimized.tenon")})
    {
        for (const char* name : {"-", "/dev/stdin", "/dev/fd/0"})
        {
            std::filesystem::remove(out);
            const Outcome outcome =
                ExecuteInShell("cat " + model + " | \"$@\"", {"-m", name, "-d", m_Input, "-w", out});
            EXPECT_EQ(outcome.m_Status, 0) << model << ": " << outcome.m_Error;
            EXPECT_EQ(ReadFile(out), m_Folder.Read("wanted.npy")) << model;
        }
        std::filesystem::remove(out);
        EXPECT_EQ(ExecuteInShell("\"$@\" < " + model, {"-m", "-", "-d", m_Input, "-w", out}).m_Status, 0) << model;
        EXPECT_EQ(ReadFile(out), m_Folder.Read("wanted.npy")) << model;
    }
}

TEST_F(Streams, ModelsFromAPipeTakeOtherShapes)
{
    m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const std::string out = m_Folder.Path("out.npy");
    const Outcome outcome =
        ExecuteInShell("cat " + m_Folder.Path("relu.tflite") + " | \"$@\"", {"-m", "-", "-s", "5,1,2", "-w", out});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(ReadNpy(out, TensorInfo({1}, DataType::Float32), 1000).m_Info.GetShape(), TensorShape({5, 1, 2}));
}

TEST_F(Streams, BadModelsFromAPipe)
{
    ExpectFailure(ExecuteInShell(": | \"$@\"", {"-m", "-"}), 3, "model '-': standard input is empty");
    ExpectFailure(Execute({"-m", "/dev/null"}), 3, "model '/dev/null': the file is empty");
    ExpectFailure(Execute({"-m", m_Folder.Write("empty", "")}), 3, "the file is empty");
    ExpectFailure(ExecuteInShell("echo no model at all | \"$@\"", {"-m", "-"}), 3,
                  "model '-': it is of no known format");
    const std::string head = "head -c 1000 " + FloatModel + " | \"$@\"";
    ExpectFailure(ExecuteInShell(head, {"-m", "-"}), 3, "model '-'");
    const Outcome named = ExecuteInShell("cat " + FloatModel + " | \"$@\"", {"-m", "-", "-N", "-f", "tenon"});
    EXPECT_EQ(named.m_Status, 0) << named.m_Error;
    EXPECT_EQ(named.m_Error, "warning: --model-format: '-' is a TensorFlow Lite model and is read as that, in place of "
                             "tenon\n");
    ExpectFailure(ExecuteInShell("\"$@\" < /dev/zero", {"-m", "-", "--limit", "file-bytes=1M"}), 3,
                  "model '-': it has more than 1048576 bytes, the limit; raise --limit file-bytes");
    ExpectFailure(ExecuteInShell("\"$@\" <&-", {"-m", "-"}), 3, "model '-': it cannot be opened");
}

TEST_F(Streams, InputsAndLabelsComeFromPipes)
{
    const std::string out = m_Folder.Path("out.npy");
    EXPECT_EQ(ExecuteInShell("cat " + m_Input + " | \"$@\"", {"-m", FloatModel, "-d", "-", "-w", out}).m_Status, 0);
    EXPECT_EQ(ReadFile(out), m_Folder.Read("wanted.npy"));

    const std::string model = MakePipe("model");
    const std::string input = MakePipe("input");
    const std::string labels = MakePipe("labels");
    const std::string script = "cat " + FloatModel + " > " + model + " & cat " + m_Input + " > " + input +
                               " & printf 'a\\nb\\nc\\nd\\ne\\nf\\ng\\nh\\ni\\nj\\n' > " + labels + " & \"$@\"";
    std::filesystem::remove(out);
    const Outcome outcome =
        ExecuteInShell(script, {"-m", model, "-d", input, "--labels", labels, "--top-k", "10", "-w", out});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(ReadFile(out), m_Folder.Read("wanted.npy"));
    EXPECT_TRUE(Has(outcome.m_Out, "     7  h\n")) << outcome.m_Out;

    const Outcome picture = ExecuteInShell("cat samples/digits/seven.png | \"$@\"", {"-m", FloatModel, "-d", "-"});
    ASSERT_EQ(picture.m_Status, 0) << picture.m_Error;
    EXPECT_TRUE(Has(picture.m_Out, "picture of")) << picture.m_Out;
    ExpectFailure(ExecuteInShell("yes 1 | \"$@\"", {"-m", FloatModel, "-d", "-", "--limit", "file-bytes=1M"}), 3,
                  "--limit file-bytes");
}

TEST_F(Streams, AStreamIsReadOnce)
{
    ExpectFailure(Execute({"-m", "-", "-d", "-"}), 2, "'-' is given twice as a file to read");
    ExpectFailure(Execute({"-m", "-", "--labels", "/dev/stdin"}), 2, "'/dev/stdin' is given twice");
    const std::string pipe = MakePipe("pipe");
    ExpectFailure(Execute({"-m", pipe, "-d", pipe}), 2, "is given twice as a file to read");
    const std::string dotted = m_Folder.Path("./pipe");
    const std::string link = m_Folder.Path("link");
    std::filesystem::create_symlink("pipe", link);
    for (const std::string& other : {dotted, link})
    {
        // Where it is not refused, it must not wait for ever.
        ExpectFailure(ExecuteInShell("timeout 20 \"$@\"", {"-m", FloatModel, "-d", pipe + "," + other}), 2,
                      "'" + other + "' is given twice as a file to read (first as '" + pipe + "')");
        ExpectFailure(ExecuteInShell("timeout 20 \"$@\"", {"-m", other, "-d", pipe}), 2,
                      "is given twice as a file to read");
    }
    ExpectFailure(ExecuteInShell("timeout 20 \"$@\" <> " + pipe, {"-m", "-", "-d", dotted}), 2,
                  "is given twice as a file to read");
    for (const std::string& other : {pipe, dotted, link})
    {
        ExpectFailure(ExecuteInShell("timeout 20 \"$@\"", {"-m", pipe, "-w", other}), 2,
                      "'" + other + "' is given both as a file to read and as one to write");
    }
    ExpectFailure(ExecuteInShell("timeout 20 \"$@\" <> " + pipe, {"-m", "-", "-w", dotted}), 2,
                  "is given both as a file to read and as one to write (to read as '-')");
    const std::string second = MakePipe("second");
    const Outcome outcome = ExecuteInShell("cat " + m_Input + " > " + pipe + " & cat " + FloatModel + " > " + second +
                                               " & timeout 20 \"$@\"",
                                           {"-N", "-m", second, "-d", dotted});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
}

TEST_F(Streams, PackedWeightsNeedARegularFile)
{
    for (const std::string& file : {std::string("-"), MakePipe("pipe"), std::string("/dev/null")})
    {
        for (const Words& words : {Words{"--cached-network-filepath", file},
                                   Words{"--save-cached-network", "--cached-network-filepath", file}})
        {
            Words command = {"-m", FloatModel};
            command.insert(command.end(), words.begin(), words.end());
            ExpectFailure(ExecuteInShell("timeout 20 \"$@\"", command), 2,
                          "--cached-network-filepath: '" + file + "' is no regular file");
        }
    }
}

TEST_F(Streams, NoMoreIsReadThanTheTensorTakes)
{
    ExpectFailure(Execute({"-m", FloatModel, "-d", "/dev/zero"}), 3, "its content is not known");
    const std::string raw = m_Folder.Path("zeros.bin");
    std::filesystem::create_symlink("/dev/zero", raw);
    ExpectFailure(Execute({"-m", FloatModel, "-d", raw}), 3, "a raw file of 256 bytes was expected; it has more");

    const std::string pipe = MakePipe("pipe.bin");
    const auto runWith = [&](size_t bytes)
    {
        return ExecuteInShell("head -c " + std::to_string(bytes) + " /dev/zero > " + pipe + " & \"$@\"",
                              {"-m", FloatModel, "-N", "-d", pipe});
    };
    EXPECT_EQ(runWith(256).m_Status, 0);
    ExpectFailure(runWith(255), 3, "a raw file of 256 bytes was expected; it has 255");
    ExpectFailure(runWith(257), 3, "a raw file of 256 bytes was expected; it has more");
}

TEST_F(Streams, ReadingTakesHardlyMoreMemoryThanTheBytes)
{
    if (!CountsMemory)
    {
        GTEST_SKIP() << "sanitizers keep memory of their own";
    }
    constexpr uint64_t mebibyte = uint64_t{1} << 20;
    const auto peakOf = [](uint64_t bytes)
    {
        const Outcome outcome = ExecuteInShell("head -c " + std::to_string(bytes) + " /dev/zero | \"$@\"", {"-m", "-"});
        ExpectFailure(outcome, 3, "model '-': it is of no known format");
        return outcome.m_PeakRssBytes;
    };
    EXPECT_LT(peakOf(96 * mebibyte), peakOf(1) + 112 * mebibyte);
}

TEST_F(Streams, StandardOutputHasTheReportAlone)
{
    for (const char* name : {"-", "/dev/stdout", "/dev/fd/1"})
    {
        const Outcome outcome = Execute({"-m", FloatModel, "--report-json", name, "--top-k", "2"});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        const Json report = Json::Parse(outcome.m_Out); // and no other words
        EXPECT_EQ(report.At("outputs").m_Items.size(), 1U);
        EXPECT_TRUE(Has(outcome.m_Error, "best 2 of 10 classes")) << outcome.m_Error;
        const Outcome piped = ExecuteInShell("\"$@\" | cat", {"-m", FloatModel, "--report-json", name});
        EXPECT_EQ(Json::Parse(piped.m_Out).At("outputs").m_Items.size(), 1U);
    }
    const std::string reportScript = "\"$@\" >> " + m_Folder.Write("log", "kept\n");
    ASSERT_EQ(ExecuteInShell(reportScript, {"-m", FloatModel, "--report-json", "/dev/stdout"}).m_Status, 0);
    EXPECT_EQ(m_Folder.Read("log").rfind("kept\n{", 0), 0U) << m_Folder.Read("log");
}

TEST_F(Streams, EveryOutputFileMayBeStandardOutput)
{
    const Words common = {"-m", FloatModel, "-d", m_Input};
    const auto run = [&](const Words& words)
    {
        Words command = common;
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = Execute(command);
        EXPECT_EQ(outcome.m_Status, 0) << words[0] << ": " << outcome.m_Error;
        return outcome.m_Out;
    };
    EXPECT_EQ(run({"-w", "-"}), m_Folder.Read("wanted.npy"));
    EXPECT_EQ(run({"--serialize", "-"}), m_Folder.Read("plain.tenon"));
    EXPECT_EQ(run({"--serialize-optimized", "/dev/stdout"}), m_Folder.Read("optimized.tenon"));
    EXPECT_EQ(run({"-v", "-"}).rfind("digraph Optimized {", 0), 0U);
    EXPECT_EQ(Json::Parse(run({"--profile-json", "-"})).m_Names, Words{"Tenon"});
    EXPECT_FALSE(Json::Parse(run({"--chrome-trace", "-"})).At("traceEvents").m_Items.empty());
}

TEST_F(Streams, OpenStreamsAndPipesAreWrittenAsTheyAre)
{
    const std::string log = m_Folder.Write("log", "");
    const std::string script = "exec 3>" + log + "; echo before >&3; \"$@\"; echo after >&3";
    ASSERT_EQ(ExecuteInShell(script, {"-m", FloatModel, "-N", "--report-json", "/dev/fd/3"}).m_Status, 0);
    const std::string written = m_Folder.Read("log");
    EXPECT_EQ(written.rfind("before\n{", 0), 0U) << written;
    EXPECT_EQ(written.substr(written.size() - 8), "}\nafter\n") << written;

    const std::string pipe = MakePipe("pipe");
    const Outcome outcome = ExecuteInShell("cat " + pipe + " > " + log + " & \"$@\"; wait",
                                           {"-m", FloatModel, "-N", "--report-json", pipe});
    EXPECT_EQ(outcome.m_Error, "");
    EXPECT_EQ(Json::Parse(m_Folder.Read("log")).At("outputs").m_Items.size(), 1U);
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
    EXPECT_EQ(Execute({"-m", FloatModel, "-N", "-w", "/dev/null"}).m_Status, 0);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    ExpectFailure(Execute({"-m", FloatModel, "-N", "--report-json", "/dev/full"}), 5, "cannot write '/dev/full'");
}

TEST_F(Streams, StandardOutputIsGivenOnce)
{
    ExpectFailure(Execute({"-m", FloatModel, "--report-json", "-", "-w", "/dev/stdout"}), 2,
                  "standard output is given for two files");
    ExpectFailure(Execute({"-m", FloatModel, "--report-json", "-", "-e"}), 2, "name a file in --profile-json");
    ExpectFailure(Execute({"-m", FloatModel, "--report-json", "-", "-p"}), 2, "--print-intermediate-layers");
    ExpectFailure(Execute({"-m", FloatModel, "--save-cached-network", "--cached-network-filepath", "-"}), 2,
                  "need a regular file");
}

TEST_F(Streams, RemarksLeaveStandardOutputClean)
{
    const Outcome outcome = Execute({"-m", FloatModel, "--report-json", "-", "--labels",
                                     m_Folder.Write("two.txt", "\xEF\xBB\xBF"
                                                               "cat\r\ndog\r\n")});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    Json::Parse(outcome.m_Out);
    EXPECT_TRUE(Has(outcome.m_Error, "warning: --labels: there are 2 labels for 10 classes")) << outcome.m_Error;
    const Outcome whole = Execute({"-m", FloatModel, "-N", "--labels", "samples/digits/labels.txt"});
    EXPECT_EQ(whole.m_Error, "");
}

TEST_F(Streams, PathsMayHaveCommas)
{
    const std::string in = WriteInput("a,b.npy", DataType::Float32);
    const Outcome outcome =
        Execute({"-m", FloatModel, "-d", m_Folder.Path("a\\,b.npy"), "-w", m_Folder.Path("x\\,y.npy")});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(m_Folder.Read("x,y.npy"), m_Folder.Read("wanted.npy"));
    ExpectFailure(Execute({"-m", FloatModel, "-d", in}), 2, "2 file(s), but the model has 1");
}

TEST_F(Streams, AsManyElementsInAnotherShapeAreRemarked)
{
    const std::string model =
        m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const Outcome outcome = Execute({"-m", model, "-N", "-d", WriteInput("turned.npy", DataType::Float32, {3, 2})});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, "warning: input 'x' has the shape [3,2] in '")) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, "[2,3] in the model")) << outcome.m_Error;
    EXPECT_EQ(Execute({"-m", model, "-N", "-d", WriteInput("in.npy", DataType::Float32, {2, 3})}).m_Error, "");
}

} // namespace
} // namespace tenon::tools
