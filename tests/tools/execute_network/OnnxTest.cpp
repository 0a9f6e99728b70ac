// SPDX-License-Identifier: Apache-2.0
// ExecuteNetwork with ONNX models: how they are recognised, and sizes of their dimensions on the command line.
#include "Program.hpp"
#include "harness/TinyOnnx.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using tenon::test::MakeTinyOnnx;
using tenon::test::TinyOnnx;

class Onnx : public Program
{
protected:
    /// y = max(x, 0) for x of [batch,3].
    const std::string m_Relu = m_Folder.Write("relu.onnx", MakeTinyOnnx("Relu", {{"x", {"batch", "3"}}}).Bytes());
};

TEST_F(Onnx, FilesGiveOpenSizes)
{
    const std::string in = m_Folder.Path("in.npy");
    const TensorInfo info({2, 3}, DataType::Float32);
    const float values[] = {-1.0f, 2.0f, -3.0f, 4.0f, -5.0f, 6.0f};
    WriteNpy(in, info, reinterpret_cast<const std::byte*>(values));
    const std::string out = m_Folder.Path("out.txt");
    for (const char* format : {"", "onnx", "onnx-binary"})
    {
        const Outcome outcome = Execute({"-m", m_Relu, "-d", in, "-w", out, "-f", format});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(outcome.m_Error, "");
        EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [2,3]")) << outcome.m_Out;
        EXPECT_TRUE(Has(ReadFile(out), ": 0 2 0 4 0 6")) << ReadFile(out);
    }
    const Outcome other = Execute({"-m", m_Relu, "-d", in, "-N", "-f", "tflite"});
    EXPECT_EQ(other.m_Status, 0);
    EXPECT_EQ(other.m_Error,
              "warning: --model-format: '" + m_Relu + "' is an ONNX model and is read as that, in place of tflite\n");
}

