// SPDX-License-Identifier: Apache-2.0
// ExecuteNetwork --describe: a model, or a table of the models in a folder.
#include "Program.hpp"
#include "harness/OnnxModel.hpp"
#include "harness/TinyOnnx.hpp"
#include "tools/harness/TinyModel.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

namespace tenon::tools
{
namespace
{

using tenon::test::MakeTinyOnnx;
namespace model = tenon::test::model;

class DescribeProgram : public Program
{
protected:
    /// With single blanks.
    static std::string Spaced(const std::string& text) { return std::regex_replace(text, std::regex("[ \\n]+"), " "); }

    static std::string Describe(Words words, int status = 0)
    {
        words.insert(words.begin(), "--describe");
        const Outcome outcome = Execute(words);
        EXPECT_EQ(outcome.m_Status, status) << outcome.m_Error;
        return outcome.m_Out;
    }
};

TEST_F(DescribeProgram, AModel)
{
    const std::string text = Describe({"-m", FloatModel});
    for (const char* part :
         {": TFLite, 4", "inputs\n  'image' Float32 [1,8,8,1]\n", "outputs\n  'Identity' Float32 [1,10]\n",
          "layers 15\n", "parameters 11.2 k in ", "multiply-accumulates 165.2 k, other operations ",
          "memory: weights 43.9 KiB, arena ", "can run: yes: 10 layers after optimization, CpuAcc 10\n"})
    {
        EXPECT_TRUE(Has(text, part)) << part << " in " << text;
    }
    const std::string table = Spaced(text);
    EXPECT_TRUE(Has(table, "operator count types parameters MACs share of MACs ")) << text;
    EXPECT_TRUE(Has(table, "Convolution2d 3 Float32 7640 152.6 k 92.4% ####")) << text;
    EXPECT_EQ(Describe({FloatModel}), text) << "the model as its value";
    const Outcome streamed = ExecuteInShell("cat " + FloatModel + " | \"$@\"", {"--describe", "-m", "-"});
    EXPECT_TRUE(Has(streamed.m_Out, "layers 15\n")) << streamed.m_Error;
    EXPECT_TRUE(Has(Describe({"-m", FloatModel, "-c", "CpuRef"}), "optimization, CpuRef 10\n"));
    EXPECT_TRUE(Has(Describe({"-m", Int8Model}), "QAsymmS8 [1,8,8,1] scale ")) << "quantization";
}

TEST_F(DescribeProgram, OptionsOfTheEnvironmentForRuns)
{
    const Outcome outcome = ExecuteInShell("TENON_ARMNN_OUTPUT=1 \"$@\"", {"--describe", FloatModel});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "layers 15\n")) << outcome.m_Out;
    const Outcome table = ExecuteInShell("TENON_ARMNN_OUTPUT=1 \"$@\"", {"--can-run", "samples/digits"});
    EXPECT_EQ(table.m_Status, 0) << table.m_Error;
}

TEST_F(DescribeProgram, AnOptimizedNetwork)
{
    const std::string network = m_Folder.Path("net.tenon");
    ASSERT_EQ(Execute({"-m", FloatModel, "-N", "--serialize-optimized", network}).m_Status, 0);
    const std::string text = Describe({network, "-c", "CpuAcc"});
    EXPECT_TRUE(Has(text, "layers 10\n")) << text;
    EXPECT_TRUE(Has(text, "multiply-accumulates 165.2 k")) << text;
}

