// SPDX-License-Identifier: Apache-2.0
// --compare-with: the program against other backends, other models and files.
#include "Program.hpp"
#include "harness/Json.hpp"
#include "tools/harness/Npz.hpp"
#include "tools/harness/TinyModel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <regex>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;

class Compare : public Program
{
protected:
    std::string WriteFloats(const std::string& name, const std::vector<double>& values)
    {
        const TensorInfo info({1, static_cast<unsigned int>(values.size())}, DataType::Float32);
        std::vector<std::byte> data(info.GetNumBytes());
        for (size_t i = 0; i < values.size(); ++i)
        {
            SetElement(DataType::Float32, data.data(), i, values[i]);
        }
        WriteNpy(m_Folder.Path(name), info, data.data());
        return m_Folder.Path(name);
    }

    Outcome Run(const std::string& model, const Words& rest) const
    {
        Words words = {"-m", model, "-c", "CpuRef"};
        words.insert(words.end(), rest.begin(), rest.end());
        return Execute(words);
    }

    Json Report() const { return Json::Parse(ReadFile(m_Folder.Path("r.json"))).At("comparison"); }

    const std::string m_Relu =
        m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {1, 3}}}, {{"y", {1, 3}}}));
    const std::string m_Add =
        m_Folder.Write("add.tflite", test::TinyModel(test::Add, {{"a", {1, 3}}, {"b", {1, 3}}}, {{"y", {1, 3}}}));
};

TEST_F(Compare, WithOtherBackendsUsesGaussianInputs)
{
    const Outcome outcome = Run(FloatModel, {"--compare-with", "CpuAcc", "--report-json", m_Folder.Path("r.json"),
                                             "--tolerance", "rel=1e-4,abs=1e-6"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(std::regex_search(outcome.m_Out,
                                  std::regex("Num evaluation runs: 50\n"
                                             "Reference run latency: avg=[0-9.e+]+\\(us\\), std_dev=[0-9.e+]+\\(us\\)\n"
                                             "Test run latency: avg=[0-9.e+]+\\(us\\), std_dev=[0-9.e+]+\\(us\\)\n"
                                             "OutputDiff\\[0\\]: avg_error=[0-9.e-]+, std_dev=[0-9.e-]+\n")))
        << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, " on CpuRef 10\nreference  samples/digits/digits_float.tflite on CpuAcc 10\n"));
    const Json json = Report();
    EXPECT_EQ(json.At("runs").m_Number, 50);
    EXPECT_EQ(json.At("is_within_tolerance").m_Number, 1);
    EXPECT_EQ(json.At("outputs").m_Items[0].At("elements").m_Number, 500);
    EXPECT_EQ(json.At("outputs").m_Items[0].At("mean_errors_of_runs").m_Items.size(), 50U);
    EXPECT_NEAR(json.At("outputs").m_Items[0].At("cosine").m_Number, 1.0, 1e-6);

    const Outcome again = Run(FloatModel, {"--compare-with", "CpuRef", "--num-runs", "3", "--tolerance", "0"});
    ASSERT_EQ(again.m_Status, 0) << again.m_Error;
    EXPECT_TRUE(Has(again.m_Out, "Num evaluation runs: 3\n"));
    EXPECT_TRUE(Has(again.m_Out, "OutputDiff[0]: avg_error=0, std_dev=0\n"));
}

