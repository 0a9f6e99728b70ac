// SPDX-License-Identifier: Apache-2.0
// --armnn-output: lines of Arm NN's ExecuteNetwork, as scripts read them; and tensors in its text files.
#include "Program.hpp"
#include "harness/Json.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/TextFile.hpp"
#include "tools/execute_network/ArmNNText.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TinyModel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

namespace tenon::tools
{
namespace
{

class ArmNNOutput : public Program
{
protected:
    Outcome Run(const Words& rest) const
    {
        Words words = {"-m", m_Relu, "-c", "CpuRef", "-d", m_A, "--armnn-output"};
        words.insert(words.end(), rest.begin(), rest.end());
        return Execute(words);
    }

    const std::string m_Relu =
        m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const std::string m_A = m_Folder.Write("a.txt", "-1 1.5 -2 3 -4 5");
};

TEST_F(ArmNNOutput, HasItsLinesInOrder)
{
    const std::string time = "[0-9]+\\.[0-9][0-9] ms";
    const std::string iteration = "Info: Execution time: " + time +
                                  "\\.\n"
                                  "y: 0\\.000000 1\\.500000 0\\.000000 3\\.000000 0\\.000000 5\\.000000 \n"
                                  "Info: Inference time: " +
                                  time + "\n\n";
    const std::string expected = "Info: ArmNN v[0-9]+\\.[0-9]+\\.[0-9]+\nInfo: Initialization time: " + time +
                                 "\\.\nInfo: Optimization time: " + time +
                                 "\n\n===== Network Info =====\nInputs in order:\nx, \\[2,3\\], Float32\n"
                                 "Outputs in order:\ny, \\[2,3\\], Float32\n\n" +
                                 iteration + iteration + "Info: Shutdown time: " + time + "\\.\n";
    const Outcome outcome = Run({"-I", "2"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error, "");
    EXPECT_TRUE(std::regex_match(outcome.m_Out, std::regex(expected))) << outcome.m_Out;

    const Outcome random = Execute({"-m", m_Relu, "--armnn-output"});
    EXPECT_EQ(random.m_Status, 0);
    EXPECT_EQ(random.m_Error, "warning: --input-tensor-data: no file is given, so inputs are seeded random values\n");

    const Outcome quiet = Run({"-N"});
    EXPECT_FALSE(Has(quiet.m_Out, "\ny: ")) << quiet.m_Out;
    EXPECT_TRUE(Has(quiet.m_Out, "Info: Inference time: ")) << quiet.m_Out;
}

TEST_F(ArmNNOutput, NamesTheVersionOfTheHeaders)
{
    const std::string header = ReadFile("include/tenon/compat/armnn/Version.hpp");
    std::smatch version;
    ASSERT_TRUE(std::regex_search(header, version, std::regex("#define ARMNN_VERSION \"([0-9.]+)\"")));
    EXPECT_EQ(FormatArmNNVersion(), "Info: ArmNN v" + version[1].str() + "\n");
}

TEST_F(ArmNNOutput, ShowsQuantizationAndWholeNumbers)
{
    const std::string digit = WriteInput("in.npy", DataType::QAsymmS8);
    const Outcome outcome = Execute({"-m", Int8Model, "-c", "CpuRef", "-d", digit, "--armnn-output"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(
        Has(outcome.m_Out, "image, [1,8,8,1], QAsymmS8 Quantization Offset: -128 Quantization scale: 0.00392157\n"))
        << outcome.m_Out;
    EXPECT_TRUE(std::regex_search(outcome.m_Out, std::regex("\nIdentity: (-?[0-9]+ ){10}\n"))) << outcome.m_Out;
}

TEST_F(ArmNNOutput, ProfilesHaveItsRoot)
{
    using tenon::test::Json;
    const std::string file = m_Folder.Path("profile.json");
    const std::string trace = m_Folder.Path("trace.json");
    const Outcome outcome = Run({"-I", "2", "-e", "--profile-json", file, "--chrome-trace", trace});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const size_t begin = outcome.m_Out.find("{\n");
    const size_t end = outcome.m_Out.find("\n}\n", begin);
    ASSERT_NE(end, std::string::npos) << outcome.m_Out;
    EXPECT_EQ(outcome.m_Out.find("{\n \"ArmNN\"", begin + 1), std::string::npos)
        << "the last iteration alone prints it";
    for (const std::string& text : {outcome.m_Out.substr(begin, end + 3 - begin), ReadFile(file)})
    {
        const Json profile = Json::Parse(text);
        EXPECT_EQ(profile.m_Names, Words{"ArmNN"});
        EXPECT_EQ(profile.At("ArmNN").m_Names,
                  (Words{"optimize_measurements_#1", "loaded_network_measurements_#2", "inference_measurements_#3"}));
        const Json& inference = profile.At("ArmNN").At("inference_measurements_#3");
        EXPECT_EQ(inference.At("type").m_Text, "Event");
        EXPECT_EQ(inference.At("Wall clock time_#3").At("raw").m_Items.size(), 2U);
        EXPECT_EQ(inference.At("Wall clock time (Start)_#3").At("unit").m_Text, "us");
    }
    EXPECT_FALSE(Json::Parse(ReadFile(trace)).At("traceEvents").m_Items.empty());
    EXPECT_FALSE(Has(ReadFile(trace), "ArmNN"));
}

TEST_F(ArmNNOutput, WritesTextButForNpy)
{
    const std::string text = m_Folder.Path("out");
    const std::string npy = m_Folder.Path("out.npy");
    const Outcome outcome = Run({"-I", "2", "-w", text + "," + npy});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(ReadFile(text), "y, Float32 : 0 1.5 0 3 0 5 ");
    EXPECT_EQ(ReadNpy(npy, TensorInfo({1}, DataType::Float32), 1000).m_Info.GetShape(), TensorShape({2, 3}));
    EXPECT_TRUE(Has(outcome.m_Out, "Info: Writing output: y bindingId: '0' of iteration: 1 to file: '" + text + "'\n"))
        << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "of iteration: 2 to file: '" + npy + "'\n")) << outcome.m_Out;

    const Outcome streamed = Run({"-w", "-"});
    ASSERT_EQ(streamed.m_Status, 0) << streamed.m_Error;
    EXPECT_EQ(streamed.m_Out, "y, Float32 : 0 1.5 0 3 0 5 ") << "lines for people go to standard error";
    EXPECT_TRUE(Has(streamed.m_Error, "Info: Inference time: ")) << streamed.m_Error;
}

TEST_F(ArmNNOutput, BoundsOnTimeAreShown)
{
    const Outcome fast = Run({"-r", "60000"});
    ASSERT_EQ(fast.m_Status, 0) << fast.m_Error;
    std::smatch times;
    ASSERT_TRUE(
        std::regex_search(fast.m_Out, times,
                          std::regex("Info: Inference time: ([0-9.]+) ms\n\nInfo: Threshold time: 60000\\.00 ms\n"
                                     "Info: Threshold time - Inference time: ([0-9.]+) ms\n")))
        << fast.m_Out;
    const double inference = std::stod(times[1]);
    EXPECT_GE(inference, 0.0);
    EXPECT_LE(inference, 60000.0);
    EXPECT_NEAR(std::stod(times[2]), 60000.0 - inference, 0.011) << "each is rounded to 0.01";
    const Outcome slow = Run({"-r", "0.000001"});
    ExpectFailure(slow, 5, "--threshold-time: the slowest iteration took ");
    EXPECT_TRUE(Has(slow.m_Out, "y: 0.000000 1.500000")) << "outputs are shown before";
}

TEST_F(ArmNNOutput, ComparesAndShowsTablesOfOtherOptions)
{
    const Outcome outcome = Run({"-B", "CpuRef", "--print-assignment", "--top-k", "1"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "\nByte level root mean square error: 0\n")) << outcome.m_Out;
    EXPECT_FALSE(Has(outcome.m_Out, "largest difference")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "CpuRef   preferred\n")) << outcome.m_Out;
    EXPECT_FALSE(Has(outcome.m_Out, "first inference")) << outcome.m_Out;
}

TEST_F(ArmNNOutput, MayBeAskedForByTheEnvironment)
{
    const auto run = [&](const std::string& value)
    {
        return test::RunProgram({ProgramPath(), "-m", m_Relu, "-d", m_A}, "",
                                {"/usr/bin/env", "TENON_ARMNN_OUTPUT=" + value});
    };
    EXPECT_TRUE(Has(run("1").m_Out, "Info: Inference time: "));
    EXPECT_FALSE(Has(run("0").m_Out, "Info: Inference time: "));
    EXPECT_TRUE(Has(run("0").m_Out, "first inference"));
}

TEST_F(ArmNNOutput, IsNoMatterOfTheShellThatRunsTests)
{
    const char* const name = "TENON_ARMNN_OUTPUT";
    const char* const before = std::getenv(name);
    const std::string value = before != nullptr ? before : "";
    ASSERT_EQ(setenv(name, "1", 1), 0);
    const Outcome outcome = Execute({"-m", m_Relu, "-d", m_A});
    EXPECT_EQ(before != nullptr ? setenv(name, value.c_str(), 1) : unsetenv(name), 0);
    EXPECT_TRUE(Has(outcome.m_Out, "first inference")) << outcome.m_Out;
}

class TensorText : public Program
{
};

TEST_F(TensorText, IsReadAsItIsWritten)
{
    const std::string path = m_Folder.Path("x.txt");
    const auto roundTrip = [&](const TensorInfo& info, const std::vector<double>& values)
    {
        std::vector<std::byte> data(info.GetNumBytes());
        for (size_t i = 0; i < values.size(); ++i)
        {
            SetElement(info.GetDataType(), data.data(), i, values[i]);
        }
        WriteTextTensor(path, "a, b : c", info, data.data());
        const Buffer read = ParseTextTensor(ReadFile(path), info);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), read.Data())) << ReadFile(path);
        return ReadFile(path);
    };
    EXPECT_EQ(roundTrip(TensorInfo({3}, DataType::Float32), {0.1f, -1e30f, 16777217.0}),
              "a, b : c, Float32 : 0.1 -1e+30 16777216 ");
    EXPECT_EQ(roundTrip(TensorInfo({2}, DataType::QAsymmS8, 0.5f, 3), {-128, 127}), "a, b : c, QAsymmS8 : -128 127 ");
    EXPECT_EQ(roundTrip(TensorInfo({2}, DataType::Boolean), {0, 1}), "a, b : c, Boolean : 0 1 ");
    EXPECT_EQ(roundTrip(TensorInfo({1}, DataType::Signed64), {-9007199254740993.0}),
              "a, b : c, Signed64 : -9007199254740992 ");
    EXPECT_EQ(roundTrip(TensorInfo({0}, DataType::Float32), {}), "a, b : c, Float32 : ");
    const std::vector<double> many(30000, 0.125);
    EXPECT_EQ(roundTrip(TensorInfo({30000}, DataType::Float32), many).size(), 20 + 30000 * 6U) << "in several pieces";
}

TEST_F(TensorText, OfAnotherTypeIsRefused)
{
    const TensorInfo floats({2}, DataType::Float32);
    EXPECT_THROW_WITH(ParseTextTensor("y, QAsymmU8 : 1 2", floats), InputError, "of type QAsymmU8; expected Float32");
    EXPECT_THROW_WITH(ParseTextTensor("y, Float99 : 1 2", floats), InputError, "column 1 of line 1: 'y' is no value");
    EXPECT_THROW_WITH(ParseTextTensor("1 2\ny, Float32 : 1 2", floats), InputError, "column 1 of line 2: 'y'");
    EXPECT_THROW_WITH(ParseTextTensor("y, Float32 : 1", floats), InputError, "it has 1 numbers; expected the 2");
    std::string colons(1'000'000, 'a');
    for (size_t i = 1; i + 3 < colons.size(); i += 4)
    {
        colons.replace(i, 3, " : ");
    }
    EXPECT_THROW_WITH(ParseTextTensor(colons, floats), InputError, "column 1 of line 1"); // not in quadratic time
    EXPECT_EQ(ParseTextTensor("1:2", floats).Size(), 8U) << "colons separate, as in Arm NN";
}

} // namespace
} // namespace tenon::tools