TEST_F(DescribeProgram, AsJson)
{
    const Outcome outcome = Execute({"--describe", "-m", FloatModel, "-c", "CpuRef", "--report-json", "-"});
    EXPECT_EQ(outcome.m_Status, 0);
    EXPECT_TRUE(Has(outcome.m_Error, "layers 15")) << "the text makes way";
    const std::string json = Spaced(outcome.m_Out);
    for (const char* part :
         {"\"compute\": [ \"CpuRef\" ]", "\"model\": \"samples/digits/digits_float.tflite\", \"format\": \"TFLite\"",
          "\"inputs\": [ { \"name\": \"image\", \"type\": \"Float32\", \"shape\": [1, 8, 8, 1], \"quantization\": "
          "null, "
          "\"mean\": [], \"std\": [] } ]",
          "\"work\": { \"macs\": 165184, ", "\"layers_without_macs\": 0",
          "{ \"type\": \"Convolution2d\", \"count\": 3, \"output_types\": {\"Float32\": 3}, \"parameters\": "
          "{\"tensors\": 6, \"elements\": 7640, \"bytes\": 30560}, \"macs\": 152576",
          "\"backends\": {\"CpuRef\": 10}, \"nested_layers\": 0, \"can_run\": true", "\"unsupported\": []"})
    {
        EXPECT_TRUE(Has(json, part)) << part << " in " << outcome.m_Out;
    }
    EXPECT_EQ(json.find("\"arena_bytes\": null"), std::string::npos);
}

TEST_F(DescribeProgram, TheHeadOfAnOnnxModelAndItsOpenSizes)
{
    const std::string path = m_Folder.Write(
        "net.onnx",
        std::string(model::Model(
            model::Graph()
                .Input("x", {"batch", 4})
                .Store(model::Floats("w", {4, 3}, std::vector<float>(12)))
                .Add("MatMul", {"x", "w"}, {"y"})
                .Output("y"),
            17, {}, model::Message(2, "exporter") + model::Message(3, "2.1") + model::Message(6, "two\nlines"))));
    const std::string text = Describe({path});
    for (const char* part :
         {"  producer: exporter 2.1\n", "  opsets: ai.onnx 17\n", "  ir_version: 10\n", "  doc_string: two; lines\n",
          "  'x' Float32 [batch,4]\n", "multiply-accumulates 12, other operations 0, where 'batch' is 1\n", "arena "})
    {
        EXPECT_TRUE(Has(text, part)) << part << " in " << text;
    }
    const std::string five = Describe({path, "--dim", "batch=5"});
    EXPECT_TRUE(Has(five, "multiply-accumulates 60, other operations 0\n")) << five;
    EXPECT_TRUE(Has(Describe({path, "-s", "7,4"}), "multiply-accumulates 84,"));
    EXPECT_TRUE(Has(Describe({path, "-i", "x", "-s", "7,4"}), "multiply-accumulates 84,"));
}

TEST_F(DescribeProgram, SizesThatStayOpen)
{
    // Which dimensions Squeeze drops follows from their sizes.
    const std::string path =
        m_Folder.Write("squeeze.onnx", MakeTinyOnnx("Squeeze", {{"x", {"n", "1", "", "n"}}}).Bytes());
    const std::string text = Describe({path});
    EXPECT_TRUE(Has(text, "  'x' Float32 [n,1,x.2,n]\n")) << text;
    EXPECT_TRUE(Has(text, "multiply-accumulates -\n")) << text;
    EXPECT_TRUE(Has(text, "can run: yes, with sizes for 'n' and 'x.2': ")) << text;
    EXPECT_FALSE(Has(text, "arena")) << text;
}

TEST_F(DescribeProgram, ShapesOfInputs)
{
    const std::string text = Describe({"-m", Bundle, "--entry", "second.tflite", "-s", "3,8"});
    EXPECT_TRUE(Has(text, "'x' Float32 [3,8]")) << text;
    EXPECT_TRUE(Has(text, "multiply-accumulates 120")) << text;
}

TEST_F(DescribeProgram, Metadata)
{
    const Outcome outcome = Execute({"--describe", Classifier, "--report-json", m_Folder.Path("report.json")});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    for (const char* part :
         {"  files: labels.txt\n", "    pictures: (p - 0) / 255, the default of --input-mean and --input-std\n",
          "    4 labels: cat, dog, fünf, last, the default of --labels\n"})
    {
        EXPECT_TRUE(Has(outcome.m_Out, part)) << part << " in " << outcome.m_Out;
    }
    const std::string json = Spaced(m_Folder.Read("report.json"));
    EXPECT_TRUE(Has(json, "\"labels\": [ \"cat\", \"dog\", \"fünf\", \"last\" ]")) << json;
    EXPECT_TRUE(Has(json, "\"mean\": [ 0 ], \"std\": [ 255 ]")) << json;
    EXPECT_TRUE(Has(json, "\"min_parser_version\": \"")) << json;
}

