// SPDX-License-Identifier: Apache-2.0
// Folders and patterns in -d: each file is an inference, with results, output files and failures of its own.
#include "Program.hpp"
#include "harness/Json.hpp"
#include "tools/harness/Npz.hpp"
#include "tools/harness/PseudoTerminal.hpp"
#include "tools/harness/TinyModel.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;

class Series : public Program
{
protected:
    Series()
    {
        std::filesystem::create_directory(m_Folder.Path("in"));
        std::filesystem::create_directory(m_Folder.Path("empty"));
        m_Folder.Write("in/x9.txt", "-1 2 3 4 5 6");
        m_Folder.Write("in/x10.txt", "10 -20 30 40 50 60");
    }

    /// On a model of one ReLU of [2,3].
    Outcome Run(const Words& words) const
    {
        Words command = {"-m", m_Relu, "-c", "CpuRef"};
        command.insert(command.end(), words.begin(), words.end());
        return Execute(command);
    }

    std::string In(const std::string& name) const { return m_Folder.Path("in/" + name); }

    std::string FloatsOf(const std::string& text, const TensorShape& shape = {2, 3})
    {
        return ReadFile(WriteInput(text + ".npy", DataType::Float32, shape));
    }

    const std::string m_Relu =
        m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const std::string m_Add =
        m_Folder.Write("add.tflite", test::TinyModel(test::Add, {{"a", {3}}, {"b", {3}}}, {{"sum", {3}}}));
    const std::string m_Inputs = m_Folder.Path("in");
};

