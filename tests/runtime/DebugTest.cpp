// SPDX-License-Identifier: Apache-2.0
// Networks that were optimized for debugging: what callbacks see, what is printed, what is written to files, and what
// becomes of errors and of runs at the same time.
#include "harness/Networks.hpp"
#include "runtime/NpyFile.hpp"

#include <tenon/TensorHandle.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <unistd.h>

namespace tenon::test::debug_test
{

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

namespace
{

namespace fs = std::filesystem;
using Floats = std::vector<float>;

OptimizerOptionsOpaque Printing()
{
    OptimizerOptionsOpaque options;
    options.SetDebugEnabled(true);
    return options;
}

/// A folder that is not there, in one that goes at the end.
class DebugFiles : public testing::Test
{
protected:
    void SetUp() override
    {
        const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
        m_Root = fs::temp_directory_path() / fmt::format("tenon_debug_{}_{}", ::getpid(), test.name());
        fs::create_directories(m_Root);
    }
    void TearDown() override { fs::remove_all(m_Root); }

    OptimizerOptionsOpaque Writing() const
    {
        OptimizerOptionsOpaque options;
        options.SetDebugToFileEnabled(true);
        options.SetDebugFolder(Folder());
        return options;
    }
    std::string Folder() const { return m_Root / "a" / "b"; }

    std::vector<std::string> Files() const
    {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(Folder()))
        {
            names.push_back(entry.path().filename());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    std::string Read(const std::string& name) const
    {
        std::ifstream file(fs::path(Folder()) / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    fs::path m_Root;
};

/// while (x < 3) x = x + 1, for x of one element
INetworkPtr MakeLoop()
{
    const auto constant = [](INetwork& network, float value)
    {
        auto owner = std::make_shared<float>(value);
        return network.AddConstantLayer(ConstTensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), owner.get()),
                                        owner, "constant");
    };
    const INetworkPtr condition = INetwork::Create();
    IConnectableLayer* less = condition->AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Less), "less");
    Connect(AddInput(*condition, 0, FloatInfo({1})), less);
    Connect(constant(*condition, 3.0f), less, 1);
    Connect(less, condition->AddOutputLayer(0));
    const INetworkPtr body = INetwork::Create();
    IConnectableLayer* add = body->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "add");
    Connect(AddInput(*body, 0, FloatInfo({1})), add);
    Connect(constant(*body, 1.0f), add, 1);
    Connect(add, body->AddOutputLayer(0));
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* loop = network->AddWhileLayer(*condition, *body, "loop");
    Connect(AddInput(*network, 0, FloatInfo({1})), loop);
    Connect(loop, network->AddOutputLayer(0));
    return network;
}

/// Gives its input, of any type, as it is.
INetworkPtr MakeReshape(const TensorInfo& info)
{
    INetworkPtr network = INetwork::Create();
    ReshapeDescriptor descriptor;
    descriptor.m_TargetShape = info.GetShape();
    IConnectableLayer* reshape = network->AddReshapeLayer(descriptor, "same");
    reshape->GetOutputSlot(0).SetTensorInfo(info);
    Connect(AddInput(*network, 0, info, "in"), reshape);
    Connect(reshape, network->AddOutputLayer(0));
    return network;
}

/// The line that is printed for `bytes` as input of a type.
std::string PrintInput(const TensorInfo& info, const void* bytes)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeReshape(info), {"CpuRef"}, Printing());
    TensorInfo given = info;
    given.SetConstant();
    std::vector<std::byte> out(info.GetNumBytes() + 1);
    testing::internal::CaptureStdout();
    runtime->EnqueueWorkload(id, {{0, ConstTensor(given, bytes)}}, {{0, Tensor(info, out.data())}});
    const std::string text = testing::internal::GetCapturedStdout();
    return text.substr(text.find("\"type\""), text.find('\n') - text.find("\"type\""));
}

} // namespace

TEST(DebugCallback, SeesInputsLayersAndNestedNetworks)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeLoop();
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, Printing());
    std::vector<float> seen;
    std::set<LayerGuid> guids;
    runtime->RegisterDebugCallback(id,
                                   [&](LayerGuid guid, unsigned int, ITensorHandle* tensor)
                                   {
                                       guids.insert(guid);
                                       if (static_cast<ConstTensorHandle&>(*tensor).GetTensorInfo().GetDataType() ==
                                           DataType::Float32)
                                       {
                                           seen.push_back(*static_cast<const float*>(tensor->Map()));
                                           tensor->Unmap();
                                       }
                                   });
    EXPECT_EQ(RunFloat(*runtime, id, {1}, {1.0f}), (Floats{3.0f}));
    // input; condition's input; body's input and add; condition's; body's and add; condition's; loop
    EXPECT_THAT(seen, ElementsAre(1, 1, 1, 2, 2, 2, 3, 3, 3));
    EXPECT_THAT(guids, SizeIs(6)); // two inputs of bodies, less, add, input, loop

    // Without the function, values are printed again.
    runtime->RegisterDebugCallback(id, nullptr);
    testing::internal::CaptureStdout();
    RunFloat(*runtime, id, {1}, {5.0f});
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("\"layerName\": \"loop\""));
    EXPECT_THAT(seen, SizeIs(9));
}