TEST_F(DescribeProgram, AllThatIsUnsupported)
{
    const std::string custom = m_Folder.Write("a.tflite", test::TinyModel(test::Custom, {{"x", {2}}}, {{"y", {2}}}));
    const Outcome outcome = Execute({"--describe", custom});
    ExpectFailure(outcome, 4, "model '" + custom + "' cannot run for lack of support");
    EXPECT_TRUE(Has(outcome.m_Out, "can run: no, these are not supported:\n  layer ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "(Custom 'NobodyKnowsThis'): CpuAcc: ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "; CpuRef: ")) << "each backend has its reason: " << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "Custom 'NobodyKnowsThis'")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "multiply-accumulates -\n")) << outcome.m_Out;

    const std::string path = m_Folder.Write("b.onnx", std::string(model::Model(model::Graph()
                                                                                   .Input("x", {2})
                                                                                   .Add("Unheard", {"x"}, {"a"})
                                                                                   .Add("Abs", {"a"}, {"b"})
                                                                                   .Add("Unseen", {"b"}, {"y"})
                                                                                   .Output("y"))));
    const Outcome onnx = Execute({"--describe", path, "--report-json", m_Folder.Path("report.json")});
    EXPECT_EQ(onnx.m_Status, 4);
    EXPECT_TRUE(Has(onnx.m_Out, "  opsets: ai.onnx 17\n")) << onnx.m_Out;
    EXPECT_TRUE(Has(onnx.m_Out, "Unheard (ai.onnx version 17, 1 node)")) << onnx.m_Out;
    EXPECT_TRUE(Has(onnx.m_Out, "Unseen (ai.onnx version 17, 1 node)")) << onnx.m_Out;
    EXPECT_TRUE(Has(m_Folder.Read("report.json"), "\"layers\": null"));
}

TEST_F(DescribeProgram, ABundleOfModels)
{
    const std::string table = Spaced(Describe({Bundle}));
    EXPECT_TRUE(Has(table, "two.task, first.tflite zip Float32 [2,4] ")) << table;
    EXPECT_TRUE(Has(table, "two.task, second.tflite zip Float32 [1,8] ")) << table;
    const std::string one = Describe({Bundle, "--entry", "second.tflite"});
    EXPECT_TRUE(Has(one, "two.task, second.tflite': zip")) << one;
    EXPECT_TRUE(Has(one, "[1,8]")) << one;
    const Outcome streamed =
        ExecuteInShell("cat " + Bundle + " | \"$@\"", {"--describe", "-m", "-", "--report-json", "/dev/stderr"});
    EXPECT_TRUE(Has(streamed.m_Out, "-, second.tflite")) << streamed.m_Error;
    EXPECT_TRUE(Has(streamed.m_Error, "\"file\": \"-\"")) << streamed.m_Error;
}