TEST_F(Series, EachFileOfAFolderIsAnInference)
{
    const Outcome outcome = Run({"-d", m_Inputs});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error, "");
    const std::string blocks = "file 1 of 2, " + In("x9.txt") + ":\ninput 'x' Float32 [2,3]\n  from " + In("x9.txt") +
                               ", text\noutput 'y' Float32 [2,3]\n  0 2 3 4 5 6\nfile 2 of 2, " + In("x10.txt") + ":\n";
    EXPECT_EQ(outcome.m_Out.substr(0, blocks.size()), blocks);
    EXPECT_TRUE(Has(outcome.m_Out, "  10 0 30 40 50 60\n2 files\nload ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "1 more: min ")) << outcome.m_Out;
    const Outcome quiet = Run({"-d", m_Inputs, "-N"});
    EXPECT_EQ(quiet.m_Out.substr(0, 7), "2 files");
}

TEST_F(Series, ClassesTakeALine)
{
    const Outcome outcome = Run({"-d", m_Folder.Path("in/x*.txt"), "--top-k", "2"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const std::string lines = In("x9.txt") + ": row 0: 2 3.000000, 1 2.000000; row 1: 2 6.000000, 1 5.000000\n" +
                              In("x10.txt") + ": row 0: 2 30.000000, 0 10.000000; row 1: 2 60.000000, 1 50.000000\n";
    EXPECT_EQ(outcome.m_Out.substr(0, lines.size()), lines);

    std::filesystem::copy_file("samples/digits/seven.png", In("seven.png"));
    const Outcome digits = Execute({"-m", FloatModel, "-c", "CpuRef", "-d", m_Folder.Path("in/*.png"), "--labels",
                                    "samples/digits/labels.txt", "--top-k", "1"});
    ASSERT_EQ(digits.m_Status, 0) << digits.m_Error;
    EXPECT_EQ(digits.m_Out.substr(0, In("seven.png").size() + 8), In("seven.png") + ": 7 7 0.") << digits.m_Out;
    EXPECT_TRUE(Has(digits.m_Out, "\n1 file\n")) << digits.m_Out;
}

TEST_F(Series, TheReportHasResults)
{
    m_Folder.Write("in/bad.txt", "1 2 three");
    const std::string path = m_Folder.Path("report.json");
    ExpectFailure(Run({"-d", m_Inputs, "-N", "--report-json", path, "--top-k", "1"}), 3, "1 of 3 files failed");
    const Json files = Json::Parse(ReadFile(path)).At("files");
    ASSERT_EQ(files.m_Items.size(), 3U);
    const Json& bad = files.m_Items[0];
    EXPECT_EQ(bad.At("files").m_Items.at(0).m_Text, In("bad.txt"));
    EXPECT_TRUE(Has(bad.At("error").m_Text, "'three' is no value")) << bad.At("error").m_Text;
    EXPECT_TRUE(bad.At("outputs").m_Items.empty());
    const Json& good = files.m_Items[1];
    EXPECT_EQ(good.At("files").m_Items.at(0).m_Text, In("x9.txt"));
    EXPECT_GE(good.At("inference_ms").m_Number, 0.0);
    const Json& output = good.At("outputs").m_Items.at(0);
    EXPECT_EQ(output.At("name").m_Text, "y");
    EXPECT_EQ(output.At("values").m_Items.size(), 6U);
    EXPECT_EQ(output.At("values").m_Items[1].m_Number, 2.0);
    ASSERT_EQ(output.At("best").m_Items.size(), 2U) << "rows";
    EXPECT_EQ(output.At("best").m_Items[1].m_Items.at(0).At("class").m_Number, 2.0);
    EXPECT_EQ(output.At("best").m_Items[1].m_Items.at(0).At("score").m_Number, 6.0);
    const std::string single = m_Folder.Path("single.json");
    ASSERT_EQ(Run({"-d", In("x9.txt"), "--report-json", single}).m_Status, 0);
    EXPECT_FALSE(Has(ReadFile(single), "\"files\""));
}

TEST_F(Series, OutputsAreNamedAfterInputs)
{
    const std::string out = m_Folder.Path("out/deep");
    ASSERT_EQ(Run({"-d", m_Inputs, "-N", "-w", out}).m_Status, 0) << "the folder is made";
    const NpyArray array = ReadNpy(m_Folder.Path("out/deep/x10.npy"), TensorInfo({1}, DataType::Float32), 1000);
    EXPECT_EQ(GetElement(DataType::Float32, array.m_Data.Data(), 0), 10.0);
    EXPECT_TRUE(std::filesystem::exists(m_Folder.Path("out/deep/x9.npy")));
    const Outcome text = Run({"-d", m_Inputs, "-N", "-w", m_Folder.Path("text/*.y.txt")});
    ASSERT_EQ(text.m_Status, 0) << text.m_Error;
    EXPECT_EQ(text.m_Error, "");
    EXPECT_EQ(m_Folder.Read("text/x9.y.txt"), "y, Float32 : 0 2 3 4 5 6 ");
    const Outcome other = Run({"-d", m_Inputs, "-N", "-w", m_Folder.Path("text/*.dat")});
    EXPECT_TRUE(Has(other.m_Error, "gets the .npy format")) << other.m_Error;
}

TEST_F(Series, OutputsThatWouldBeLostAreRefused)
{
    const auto refuse = [&](const std::string& out, const std::string& words) {
        ExpectFailure(Run({"-d", m_Inputs, "-w", out}), 2, words);
    };
    refuse(m_Folder.Path("x.npy"), "is no folder and no name with one *, but each of 2 inferences has outputs");
    refuse(m_Folder.Path("*/*.npy"), "is no folder and no name with one *");
    refuse("-", "is no folder and no name with one *");
    refuse(m_Folder.Path("a") + "," + m_Folder.Path("b"), "2 entries are given for 1 output(s)");
    refuse(m_Folder.Path("in/*.txt"), "is given both as a file to read and as one to write");
    const std::string report = In("x9.txt");
    ExpectFailure(Run({"-d", m_Inputs, "--report-json", report}), 2,
                  "'" + report + "' is given both as a file to read and as one to write");
    m_Folder.Write("in/x9.npy", FloatsOf("x9"));
    refuse(m_Folder.Path("out"),
           "out/x9.npy' would have the outputs of both '" + In("x9.npy") + "' and '" + In("x9.txt"));
    EXPECT_FALSE(std::filesystem::exists(m_Folder.Path("out")));
}

TEST_F(Series, FilesThatFailAreNamedAndTheOthersGoOn)
{
    m_Folder.Write("in/a.npy", FloatsOf("wrong", {3, 3}));
    m_Folder.Write("in/b.dat", std::string("\0\1\2", 3));
    const Outcome outcome = Run({"-d", m_Inputs});
    ExpectFailure(outcome, 3, "--input-tensor-data: 2 of 4 files failed");
    EXPECT_TRUE(Has(outcome.m_Error, "error: file '" + In("a.npy") +
                                         "' for input 'x', which is float32 [2,3]: its shape is [3,3], but the model "
                                         "says [2,3]; all files run through one network"))
        << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, "b.dat' for input 'x', which is float32 [2,3]: its content is not known"));
    EXPECT_TRUE(Has(outcome.m_Out, "file 3 of 4, ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "  10 0 30 40 50 60\n4 files, 2 of them failed\n")) << outcome.m_Out;

    const Outcome none = Run({"-d", m_Folder.Path("in/[ab].*")});
    ExpectFailure(none, 3, "2 of 2 files failed");
    EXPECT_EQ(none.m_Out, "");
}

TEST_F(Series, OpenShapesAreThoseOfTheFirstFile)
{
    std::filesystem::create_directory(m_Folder.Path("batches"));
    m_Folder.Write("batches/1.txt", "1 2 3");
    m_Folder.Write("batches/2.npy", FloatsOf("two", {2, 8, 8, 1}));
    m_Folder.Write("batches/3.npy", FloatsOf("three", {3, 8, 8, 1}));
    m_Folder.Write("batches/4.npy", FloatsOf("two", {2, 8, 8, 1}));
    const Words command = {"-m",
                           "samples/digits/digits_float.onnx",
                           "-c",
                           "CpuRef",
                           "-N",
                           "-d",
                           m_Folder.Path("batches"),
                           "-w",
                           m_Folder.Path("out")};
    const Outcome outcome = Execute(command);
    ExpectFailure(outcome, 3, "2 of 4 files failed");
    EXPECT_TRUE(
        Has(outcome.m_Error, "3.npy' for input 'image', which is float32 [2,8,8,1]: its shape is [3,8,8,1], but '" +
                                 m_Folder.Path("batches/2.npy") + "' says [2,8,8,1]"))
        << outcome.m_Error;
    EXPECT_EQ(ReadNpy(m_Folder.Path("out/4.npy"), TensorInfo({1}, DataType::Float32), 1000).m_Info.GetShape(),
              TensorShape({2, 10}));
}

TEST_F(Series, ShapesOfTheOptionHoldForAllFiles)
{
    m_Folder.Write("in/a.npy", FloatsOf("six", {6}));
    const Outcome outcome = Run({"-d", m_Inputs, "-s", "6"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [6]\n  0 1 2 3 4 5\n")) << outcome.m_Out;
}

TEST_F(Series, SeveralInputs)
{
    for (const char* folder : {"a", "b", "npz"})
    {
        std::filesystem::create_directory(m_Folder.Path(folder));
    }
    m_Folder.Write("a/1.txt", "1 2 3");
    m_Folder.Write("a/2.txt", "4 5 6");
    m_Folder.Write("b/1.txt", "10 20 30");
    m_Folder.Write("b/2.txt", "40 50 60");
    const Words add = {"-m", m_Add, "-c", "CpuRef"};
    const auto run = [&](const std::string& inputs, const std::string& names = "a,b") {
        return Execute({"-m", m_Add, "-c", "CpuRef", "-i", names, "-d", inputs});
    };
    const std::string folders = m_Folder.Path("a") + "," + m_Folder.Path("b");
    const Outcome pairs = run(folders);
    ASSERT_EQ(pairs.m_Status, 0) << pairs.m_Error;
    EXPECT_EQ(pairs.m_Error, "");
    EXPECT_TRUE(Has(pairs.m_Out, "file 2 of 2, " + m_Folder.Path("a/2.txt") + ", " + m_Folder.Path("b/2.txt") + ":\n"));
    EXPECT_TRUE(Has(pairs.m_Out, "  44 55 66\n2 sets of files\n")) << pairs.m_Out;

    m_Folder.Write("b/3.txt", "0 0 0");
    ExpectFailure(run(folders), 2, "a' has 2 files and '" + m_Folder.Path("b") + "' has 3; each inference takes one");
    const Outcome renamed = run(m_Folder.Path("a") + "," + m_Folder.Path("b/[13].txt"));
    EXPECT_EQ(renamed.m_Status, 0);
    EXPECT_TRUE(Has(renamed.m_Error, "warning: --input-tensor-data: 1 of 2 inferences have files of different names"))
        << renamed.m_Error;
    ExpectFailure(run(m_Folder.Path("a")), 2, "has no .npz file, but the model has 2 inputs");
    ExpectFailure(run(m_Folder.Path("a") + "," + m_Folder.Path("b/1.txt")), 2, "or files alone");

    const auto npy = [&](const std::string& text)
    { return ReadFile(WriteInput(text + ".npy", DataType::Float32, {3})); };
    const std::string npz =
        tenon::test::MakeZip({test::StoredFile("b.npy", npy("b")), test::DeflatedFile("a.npy", npy("a"))});
    m_Folder.Write("npz/1.npz", npz);
    m_Folder.Write("npz/2.txt", "1 2 3");
    m_Folder.Write("npz/3.npz", npz.substr(0, npz.size() / 2));
    m_Folder.Write("npz/4.npz", tenon::test::MakeZip({test::StoredFile("a.npy", npy("a"))}));
    const Outcome arrays = run(m_Folder.Path("npz"));
    ExpectFailure(arrays, 3, "3 of 4 files failed");
    EXPECT_TRUE(Has(arrays.m_Out, "  0 2 4\n4 files, 3 of them failed\n")) << arrays.m_Out;
    EXPECT_TRUE(Has(arrays.m_Error, "2.txt': it is no .npz file, which alone holds all 2 inputs")) << arrays.m_Error;
    EXPECT_TRUE(Has(arrays.m_Error, "3.npz': there is no zip archive, or it is cut short")) << arrays.m_Error;
    EXPECT_TRUE(Has(arrays.m_Error, "4.npz': it has no array for input 'b'; its arrays are 'a'")) << arrays.m_Error;

    const Outcome single = run(m_Folder.Path("npz/1.npz"));
    EXPECT_EQ(single.m_Status, 0) << single.m_Error;
    EXPECT_TRUE(Has(single.m_Out, "from " + m_Folder.Path("npz/1.npz/b.npy"))) << single.m_Out;
    const Outcome piped =
        ExecuteInShell("cat " + m_Folder.Path("npz/1.npz") + " | \"$@\"", {"-m", m_Add, "-c", "CpuRef", "-d", "-"});
    EXPECT_EQ(piped.m_Status, 0) << piped.m_Error;
    EXPECT_TRUE(Has(piped.m_Out, "  0 2 4\n")) << piped.m_Out;
    ExpectFailure(ExecuteInShell("echo 1 2 3 | \"$@\"", {"-m", m_Add, "-d", "-"}), 2,
                  "--input-tensor-data has 1 file(s), but the model has 2 input(s)");
}

TEST_F(Series, StatesAreKeptOnDemand)
{
    const TensorInfo info({6}, DataType::Float32);
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* const input = network->AddInputLayer(0, "in");
    IConnectableLayer* const read = network->AddReadStateLayer(StateDescriptor("total"), "read");
    IConnectableLayer* const sum =
        network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
    for (IConnectableLayer* const layer : {input, read, sum})
    {
        layer->GetOutputSlot(0).SetTensorInfo(info);
    }
    read->GetOutputSlot(0).Connect(sum->GetInputSlot(0));
    input->GetOutputSlot(0).Connect(sum->GetInputSlot(1));
    sum->GetOutputSlot(0).Connect(network->AddWriteStateLayer(StateDescriptor("total"), "write")->GetInputSlot(0));
    sum->GetOutputSlot(0).Connect(network->AddOutputLayer(0, "out")->GetInputSlot(0));
    const ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(*network);
    const std::string model = m_Folder.Path("total.tenon");
    std::ofstream file(model, std::ios::binary);
    ASSERT_TRUE(serializer->SaveSerializedToStream(file));
    file.close();
    const Words command = {"-m", model, "-c", "CpuRef", "-d", m_Inputs};
    EXPECT_TRUE(Has(Execute(command).m_Out, "  10 -20 30 40 50 60\n"));
    Words kept = command;
    kept.emplace_back("--keep-states");
    EXPECT_TRUE(Has(Execute(kept).m_Out, "  9 -18 33 44 55 66\n"));
}

TEST_F(Series, Refusals)
{
    ExpectFailure(Run({"-d", m_Folder.Path("empty")}), 2, "empty' has no files; those of folders within are given by");
    ExpectFailure(Run({"-d", m_Folder.Path("in/*.png")}), 2, "nor one that the pattern stands for");
    ExpectFailure(Run({"-d", m_Inputs + "," + In("x9.txt")}), 2, "give a folder or pattern for each input");
    ExpectFailure(Run({"-d", m_Inputs, "-I", "2"}), 2, "--iterations: --input-tensor-data has a folder or pattern");
    ExpectFailure(Run({"-d", m_Inputs, "-C", In("x9.txt")}), 2, "--compare-output: --input-tensor-data has a folder");
    ExpectFailure(Run({"-d", m_Inputs, "-B", "CpuRef"}), 2, "--compare-output-with-backend: --input-tensor-data has");
    ExpectFailure(Execute({"-m", m_Relu, "-d", In("x9.txt"), In("x10.txt")}), 2,
                  "put patterns of files in quotes, as in -d '*.jpg'");
}

TEST_F(Series, MeanAndDeviationWithoutAPictureAreRemarked)
{
    const Outcome outcome = Run({"-d", m_Inputs, "-N", "--input-mean", "1"});
    EXPECT_EQ(outcome.m_Status, 0);
    EXPECT_TRUE(Has(outcome.m_Error, "warning: --input-mean, --input-std: they are for pictures, but no file is one"))
        << outcome.m_Error;
}

TEST_F(Series, LinesOfArmNN)
{
    const Outcome outcome = Run({"-d", m_Inputs, "--armnn-output", "-w", m_Folder.Path("out/*")});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const size_t first =
        outcome.m_Out.find("of iteration: 1 to file: '" + m_Folder.Path("out/x9") + "'\ny: 0.000000 2.");
    const size_t second =
        outcome.m_Out.find("of iteration: 2 to file: '" + m_Folder.Path("out/x10") + "'\ny: 10.000000 ");
    EXPECT_LT(first, second) << outcome.m_Out;
    EXPECT_NE(second, std::string::npos) << outcome.m_Out;
    EXPECT_EQ(m_Folder.Read("out/x9"), "y, Float32 : 0 2 3 4 5 6 ");
}

TEST_F(Series, ATerminalShowsTheProgress)
{
    m_Folder.Write("in/bad.txt", "1");
    test::PseudoTerminal terminal(60);
    const Outcome outcome =
        ExecuteInShell("\"$@\" 2> " + terminal.Path(), {"-m", m_Relu, "-c", "CpuRef", "-d", m_Inputs, "--top-k", "1"});
    const std::string shown = terminal.Finish();
    EXPECT_EQ(outcome.m_Status, 3);
    EXPECT_EQ(std::count(outcome.m_Out.begin(), outcome.m_Out.end(), '\r'), 0) << outcome.m_Out;
    EXPECT_TRUE(Has(shown, "[##########....................] 1/3 files")) << shown;
    const std::string erased = "\r" + std::string(10, ' ');
    EXPECT_TRUE(Has(shown, erased)) << shown;
    const size_t last = shown.rfind('\r');
    EXPECT_TRUE(shown.substr(last + 1).starts_with("error: --input-tensor-data: 1 of 3 files failed\n")) << shown;
}

} // namespace
} // namespace tenon::tools
