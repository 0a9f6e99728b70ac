// SPDX-License-Identifier: Apache-2.0
// ExecuteNetwork as others see it: what it prints and writes, on the bundled digit classifier. What it refuses is in
// RefusalsTest.cpp.
#include "Program.hpp"

#include "harness/Json.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Npy.hpp"
#include "tools/harness/TinyModel.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tenon::tools
{
namespace
{

TEST_F(Program, HelpAndVersion)
{
    const Outcome help = Execute({"--help"});
    EXPECT_EQ(help.m_Status, 0);
    EXPECT_TRUE(Has(help.m_Out, "--report-json"));
    const Outcome version = Execute({"--version"});
    EXPECT_EQ(version.m_Status, 0);
    EXPECT_TRUE(Has(version.m_Out, "ExecuteNetwork (Tenon) "));
}

TEST_F(Program, RunsAndWritesWhatTheModelSays)
{
    const std::string out = m_Folder.Path("out.npy");
    const Outcome outcome =
        Execute({"-m", Int8Model, "-c", "CpuRef", "-d", WriteInput("in.npy", DataType::QAsymmS8), "-w", out});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "[1,10]")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "CpuRef")) << outcome.m_Out;
    const NpyArray array = ReadNpy(out, TensorInfo({1, 10}, DataType::QAsymmS8), 1000);
    EXPECT_EQ(array.m_Info.GetShape(), TensorShape({1, 10}));
}

TEST_F(Program, QuietRunsPrintNoTensors)
{
    const Outcome outcome = Execute({"-m", FloatModel, "-N", "-d", WriteInput("in.npy", DataType::Float32)});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_FALSE(Has(outcome.m_Out, "output"));
    EXPECT_FALSE(Has(outcome.m_Out, "random"));
}

TEST_F(Program, RandomInputsAreSaid)
{
    const Outcome outcome = Execute({"-m", FloatModel, "-N"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "seeded random values")) << outcome.m_Out;
}

TEST_F(Program, WritesNetworksAndRunsThem)
{
    const std::string plain = m_Folder.Path("plain.tenon");
    const std::string optimized = m_Folder.Path("optimized.tenon");
    const std::string input = WriteInput("in.npy", DataType::QAsymmS8);
    const std::string wanted = m_Folder.Path("wanted.npy");
    const Outcome writing = Execute({"-m", Int8Model, "-c", "CpuRef", "-d", input, "-w", wanted, "--serialize", plain,
                                     "--serialize-optimized", optimized});
    ASSERT_EQ(writing.m_Status, 0) << writing.m_Error;
    const std::string got = m_Folder.Path("got.npy");
    const std::string again = m_Folder.Path("again.tenon");
    for (const Words& words : {Words{"-m", plain, "-c", "CpuRef", "--serialize", again},
                               Words{"-m", optimized, "--serialize-optimized", again}})
    {
        Words whole = words;
        whole.insert(whole.end(), {"-d", input, "-w", got});
        const Outcome outcome = Execute(whole);
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(ReadFile(got), ReadFile(wanted));
        EXPECT_EQ(ReadFile(again), ReadFile(words[1]));
    }
}