TEST(DebugCallback, SeesStatesAndLateShapes)
{
    // x = where(in + state): as many rows as there are numbers other than 0.
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* read = network->AddReadStateLayer(StateDescriptor("sum"), "read");
    read->GetOutputSlot(0).SetTensorInfo(FloatInfo({2}));
    IConnectableLayer* add =
        network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "add");
    Connect(AddInput(*network, 0, FloatInfo({2})), add);
    Connect(read, add, 1);
    Connect(add, network->AddWriteStateLayer(StateDescriptor("sum")));
    IConnectableLayer* where = network->AddWhereLayer("where");
    Connect(add, where);
    Connect(where, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, Printing());
    std::vector<std::string> shapes;
    runtime->RegisterDebugCallback(
        id, [&](LayerGuid, unsigned int, ITensorHandle* tensor)
        { shapes.push_back(static_cast<ConstTensorHandle&>(*tensor).GetTensorInfo().ToString()); });
    const Floats input{0.0f, 4.0f};
    const TensorInfo info({2}, DataType::Float32, 0.0f, 0, true);
    std::vector<int64_t> rows(2);
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, input.data())}},
                             [&](LayerBindingId, const TensorInfo&) { return rows.data(); });
    std::sort(shapes.begin(), shapes.end());
    EXPECT_THAT(shapes, ElementsAre("Float32 [2]", "Float32 [2]", "Float32 [2]", "Signed64 [1,1]"));
}

TEST(DebugPrint, GivesALineOfJsonForEachTensor)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* abs =
        network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "a \"b\"\n\\c");
    Connect(AddInput(*network, 0, FloatInfo({2, 2})), abs);
    Connect(abs, network->AddOutputLayer(0));
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, Printing());
    testing::internal::CaptureStdout();
    RunFloat(*runtime, id, {2, 2}, {-1.5f, 2.0f, NAN, -INFINITY});
    const std::string text = testing::internal::GetCapturedStdout();
    const std::string line = text.substr(text.find('\n') + 1);
    EXPECT_EQ(line, fmt::format(
                        "{{\"layerGuid\": {}, \"layerName\": \"a \\\"b\\\"\\u000a\\\\c\", \"outputSlot\": 0, \"type\": "
                        "\"Float32\", \"shape\": [2, 2], \"min\": 1.5, \"max\": \"Infinity\", \"data\": [[1.5, "
                        "2], [\"NaN\", \"Infinity\"]]}}\n",
                        static_cast<uint64_t>(abs->GetGuid())));
}

TEST(DebugPrint, EveryElementType)
{
    const auto info = [](DataType type, unsigned int count = 2)
    { return TensorInfo({count}, type, type == DataType::QAsymmU8 || type == DataType::QSymmS4 ? 0.5f : 0.0f); };
    const uint16_t halves[] = {0x3C00, 0xC000};
    EXPECT_THAT(PrintInput(info(DataType::Float16), halves), EndsWith("\"min\": -2, \"max\": 1, \"data\": [1, -2]}"));
    const uint16_t brains[] = {0x3F80, 0xC000};
    EXPECT_THAT(PrintInput(info(DataType::BFloat16), brains), EndsWith("\"data\": [1, -2]}"));
    const double doubles[] = {0.1, -1e300};
    EXPECT_THAT(PrintInput(info(DataType::Float64), doubles), EndsWith("\"data\": [0.1, -1e+300]}"));
    const uint8_t bytes[] = {0, 200};
    EXPECT_THAT(PrintInput(info(DataType::QAsymmU8), bytes), EndsWith("\"min\": 0, \"max\": 200, \"data\": [0, 200]}"));
    EXPECT_THAT(PrintInput(info(DataType::Signed8), bytes), EndsWith("\"data\": [0, -56]}"));
    EXPECT_THAT(PrintInput(info(DataType::Boolean), bytes), EndsWith("\"data\": [false, true]}"));
    const unsigned char nibbles[] = {0x8F, 0x07};
    EXPECT_THAT(PrintInput(info(DataType::QSymmS4, 3), nibbles), EndsWith("\"data\": [-1, -8, 7]}"));
    const int64_t large[] = {INT64_MIN, INT64_MAX};
    EXPECT_THAT(PrintInput(info(DataType::Signed64), large),
                EndsWith("\"data\": [-9223372036854775808, 9223372036854775807]}"));
    EXPECT_THAT(PrintInput(info(DataType::Unsigned64), large),
                EndsWith("\"data\": [9223372036854775808, 9223372036854775807]}"));
    const std::complex<float> complexes[] = {{1, 2}, {0, -1}};
    EXPECT_THAT(PrintInput(info(DataType::Complex64), complexes),
                EndsWith("\"min\": null, \"max\": null, \"data\": [[1, 2], [0, -1]]}"));
    const float one = 7;
    EXPECT_THAT(PrintInput(TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Float32), &one),
                EndsWith("\"shape\": [], \"min\": 7, \"max\": 7, \"data\": 7}"));
    EXPECT_THAT(PrintInput(TensorInfo({3, 0}, DataType::Float32), nullptr),
                EndsWith("\"shape\": [3, 0], \"min\": null, \"max\": null, \"data\": []}"));
}