TEST_F(Onnx, OpenSizesAreAskedForByName)
{
    ExpectFailure(Execute({"-m", m_Relu}), 2,
                  "input 'x': the model leaves its shape open ([?,3]); give --dim batch=SIZE, a shape by "
                  "--input-tensor-shape, or a file by --input-tensor-data");
    const std::string add =
        m_Folder.Write("add.onnx", MakeTinyOnnx("Add", {{"a", {"n", "", "n"}}, {"b", {"1"}}}).Bytes());
    ExpectFailure(Execute({"-m", add}), 2, "give --dim n=SIZE --dim a.1=SIZE, a shape");
    ExpectFailure(Execute({"-m", add, "--dim", "n=2"}), 2, "give --dim a.1=SIZE, a shape");
    const Outcome outcome = Execute({"-m", add, "--dim", "n=2", "--dim", "a.1=5"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [2,5,2]")) << outcome.m_Out;
}

TEST_F(Onnx, SizesOfDimensions)
{
    const Outcome outcome = Execute({"-m", m_Relu, "--dim", "batch=4"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [4,3]")) << outcome.m_Out;
    const Outcome shaped = Execute({"-m", m_Relu, "-s", "7,3"});
    EXPECT_EQ(shaped.m_Status, 0) << shaped.m_Error;
    EXPECT_TRUE(Has(shaped.m_Out, "output 'y' Float32 [7,3]")) << shaped.m_Out;
    ExpectFailure(
        Execute({"-m", m_Relu, "--dim", "batch=4", "-s", "7,3"}), 2,
        "dimension 0 of the shape [7,3] that is given for it contradicts the size 4 that is given for 'batch'");
    ExpectFailure(Execute({"-m", m_Relu, "--dim", "bach=4"}), 2,
                  "the model has no open dimension 'bach'; it has 'batch'");
    ExpectFailure(Execute({"-m", FloatModel, "--dim", "batch=4"}), 2,
                  "--dim: only dimensions of ONNX models have names; give the shapes of this model's inputs by "
                  "--input-tensor-shape");
    for (const char* text : {"batch", "=4", "batch=", "batch=x", "batch=-1", "batch=4x", "batch=99999999999"})
    {
        ExpectFailure(Execute({"-m", m_Relu, "--dim", text}), 2,
                      "--dim: '" + std::string(text) + "' is no name with a size; expected is NAME=SIZE, e.g. batch=4");
    }
    ExpectFailure(Execute({"-m", m_Relu, "--dim", "batch=4", "--dim", "batch=4"}), 2, "--dim: batch is given twice");
}

TEST_F(Onnx, ComparisonsOfFloats)
{
    const auto write = [&](const char* name, const std::vector<float>& values)
    {
        const std::string path = m_Folder.Path(name);
        WriteNpy(path, TensorInfo({1, 3}, DataType::Float32), reinterpret_cast<const std::byte*>(values.data()));
        return path;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::string in = write("in.npy", {1.0f, 2.0f, 4.0f});
    const auto compare = [&](const std::vector<float>& expected) {
        return Execute({"-m", m_Relu, "-N", "-d", in, "-C", write("expected.npy", expected)}).m_Out;
    };
    EXPECT_TRUE(Has(compare({1.0f, 2.0f, 4.0f}), "error: 0\n  largest difference 0, 0 of the largest value\n"));
    EXPECT_TRUE(Has(compare({1.0f, -3.0f, 4.0f}), "\n  largest difference 5, 1.25 of the largest value\n"));
    EXPECT_TRUE(Has(compare({1.5f, nan, 4.0f}),
                    "\n  largest difference 0.5, 0.125 of the largest value; 1 of the elements "
                    "are NaN or infinite in one alone\n"));
    EXPECT_TRUE(Has(compare({0.0f, 0.0f, 0.0f}), "\n  largest difference 4\n"));
    EXPECT_TRUE(Has(Execute({"-m", m_Relu, "-N", "-d", in, "-B", "CpuRef"}).m_Out, "\n  largest difference 0, 0 of"));
}

TEST_F(Onnx, NamesMayHaveEqualsSigns)
{
    const std::string model = m_Folder.Write("a.onnx", MakeTinyOnnx("Relu", {{"x", {"a=b", "2"}}}).Bytes());
    const Outcome outcome = Execute({"-m", model, "--dim", "a=b=3"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [3,2]")) << outcome.m_Out;
}

TEST_F(Onnx, ModelsThatNeedTheSizesOfInputs)
{
    const std::string model = m_Folder.Write("squeeze.onnx", MakeTinyOnnx("Squeeze", {{"x", {"n", "3"}}}).Bytes());
    ExpectFailure(Execute({"-m", model}), 2, "give --dim n=SIZE, a shape");
    for (const Words& sizes : {Words{"--dim", "n=1"}, Words{"-s", "1,3"},
                               Words{"-d", WriteInput("x.npy", DataType::Float32, {1, 3}), "-o", "y"}})
    {
        Words words = {"-m", model};
        words.insert(words.end(), sizes.begin(), sizes.end());
        const Outcome outcome = Execute(words);
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [3]")) << outcome.m_Out;
        words.insert(words.end(), {"-w", "a.npy,b.npy"});
        ExpectFailure(Execute(words), 2, "--write-outputs-to-file: 2 file(s) are given for 1 output(s)");
    }
}

TEST_F(Onnx, OneGraphWithoutSignatures)
{
    ExpectFailure(Execute({"-m", m_Relu, "--signature", "main"}), 2, "--signature: an ONNX model is one graph");
    ExpectFailure(Execute({"-m", m_Relu, "-x", "1"}), 2, "--subgraph-number: an ONNX model is one graph");
}

TEST_F(Onnx, FieldsInAnyOrder)
{
    const TinyOnnx relu = MakeTinyOnnx("Relu", {{"x", {"2", "3"}}});
    const std::string bytes = relu.m_Graph + relu.m_Opsets + relu.m_Producer + relu.m_Version;
    EXPECT_EQ(Execute({"-m", m_Folder.Write("graph_first", bytes), "-N"}).m_Status, 0) << "the fields tell";
    const std::string late = tenon::test::OnnxBytes(6, std::string(1000, 'x')) + bytes; // a text before all others
    EXPECT_EQ(Execute({"-m", m_Folder.Write("text_first.onnx", late), "-N"}).m_Status, 0) << "the ending tells";
    const std::string unnamed = m_Folder.Write("model.bin", late);
    ExpectFailure(
        Execute({"-m", unnamed, "-N"}), 3,
        "it is of no known format; supported: TensorFlow Lite (.tflite, "
        "identifier TFL3; .task and .litertlm with such models), ONNX (.onnx), networks of Arm NN (.armnn) and");
    const Outcome named = Execute({"-m", unnamed, "-N", "-f", "onnx"});
    EXPECT_EQ(named.m_Status, 0) << named.m_Error;
    EXPECT_EQ(named.m_Error, "");
    const std::string usual = m_Folder.Write("usual.bin", relu.Bytes());
    EXPECT_EQ(Execute({"-m", usual, "-N"}).m_Status, 0) << "the content tells";
}

TEST_F(Onnx, FromStandardInput)
{
    const Outcome outcome = ExecuteInShell("cat " + m_Relu + " | \"$@\"", {"-m", "-", "--dim", "batch=2"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [2,3]")) << outcome.m_Out;
}

TEST_F(Onnx, WhatIsNoModelOrCannotRun)
{
    ExpectFailure(Execute({"-m", m_Folder.Write("text.onnx", "text")}), 3, "text.onnx'");
    const std::string custom =
        m_Folder.Write("custom.onnx", MakeTinyOnnx("NoSuchOperator", {{"x", {"2"}}}, "some.domain").Bytes());
    ExpectFailure(Execute({"-m", custom, "-N"}), 4, "NoSuchOperator");
    const std::string open =
        m_Folder.Write("open.onnx", MakeTinyOnnx("NoSuchOperator", {{"x", {"n"}}}, "some.domain").Bytes());
    ExpectFailure(Execute({"-m", open, "-N", "-s", "3"}), 4, "NoSuchOperator");
}

TEST_F(Onnx, IsWrittenAsNetworkOfTenon)
{
    const std::string tenon = m_Folder.Path("relu.tenon");
    ASSERT_EQ(Execute({"-m", m_Relu, "-N", "--dim", "batch=2", "--serialize", tenon}).m_Status, 0);
    const Outcome outcome = Execute({"-m", tenon});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "output 'y' Float32 [2,3]")) << outcome.m_Out;
}

} // namespace
} // namespace tenon::tools
