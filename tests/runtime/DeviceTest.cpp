// SPDX-License-Identifier: Apache-2.0
// Networks on devices whose memory the host cannot address and whose execution completes later: results are CpuRef's,
// nothing is freed or used again too early, and what fails late is told.
#include "harness/DeviceBackend.hpp"
#include "harness/FakeBackend.hpp"
#include "harness/HookBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace tenon::test::device_test
{

using testing::AllOf;
using testing::HasSubstr;

namespace
{

using Floats = std::vector<float>;

const std::set<LayerType> Simple = {LayerType::Floor,     LayerType::ElementwiseUnary, LayerType::ElementwiseBinary,
                                    LayerType::Reshape,   LayerType::FullyConnected,   LayerType::Softmax,
                                    LayerType::Transpose, LayerType::Concat,           LayerType::Slice};

std::shared_ptr<DeviceBackend> MakeDevice(DeviceOptions options)
{
    if (options.m_Takes.empty())
    {
        options.m_Takes = Simple;
    }
    return std::make_shared<DeviceBackend>(std::move(options));
}

IRuntimePtr MakeRuntime(std::vector<std::shared_ptr<const IBackend>> backends, const Limits& limits = {})
{
    IRuntime::CreationOptions options;
    options.m_Backends = std::move(backends);
    options.m_Limits = limits;
    return IRuntime::Create(options);
}

TensorInfo Constant(const TensorShape& shape, DataType type = DataType::Float32)
{
    return TensorInfo(shape, type, 0.0f, 0, true);
}

ConstTensor View(const TensorShape& shape, const Floats& values)
{
    return ConstTensor(Constant(shape), values.data());
}

/// A random network over tensors of shape [4,8] with two inputs and three outputs. `hints` are the backends that layers
/// ask for, one at random for each.
INetworkPtr MakeRandom(uint32_t seed, const std::vector<BackendId>& hints)
{
    std::mt19937 random(seed);
    INetworkPtr network = INetwork::Create();
    std::vector<IConnectableLayer*> values{AddInput(*network, 0, FloatInfo({4, 8}), "a"),
                                           AddInput(*network, 1, FloatInfo({4, 8}), "b")};
    const auto pick = [&] { return values[random() % values.size()]; };
    const auto add = [&](IConnectableLayer* layer, IConnectableLayer* from)
    {
        layer->BackendSelectionHint(Optional<BackendId>(hints[random() % hints.size()]));
        Connect(from, layer);
        return layer;
    };
    for (int i = 0; i < 24; ++i)
    {
        switch (random() % 7)
        {
        case 0: values.push_back(add(network->AddFloorLayer("floor"), pick())); break;
        case 1:
            values.push_back(
                add(network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg), "neg"), pick()));
            break;
        case 2:
        {
            IConnectableLayer* sum = add(
                network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum"), pick());
            Connect(pick(), sum, 1);
            values.push_back(sum);
            break;
        }
        case 3: // views, which share memory
            values.push_back(add(network->AddReshapeLayer(ReshapeDescriptor({4, 8}), "back"),
                                 add(network->AddReshapeLayer(ReshapeDescriptor({8, 4}), "view"), pick())));
            break;
        case 4:
        {
            auto weights = std::make_shared<Floats>(Ramp(64, -0.5f, 0.015f));
            FullyConnectedDescriptor descriptor;
            descriptor.m_BiasEnabled = false;
            IConnectableLayer* full = add(network->AddFullyConnectedLayer(descriptor, "full"), pick());
            Connect(network->AddConstantLayer(View({8, 8}, *weights), weights, "weights"), full, 1);
            values.push_back(full);
            break;
        }
        case 5: values.push_back(add(network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax"), pick())); break;
        default:
            values.push_back(add(network->AddTransposeLayer(TransposeDescriptor({1, 0}), "there"), pick()));
            values.back() = add(network->AddTransposeLayer(TransposeDescriptor({1, 0}), "back"),
                                add(network->AddFloorLayer("between"), values.back()));
            break;
        }
    }
    for (LayerBindingId i = 0; i < 3; ++i)
    {
        Connect(i == 0 ? values.back() : pick(), network->AddOutputLayer(i));
    }
    return network;
}

/// All outputs of a random network, one after the other.
Floats RunRandom(IRuntime& runtime, NetworkId id, float first)
{
    const Floats a = Ramp(32, first, 0.37f);
    const Floats b = Ramp(32, -2.0f, 0.21f);
    Floats results(96);
    OutputTensors outputs;
    for (LayerBindingId i = 0; i < 3; ++i)
    {
        outputs.push_back({i, Tensor(FloatInfo({4, 8}), results.data() + 32 * i)});
    }
    runtime.EnqueueWorkload(id, {{0, View({4, 8}, a)}, {1, View({4, 8}, b)}}, outputs);
    return results;
}

INetworkPtr MakeFloor(const TensorInfo& info)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(AddInput(*network, 0, info), floor);
    Connect(floor, network->AddOutputLayer(0, "out"));
    return network;
}

} // namespace

TEST(Device, NetworksSplitOverDevicesAndTheHostGiveTheReferencesResults)
{
    const auto malloced = static_cast<MemorySourceFlags>(MemorySource::Malloc);
    uint32_t seed = 1;
    for (const MemorySourceFlags imports : {0U, malloced})
    {
        for (const size_t importAlignment : {size_t{0}, size_t{4}, size_t{64}})
        {
            for (const size_t alignment : {size_t{64}, size_t{1024}})
            {
                DeviceOptions first;
                first.m_Id = "First";
                first.m_Memory = "FirstMemory";
                first.m_ImportFlags = imports;
                first.m_ImportAlignment = importAlignment;
                first.m_Alignment = alignment;
                first.m_Delay = std::chrono::microseconds(50);
                first.m_ScratchBytes = 100;
                DeviceOptions second;
                second.m_Id = "Second";
                second.m_Memory = "SecondMemory";
                const auto a = MakeDevice(first);
                const auto b = MakeDevice(second);
                const IRuntimePtr runtime = MakeRuntime({a, b});
                for (int round = 0; round < 6; ++round, ++seed)
                {
                    const INetworkPtr network = MakeRandom(seed, {"First", "Second", "CpuRef", "CpuAcc"});
                    const INetworkPtr onHost = MakeRandom(seed, {"CpuRef", "CpuRef", "CpuRef", "CpuRef"});
                    const NetworkId id = Load(*runtime, *network);
                    const NetworkId reference = Load(*runtime, *onHost);
                    for (const float start : {-3.0f, 1.5f})
                    {
                        const Floats wanted = RunRandom(*runtime, reference, start);
                        const Floats got = RunRandom(*runtime, id, start);
                        for (size_t i = 0; i < wanted.size(); ++i)
                        {
                            ASSERT_NEAR(got[i], wanted[i], 1e-4f * std::max(1.0f, std::abs(wanted[i])))
                                << "seed " << seed << ", element " << i;
                        }
                    }
                    runtime->UnloadNetwork(id);
                }
                EXPECT_GT(a->Counts().m_Runs, 0);
                EXPECT_GT(b->Counts().m_Runs, 0);
                EXPECT_EQ(a->Counts().m_Imports > 0, imports != 0 && importAlignment != 0);
            }
        }
    }
}

TEST(Device, RunsFromManyThreadsAtOnce)
{
    DeviceOptions options;
    options.m_ImportFlags = static_cast<MemorySourceFlags>(MemorySource::Malloc);
    options.m_ImportAlignment = 4;
    const auto device = MakeDevice(options);
    const IRuntimePtr runtime = MakeRuntime({device});
    const NetworkId id = Load(*runtime, *MakeRandom(77, {"Device", "CpuRef"}));
    const NetworkId reference = Load(*runtime, *MakeRandom(77, {"CpuRef", "CpuRef"}));
    std::vector<Floats> wanted;
    for (int t = 0; t < 4; ++t)
    {
        wanted.push_back(RunRandom(*runtime, reference, static_cast<float>(t)));
    }
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
    {
        threads.emplace_back(
            [&, t]
            {
                for (int i = 0; i < 20; ++i)
                {
                    wrong += RunRandom(*runtime, id, static_cast<float>(t)) != wanted[static_cast<size_t>(t)] ? 1 : 0;
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(device->Counts().m_Queues, static_cast<int>(runtime->GetStatistics(id).m_NumContexts))
        << "a queue is kept with its context";
}

TEST(Device, OtherShapesArePlannedAnew)
{
    const auto device = MakeDevice({});
    const IRuntimePtr runtime = MakeRuntime({device});
    const NetworkId id = Load(*runtime, *MakeFloor(FloatInfo({4})), {"Device"});
    for (const unsigned int size : {4u, 100u, 0u, 7u, 5000u})
    {
        const Floats input = Ramp(size, 0.5f);
        Floats wanted = Ramp(size);
        EXPECT_EQ(RunFloat(*runtime, id, {size}, input), wanted) << size;
    }
}

TEST(Device, ShapesThatOnlyTheRunKnowsWorkOnIt)
{
    // Where gives as many rows as there are cells that are true; what reads them is shaped during the run.
    for (const MemorySourceFlags imports : {0U, static_cast<MemorySourceFlags>(MemorySource::Malloc)})
    {
        for (const bool whereOnDevice : {false, true})
        {
            DeviceOptions options;
            options.m_Takes = {LayerType::Cast, LayerType::Floor, LayerType::Reshape, LayerType::ElementwiseUnary};
            if (whereOnDevice)
            {
                options.m_Takes.insert(LayerType::Where);
            }
            options.m_ImportFlags = imports;
            options.m_ImportAlignment = 8;
            options.m_Delay = std::chrono::microseconds(100);
            options.m_ScratchBytes = 256;
            const auto device = MakeDevice(options);
            const IRuntimePtr runtime = MakeRuntime({device});
            const INetworkPtr network = INetwork::Create();
            IConnectableLayer* where = network->AddWhereLayer("where");
            IConnectableLayer* cast = network->AddCastLayer("cast");
            IConnectableLayer* neg =
                network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg), "neg");
            IConnectableLayer* exp =
                network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "host");
            exp->BackendSelectionHint(Optional<BackendId>("CpuRef"));
            Connect(AddInput(*network, 0, TensorInfo({6}, DataType::Boolean)), where);
            Connect(where, cast);
            cast->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape({0, 1}, {false, true}), DataType::Float32));
            Connect(cast, neg);
            Connect(neg, exp);
            Connect(neg, network->AddOutputLayer(0));
            Connect(exp, network->AddOutputLayer(1));
            const NetworkId id = Load(*runtime, *network, {"Device", "CpuRef"});
            for (const std::vector<uint8_t>& flags :
                 {std::vector<uint8_t>{0, 1, 0, 1, 1, 0}, {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}})
            {
                Floats results[2];
                runtime->EnqueueWorkload(id, {{0, ConstTensor(Constant({6}, DataType::Boolean), flags.data())}},
                                         [&](LayerBindingId output, const TensorInfo& info)
                                         {
                                             results[output].resize(info.GetNumElements());
                                             return results[output].data();
                                         });
                Floats wanted;
                for (size_t i = 0; i < flags.size(); ++i)
                {
                    if (flags[i] != 0)
                    {
                        wanted.push_back(static_cast<float>(i));
                    }
                }
                EXPECT_EQ(results[1], wanted);
                std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](float v) { return -v; });
                EXPECT_EQ(results[0], wanted);
            }
        }
    }
}