TEST_F(Compare, WithItsOwnOutputsFindsNoDifference)
{
    const std::string input = WriteInput("in.npy", DataType::Float32);
    const std::string golden = m_Folder.Path("golden.npy");
    ASSERT_EQ(Run(FloatModel, {"-d", input, "-w", golden}).m_Status, 0);
    const Outcome outcome = Run(FloatModel, {"-d", input, "--compare-with", golden, "--tolerance", "0"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "Num evaluation runs: 1\nTest run latency: ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "  0 elements are out of the tolerance (abs=0)\n")) << outcome.m_Out;

    ASSERT_EQ(Run(FloatModel, {"-w", golden}).m_Status, 0);
    EXPECT_EQ(Run(FloatModel, {"--compare-with", golden, "--tolerance", "0"}).m_Status, 0)
        << "random inputs are those of a run";
}

TEST_F(Compare, ReadsAPipeOnce)
{
    const std::string input = WriteFloats("in.npy", {1, 2, 3});
    const Outcome outcome =
        ExecuteInShell("cat '" + input + "' | \"$@\"",
                       {"-m", m_Relu, "-d", input, "--compare-with", "-", "--num-runs", "3", "--tolerance", "0"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "Num evaluation runs: 3\n")) << outcome.m_Out;
}

TEST_F(Compare, ToleranceDecidesTheStatus)
{
    const std::string input = WriteFloats("in.npy", {1, 2, 3});
    const std::string golden = WriteFloats("golden.npy", {1, 2.5, 3});
    const auto run = [&](const std::string& tolerance) {
        return Run(m_Relu, {"-d", input, "--compare-with", golden, "--tolerance", tolerance});
    };
    EXPECT_EQ(run("0.5").m_Status, 0);
    EXPECT_EQ(run("rel=0.2").m_Status, 0);
    const Outcome outcome = run("0.25,ulp=2");
    ExpectFailure(outcome, 6, "--tolerance: 1 element(s) of the outputs differ by more than abs=0.25, ulp=2");
    EXPECT_TRUE(Has(outcome.m_Out, "  largest difference: 2 in place of 2.5, element [0,1]\n")) << outcome.m_Out;
    EXPECT_EQ(Run(m_Relu, {"-d", input, "--compare-with", golden}).m_Status, 0) << "without a tolerance";
    ExpectFailure(run("steps=1"), 2, "--tolerance: steps=1 is no bound for output 'y'");
}

TEST_F(Compare, NonFiniteElementsMustBeTheSame)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const std::string input = WriteFloats("in.npy", {infinity, 2, 3});
    const std::string same = WriteFloats("same.npy", {infinity, 2, 3});
    EXPECT_EQ(Run(m_Relu, {"-d", input, "--compare-with", same, "--tolerance", "0"}).m_Status, 0);
    const std::string golden = WriteFloats("golden.npy", {1, std::nan(""), 3});
    const Outcome outcome = Run(m_Relu, {"-d", input, "--compare-with", golden, "--tolerance", "1e30"});
    ExpectFailure(outcome, 6, "2 element(s) of the outputs");
    EXPECT_TRUE(Has(outcome.m_Out, "NaN or infinite: 2 elements in one of the two alone")) << outcome.m_Out;
}

TEST_F(Compare, TiesOfClassesAreNoted)
{
    const Outcome outcome =
        Run(m_Relu, {"-d", WriteFloats("in.npy", {1, 17, 3}), "--compare-with", WriteFloats("golden.npy", {17, 1, 3})});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "note: its values look like classes, indices or counts; where scores tie"))
        << outcome.m_Out;
}

TEST_F(Compare, WithArraysOfNpzFiles)
{
    const std::string input = WriteFloats("in.npy", {1, 2, 3});
    const std::string array = ReadFile(input);
    for (const char* name : {"y.npy", "arr_0.npy"})
    {
        const std::string golden =
            m_Folder.Write("golden.npz", tenon::test::MakeZip({test::DeflatedFile(name, array)}));
        EXPECT_EQ(Run(m_Relu, {"-d", input, "--compare-with", golden, "--tolerance", "0"}).m_Status, 0) << name;
    }
    const std::string other = m_Folder.Write("other.npz", tenon::test::MakeZip({test::StoredFile("z.npy", array)}));
    ExpectFailure(Run(m_Relu, {"-d", input, "--compare-with", other}), 3,
                  "other.npz': it has no array for output 'y', by name or as 'arr_0'; its arrays are 'z'");
}