TEST_F(Program, RunsAndConvertsNetworksOfArmNN)
{
    const std::string golden = "tests/golden/armnn/DepthwiseConvolution2d_old.armnn";
    const std::string named = m_Folder.Write("named.bytes", ReadFile(golden));
    // Without an identifier, by the structure alone.
    const std::string plain =
        m_Folder.Write("plain", ReadFile("tests/golden/armnn/Activation_without_identifier.armnn"));
    // What tells it is far from the start.
    const std::string far = ReadFile("tests/golden/armnn/Convolution2d_without_identifier.armnn");
    for (const std::string& model : {named, plain, m_Folder.Write("far", far)})
    {
        const std::string wanted = m_Folder.Path("wanted.npy");
        const std::string converted = m_Folder.Path("net.tenon");
        const Outcome outcome =
            Execute({"-m", model, "-c", "CpuRef", "-w", wanted, "--serialize", converted, "--print-assignment"});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(outcome.m_Error, "");
        EXPECT_TRUE(Has(outcome.m_Out, "layer")) << outcome.m_Out;
        const std::string got = m_Folder.Path("got.npy");
        for (const Words& words : {Words{"-m", converted}, Words{"-m", model, "-f", "armnn-binary"}})
        {
            Words whole = words;
            whole.insert(whole.end(), {"-c", "CpuRef", "-w", got});
            const Outcome again = Execute(whole);
            ASSERT_EQ(again.m_Status, 0) << again.m_Error;
            EXPECT_EQ(again.m_Error, "");
            EXPECT_EQ(ReadFile(got), ReadFile(wanted));
        }
    }
    const Outcome other = Execute({"-m", plain, "-N", "-f", "onnx"});
    EXPECT_EQ(other.m_Status, 0);
    EXPECT_TRUE(Has(other.m_Error, "is a network of Arm NN and is read as that")) << other.m_Error;
    ExpectFailure(Execute({"-m", plain, "--signature", "s"}), 2, "a .armnn file holds one network");
    const Outcome streamed =
        ExecuteInShell("cat " + m_Folder.Path("far") + " | \"$@\"", {"-m", "-", "-N", "-c", "CpuRef"});
    EXPECT_EQ(streamed.m_Status, 0) << streamed.m_Error;
    const Outcome folder = Execute({"--can-run", "tests/golden/armnn", "-c", "CpuRef"});
    EXPECT_EQ(folder.m_Status, 4) << "Merge, StandIn and Switch are for backends of an application's own";
    EXPECT_TRUE(Has(folder.m_Error, "3 of ")) << folder.m_Error;
    const Outcome others = Execute({"--can-run", m_Folder.Path(""), "-c", "CpuRef"});
    EXPECT_TRUE(Has(others.m_Out, "far")) << others.m_Out;
}

TEST_F(Program, FilesOfNetworksRunWithOtherShapes)
{
    const std::string model =
        m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const std::string plain = m_Folder.Path("plain.tenon");
    const std::string optimized = m_Folder.Path("optimized.tenon");
    ASSERT_EQ(Execute({"-m", model, "-N", "--serialize", plain, "--serialize-optimized", optimized}).m_Status, 0);
    const std::string out = m_Folder.Path("out.npy");
    for (const std::string& file : {plain, optimized})
    {
        const Outcome outcome = Execute({"-m", file, "-N", "-s", "5,1,2", "-w", out});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        const NpyArray array = ReadNpy(out, TensorInfo({1}, DataType::Float32), 1000);
        EXPECT_EQ(array.m_Info.GetShape(), TensorShape({5, 1, 2}));
    }
}