TEST(Device, RunsInsideOfLoopsAndBranches)
{
    // while (sum < 20) values = floor(values + values), all of the body on the device
    const auto makeNetwork = []
    {
        const INetworkPtr condition = INetwork::Create();
        IConnectableLayer* less =
            condition->AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Less), "less");
        auto limit = std::make_shared<float>(20.0f);
        Connect(AddInput(*condition, 0, FloatInfo({1})), less, 0);
        Connect(condition->AddConstantLayer(ConstTensor(Constant({1}), limit.get()), limit, "limit"), less, 1);
        Connect(less, condition->AddOutputLayer(0));
        const INetworkPtr body = INetwork::Create();
        IConnectableLayer* sum =
            body->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
        IConnectableLayer* floor = body->AddFloorLayer("floor");
        IConnectableLayer* input = AddInput(*body, 0, FloatInfo({1}));
        Connect(input, sum, 0);
        Connect(input, sum, 1);
        Connect(sum, floor);
        Connect(floor, body->AddOutputLayer(0));
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* loop = network->AddWhileLayer(*condition, *body, "loop");
        IConnectableLayer* before = network->AddFloorLayer("before");
        IConnectableLayer* after =
            network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg), "after");
        Connect(AddInput(*network, 0, FloatInfo({1})), before);
        Connect(before, loop);
        Connect(loop, after);
        Connect(after, network->AddOutputLayer(0));
        return network;
    };
    DeviceOptions options;
    options.m_Delay = std::chrono::microseconds(50);
    const auto device = MakeDevice(options);
    const IRuntimePtr runtime = MakeRuntime({device});
    const NetworkId id = Load(*runtime, *makeNetwork(), {"Device", "CpuRef"});
    EXPECT_EQ(RunFloat(*runtime, id, {1}, {3.5f}), (Floats{-24}));
    EXPECT_EQ(RunFloat(*runtime, id, {1}, {30.5f}), (Floats{-30}));
    EXPECT_EQ(device->Counts().m_Queues, 1) << "nested networks use the queue of the run";
}