TEST_F(DescribeProgram, AFolder)
{
    std::filesystem::create_directory(m_Folder.Path("inner"));
    m_Folder.Write("a.tflite", ReadFile(FloatModel));
    m_Folder.Write("cut.tflite", ReadFile(FloatModel).substr(0, 1000));
    m_Folder.Write("inner/b.onnx", MakeTinyOnnx("Add", {{"x", {"batch", "3"}}, {"z", {"batch", "3"}}}).Bytes());
    m_Folder.Write("notes.txt", "no model");
    const Outcome outcome = Execute({"--describe", m_Folder.Path("")});
    ExpectFailure(outcome, 3, "1 of 3 models cannot run: 0 for lack of support, 1 that cannot be read");
    const std::string table = Spaced(outcome.m_Out);
    EXPECT_TRUE(Has(table, "model format inputs layers parameters MACs can run ")) << outcome.m_Out;
    EXPECT_TRUE(Has(table, " a.tflite TFLite Float32 [1,8,8,1] 15 11.2 k 165.2 k yes ")) << outcome.m_Out;
    EXPECT_TRUE(Has(table, " cut.tflite TFLite - - - - no: the model is corrupt or cut short")) << outcome.m_Out;
    EXPECT_TRUE(Has(table, " inner/b.onnx ONNX Float32 [batch,3] +1 1 0 0 yes")) << outcome.m_Out;
    EXPECT_FALSE(Has(table, "notes.txt"));

    ExpectFailure(Execute({"--describe", m_Folder.Path(""), "--report-json", m_Folder.Path("a.tflite")}), 2,
                  "is given both as a file to read and as one to write");
    std::filesystem::remove(m_Folder.Path("cut.tflite"));
    EXPECT_TRUE(Has(Describe({"-m", m_Folder.Path(""), "--report-json", m_Folder.Path("r.json")}), "a.tflite"));
    const std::string json = Spaced(m_Folder.Read("r.json"));
    EXPECT_TRUE(Has(json, "\"model\": \"a.tflite\"")) << json;
    EXPECT_TRUE(Has(json, "\"dimensions_taken_as_1\": [ \"batch\" ]")) << json;
    EXPECT_TRUE(Has(json, "\"arena_bytes\": null")) << "nothing is loaded";
}

TEST_F(DescribeProgram, Refusals)
{
    const std::string folder = m_Folder.Path("");
    ExpectFailure(Execute({"--describe"}), 2, "--model-path: name a model file");
    ExpectFailure(Execute({"--describe", "none.tflite"}), 3, "model 'none.tflite': ");
    ExpectFailure(Execute({"--describe", folder}), 2, "--describe: there is no model in '" + folder + "'");
    ExpectFailure(Execute({"--describe", FloatModel, "-m", Int8Model}), 2, "leave one of them out");
    ExpectFailure(Execute({"--describe", FloatModel, "--can-run", folder}), 2,
                  "--can-run: with --describe it has no effect");
    for (const Words& words : {Words{"-d", "in.npy"}, Words{"-N"}, Words{"--labels", "l.txt"}, Words{"-I", "2"}})
    {
        Words all = {"--describe", "-m", FloatModel};
        all.insert(all.end(), words.begin(), words.end());
        ExpectFailure(Execute(all), 2, ": with --describe it has no effect, because --describe runs no model");
    }
    m_Folder.Write("a.tflite", ReadFile(FloatModel));
    for (const Words& words : {Words{"--dim", "batch=4"}, Words{"-s", "1,8"}, Words{"--entry", "a"}, Words{"-x", "1"},
                               Words{"--signature", "a"}, Words{"-i", "x"}, Words{"-f", "tflite"}})
    {
        Words all = {"--describe", folder};
        all.insert(all.end(), words.begin(), words.end());
        ExpectFailure(Execute(all), 2, ": it is for a single model, but '" + folder + "' is a folder");
    }
    ExpectFailure(Execute({"--describe", FloatModel, "--dim", "batch=4"}), 2, "--dim: only dimensions of ONNX models");
    ExpectFailure(Execute({"--describe", FloatModel, "-s", "1,8:2"}), 2, "--input-tensor-shape");
    ExpectFailure(Execute({"--describe", FloatModel, "-s", "1,3,3,1,1,1"}), 3, FloatModel);
    const std::string cut = m_Folder.Write("cut.onnx", MakeTinyOnnx("Abs", {{"x", {"3"}}}).Bytes().substr(0, 30));
    ExpectFailure(Execute({"--describe", cut}), 3, "model '" + cut + "': ");
    ExpectFailure(Execute({"--describe", FloatModel, "--report-json", FloatModel}), 2, FloatModel);
}

} // namespace
} // namespace tenon::tools
