// SPDX-License-Identifier: Apache-2.0
// What profiles say of networks: which events there are, where they nest, and the details of layers.
#include "harness/Json.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::test::profile_test
{

namespace
{

/// The root of a profile.
Json Printed(const IProfiler& profiler)
{
    std::ostringstream stream;
    profiler.Print(stream);
    return Json::Parse(stream.str()).At("Tenon");
}

const Json& Only(const Json& event, std::string_view prefix)
{
    const auto found = event.FindAll(prefix);
    if (found.size() != 1)
    {
        throw std::runtime_error(std::to_string(found.size()) + " members " + std::string(prefix));
    }
    return *found.front();
}

size_t NumRaw(const Json& event)
{
    return Only(event, "Wall clock time_#").At("raw").m_Items.size();
}

NetworkId LoadProfiled(IRuntime& runtime, const INetwork& network, const INetworkProperties& properties)
{
    OptimizerOptionsOpaque options;
    options.SetProfilingEnabled(properties.m_ProfilingEnabled);
    NetworkId id = 0;
    std::string text;
    EXPECT_EQ(
        runtime.LoadNetwork(id, Optimize(network, {"CpuRef"}, runtime.GetDeviceSpec(), options), text, properties),
        Status::Success)
        << text;
    return id;
}

INetworkProperties Profiling(ProfilingDetailsMethod details = ProfilingDetailsMethod::Undefined)
{
    return {MemorySource::Undefined, MemorySource::Undefined, true, details};
}

/// A Softmax of {2, 3, 4} along the last dimension.
INetworkPtr MakeSoftmax()
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* softmax = network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
    Connect(AddInput(*network, 0, FloatInfo({2, 3, 4})), softmax);
    Connect(softmax, network->AddOutputLayer(0));
    return network;
}

/// Along the first dimension, which the kernel of CpuAcc declines.
INetworkPtr MakeCumSum()
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* sums = network->AddCumSumLayer(CumSumDescriptor(), "sums");
    Connect(AddInput(*network, 0, FloatInfo({2, 3, 4})), sums);
    Connect(sums, network->AddOutputLayer(0));
    return network;
}

} // namespace

TEST(Profile, FollowsTheStepsOfANetwork)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = LoadProfiled(*runtime, *MakeChain(2, FloatInfo({2})), Profiling());
    for (int i = 0; i < 3; ++i)
    {
        RunFloat(*runtime, id, {2}, {1, -3});
    }
    const Json root = Printed(*runtime->GetProfiler(id));
    const Json& optimize = root.At("optimize_measurements_#1");
    EXPECT_EQ(NumRaw(optimize), 1u);
    EXPECT_EQ(NumRaw(Only(optimize, "InferTensors_#")), 1u);
    EXPECT_EQ(NumRaw(Only(optimize, "Partition_#")), 1u);
    const Json& load = root.At("loaded_network_measurements_#2");
    EXPECT_EQ(load.FindAll("CreateWorkload_#").size(), 2u);
    EXPECT_EQ(NumRaw(Only(load, "Plan_#")), 1u);
    const Json& run = root.At("inference_measurements_#3");
    EXPECT_EQ(NumRaw(run), 3u);
    for (const char* step : {"PrepareInputs_#", "PrepareOutputs_#", "Execute_#", "WriteOutputs_#"})
    {
        EXPECT_EQ(NumRaw(Only(run, step)), 3u) << step;
    }
    const auto layers = Only(run, "Execute_#").FindAll("RefElementwiseUnary_Execute_#");
    ASSERT_EQ(layers.size(), 2u);
    EXPECT_EQ(NumRaw(*layers[1]), 3u);
    EXPECT_EQ(layers[1]->At("layer").m_Text, "abs");
    EXPECT_EQ(layers[1]->At("backend").m_Text, "CpuRef");
    EXPECT_EQ(root.Find("layer_details"), nullptr);
}