TEST(Device, StatesAreKeptOnTheHost)
{
    // next = state + input on the device
    const auto device = MakeDevice({});
    const IRuntimePtr runtime = MakeRuntime({device});
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* read = network->AddReadStateLayer(StateDescriptor("total"), "read");
    read->GetOutputSlot(0).SetTensorInfo(FloatInfo({2}));
    IConnectableLayer* sum =
        network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
    Connect(read, sum, 0);
    Connect(AddInput(*network, 0, FloatInfo({2})), sum, 1);
    Connect(sum, network->AddWriteStateLayer(StateDescriptor("total"), "write"));
    Connect(sum, network->AddOutputLayer(0));
    const NetworkId id = Load(*runtime, *network, {"Device"});
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {1, 2}), (Floats{1, 2}));
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {1, 2}), (Floats{2, 4}));
    runtime->ResetStates(id);
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {1, 2}), (Floats{1, 2}));
}

TEST(Device, DebugCallbacksSeeItsTensors)
{
    for (const bool canMap : {false, true})
    {
        DeviceOptions options;
        options.m_SupportsMap = canMap;
        const auto device = MakeDevice(options);
        const IRuntimePtr runtime = MakeRuntime({device});
        const NetworkId id =
            Load(*runtime, *MakeFloor(FloatInfo({2})), {"Device"}, OptimizerOptionsOpaque(false, true));
        std::vector<Floats> seen;
        runtime->RegisterDebugCallback(id,
                                       [&](LayerGuid, unsigned int, ITensorHandle* tensor)
                                       {
                                           const auto* values = static_cast<const float*>(tensor->Map());
                                           seen.emplace_back(values, values + 2);
                                           tensor->Unmap();
                                       });
        EXPECT_EQ(RunFloat(*runtime, id, {2}, {1.5f, -1.5f}), (Floats{1, -2}));
        EXPECT_EQ(seen, (std::vector<Floats>{{1.5f, -1.5f}, {1.5f, -1.5f}, {1, -2}, {1, -2}}))
            << "the input is shown too, and the copies are layers";
        EXPECT_EQ(device->Counts().m_Maps, canMap ? 2 : 0);
    }
}