TEST_F(Compare, WithAFolderOfOutputs)
{
    std::filesystem::create_directory(m_Folder.Path("in"));
    WriteFloats("in/1.npy", {1, 2, 3});
    WriteFloats("in/2.npy", {4, 5, 6});
    const std::string inputs = m_Folder.Path("in");
    const std::string outputs = m_Folder.Path("out");
    ASSERT_EQ(Run(m_Relu, {"-d", inputs, "-w", outputs}).m_Status, 0);
    const Outcome same = Run(m_Relu, {"-d", inputs, "--compare-with", outputs, "--tolerance", "0"});
    ASSERT_EQ(same.m_Status, 0) << same.m_Error;
    EXPECT_TRUE(Has(same.m_Out, "Num evaluation runs: 2\n")) << same.m_Out;
    WriteFloats("out/2.npy", {4, 5, 7});
    const Outcome other =
        Run(m_Relu, {"-d", inputs, "--compare-with", outputs + "/*.npy", "--report-json", m_Folder.Path("r.json")});
    ASSERT_EQ(other.m_Status, 0) << other.m_Error;
    EXPECT_TRUE(Has(other.m_Out, "largest difference: 6 in place of 7, element [0,2] of '" + inputs + "/2.npy'\n"))
        << other.m_Out;
    EXPECT_EQ(Report().At("files").m_Items.size(), 2U);
    EXPECT_EQ(Run(m_Relu, {"-d", inputs, "--compare-with", "CpuAcc", "--tolerance", "0"}).m_Status, 0);
    std::filesystem::remove(m_Folder.Path("out/1.npy"));
    const Outcome missing = Run(m_Relu, {"-d", inputs, "--compare-with", outputs});
    ExpectFailure(missing, 3, "1 of 2 files failed");
    EXPECT_TRUE(Has(missing.m_Error, "out/1.npy' for output 'y', which is Float32 [1,3]: the file does not exist"))
        << missing.m_Error;
    ExpectFailure(Run(m_Relu, {"-d", inputs, "--compare-with", "CpuAcc", "--num-runs", "3"}), 2,
                  "--num-runs: --input-tensor-data has a folder or pattern");
}

TEST_F(Compare, SetsOfFilesTakeTurns)
{
    const std::string a = WriteFloats("a.npy", {1, 2, 3});
    const std::string b = WriteFloats("b.npy", {4, 5, 6});
    const Outcome outcome =
        Run(m_Relu, {"-d", a + "," + b, "--num-runs", "4", "--compare-with", a + "," + b, "--tolerance", "0"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "Num evaluation runs: 4\n")) << outcome.m_Out;
    EXPECT_EQ(Run(m_Relu, {"-d", a + "," + b, "--num-runs", "4", "--compare-with", a, "--tolerance", "0"}).m_Status, 6);
}

TEST_F(Compare, WithAnotherModelGivesItTheSameNumbers)
{
    const Outcome twin = Run(
        FloatModel, {"--compare-with", "samples/digits/digits_float.onnx", "--num-runs", "2", "--tolerance", "1e-6"});
    ASSERT_EQ(twin.m_Status, 0) << twin.m_Error;
    EXPECT_TRUE(Has(twin.m_Out, "\nreference  samples/digits/digits_float.onnx on CpuRef 10\n")) << twin.m_Out;
    // The quantized model's inputs stand for real numbers, and so do its outputs.
    for (const auto& [tested, reference] : {std::pair(Int8Model, FloatModel), std::pair(FloatModel, Int8Model)})
    {
        const Outcome outcome = Run(tested, {"--compare-with", reference + ",CpuAcc", "--num-runs", "5",
                                             "--report-json", m_Folder.Path("r.json")});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        const Json json = Report().At("outputs").m_Items[0];
        EXPECT_EQ(json.At("measure").m_Text, "real");
        EXPECT_LT(json.At("max_error").m_Number, 0.1);
        EXPECT_GT(json.At("cosine").m_Number, 0.99);
        EXPECT_TRUE(Has(outcome.m_Out, "on CpuAcc 10\n")) << outcome.m_Out;
    }
}

TEST_F(Compare, OptionsThatChangeNumbersAreForTheTestedNetworkAlone)
{
    const Outcome outcome = Execute({"-m", FloatModel, "-c", "CpuAcc", "--fp16-turbo-mode", "--compare-with", "CpuAcc",
                                     "--num-runs", "2", "--report-json", m_Folder.Path("r.json")});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const double error = Report().At("outputs").m_Items[0].At("max_error").m_Number;
    EXPECT_GT(error, 1e-7);
    EXPECT_LT(error, 0.01);
}

