// SPDX-License-Identifier: Apache-2.0
// Files of options of Arm NN's ExecuteNetwork: real numbers for quantized inputs and outputs, comparisons, and sets of
// files that iterations take in turn.
#include "ArmNNProgram.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using ArmNNFiles = ArmNNProgram;

TEST_F(ArmNNFiles, QuantizationTakesFilesOfAllKinds)
{
    const std::string npy = WriteInput("floats.npy", DataType::Float32, {4}); // 0 1 2 3
    const float values[] = {0.0f, 1.0f, 2.0f, 3.0f};
    const std::string raw =
        m_Folder.Write("floats.bin", std::string(reinterpret_cast<const char*>(values), sizeof(values)));
    for (const std::string& file : {npy, raw})
    {
        const Outcome outcome = Execute({"-m", m_Quantized, "-q", "-d", file});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_TRUE(Has(outcome.m_Out, "  10 12 14 16\n")) << outcome.m_Out;
        EXPECT_TRUE(Has(outcome.m_Out, ", quantized\n")) << outcome.m_Out;
    }
    const std::string stored = WriteInput("bytes.npy", DataType::QAsymmU8, {4});
    ExpectFailure(Execute({"-m", m_Quantized, "-q", "-d", stored}), 3, "elements of type '|u1'; expected '<f4'");
    const Outcome saturated =
        Execute({"-m", m_Quantized, "-q", "-d", m_Folder.Write("large.txt", "1000 -1000 inf 0.25")});
    ASSERT_EQ(saturated.m_Status, 0) << saturated.m_Error;
    EXPECT_TRUE(Has(saturated.m_Out, "  255 10 255 11\n")) << saturated.m_Out;
    // A picture has no real numbers: its bytes are the stored values.
    const Words picture = {"-m", Int8Model, "-d", "samples/digits/seven.png"};
    EXPECT_EQ(Execute(Join(picture, {"-w", m_Folder.Path("with.npy"), "-q"})).m_Status, 0);
    EXPECT_EQ(Execute(Join(picture, {"-w", m_Folder.Path("without.npy")})).m_Status, 0);
    EXPECT_EQ(m_Folder.Read("with.npy"), m_Folder.Read("without.npy"));
}

TEST_F(ArmNNFiles, DequantizedOutputsAreWrittenAndReported)
{
    const std::string npy = m_Folder.Path("out.npy");
    const std::string report = m_Folder.Path("report.json");
    const Outcome outcome =
        Execute({"-m", m_Quantized, "-q", "-l", "-d", m_Reals + "," + m_Reals, "-I", "2", "-w", npy, "--report-json",
                 report, "-C", m_Folder.Write("e.txt", "o, Float32 : 1.5 0 100 0.5")});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const NpyArray array = ReadNpy(npy, TensorInfo({4}, DataType::Float32), 1000);
    const std::vector<float> expected = {1.5f, 0.0f, 100.0f, 0.5f};
    for (size_t i = 0; i < expected.size(); ++i)
    {
        EXPECT_EQ(GetElement(DataType::Float32, array.m_Data.Data(), i), static_cast<double>(expected[i]));
    }
    const std::string outputs = ReadFile(report).substr(ReadFile(report).find("\"outputs\""));
    EXPECT_TRUE(Has(outputs, "\"type\": \"Float32\"")) << outputs;
    EXPECT_TRUE(Has(outcome.m_Out, "Byte level root mean square error: 0\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(Execute({"-m", m_Quantized, "-d", m_Stored, "-l", "-C", npy}).m_Out, "square error: 0\n"));
    const Outcome refused = Execute({"-m", m_Quantized, "-d", m_Stored, "-C", npy});
    ExpectFailure(refused, 3, "elements of type '<f4'; expected '|u1'");
    EXPECT_TRUE(Has(refused.m_Out, "\n  13 10 210 11\n")) << "results of the run are printed: " << refused.m_Out;
    ExpectFailure(Execute({"-m", m_Quantized, "-l", "--limit", "total-bytes=16"}), 3, "total-bytes");
}

TEST_F(ArmNNFiles, ComparisonNeedsAModelForOtherBackends)
{
    const std::string optimized = m_Folder.Path("optimized.tenon");
    ASSERT_EQ(Execute(Digits({"--serialize-optimized", optimized})).m_Status, 0);
    ExpectFailure(Execute({"-m", optimized, "-N", "-B", "CpuRef"}), 2, "the model is optimized already");
    const Outcome outcome = Execute(Digits({"-d", m_Digit, "-I", "2", "-B", "CpuRef", "-p"}));
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const size_t softmax = outcome.m_Out.find("SOFTMAX");
    ASSERT_NE(softmax, std::string::npos) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "Byte level root mean square error: ")) << outcome.m_Out;
}