TEST(Device, WhatFailsLateIsToldAndTheNetworkGoesOn)
{
    std::atomic<bool> fails{false};
    DeviceOptions options;
    options.m_OnOperation = [&](const char* operation)
    {
        if (fails && std::string(operation) == "Run")
        {
            throw RuntimeException("the device is on fire");
        }
    };
    const auto device = MakeDevice(options);
    const IRuntimePtr runtime = MakeRuntime({device});
    const NetworkId id = Load(*runtime, *MakeFloor(FloatInfo({2})), {"Device"});
    fails = true;
    EXPECT_THAT(MessageOf<RuntimeException>(
                    [&] {
                        RunFloat(*runtime, id, {2}, {1.5f, 2.5f});
                    }),
                AllOf(HasSubstr("on fire"), HasSubstr("'floor:copy'"), HasSubstr("from memory DeviceMemory")));
    fails = false;
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {1.5f, 2.5f}), (Floats{1, 2}));
}

TEST(Device, EachOperationMayFail)
{
    for (const std::string failing : {"Allocate", "CreateQueue", "Submit", "Write", "Read"})
    {
        std::atomic<bool> fails{true};
        DeviceOptions options;
        options.m_OnOperation = [&](const char* operation)
        {
            if (fails && operation == failing)
            {
                throw std::runtime_error("no " + failing);
            }
        };
        const auto device = MakeDevice(options);
        const IRuntimePtr runtime = MakeRuntime({device});
        const NetworkId id = Load(*runtime, *MakeFloor(FloatInfo({2})), {"Device"});
        const auto run = [&] { RunFloat(*runtime, id, {2}, {1.5f, 2.5f}); };
        EXPECT_THAT(MessageOf<RuntimeException>(run), HasSubstr("no " + failing));
        fails = false;
        EXPECT_EQ(RunFloat(*runtime, id, {2}, {1.5f, 2.5f}), (Floats{1, 2})) << failing;
    }
}