TEST_F(Compare, LayersAreComparedOnRequest)
{
    const Outcome outcome =
        Execute({"-m", FloatModel, "-c", "CpuAcc", "--fp16-turbo-mode", "--compare-with", "CpuRef", "--num-runs", "2",
                 "--compare-layers", "--report-json", m_Folder.Path("r.json"), "--tolerance", "1"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "first layer that differs: 'CONV_2D:0' (Convolution2d, CpuAcc / CpuRef)\n"))
        << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "first layer out of the tolerance: none\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "fused with ReLu\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "fused into another layer\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "not compared: not in the reference\n")) << "conversions to Float16";
    const Json json = Report();
    const Json& layers = json.At("layers");
    EXPECT_EQ(layers.m_Items[static_cast<size_t>(json.At("first_layer_that_differs").m_Number)].At("layer").m_Text,
              "CONV_2D:0");
    EXPECT_EQ(layers.m_Items.back().At("layer").m_Text, "SOFTMAX:9:Float32");

    std::filesystem::create_directory(m_Folder.Path("in"));
    WriteInput("in/1.npy", DataType::Float32);
    m_Folder.Write("in/2.npy", "damaged");
    const Outcome series = Run(FloatModel, {"-d", m_Folder.Path("in"), "--compare-with", "CpuAcc", "--compare-layers"});
    ExpectFailure(series, 3, "1 of 2 files failed");
    EXPECT_TRUE(Has(series.m_Out, "\nSOFTMAX:9  ")) << series.m_Out;

    const Outcome same = Run(FloatModel, {"--compare-with", "CpuRef", "--num-runs", "1", "--compare-layers"});
    ASSERT_EQ(same.m_Status, 0) << same.m_Error;
    EXPECT_TRUE(Has(same.m_Out, "first layer that differs: none\n")) << same.m_Out;
    EXPECT_FALSE(Has(same.m_Out, "largest growth")) << same.m_Out;
}

TEST_F(Compare, ReferencesThatAreNoneAreRefused)
{
    const std::string input = WriteFloats("in.npy", {1, 2, 3});
    ExpectFailure(Run(m_Relu, {"--compare-with", "CpuFast"}), 2,
                  "--compare-with: there is no backend and no file 'CpuFast'; name backends ('CpuAcc' and 'CpuRef'), "
                  "another model, or files with the expected outputs");
    ExpectFailure(Run(m_Relu, {"--compare-with", input + ",CpuRef"}), 2,
                  "is a file with expected outputs, which cannot be given with a model or backends");
    ExpectFailure(Run(m_Relu, {"--compare-with", m_Relu + "," + m_Add}), 2, "are both models; name one");
    ExpectFailure(Run(m_Relu, {"--compare-with", input, "--compare-layers"}), 2,
                  "--compare-layers: --compare-with names files, which have no layers");
    ExpectFailure(Run(m_Relu, {"--compare-with", input + "," + input}), 2,
                  "--compare-with: 2 file(s) are given for 1 output(s) and 1 run(s)");
    ExpectFailure(Run(m_Relu, {"--compare-with", ""}), 2, "--compare-with: nothing is given");
    ExpectFailure(Run(m_Relu, {"--tolerance", "1"}), 2, "--tolerance: name a reference in --compare-with");
    ExpectFailure(Run(m_Relu, {"--compare-layers"}), 2, "--compare-layers: name a reference in --compare-with");
    ExpectFailure(Run(m_Relu, {"--compare-with", "CpuAcc", "--tolerance", "much"}), 2,
                  "--tolerance: 'much' is no finite number of 0 or more");
    ExpectFailure(Run(m_Relu, {"--benchmark", "--compare-with", "CpuAcc"}), 2, "--compare-with: --benchmark prints");
}