TEST_F(ArmNNFiles, SetsOfFilesTakeTurns)
{
    const std::string names[] = {m_Folder.Path("0.txt"), m_Folder.Path("1.txt"), m_Folder.Path("2.npy")};
    const Outcome outcome = Execute(Relu({"-d", m_A + "," + m_B, "-I", "3", "-w", names[0] + "," + names[1]}));
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const size_t third = outcome.m_Out.find("iteration 3 of 3:\n");
    ASSERT_NE(third, std::string::npos) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out.substr(third), "a.txt")) << outcome.m_Out;
    EXPECT_EQ(ReadFile(names[0]), "y, Float32 : 0 1.5 0 3 0 5 ") << "of the third iteration";
    EXPECT_EQ(ReadFile(names[1]), "y, Float32 : 10 0 30 0 50 0 ") << "of the second iteration";

    const std::string add =
        m_Folder.Write("add.tflite", test::TinyModel(test::Add, {{"a", {2}}, {"b", {2}}}, {{"sum", {2}}}));
    const std::string files = m_Folder.Write("1.csv", "1,2") + "," + m_Folder.Write("2.csv", "10,20") + "," +
                              m_Folder.Write("3.csv", "100,200") + "," + m_Folder.Write("4.csv", "1000,2000");
    const Outcome sums = Execute({"-m", add, "-c", "CpuRef", "-d", files, "-I", "3", "--armnn-output"});
    ASSERT_EQ(sums.m_Status, 0) << sums.m_Error;
    const std::string first = "sum: 11.000000 22.000000 \n";
    const std::string second = "sum: 1100.000000 2200.000000 \n";
    const size_t at = sums.m_Out.find(first);
    ASSERT_NE(at, std::string::npos) << sums.m_Out;
    const size_t next = sums.m_Out.find(second, at);
    ASSERT_NE(next, std::string::npos) << sums.m_Out;
    EXPECT_NE(sums.m_Out.find(first, next), std::string::npos) << sums.m_Out;

    ExpectFailure(Execute({"-m", add, "-d", files + "," + m_A, "-I", "9"}), 2,
                  "9 iterations take one set of as many files, or several sets in turn");
    ExpectFailure(Execute({"-m", add, "-d", files}), 2, "add --iterations 2");
    ExpectFailure(Execute(Relu({"-I", "2", "-w", names[0] + "," + names[1] + "," + names[2]})), 2,
                  "3 file(s) are given for 1 output(s); 2 iterations write one set of as many files, or several");
}

TEST_F(ArmNNFiles, GraphsOfStreamsNeedAName)
{
    const Outcome outcome = ExecuteInShell("\"$@\" < " + m_Relu, {"-m", "-", "-v", m_Folder.Path("named.dot"), "-N"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(m_Folder.Read("named.dot"), "digraph Optimized {"));
    ExpectFailure(Execute(Relu({"-v", ""})), 2, "--visualize-optimized-model: nothing is given");
}

} // namespace
} // namespace tenon::tools