TEST_F(DebugFiles, HoldWhatEachLayerGives)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* abs =
        network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "../up/\xC3\xA4 b;c");
    Connect(AddInput(*network, 0, FloatInfo({3}), ""), abs);
    Connect(abs, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, Writing());
    RunFloat(*runtime, id, {3}, {-1, 2, -3});
    RunFloat(*runtime, id, {1}, {-7});
    const std::vector<std::string> files = Files();
    ASSERT_THAT(files, ElementsAre(StartsWith("Input_"), StartsWith("Input_"), StartsWith("_._up____b_c_"),
                                   StartsWith("_._up____b_c_")));
    EXPECT_THAT(files[2], HasSubstr(fmt::format("_{}_0_run", static_cast<uint64_t>(abs->GetGuid()))));
    EXPECT_THAT(files[2], EndsWith(".npy"));
    const std::string first = Read(files[2]);
    ASSERT_EQ(first.size() % 64, 12u);
    EXPECT_EQ(first.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_THAT(first, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} "));
    const float values[] = {1, 2, 3};
    EXPECT_EQ(first.substr(first.size() - 12), std::string(reinterpret_cast<const char*>(values), 12));
    EXPECT_EQ(first[first.size() - 13], '\n');
    EXPECT_THAT(Read(files[3]), HasSubstr("'shape': (1,)"));
}

TEST_F(DebugFiles, TurnsOfALoopAndCallbacksBeside)
{
    OptimizerOptionsOpaque options = Writing();
    options.SetDebugEnabled(true);
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeLoop();
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, options);
    size_t calls = 0;
    runtime->RegisterDebugCallback(id, [&](LayerGuid, unsigned int, ITensorHandle*) { ++calls; });
    RunFloat(*runtime, id, {1}, {1.0f});
    const std::vector<std::string> files = Files();
    EXPECT_EQ(files.size(), calls); // each value has its own
    EXPECT_EQ(
        std::count_if(files.begin(), files.end(), [](const std::string& name) { return name.rfind("add_", 0) == 0; }),
        2);
    EXPECT_THAT(files, testing::Contains(AllOf(StartsWith("add_"), EndsWith("_turn1.npy"))));
}

TEST_F(DebugFiles, OfRunsAtTheSameTimeAreApart)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeChain(2, FloatInfo({1000}));
    // The same layers twice: only the number of the run tells them apart.
    const NetworkId ids[] = {Load(*runtime, *network, {"CpuRef"}, Writing()),
                             Load(*runtime, *network, {"CpuRef"}, Writing())};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
    {
        threads.emplace_back(
            [&, t]
            {
                for (int i = 0; i < 5; ++i)
                {
                    RunFloat(*runtime, ids[t % 2], {1000}, Floats(1000, static_cast<float>(t)));
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    const std::vector<std::string> files = Files();
    EXPECT_EQ(files.size(), 60u); // 20 runs of an input and two layers
    for (const std::string& name : files)
    {
        const std::string text = Read(name);
        ASSERT_EQ(text.size() % 64, 4000u % 64);
        // All of a file is of one run.
        EXPECT_EQ(text.substr(text.size() - 4000, 3996), text.substr(text.size() - 3996)) << name;
    }
}

TEST_F(DebugFiles, WhatCannotBeWrittenIsAnError)
{
    const INetworkPtr network = MakeChain(1, FloatInfo({1}));
    const IRuntimePtr runtime = IRuntime::Create({});
    OptimizerOptionsOpaque options = Writing();
    std::ofstream(m_Root / "file") << "x";
    options.SetDebugFolder(m_Root / "file");
    try
    {
        Load(*runtime, *network, {"CpuRef"}, options);
        FAIL() << "a file is no folder";
    }
    catch (const RuntimeException& error)
    {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot make the folder"), HasSubstr("SetDebugFolder")));
    }
    const NetworkId id = Load(*runtime, *network, {"CpuRef"}, Writing());
    fs::remove_all(Folder());
    try
    {
        RunFloat(*runtime, id, {1}, {1});
        FAIL() << "the folder is gone";
    }
    catch (const RuntimeException& error)
    {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot write"), HasSubstr("No such file")));
    }
    const float value = 1;
    try
    {
        WriteNpyFile("/dev/full", FloatInfo({1}), &value);
        FAIL() << "the disk is full";
    }
    catch (const RuntimeException& error)
    {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
    }
    // Afterwards the network runs as before.
    fs::create_directories(Folder());
    EXPECT_EQ(RunFloat(*runtime, id, {1}, {-1}), (Floats{1}));
}

} // namespace tenon::test::debug_test