TEST(Device, MemoryOfARunIsNotFreedWhileItWorks)
{
    // A host layer fails while the device still works on a slow one; the harness checks what is freed.
    DeviceOptions options;
    options.m_Takes = {LayerType::Floor};
    options.m_Delay = std::chrono::milliseconds(20);
    options.m_ImportFlags = static_cast<MemorySourceFlags>(MemorySource::Malloc);
    options.m_ImportAlignment = 4;
    const auto device = MakeDevice(options);
    Hooks hooks;
    hooks.m_OnExecute = [](const ExecuteArgs&) { throw RuntimeException("no more"); };
    const IRuntimePtr runtime = MakeRuntime({device, std::make_shared<HookBackend>(hooks)});
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(input, floor);
    Connect(input, abs);
    Connect(floor, network->AddOutputLayer(0));
    Connect(abs, network->AddOutputLayer(1));
    const NetworkId id = Load(*runtime, *network, {"Device", "Hook"});
    auto values = std::make_unique<Floats>(Floats{1.5f, 2.5f});
    EXPECT_THROW(runtime->EnqueueWorkload(id, {{0, View({2}, *values)}},
                                          [&](LayerBindingId, const TensorInfo&) { return values->data(); }),
                 RuntimeException);
    values = nullptr;
}

TEST(Device, LimitsCountItsMemory)
{
    Limits limits;
    limits.m_MaxTotalBytes = 10'000;
    const auto device = MakeDevice({});
    const IRuntimePtr runtime = MakeRuntime({device}, limits);
    EXPECT_THROW(Load(*runtime, *MakeFloor(FloatInfo({3000})), {"Device"}), MemoryValidationException);
    const NetworkId id = Load(*runtime, *MakeFloor(FloatInfo({500})), {"Device"});
    EXPECT_THAT(MessageOf<MemoryValidationException>([&] { RunFloat(*runtime, id, {3000}, Floats(3000)); }),
                HasSubstr("m_MaxTotalBytes"));
}

TEST(Device, StatisticsTellEachMemory)
{
    const auto device = MakeDevice({});
    const IRuntimePtr runtime = MakeRuntime({device});
    const NetworkId id = Load(*runtime, *MakeFloor(FloatInfo({100})), {"Device"});
    const NetworkStatistics statistics = runtime->GetStatistics(id);
    ASSERT_EQ(statistics.m_Arenas.size(), 2u);
    EXPECT_EQ(statistics.m_Arenas[0].m_Memory, "Host");
    EXPECT_EQ(statistics.m_Arenas[0].m_Bytes, 0u);
    EXPECT_EQ(statistics.m_Arenas[1].m_Memory, "DeviceMemory");
    EXPECT_EQ(statistics.m_Arenas[1].m_Bytes, 400u) << "Floor works in place";
    EXPECT_EQ(statistics.m_Arenas[1].m_LowerBoundBytes, 400u);
    EXPECT_TRUE(statistics.m_Arenas[1].m_IsSmallest);
    EXPECT_EQ(statistics.m_ArenaBytes, 400u);
}

TEST(Device, ANetworkThatWasOptimizedForOtherMemoriesIsRefused)
{
    // Optimized where the backend is on the host, loaded where it is on a device; and the other way round.
    const IRuntimePtr onHost =
        MakeRuntime({std::make_shared<FakeBackend>("Device", std::set<LayerType>{LayerType::Floor})});
    const IRuntimePtr onDevice = MakeRuntime({MakeDevice({})});
    const INetworkPtr network = MakeFloor(FloatInfo({2}));
    NetworkId id = 0;
    EXPECT_THAT(MessageOf<GraphValidationException>(
                    [&] { onDevice->LoadNetwork(id, Optimize(*network, {"Device"}, onHost->GetDeviceSpec())); }),
                AllOf(HasSubstr("input 0 of"), HasSubstr("'floor'"), HasSubstr("device spec")));
    onHost->LoadNetwork(id, Optimize(*network, {"Device"}, onDevice->GetDeviceSpec()));
    EXPECT_EQ(RunFloat(*onHost, id, {2}, {1.5f, 2.5f}), (Floats{1, 2})) << "copies within the host are right too";
}

} // namespace tenon::test::device_test