TEST(Profile, CanBeEnabledAtAnyTimeAndOutlivesTheNetwork)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeChain(2, FloatInfo({2})));
    const auto profiler = runtime->GetProfiler(id);
    EXPECT_FALSE(profiler->IsProfilingEnabled());
    RunFloat(*runtime, id, {2}, {1, -3});
    profiler->EnableProfiling(true);
    profiler->EnableNetworkDetailsToStdOut(ProfilingDetailsMethod::DetailsWithEvents);
    RunFloat(*runtime, id, {2}, {1, -3});
    profiler->EnableProfiling(false);
    RunFloat(*runtime, id, {2}, {1, -3});
    runtime->UnloadNetwork(id);
    const Json root = Printed(*profiler);
    EXPECT_EQ(NumRaw(root.At("inference_measurements_#3")), 1u);
    EXPECT_EQ(NumRaw(root.At("optimize_measurements_#1")), 0u);
    EXPECT_EQ(root.At("layer_details").m_Items.size(), 2u);
    std::ostringstream table;
    profiler->AnalyzeEventsAndWriteResults(table);
    EXPECT_NE(table.str().find("RefElementwiseUnary_Execute 'abs'"), std::string::npos);
}

TEST(Profile, NewShapesAreTheRunsOwnPlan)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id =
        LoadProfiled(*runtime, *MakeChain(1, FloatInfo({2})), Profiling(ProfilingDetailsMethod::DetailsWithEvents));
    RunFloat(*runtime, id, {3}, {1, -3, 2});
    const Json root = Printed(*runtime->GetProfiler(id));
    EXPECT_EQ(NumRaw(Only(root.At("inference_measurements_#3"), "Plan_#")), 1u);
    EXPECT_EQ(NumRaw(Only(root.At("loaded_network_measurements_#2"), "Plan_#")), 1u);
    const Json& layer = root.At("layer_details").m_Items.at(0);
    EXPECT_EQ(layer.At("outputs").m_Items.at(0).At("shape").m_Items.at(0).m_Number, 3.0);
}

TEST(Profile, NamesTheKernelThatRan)
{
    // Dimensions that lie apart: the fast kernel leaves them to the reference kernel once shapes are known.
    INetworkPtr network = INetwork::Create();
    MeanDescriptor descriptor;
    descriptor.m_Axis = {0, 2};
    IConnectableLayer* mean = network->AddMeanLayer(descriptor, "mean");
    Connect(AddInput(*network, 0, FloatInfo({2, 3, 4, 5})), mean);
    Connect(mean, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    for (const unsigned int threads : {0U, 1U})
    {
        OptimizerOptionsOpaque options;
        options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", threads}}));
        NetworkId id = 0;
        std::string text;
        runtime->LoadNetwork(id, Optimize(*network, {"CpuAcc"}, runtime->GetDeviceSpec(), options), text,
                             Profiling(ProfilingDetailsMethod::DetailsWithEvents));
        RunFloat(*runtime, id, {2, 3, 4, 5}, std::vector<float>(120, 1.0f));
        const Json root = Printed(*runtime->GetProfiler(id));
        const Json& run = root.At("inference_measurements_#3");
        EXPECT_EQ(Only(run, "Execute_#").FindAll("RefMean_Execute_#").size(), 1u);
        EXPECT_EQ(root.At("layer_details").m_Items.at(0).At("kernel").m_Text, "RefMean");
    }
}

TEST(Profile, NamesTheKernelThatDeclined)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeCumSum(), {"CpuAcc"});
    const auto profiler = runtime->GetProfiler(id);
    profiler->EnableProfiling(true);
    for (int i = 0; i < 2; ++i)
    {
        RunFloat(*runtime, id, {2, 3, 4}, Ramp(24));
    }
    const Json run = Printed(*profiler).At("inference_measurements_#3");
    const Json& layer = Only(Only(run, "Execute_#"), "RefCumSum_Execute_#");
    EXPECT_EQ(NumRaw(layer), 2u) << "one event for both runs";
    const std::string declined = layer.At("declined").m_Text;
    EXPECT_THAT(declined, testing::MatchesRegex("CpuCumSum: .+"));
    EXPECT_EQ(Only(run, "PrepareInputs_#").Find("declined"), nullptr);

    std::ostringstream table;
    profiler->AnalyzeEventsAndWriteResults(table);
    EXPECT_THAT(table.str(), testing::HasSubstr("\n    declined: " + declined + "\n"));

    std::ostringstream trace;
    profiler->WriteChromeTrace(trace);
    const std::vector<Json> events = Json::Parse(trace.str()).At("traceEvents").m_Items;
    const auto isCumSum = [](const Json& event) { return event.At("name").m_Text == "RefCumSum_Execute"; };
    ASSERT_EQ(std::count_if(events.begin(), events.end(), isCumSum), 2);
    EXPECT_EQ(std::find_if(events.begin(), events.end(), isCumSum)->At("args").At("declined").m_Text, declined);
}