TEST_F(Program, RefusesWhatAFileOfANetworkCannotDo)
{
    const std::string plain = m_Folder.Path("plain.tenon");
    const std::string optimized = m_Folder.Path("optimized.tenon");
    ASSERT_EQ(Execute({"-m", Int8Model, "-N", "--serialize", plain, "--serialize-optimized", optimized}).m_Status, 0);
    ExpectFailure(Execute({"-m", plain, "--signature", "s"}), 2, "--signature");
    ExpectFailure(Execute({"-m", plain, "--serialize", plain}), 2, "both as a file to read");
    ExpectFailure(Execute({"-m", Int8Model, "--serialize", plain, "--serialize-optimized", plain}), 2, "given twice");
    ExpectFailure(Execute({"-m", Int8Model, "--serialize", ""}), 2, "--serialize");
    for (const std::string option : {"--serialize", "--serialize-optimized"})
    {
        for (const auto& [name, format] :
             {std::pair("net.armnn", "a network of Arm NN"), std::pair("NET.ONNX", "an ONNX model"),
              std::pair("net.tflite", "a TensorFlow Lite model")})
        {
            const std::string path = m_Folder.Path(name);
            ExpectFailure(
                Execute({"-m", Int8Model, "-N", option, path}), 2,
                option + ": '" + path + "' has the name of " + format +
                    ", but a network can only be written as a .tenon file; give a name that ends with .tenon");
            EXPECT_FALSE(std::filesystem::exists(path)) << path;
        }
    }
    for (const Words& option : {Words{"-c", "CpuRef"},
                                {"-p"},
                                {"-F"},
                                {"--fp16-turbo-mode"},
                                {"--bf16-turbo-mode"},
                                {"--enable-fast-math"},
                                {"--max-partitions", "1"},
                                {"--min-layers-per-partition", "2"},
                                {"--all-or-nothing"}})
    {
        Words command = {"-m", optimized, "-N"};
        command.insert(command.end(), option.begin(), option.end());
        ExpectFailure(Execute(command), 2, "the model is optimized already");
    }
    ExpectFailure(Execute({"-m", optimized, "--serialize", m_Folder.Path("x.tenon")}), 2, "optimized already");
    ExpectFailure(Execute({"-m", Int8Model, "--serialize", m_Folder.Path("no/x.tenon")}), 2, "no folder");

    std::string bytes = ReadFile(optimized);
    for (size_t at = 0; (at = bytes.find("CpuAcc", at)) != std::string::npos;)
    {
        bytes.replace(at, 6, "CpuAcx");
    }
    const std::string other = m_Folder.Path("other.tenon");
    std::ofstream(other, std::ios::binary) << bytes;
    ExpectFailure(Execute({"-m", other}), 4, "CpuAcx");
    std::ofstream(other, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
    ExpectFailure(Execute({"-m", other}), 3, "cut short");
}

TEST_F(Program, AnotherShapeResizesTheInput)
{
    const std::string model =
        m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const std::string out = m_Folder.Path("out.npy");
    const TensorInfo floats({1}, DataType::Float32);
    const std::string in = WriteInput("in.npy", DataType::Float32, {5, 1, 2});
    for (const Words& words : {Words{"-d", in}, Words{"-s", "5,1,2"}, Words{"-d", in, "-s", "5,1,2"}})
    {
        Words command = {"-m", model, "-N", "-c", "CpuRef", "-w", out};
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = Execute(command);
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(ReadNpy(out, floats, 1000).m_Info.GetShape(), TensorShape({5, 1, 2}));
    }
    ExpectFailure(Execute({"-m", model, "-d", in, "-s", "2,3"}), 3, "--input-tensor-shape says [2,3]");
    // The bundled model's reshape has its batch of one written in.
    const std::string batch = WriteInput("batch.npy", DataType::Float32, {3, 8, 8, 1});
    ExpectFailure(Execute({"-m", FloatModel, "-d", batch}), 3, "Reshape");
}

TEST_F(Program, NamesGiveTheOrder)
{
    const std::string model =
        m_Folder.Write("add.tflite", test::TinyModel(test::Add, {{"a", {1, 2}}, {"b", {2}}}, {{"sum", {1, 2}}}));
    const std::string a = WriteInput("a.npy", DataType::Float32, {1, 2});
    const std::string b = WriteInput("b.npy", DataType::Float32, {2});
    const std::string text = m_Folder.Write("text.csv", "10, 20");
    const Outcome named = Execute({"-m", model, "-c", "CpuRef", "-i", "b,a", "-o", "sum", "-d", text + "," + a});
    ASSERT_EQ(named.m_Status, 0) << named.m_Error;
    EXPECT_TRUE(Has(named.m_Out, "10 21")) << named.m_Out;
    ExpectFailure(Execute({"-m", model, "-i", "b", "-d", b}), 2, "'b' float32 [2], 'a' float32 [1,2]");
    ExpectFailure(Execute({"-m", model, "-i", "b,a", "-s", "2"}), 2, "1 shape(s) are given for 2 input(s)");
}

/// Each place of a list has its own file. Of an input the last one counts.
TEST_F(Program, ATensorMayBeListedTwice)
{
    const std::string model = m_Folder.Write(
        "add.tflite", test::TinyModel(test::AddN, {{"a", {2}}, {"a", {2}}, {"b", {2}}}, {{"sum", {2}}, {"sum", {2}}}));
    const std::string plain = m_Folder.Path("plain.tenon");
    const std::string optimized = m_Folder.Path("optimized.tenon");
    const std::string files = m_Folder.Write("a.txt", "100 200") + "," + m_Folder.Write("a_1.txt", "1 2") + "," +
                              m_Folder.Write("b.txt", "10 20");
    const Outcome saved = Execute({"-m", model, "-N", "--serialize", plain, "--serialize-optimized", optimized});
    ASSERT_EQ(saved.m_Status, 0) << saved.m_Error;
    for (const std::string& file : {model, plain, optimized})
    {
        const std::string outputs[] = {m_Folder.Path("sum.txt"), m_Folder.Path("sum_1.txt")};
        const Outcome outcome = Execute({"-m", file, "-d", files, "-w", outputs[0] + "," + outputs[1]});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        for (const std::string& output : outputs)
        {
            EXPECT_TRUE(Has(ReadFile(output), "11")) << file << ": " << ReadFile(output);
            EXPECT_TRUE(Has(ReadFile(output), "22")) << file << ": " << ReadFile(output);
        }
    }
    const Outcome named = Execute({"-m", model, "-i", "a,a_1,b", "-o", "sum_1", "-d", files});
    ASSERT_EQ(named.m_Status, 0) << named.m_Error;
    EXPECT_TRUE(Has(named.m_Out, "output 'sum_1' Float32 [2]\n  11 22")) << named.m_Out;
}

TEST_F(Program, WhatNoBackendSupportsGivesFour)
{
    const std::string model =
        m_Folder.Write("custom.tflite", test::TinyModel(test::Custom, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const Outcome outcome = Execute({"-m", model, "-N", "-c", "CpuAcc,CpuRef"});
    ExpectFailure(outcome, 4, "NobodyKnowsThis");
    EXPECT_TRUE(Has(outcome.m_Error, "CpuAcc")) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, "CpuRef")) << outcome.m_Error;
}

TEST_F(Program, LabelsAndReport)
{
    const std::string labels =
        m_Folder.Write("labels.txt", "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    const std::string report = m_Folder.Path("report.json");
    const Outcome outcome = Execute({"-m", Int8Model, "-N", "-I", "3", "--labels", labels, "--top-k", "10",
                                     "--report-json", report, "--number-of-threads", "1"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "seven")) << outcome.m_Out;
    const std::string json = ReadFile(report);
    EXPECT_TRUE(Has(json, "\"p90\"")) << json;
    EXPECT_TRUE(Has(json, "\"threads\": 1")) << json;
    EXPECT_TRUE(Has(json, "\"backend\": \"Cpu")) << json;
}

TEST_F(Program, ProfilesGoToFilesAndStandardOutput)
{
    using tenon::test::Json;
    const std::string profile = m_Folder.Path("profile.json");
    const std::string trace = m_Folder.Path("trace.json");
    const Outcome outcome = Execute({"-m", FloatModel, "-N", "-I", "3", "-e", "--profile-json", profile,
                                     "--chrome-trace", trace, "--output-network-details"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const std::string printed = outcome.m_Out.substr(outcome.m_Out.find("{\n"));
    EXPECT_EQ(printed, ReadFile(profile));
    const Json parsed = Json::Parse(printed);
    const Json& root = parsed.At("Tenon");
    EXPECT_EQ(root.At("inference_measurements_#3").At("Wall clock time_#3").At("raw").m_Items.size(), 3U);
    EXPECT_FALSE(root.At("optimize_measurements_#1").FindAll("InferTensors").empty());
    EXPECT_FALSE(root.At("layer_details").m_Items.empty());
    const Json traced = Json::Parse(ReadFile(trace));
    EXPECT_FALSE(traced.At("traceEvents").m_Items.empty());

    const Outcome only = Execute({"-m", FloatModel, "-N", "--output-network-details-only"});
    ASSERT_EQ(only.m_Status, 0) << only.m_Error;
    const Json details = Json::Parse(only.m_Out.substr(only.m_Out.find("{\n")));
    EXPECT_EQ(details.At("Tenon").m_Names, Words{"layer_details"});
}

TEST_F(Program, AssignmentAndGraphAreShown)
{
    const std::string dot = m_Folder.Path("graph.dot");
    const Outcome outcome = Execute({"-m", FloatModel, "-N", "-c", "CpuRef", "--print-assignment", "-v", dot});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "backend  reason\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "CpuRef   preferred\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(ReadFile(dot), "digraph Optimized {")) << ReadFile(dot);
    ExpectFailure(Execute({"-m", FloatModel, "-N", "-v", m_Folder.Path("no/graph.dot")}), 2, "there is no folder");
    ExpectFailure(Execute({"-m", FloatModel, "-N", "-v", FloatModel}), 2, "to read and as one to write");
}

TEST_F(Program, PlansSayHowLayersRun)
{
    using tenon::test::Json;
    const std::string file = m_Folder.Path("plan.json");
    const Outcome outcome = Execute({"-m", FloatModel, "-N", "--print-plan", "--plan-json", file, "--number-of-threads",
                                     "1", "-c", "CpuAcc,CpuRef"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "plan: at most 1 threads, arena of ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "memory (offset+bytes)  scratch  runs in")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "output 0 0+40")) << outcome.m_Out;
    const Json plan = Json::Parse(ReadFile(file));
    EXPECT_EQ(plan.At("max_threads").m_Number, 1.0);
    const Json& layers = plan.At("layers");
    ASSERT_FALSE(layers.m_Items.empty());
    const Json& last = layers.m_Items.back();
    EXPECT_TRUE(Has(last.At("kernel").m_Text, "Softmax")) << last.At("kernel").m_Text;
    ASSERT_EQ(last.At("outputs").m_Items.size(), 1U);
    EXPECT_EQ(last.At("outputs").m_Items[0].At("bytes").m_Number, 40.0);
    EXPECT_EQ(last.At("outputs").m_Items[0].At("memory").m_Text, "output 0");

    const Outcome apart = Execute(
        {"-m", FloatModel, "-N", "--without-fusion", "ConcatInPlace", "--without-fusion", "Attention", "--print-plan"});
    ASSERT_EQ(apart.m_Status, 0) << apart.m_Error;
    EXPECT_FALSE(Has(apart.m_Out, "ConcatInPlace")) << apart.m_Out;
    ExpectFailure(Execute({"-m", FloatModel, "-N", "--without-fusion", "Strips"}), 2,
                  "no fusion 'Strips'; there are Attention, ElementwiseChain");
    ExpectFailure(Execute({"-m", FloatModel, "-N", "--without-fusion", ""}), 2, "--without-fusion");
    ExpectFailure(Execute({"-m", FloatModel, "-N", "--plan-json", m_Folder.Path("no/plan.json")}), 2,
                  "there is no folder");
}

TEST_F(Program, TurboModesComputeIn16Bits)
{
    const std::string in = WriteInput("in.npy", DataType::Float32);
    const auto run = [&](const Words& words)
    {
        const std::string out = m_Folder.Path("out.npy");
        Words command = {"-m", FloatModel, "-c", "CpuRef", "-d", in, "-w", out, "--print-assignment"};
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = Execute(command);
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(Has(outcome.m_Out, "Float16"), !words.empty()) << outcome.m_Out; // BFloat16 ends so, too
        return ReadNpy(out, TensorInfo({1, 10}, DataType::Float32), 1000).m_Data;
    };
    const Buffer exact = run({});
    for (const auto& [option, bound] : {std::pair{"--fp16-turbo-mode", 1e-2}, std::pair{"--bf16-turbo-mode", 5e-2}})
    {
        const Buffer reduced = run({option});
        ASSERT_EQ(reduced.Size(), exact.Size());
        for (size_t i = 0; i < 10; ++i)
        {
            EXPECT_NEAR(GetElement(DataType::Float32, reduced.Data(), i),
                        GetElement(DataType::Float32, exact.Data(), i), bound); // of probabilities
        }
    }
}

TEST_F(Program, PackedWeightsAreSavedAndRead)
{
    const std::string packed = m_Folder.Path("packed");
    const auto run = [&](const std::string& model, const Words& words)
    {
        Words command = {"-m", model, "-c", "CpuAcc", "-w", m_Folder.Path("out.npy")};
        command.insert(command.end(), words.begin(), words.end());
        return Execute(command);
    };
    const Words read = {"--cached-network-filepath", packed};
    ExpectFailure(run(FloatModel, read), 3, "SaveCachedNetwork writes");
    const Outcome saved = run(FloatModel, {"--save-cached-network", "--cached-network-filepath", packed});
    ASSERT_EQ(saved.m_Status, 0) << saved.m_Error;
    const std::string expected = ReadFile(m_Folder.Path("out.npy")); // of seeded random values
    const Outcome loaded = run(FloatModel, read);
    ASSERT_EQ(loaded.m_Status, 0) << loaded.m_Error;
    EXPECT_EQ(ReadFile(m_Folder.Path("out.npy")), expected);
    ExpectFailure(run(Int8Model, read), 3, "of another network");

    const std::string optimized = m_Folder.Path("optimized.tenon");
    ASSERT_EQ(run(FloatModel, {"-N", "--serialize-optimized", optimized}).m_Status, 0);
    const Outcome mapped = Execute({"-m", optimized, "-w", m_Folder.Path("out.npy"), read[0], read[1]});
    ASSERT_EQ(mapped.m_Status, 0) << mapped.m_Error;
    EXPECT_EQ(ReadFile(m_Folder.Path("out.npy")), expected);

    const Outcome scalar =
        test::RunProgram({ProgramPath(), "-m", FloatModel, "-N", "--cached-network-filepath", packed}, "",
                         {"/usr/bin/env", "TENON_FORCE_ISA=scalar"});
    ExpectFailure(scalar, 3, "instructions");
    m_Folder.Write("packed", "no packed weights at all");
    ExpectFailure(run(FloatModel, read), 3, "delete the file");
}

TEST_F(Program, FastMathChoosesAnotherKernel)
{
    const std::vector<float> weights(size_t{16} * 3 * 3 * 16, 0.1f);
    const INetworkPtr network = INetwork::Create();
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* convolution = network->AddConvolution2dLayer(descriptor, "convolution");
    IConnectableLayer* input = network->AddInputLayer(0, "input");
    input->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, 14, 14, 16}, DataType::Float32));
    input->GetOutputSlot(0).Connect(convolution->GetInputSlot(0));
    const ConstTensor constant(TensorInfo({16, 3, 3, 16}, DataType::Float32, 0.0f, 0, true), weights);
    network->AddConstantLayer(constant, "weights")->GetOutputSlot(0).Connect(convolution->GetInputSlot(1));
    convolution->GetOutputSlot(0).Connect(network->AddOutputLayer(0, "output")->GetInputSlot(0));
    const ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(*network);
    const std::string plain = m_Folder.Path("plain.tenon");
    std::ofstream file(plain, std::ios::binary);
    ASSERT_TRUE(serializer->SaveSerializedToStream(file));
    file.close();

    const auto details = [](const Words& words)
    {
        Words command = {"-N", "--output-network-details-only"};
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = Execute(command);
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        return outcome.m_Out;
    };
    const std::string optimized = m_Folder.Path("optimized.tenon");
    const std::string exact = details({"-m", plain});
    const std::string fast = details({"-m", plain, "--enable-fast-math", "--serialize-optimized", optimized});
    const bool hasKernel = Has(exact, "CpuConvolution2dF32"); // not without vectors
    EXPECT_FALSE(Has(exact, "Winograd")) << exact;
    EXPECT_EQ(Has(fast, "CpuConvolution2dWinogradF32"), hasKernel) << fast;
    EXPECT_EQ(Has(details({"-m", optimized}), "CpuConvolution2dWinogradF32"), hasKernel) << "the file keeps the option";
}

TEST_F(Program, LayersArePrintedAndWritten)
{
    const Outcome printed = Execute({"-m", FloatModel, "-N", "-c", "CpuRef", "-p"});
    ASSERT_EQ(printed.m_Status, 0) << printed.m_Error;
    EXPECT_TRUE(Has(printed.m_Out, "\"outputSlot\": 0, \"type\": \"Float32\", \"shape\": [1, 8, 8, 1]"));

    const std::string folder = m_Folder.Path("");
    const std::string model = std::filesystem::absolute(FloatModel);
    const auto write = [&]
    {
        return test::RunProgram({ProgramPath(), "-m", model, "-N", "-c", "CpuRef", "-F"}, "",
                                {"/usr/bin/env", "-C", folder});
    };
    const Outcome written = write();
    ASSERT_EQ(written.m_Status, 0) << written.m_Error;
    EXPECT_FALSE(Has(written.m_Out, "outputSlot"));
    const std::filesystem::path layers = std::filesystem::path(folder) / "TenonIntermediateLayerOutputs";
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(layers))
    {
        EXPECT_GT(ReadNpy(entry.path().string(), TensorInfo({1}, DataType::Float32), 1000000).m_Data.Size(), 0U);
        ++count;
    }
    EXPECT_GT(count, 5U);
    std::filesystem::remove_all(layers);
    m_Folder.Write("TenonIntermediateLayerOutputs", "a file");
    const Outcome refused = write();
    ExpectFailure(refused, 5, "cannot make the folder 'TenonIntermediateLayerOutputs'");
    EXPECT_TRUE(Has(refused.m_Error, "choose another one with --intermediate-layers-folder")) << refused.m_Error;

    const std::string other = m_Folder.Path("a/b");
    ASSERT_EQ(Execute({"-m", model, "-N", "-c", "CpuRef", "--intermediate-layers-folder", other}).m_Status, 0);
    const auto files = std::filesystem::directory_iterator(other);
    EXPECT_EQ(static_cast<size_t>(std::distance(begin(files), end(files))), count);
}

TEST_F(Program, LayersThatCannotBeWrittenNameTheOptionOfTheirFolder)
{
    const std::string folder = m_Folder.Path("layers");
    const Words command = {"-m", FloatModel, "-N", "-c", "CpuRef", "--intermediate-layers-folder", folder};
    ASSERT_EQ(Execute(command).m_Status, 0);
    const std::filesystem::path file = *std::filesystem::directory_iterator(folder);
    std::filesystem::remove(file);
    std::filesystem::create_directory(file); // in the way of the file
    std::ofstream(file / "kept") << "x";
    const Outcome outcome = Execute(command);
    ExpectFailure(outcome, 5, "cannot write '" + file.string() + "'");
    ExpectFailure(outcome, 5, "choose another folder with --intermediate-layers-folder");
}

TEST_F(Program, LayersNeedAFolderThatCanBeWritten)
{
    const std::string folder = m_Folder.Path("locked");
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    if (access(folder.c_str(), W_OK) == 0)
    {
        GTEST_SKIP() << "nothing is locked for this user";
    }
    const Outcome outcome = Execute({"-m", FloatModel, "-N", "-F", "--intermediate-layers-folder", folder});
    ExpectFailure(outcome, 5, "cannot write into the folder '" + folder + "'");
    ExpectFailure(outcome, 5, "choose another one with --intermediate-layers-folder");
}

} // namespace
} // namespace tenon::tools