TEST_F(Compare, FilesThatDoNotFitAreRefused)
{
    const std::string input = WriteFloats("in.npy", {1, 2, 3});
    const auto run = [&](const std::string& golden) { return Run(m_Relu, {"-d", input, "--compare-with", golden}); };
    ExpectFailure(run(WriteFloats("longer.npy", {1, 2, 3, 4})), 3,
                  "longer.npy' for output 'y', which is Float32 [1,3]: ");
    ExpectFailure(run(WriteInput("bytes.npy", DataType::Signed8, {1, 3})), 3,
                  "it holds elements of type '|i1'; expected '<f4'");
    ExpectFailure(run(m_Folder.Write("half.npy", ReadFile(input).substr(0, 130))), 3, "half.npy' for output 'y'");
    ExpectFailure(run(m_Folder.Write("broken.npz", "PK\3\4broken")), 3, "broken.npz': ");
    ExpectFailure(run(m_Folder.Path("missing.npy")), 2, "there is no backend and no file ");
    const std::string bytes = WriteInput("int8.npy", DataType::QAsymmS8);
    ExpectFailure(Run(Int8Model, {"-d", bytes, "--compare-with", input}), 3,
                  "(--dequantize-output makes it Float32): ");
}

TEST_F(Compare, ModelsThatDoNotFitAreRefused)
{
    ExpectFailure(Run(m_Relu, {"--compare-with", m_Add}), 3,
                  "--compare-with: the model has 1 input(s), 'x', but '" + m_Add +
                      "' has 2, 'a' and 'b'; models that "
                      "are compared take the same inputs");
    const std::string longer =
        m_Folder.Write("longer.tflite", test::TinyModel(test::Relu, {{"x", {1, 4}}}, {{"y", {1, 4}}}));
    ExpectFailure(Run(m_Relu, {"--compare-with", longer}), 3,
                  "--compare-with: input 'x' is [1,3], but 'x' of '" + longer + "' is [1,4]");
    const std::string integers =
        m_Folder.Write("integers.tflite", test::TinyModel(test::Relu, {{"x", {1, 3}, 2}}, {{"y", {1, 3}, 2}}));
    ExpectFailure(Run(m_Relu, {"--compare-with", integers}), 3,
                  "only Float32 and quantized inputs stand for the same numbers");
    const std::string two =
        m_Folder.Write("two.tflite", test::TinyModel(test::Relu, {{"x", {1, 3}}}, {{"y", {1, 3}}, {"z", {1, 3}}}));
    ExpectFailure(Run(m_Relu, {"--compare-with", m_Folder.Write("text.tflite", "no model")}), 3, "text.tflite");
    ExpectFailure(Run(m_Relu, {"--compare-with", two}), 3, "two.tflite");
}

TEST_F(Compare, OptimizedModelsHaveNoOtherBackends)
{
    const std::string optimized = m_Folder.Path("optimized.tenon");
    ASSERT_EQ(Run(m_Relu, {"--serialize-optimized", optimized}).m_Status, 0);
    const auto run = [&](const std::string& model, const Words& rest)
    {
        Words words = {"-m", model, "--num-runs", "2"};
        words.insert(words.end(), rest.begin(), rest.end());
        return Execute(words);
    };
    ExpectFailure(run(optimized, {"--compare-with", "CpuRef"}), 2,
                  "--compare-with: the model is optimized already, so no other backend can run it");
    ExpectFailure(run(optimized, {"--compare-with", m_Relu, "--compare-layers"}), 2,
                  "--compare-layers: the model is optimized already, so its layers cannot be shown");
    ExpectFailure(run(m_Relu, {"--compare-with", optimized, "--compare-layers"}), 2,
                  "is optimized already, so its layers cannot be shown");
    ExpectFailure(run(m_Relu, {"--compare-with", optimized + ",CpuRef"}), 2,
                  "is optimized already, so no other backend can run it");
    EXPECT_EQ(run(optimized, {"--compare-with", m_Relu, "--tolerance", "0"}).m_Status, 0);
    EXPECT_EQ(run(m_Relu, {"--compare-with", optimized, "--tolerance", "0"}).m_Status, 0);
}

} // namespace
} // namespace tenon::tools