TEST(Profile, SaysNothingOfKernelsWhereTheFirstOneRan)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeSoftmax(), {"CpuAcc"});
    const auto profiler = runtime->GetProfiler(id);
    profiler->EnableProfiling(true);
    RunFloat(*runtime, id, {2, 3, 4}, Ramp(24));
    const Json run = Printed(*profiler).At("inference_measurements_#3");
    EXPECT_EQ(Only(Only(run, "Execute_#"), "CpuSoftmax_Execute_#").Find("declined"), nullptr);
    std::ostringstream text;
    profiler->AnalyzeEventsAndWriteResults(text);
    profiler->WriteChromeTrace(text);
    EXPECT_THAT(text.str(), testing::Not(testing::HasSubstr("declined")));
}

TEST(Profile, TraceHasTheSharesOfThreadsInLoops)
{
    const TensorInfo info = FloatInfo({1, 512, 512});
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* softmax = network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
    Connect(AddInput(*network, 0, info), softmax);
    Connect(softmax, network->AddOutputLayer(0));
    for (const unsigned int threads : {1U, 3U})
    {
        const IRuntimePtr runtime = IRuntime::Create({});
        INetworkProperties properties;
        properties.m_NumberOfThreads = threads;
        NetworkId id = 0;
        std::string text;
        ASSERT_EQ(runtime->LoadNetwork(id, Optimize(*network, {"CpuAcc"}, runtime->GetDeviceSpec()), text, properties),
                  Status::Success)
            << text;
        const auto profiler = runtime->GetProfiler(id);
        profiler->EnableProfiling(true);
        RunFloat(*runtime, id, {1, 512, 512}, Ramp(size_t{512} * 512));
        std::ostringstream trace;
        profiler->WriteChromeTrace(trace);
        const std::vector<Json> events = Json::Parse(trace.str()).At("traceEvents").m_Items;
        const auto find = [&](std::string_view name)
        {
            std::vector<const Json*> found;
            for (const Json& event : events)
            {
                if (event.At("name").m_Text == name)
                {
                    found.push_back(&event);
                }
            }
            return found;
        };
        const auto get = [](const Json* event, std::string_view name) { return event->At(name).m_Number; };
        const std::vector<const Json*> loops = find("loop");
        const std::vector<const Json*> shares = find("share");
        if (threads == 1)
        {
            EXPECT_TRUE(loops.empty() && shares.empty()) << "a loop of one thread is a part of its layer";
            continue;
        }
        const std::vector<const Json*> layers = find("CpuSoftmax_Execute");
        ASSERT_EQ(layers.size(), 1u);
        ASSERT_EQ(loops.size(), 1u);
        const Json* const loop = loops.front();
        EXPECT_EQ(get(loop, "tid"), get(layers.front(), "tid"));
        EXPECT_GE(get(loop, "ts"), get(layers.front(), "ts"));
        EXPECT_LE(get(loop, "dur"), get(layers.front(), "dur"));
        EXPECT_EQ(get(&loop->At("args"), "max_threads"), threads);
        EXPECT_EQ(get(&loop->At("args"), "threads"), static_cast<double>(shares.size()));
        EXPECT_GE(shares.size(), 1u); // others may have come too late
        double chunks = 0;
        std::set<double> ids;
        for (const Json* share : shares)
        {
            const Json& args = share->At("args");
            EXPECT_EQ(get(&args, "loop"), get(&loop->At("args"), "loop"));
            EXPECT_LE(get(&args, "work"), get(share, "dur") + 0.01);
            EXPECT_GE(get(share, "ts"), get(loop, "ts"));
            EXPECT_LE(get(share, "ts") + get(share, "dur"), get(loop, "ts") + get(loop, "dur") + 0.01);
            chunks += get(&args, "chunks");
            ids.insert(get(share, "tid"));
        }
        EXPECT_GE(chunks, 2.0);
        EXPECT_EQ(ids.size(), shares.size());
    }
}

TEST(Profile, DetailsDescribeEachWorkload)
{
    INetworkPtr branch = INetwork::Create();
    SoftmaxDescriptor descriptor;
    descriptor.m_Beta = 2.5f;
    IConnectableLayer* softmax = branch->AddSoftmaxLayer(descriptor, "soft\"max");
    Connect(AddInput(*branch, 0, FloatInfo({1, 2})), softmax);
    Connect(softmax, branch->AddOutputLayer(0));
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* choice = network->AddIfLayer(*branch, *branch, "choice");
    Connect(AddInput(*network, 0, TensorInfo({1}, DataType::Boolean)), choice, 0);
    Connect(AddInput(*network, 1, FloatInfo({1, 2})), choice, 1);
    Connect(choice, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = LoadProfiled(*runtime, *network, Profiling(ProfilingDetailsMethod::DetailsOnly));
    const uint8_t condition = 1;
    const std::vector<float> values = {1, 2};
    std::vector<float> result(2);
    runtime->EnqueueWorkload(id,
                             {{0, ConstTensor(TensorInfo({1}, DataType::Boolean, 0.0f, 0, true), &condition)},
                              {1, ConstTensor(TensorInfo({1, 2}, DataType::Float32, 0.0f, 0, true), values.data())}},
                             {{0, Tensor(FloatInfo({1, 2}), result.data())}});

    const auto profiler = runtime->GetProfiler(id);
    const Json root = Printed(*profiler);
    EXPECT_EQ(root.m_Names, std::vector<std::string>{"layer_details"});
    const auto layers = root.At("layer_details").FindAll("RefSoftmax_#");
    ASSERT_EQ(layers.size(), 2u) << "one of each branch";
    const Json& layer = *layers[0];
    EXPECT_EQ(layer.At("name").m_Text, "soft\"max");
    EXPECT_EQ(layer.At("type").m_Text, "Softmax");
    EXPECT_EQ(layer.At("backend").m_Text, "CpuRef");
    EXPECT_EQ(layer.At("kernel").m_Text, "RefSoftmax");
    EXPECT_EQ(layer.At("parameters").At("Beta").m_Text, "2.5");
    EXPECT_EQ(layer.At("inputs").m_Items.at(0).At("type").m_Text, "Float32");
    EXPECT_EQ(layer.At("outputs").m_Items.at(0).At("shape").m_Items.at(1).m_Number, 2.0);

    profiler->EnableNetworkDetailsToStdOut(ProfilingDetailsMethod::Undefined);
    const Json events = Printed(*profiler);
    const Json& execute = Only(events.At("inference_measurements_#3"), "Execute_#");
    const Json& taken = Only(execute, "If_Execute_#");
    EXPECT_EQ(taken.At("layer").m_Text, "choice");
    const Json& inner = Only(Only(taken, "Execute_#"), "RefSoftmax_Execute_#");
    EXPECT_EQ(inner.At("guid").m_Number, layer.At("guid").m_Number) << "an event finds its details";
}

} // namespace tenon::test::profile_test
