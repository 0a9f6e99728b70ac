// SPDX-License-Identifier: Apache-2.0
// What an application sets beside its networks: allocators, packing strategies, imported memory; and the hooks that
// backends have around loads and runs.
#include "harness/DeviceBackend.hpp"
#include "harness/FakeBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"
#include "harness/WarningRecorder.hpp"

#include <tenon/backend/ICustomAllocator.hpp>
#include <tenon/backend/MemoryOptimizerStrategies.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

namespace tenon::test::memory_options_test
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

using Floats = std::vector<float>;

/// Counts, and does what it is told to.
class TestAllocator final : public ICustomAllocator
{
public:
    ~TestAllocator() override { EXPECT_TRUE(m_Live.empty()) << "memory of an allocator was not given back"; }
    void* allocate(size_t size, size_t alignment) override
    {
        const std::lock_guard lock(m_Mutex);
        ++m_Calls;
        if (m_GivesNull)
        {
            return nullptr;
        }
        void* memory = std::aligned_alloc(alignment, (size + 2 * alignment - 1) / alignment * alignment);
        void* given = static_cast<std::byte*>(memory) + (m_IsMisaligned ? 8 : 0);
        m_Live[given] = memory;
        return given;
    }
    void free(void* ptr) override
    {
        const std::lock_guard lock(m_Mutex);
        const auto found = m_Live.find(ptr);
        if (found == m_Live.end())
        {
            ADD_FAILURE() << "memory was freed that is not there";
            return;
        }
        std::free(found->second);
        m_Live.erase(found);
    }
    MemorySource GetMemorySourceType() override { return m_Source; }

    bool m_GivesNull = false;
    bool m_IsMisaligned = false;
    MemorySource m_Source = MemorySource::Malloc;
    int m_Calls = 0;

private:
    std::mutex m_Mutex;
    std::map<void*, void*> m_Live;
};

IRuntime::CreationOptions WithAllocator(std::shared_ptr<ICustomAllocator> allocator)
{
    IRuntime::CreationOptions options;
    options.m_CustomAllocatorMap["CpuRef"] = std::move(allocator);
    return options;
}

/// Softmaxes after each other: they need an arena.
INetworkPtr MakeSoftmaxes(const TensorInfo& info, int count = 3)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, info);
    for (int i = 0; i < count; ++i)
    {
        IConnectableLayer* layer = network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
        Connect(last, layer);
        last = layer;
    }
    Connect(last, network->AddOutputLayer(0));
    return network;
}

/// in, reshaped as a second input says, -> abs -> out: a run takes memory when it comes to abs.
INetworkPtr MakeDataDependentAbs()
{
    INetworkPtr network = INetwork::Create();
    ReshapeDescriptor late;
    late.m_ParametersAsInputs = true;
    IConnectableLayer* const reshape = network->AddReshapeLayer(late, "reshape");
    Connect(AddInput(*network, 0, FloatInfo({4})), reshape, 0);
    Connect(AddInput(*network, 1, TensorInfo({2}, DataType::Signed32), "shape"), reshape, 1);
    IConnectableLayer* const abs =
        network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "late abs");
    Connect(reshape, abs);
    Connect(abs, network->AddOutputLayer(0));
    return network;
}

DeviceOptions ImportingDevice(std::set<LayerType> takes)
{
    DeviceOptions options;
    options.m_Takes = std::move(takes);
    options.m_ImportFlags = static_cast<MemorySourceFlags>(MemorySource::Malloc);
    options.m_ImportAlignment = 64;
    return options;
}

} // namespace

TEST(CustomAllocator, GivesTheArenaAndGetsItBack)
{
    const auto allocator = std::make_shared<TestAllocator>();
    {
        const IRuntimePtr runtime = IRuntime::Create(WithAllocator(allocator));
        const NetworkId id = Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4})));
        EXPECT_EQ(allocator->m_Calls, 0) << "not before a run";
        RunFloat(*runtime, id, {1, 4}, {1, 2, 3, 4});
        const int once = allocator->m_Calls;
        EXPECT_GE(once, 1);
        RunFloat(*runtime, id, {1, 4}, {1, 2, 3, 4});
        EXPECT_EQ(allocator->m_Calls, once) << "the arena is kept";
        RunFloat(*runtime, id, {1, 400}, Ramp(400));
        EXPECT_GT(allocator->m_Calls, once);
    }
    EXPECT_EQ(allocator.use_count(), 1);
}

TEST(CustomAllocator, FailuresAreTold)
{
    const auto allocator = std::make_shared<TestAllocator>();
    const IRuntimePtr runtime = IRuntime::Create(WithAllocator(allocator));
    const NetworkId id = Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4})));
    const auto run = [&] { RunFloat(*runtime, id, {1, 4}, {1, 2, 3, 4}); };
    allocator->m_GivesNull = true;
    EXPECT_THAT(MessageOf<MemoryValidationException>(run),
                AllOf(HasSubstr("the tensors between layers: "), HasSubstr("custom allocator has no memory")));
    allocator->m_GivesNull = false;
    allocator->m_IsMisaligned = true;
    EXPECT_THAT(MessageOf<MemoryValidationException>(run), HasSubstr("multiple of 64"));
    allocator->m_IsMisaligned = false;
    EXPECT_NO_THROW(run());
}

TEST(CustomAllocator, LayersWithoutMemoryAreNamed)
{
    const auto allocator = std::make_shared<TestAllocator>();
    const IRuntimePtr runtime = IRuntime::Create(WithAllocator(allocator));
    const NetworkId id = Load(*runtime, *MakeDataDependentAbs());
    const Floats input = {-1, 2, -3, 4};
    const std::vector<int32_t> shape = {2, -1};
    Floats result(4);
    const auto run = [&]
    {
        runtime->EnqueueWorkload(id,
                                 {{0, ConstTensor(TensorInfo({4}, DataType::Float32, 0.0f, 0, true), input.data())},
                                  {1, ConstTensor(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), shape.data())}},
                                 [&](LayerBindingId, const TensorInfo&) { return result.data(); });
    };
    allocator->m_GivesNull = true;
    EXPECT_THAT(MessageOf<MemoryValidationException>(run), AllOf(HasSubstr("taking memory for "), HasSubstr("late abs"),
                                                                 HasSubstr("custom allocator has no memory")));
    allocator->m_GivesNull = false;
    EXPECT_NO_THROW(run());
    EXPECT_EQ(result, (Floats{1, 2, 3, 4}));
}

TEST(CustomAllocator, WhatCannotBeUsedIsRefused)
{
    const auto create = [](const IRuntime::CreationOptions& options)
    { return MessageOf<InvalidArgumentException>([&] { IRuntime::Create(options); }); };
    const auto dma = std::make_shared<TestAllocator>();
    dma->m_Source = MemorySource::DmaBuf;
    EXPECT_THAT(create(WithAllocator(dma)), AllOf(HasSubstr("CpuRef"), HasSubstr("DmaBuf"), HasSubstr("Malloc")));
    EXPECT_THAT(create(WithAllocator(nullptr)), HasSubstr("null"));
    IRuntime::CreationOptions two = WithAllocator(std::make_shared<TestAllocator>());
    two.m_CustomAllocatorMap["CpuAcc"] = std::make_shared<TestAllocator>();
    EXPECT_THAT(create(two), HasSubstr("shares memory 'Host'"));
    two.m_CustomAllocatorMap["CpuAcc"] = two.m_CustomAllocatorMap["CpuRef"];
    EXPECT_NO_THROW(IRuntime::Create(two));

    IRuntime::CreationOptions device;
    DeviceOptions closed;
    closed.m_Takes = {LayerType::Softmax};
    device.m_Backends = {std::make_shared<DeviceBackend>(closed)};
    device.m_CustomAllocatorMap["Device"] = std::make_shared<TestAllocator>();
    EXPECT_THAT(create(device), AllOf(HasSubstr("'DeviceMemory'"), HasSubstr("does not import")));
}

TEST(CustomAllocator, OneForABackendThatIsNotThereHasNoEffect)
{
    const auto allocator = std::make_shared<TestAllocator>();
    IRuntime::CreationOptions options;
    options.m_CustomAllocatorMap["GpuAcc"] = allocator;
    options.m_MemoryOptimizerStrategyMap["GpuAcc"] = MakeMemoryOptimizerStrategy("GreedyBySize");
    const WarningRecorder warnings;
    const IRuntimePtr runtime = IRuntime::Create(options);
    EXPECT_THAT(warnings.Get(),
                ElementsAre(AllOf(HasSubstr("a custom allocator for backend 'GpuAcc'"), HasSubstr("CpuRef")),
                            HasSubstr("a memory strategy for backend 'GpuAcc'")));
    RunFloat(*runtime, Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4}))), {1, 4}, {1, 2, 3, 4});
    EXPECT_EQ(allocator->m_Calls, 0);
}

TEST(CustomAllocator, ServesADeviceThatImportsItsMemory)
{
    const auto allocator = std::make_shared<TestAllocator>();
    const auto device = std::make_shared<DeviceBackend>(ImportingDevice({LayerType::Softmax}));
    IRuntime::CreationOptions options;
    options.m_Backends = {device};
    options.m_CustomAllocatorMap["Device"] = allocator;
    const IRuntimePtr runtime = IRuntime::Create(options);
    const NetworkId id = Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4})), {"Device"});
    const NetworkId reference = Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4})));
    const Floats input{1, 2, 3, 4};
    EXPECT_EQ(RunFloat(*runtime, id, {1, 4}, input), RunFloat(*runtime, reference, {1, 4}, input));
    EXPECT_GE(allocator->m_Calls, 1);
    EXPECT_EQ(device->Counts().m_Allocations, 0);
}

TEST(MemoryStrategy, AllShippedOnesGiveTheSameResults)
{
    const std::vector<std::string> names = GetMemoryOptimizerStrategyNames();
    EXPECT_EQ(names.front(), "BestOfOrders");
    const Floats input{1, 2, 3, 4};
    const IRuntimePtr plain = IRuntime::Create({});
    const Floats wanted = RunFloat(*plain, Load(*plain, *MakeSoftmaxes(FloatInfo({1, 4}))), {1, 4}, input);
    for (const std::string& name : names)
    {
        IRuntime::CreationOptions options;
        options.m_MemoryOptimizerStrategyMap["CpuRef"] =
            std::make_shared<StrategyValidator>(MakeMemoryOptimizerStrategy(name));
        const IRuntimePtr runtime = IRuntime::Create(options);
        const NetworkId id = Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4})));
        EXPECT_EQ(RunFloat(*runtime, id, {1, 4}, input), wanted) << name;
    }
    EXPECT_THAT(MessageOf<InvalidArgumentException>([] { MakeMemoryOptimizerStrategy("Magic"); }),
                AllOf(HasSubstr("'Magic'"), HasSubstr("GreedyBySize")));
}

namespace
{

/// Puts each block into a bin of its own, then spoils that.
struct BlockStrategy : IMemoryOptimizerStrategy
{
    std::string GetName() const override { return "Wrong"; }
    MemBlockStrategyType GetMemBlockStrategyType() const override { return m_Type; }
    std::vector<MemBin> Optimize(std::vector<MemBlock>& memBlocks) override
    {
        ++m_Calls;
        std::vector<MemBin> bins;
        for (const MemBlock& block : memBlocks)
        {
            bins.push_back({{block}, block.m_MemSize});
        }
        std::reverse(bins.begin(), bins.end()); // the order of bins is the strategy's
        m_Spoil(bins);
        return bins;
    }
    MemBlockStrategyType m_Type = MemBlockStrategyType::SingleAxisPacking;
    std::function<void(std::vector<MemBin>&)> m_Spoil = [](std::vector<MemBin>&) {};
    int m_Calls = 0;
};

MemBlock Changed(const MemBlock& block, size_t bytes, unsigned int index)
{
    return MemBlock(block.m_StartOfLife, block.m_EndOfLife, bytes, block.m_Offset, index);
}

} // namespace

TEST(MemoryStrategy, BinsOfBothTypesAreUsed)
{
    const Floats input{1, 2, 3, 4};
    const IRuntimePtr plain = IRuntime::Create({});
    const NetworkId plainId = Load(*plain, *MakeSoftmaxes(FloatInfo({1, 4})));
    const Floats wanted = RunFloat(*plain, plainId, {1, 4}, input);
    for (const MemBlockStrategyType type :
         {MemBlockStrategyType::SingleAxisPacking, MemBlockStrategyType::MultiAxisPacking})
    {
        const auto strategy = std::make_shared<BlockStrategy>();
        strategy->m_Type = type;
        IRuntime::CreationOptions options;
        options.m_MemoryOptimizerStrategyMap["CpuRef"] = std::make_shared<StrategyValidator>(strategy);
        const IRuntimePtr runtime = IRuntime::Create(options);
        const NetworkId id = Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4})));
        EXPECT_EQ(RunFloat(*runtime, id, {1, 4}, input), wanted);
        EXPECT_GE(strategy->m_Calls, 1);
        EXPECT_GE(runtime->GetStatistics(id).m_ArenaBytes, plain->GetStatistics(plainId).m_ArenaBytes);
    }
}

TEST(MemoryStrategy, OptionsOfBuiltInBackendsNameOne)
{
    const auto bytes = [](const IRuntime::CreationOptions& options)
    {
        const IRuntimePtr runtime = IRuntime::Create(options);
        return runtime->GetStatistics(Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 64}), 6))).m_ArenaBytes;
    };
    const auto named = [](const char* name)
    {
        IRuntime::CreationOptions options;
        for (const char* backend : {"CpuRef", "CpuAcc"}) // which share their memory
        {
            options.m_BackendOptions.emplace_back(
                BackendId(backend), std::vector<BackendOptions::BackendOption>{{"MemoryOptimizerStrategy", name}});
        }
        return options;
    };
    IRuntime::CreationOptions constant;
    constant.m_MemoryOptimizerStrategyMap["CpuRef"] = MakeMemoryOptimizerStrategy("ConstantMemoryStrategy");
    const size_t max = bytes(constant);
    const size_t min = bytes({});
    EXPECT_GT(max, min);
    const WarningRecorder warnings;
    EXPECT_EQ(bytes(named("ConstantMemoryStrategy")), max);
    EXPECT_EQ(bytes(named("BestOfOrders")), min);
    // The map counts where it has one.
    IRuntime::CreationOptions both = constant;
    both.m_BackendOptions.emplace_back(
        BackendId("CpuRef"), std::vector<BackendOptions::BackendOption>{{"MemoryOptimizerStrategy", "BestOfOrders"}});
    EXPECT_EQ(bytes(both), max);
    EXPECT_THAT(warnings.Get(), ElementsAre());
    EXPECT_EQ(bytes(named("SingleAxisPriorityList")), min); // one of Arm NN's
    EXPECT_THAT(warnings.Get(), ElementsAre(AllOf(HasSubstr("'CpuRef'"), HasSubstr("'SingleAxisPriorityList'"),
                                                  HasSubstr("GreedyBySize")),
                                            HasSubstr("'CpuAcc'")));
}

TEST(MemoryStrategy, WrongOnesAreCaughtAndNamed)
{
    const auto strategy = std::make_shared<BlockStrategy>();
    IRuntime::CreationOptions options;
    options.m_MemoryOptimizerStrategyMap["CpuRef"] = strategy;
    const auto load = [&](const std::function<void(std::vector<MemBin>&)>& spoil)
    {
        strategy->m_Spoil = spoil;
        return MessageOf<MemoryValidationException>(
            [&]
            {
                const IRuntimePtr runtime = IRuntime::Create(options);
                Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4})));
            });
    };
    using Bins = std::vector<MemBin>;
    EXPECT_EQ(load([](Bins&) {}), "no exception");
    EXPECT_THAT(load(
                    [](Bins& bins)
                    {
                        Bins one(1); // all blocks at its beginning
                        for (const MemBin& bin : bins)
                        {
                            one[0].m_MemBlocks.push_back(bin.m_MemBlocks[0]);
                            one[0].m_MemSize = std::max(one[0].m_MemSize, bin.m_MemSize);
                        }
                        bins.swap(one);
                    }),
                AllOf(HasSubstr("strategy Wrong"), HasSubstr("overlaps")));
    EXPECT_THAT(load(
                    [](Bins& bins)
                    {
                        bins[0].m_MemBlocks[0].m_Offset = 4;
                        bins[0].m_MemSize += 64;
                    }),
                HasSubstr("multiple of 64"));
    EXPECT_THAT(load([](Bins& bins) { bins[0].m_MemBlocks[0].m_Offset = 64; }), HasSubstr("ends after its bin"));
    EXPECT_THAT(load([](Bins& bins) { bins[0].m_MemBlocks[0].m_Offset = SIZE_MAX - 63; }),
                HasSubstr("ends after its bin"));
    EXPECT_THAT(load([](Bins& bins) { bins[0].m_MemSize = SIZE_MAX; }), HasSubstr("can be addressed"));
    EXPECT_THAT(load([](Bins& bins) { bins.pop_back(); }), HasSubstr("is in no bin"));
    EXPECT_THAT(load([](Bins& bins) { bins.push_back(MemBin(bins[0])); }), HasSubstr("twice"));
    EXPECT_THAT(load(
                    [](Bins& bins) {
                        bins.push_back({{Changed(bins[0].m_MemBlocks[0], 64, 1000)}, 64});
                    }),
                HasSubstr("block 1000 is none"));
    EXPECT_THAT(load(
                    [](Bins& bins)
                    {
                        const MemBlock block = bins.back().m_MemBlocks[0];
                        bins.pop_back();
                        bins.push_back({{Changed(block, 0, block.m_Index)}, 64});
                    }),
                HasSubstr("another size"));
    EXPECT_THROW(StrategyValidator(nullptr), NullPointerException);
}

TEST(MemoryStrategy, TheValidatorHoldsASingleAxisToItsWord)
{
    const auto strategy = std::make_shared<BlockStrategy>();
    strategy->m_Spoil = [](std::vector<MemBin>& bins) // both blocks in one bin, one behind the other
    {
        MemBlock second = bins[1].m_MemBlocks[0];
        second.m_Offset = bins[0].m_MemSize;
        bins[0].m_MemBlocks.push_back(second);
        bins[0].m_MemSize += bins[1].m_MemSize;
        bins.pop_back();
    };
    StrategyValidator validator(strategy);
    EXPECT_EQ(validator.GetName(), "Wrong");
    std::vector<MemBlock> blocks{{0, 1, 64, 0, 0}, {1, 2, 64, 0, 1}};
    EXPECT_THAT(MessageOf<MemoryValidationException>([&] { validator.Optimize(blocks); }),
                HasSubstr("blocks 0 and 1, which are alive at once, are in one bin"));
    strategy->m_Type = MemBlockStrategyType::MultiAxisPacking;
    EXPECT_EQ(validator.Optimize(blocks).size(), 1u);
    std::vector<MemBlock> misnamed{{0, 1, 64, 0, 5}};
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { validator.Optimize(misnamed); }), HasSubstr("index 5"));
}

TEST(CustomAllocator, RegionsAreNotKnownByDefault)
{
    TestAllocator allocator;
    char buffer[8];
    EXPECT_THAT(MessageOf<UnimplementedException>([&] { allocator.GetMemoryRegionAtOffset(buffer, 4); }),
                HasSubstr("GetMemoryRegionAtOffset"));
}

TEST(Import, DevicesUseTheCallersMemoryWithoutCopies)
{
    const auto device = std::make_shared<DeviceBackend>(ImportingDevice({LayerType::Floor}));
    IRuntime::CreationOptions options;
    options.m_Backends = {device};
    const IRuntimePtr runtime = IRuntime::Create(options);
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(AddInput(*network, 0, FloatInfo({4})), floor);
    Connect(floor, network->AddOutputLayer(0));
    const NetworkId id = Load(*runtime, *network, {"Device"});
    alignas(64) float input[4] = {1.5f, 2.5f, 3.5f, 4.5f};
    alignas(64) float output[4] = {};
    const ConstTensor in(TensorInfo({4}, DataType::Float32, 0.0f, 0, true), input);
    const Tensor out(FloatInfo({4}), output);
    const auto inputs = runtime->ImportInputs(id, {{0, in}}, MemorySource::Malloc);
    const auto outputs = runtime->ImportOutputs(id, {{0, out}}, MemorySource::Malloc);
    EXPECT_EQ(device->Counts().m_Imports, 2);
    for (int run = 0; run < 3; ++run)
    {
        input[0] = static_cast<float>(run) + 0.5f;
        runtime->EnqueueWorkload(id, {}, {}, inputs, outputs);
        EXPECT_THAT(output, ElementsAre(static_cast<float>(run), 2, 3, 4));
    }
    EXPECT_EQ(device->Counts().m_Imports, 2) << "once, not for each run";
    EXPECT_EQ(device->Counts().m_Writes, 0);
    EXPECT_EQ(device->Counts().m_Reads, 0);
    // Given plainly, the same memory is imported for the run, and the output is copied.
    runtime->EnqueueWorkload(id, {{0, in}}, OutputTensors{{0, out}});
    EXPECT_EQ(device->Counts().m_Imports, 3);
    EXPECT_EQ(device->Counts().m_Reads, 1);
    const int blocks = device->Counts().m_LiveBlocks;
    runtime->ClearImportedInputs(id, inputs);
    EXPECT_EQ(device->Counts().m_LiveBlocks, blocks - 1) << "the device lets go of it at once";
    runtime->UnloadNetwork(id);
    EXPECT_EQ(device->Counts().m_LiveBlocks, 0) << "imports end with the network";
}

TEST(Import, WhatCannotBeForcedIsLeftOutWithAWarning)
{
    const auto open = std::make_shared<DeviceBackend>(ImportingDevice({LayerType::Floor}));
    DeviceOptions plain;
    plain.m_Id = "Closed";
    plain.m_Memory = "ClosedMemory";
    plain.m_Takes = {LayerType::Floor};
    const auto closed = std::make_shared<DeviceBackend>(plain);
    IRuntime::CreationOptions options;
    options.m_Backends = {open, closed};
    const IRuntimePtr runtime = IRuntime::Create(options);
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(AddInput(*network, 0, FloatInfo({4})), floor);
    Connect(floor, network->AddOutputLayer(0));
    alignas(64) float memory[8] = {1.5f, 2.5f, 3.5f, 4.5f, 5.5f};
    // The reasons why an input and an output in that memory are not imported.
    const auto import = [&](NetworkId id, float* at, MemorySource source)
    {
        const WarningRecorder warnings;
        const size_t count =
            runtime->ImportInputs(id, {{0, ConstTensor(TensorInfo({4}, DataType::Float32, 0.0f, 0, true), at)}}, source)
                .size() +
            runtime->ImportOutputs(id, {{0, Tensor(FloatInfo({4}), at)}}, source).size();
        EXPECT_EQ(count, 2 - warnings.Get().size());
        return warnings.Get();
    };
    const NetworkId onOpen = Load(*runtime, *network, {"Device"});
    EXPECT_THAT(import(onOpen, memory + 1, MemorySource::Malloc),
                ElementsAre(AllOf(HasSubstr("input 0"), HasSubstr("DeviceMemory"), HasSubstr("cannot use")),
                            HasSubstr("output 0")));
    EXPECT_THAT(import(onOpen, memory + 1, MemorySource::Undefined), ElementsAre());
    EXPECT_THAT(import(onOpen, memory, MemorySource::DmaBuf),
                ElementsAre(AllOf(HasSubstr("input 0"), HasSubstr("DmaBuf")), HasSubstr("output 0")));
    const NetworkId onClosed = Load(*runtime, *network, {"Closed"});
    EXPECT_THAT(import(onClosed, memory, MemorySource::Malloc),
                ElementsAre(AllOf(HasSubstr("ClosedMemory"), HasSubstr("imports no memory of source Malloc")),
                            HasSubstr("output 0")));
    const NetworkId onHost = Load(*runtime, *network, {"CpuRef"});
    float* const odd = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(memory) + 2);
    EXPECT_THAT(import(onHost, odd, MemorySource::Malloc),
                ElementsAre(HasSubstr("multiple of 4"), HasSubstr("multiple of 16")));
    EXPECT_THAT(import(onHost, memory, MemorySource::Malloc), ElementsAre());

    // What was not imported after all is copied.
    const auto inputs = runtime->ImportInputs(
        onOpen, {{0, ConstTensor(TensorInfo({4}, DataType::Float32, 0.0f, 0, true), memory + 1)}});
    Floats results(4);
    runtime->EnqueueWorkload(onOpen, {}, {{0, Tensor(FloatInfo({4}), results.data())}}, inputs);
    EXPECT_EQ(results, (Floats{2, 3, 4, 5}));
}

namespace
{

/// A backend of which each call of a hook is written down.
class ContextBackend final : public IBackend
{
public:
    using Log = std::shared_ptr<std::vector<std::string>>;
    explicit ContextBackend(Log log, std::string failing = "") : m_Log(std::move(log)), m_Failing(std::move(failing)) {}
    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return m_Reference->GetLayerSupport(options);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        m_Log->push_back("factory");
        return std::make_unique<Factory>(m_Id, m_Reference->CreateWorkloadFactory(options));
    }
    std::unique_ptr<IBackendContext> CreateBackendContext(const IRuntime::CreationOptions&) const override
    {
        return std::make_unique<Context>(m_Log, m_Failing);
    }

private:
    class Factory final : public IWorkloadFactory
    {
    public:
        Factory(BackendId id, std::unique_ptr<IWorkloadFactory> inner) : m_Id(std::move(id)), m_Inner(std::move(inner))
        {
        }
        const BackendId& GetBackendId() const override { return m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            return m_Inner->CreateWorkload(layer);
        }

    private:
        BackendId m_Id;
        std::unique_ptr<IWorkloadFactory> m_Inner;
    };

    class Context final : public IBackendContext
    {
    public:
        Context(Log log, std::string failing) : m_Log(std::move(log)), m_Failing(std::move(failing)) {}
        ~Context() override { m_Log->push_back("gone"); }
        void BeforeLoadNetwork(NetworkId) override { Call("before load"); }
        void AfterLoadNetwork(NetworkId) noexcept override { Call("after load"); }
        void BeforeEnqueueWorkload(NetworkId) override { Call("before run"); }
        void AfterEnqueueWorkload(NetworkId) override { Call("after run"); }
        void BeforeUnloadNetwork(NetworkId) noexcept override { Call("before unload"); }
        void AfterUnloadNetwork(NetworkId) noexcept override { Call("after unload"); }

    private:
        void Call(const std::string& what) const
        {
            m_Log->push_back(what);
            if (what == m_Failing)
            {
                throw std::runtime_error("no " + what);
            }
        }

        Log m_Log;
        std::string m_Failing;
    };

    BackendId m_Id{"Hooked"};
    Log m_Log;
    std::string m_Failing;
    std::shared_ptr<const IBackend> m_Reference = ref::MakeCpuRefBackend();
};

IRuntimePtr MakeHooked(const ContextBackend::Log& log, const std::string& failing = "")
{
    IRuntime::CreationOptions options;
    options.m_Backends = {std::make_shared<ContextBackend>(log, failing)};
    return IRuntime::Create(options);
}

} // namespace

TEST(BackendContext, HooksStandAroundLoadsAndRuns)
{
    const auto log = std::make_shared<std::vector<std::string>>();
    {
        const IRuntimePtr runtime = MakeHooked(log);
        RunFloat(*runtime, Load(*runtime, *MakeChain(1, FloatInfo({2})), {"CpuRef"}), {2}, {1, 2});
        EXPECT_TRUE(log->empty()) << "a network without layers on the backend";
        const NetworkId id = Load(*runtime, *MakeChain(1, FloatInfo({2})), {"Hooked"});
        RunFloat(*runtime, id, {2}, {1, 2});
        runtime->UnloadNetwork(id);
        EXPECT_THAT(*log, ElementsAre("before load", "factory", "after load", "before run", "after run",
                                      "before unload", "after unload"));
        log->clear();
        Load(*runtime, *MakeChain(1, FloatInfo({2})), {"Hooked"});
        log->clear();
    }
    EXPECT_THAT(*log, ElementsAre("before unload", "after unload", "gone")) << "at the end of the runtime";
}

TEST(BackendContext, HooksAreCalledForLayersInNestedNetworks)
{
    const auto log = std::make_shared<std::vector<std::string>>();
    const IRuntimePtr runtime = MakeHooked(log);
    const INetworkPtr branch = MakeChain(1, FloatInfo({2}));
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* choice = network->AddIfLayer(*branch, *branch, "choice");
    Connect(AddInput(*network, 0, TensorInfo({1}, DataType::Boolean), "condition"), choice, 0);
    Connect(AddInput(*network, 1, FloatInfo({2}), "values"), choice, 1);
    Connect(choice, network->AddOutputLayer(0));
    Load(*runtime, *network, {"Hooked"});
    EXPECT_THAT(*log, testing::Contains("after load"));
}

TEST(BackendContext, WhatHooksThrowEndsTheCall)
{
    for (const std::string failing : {"before load", "before run", "after run"})
    {
        const auto log = std::make_shared<std::vector<std::string>>();
        const IRuntimePtr runtime = MakeHooked(log, failing);
        const auto text = MessageOf<RuntimeException>(
            [&]
            {
                const NetworkId id = Load(*runtime, *MakeChain(1, FloatInfo({2})), {"Hooked"});
                RunFloat(*runtime, id, {2}, {1, 2});
            });
        EXPECT_THAT(text, HasSubstr("no " + failing));
        EXPECT_EQ(log->back(), failing);
    }
}

TEST(BackendContext, ALoadThatFailsIsFollowedByTheUnloadHooks)
{
    const auto log = std::make_shared<std::vector<std::string>>();
    IRuntime::CreationOptions options;
    options.m_Backends = {std::make_shared<ContextBackend>(log)};
    options.m_Limits.m_MaxTotalBytes = 1000;
    const IRuntimePtr runtime = IRuntime::Create(options);
    EXPECT_THROW(Load(*runtime, *MakeSoftmaxes(FloatInfo({1, 4000})), {"Hooked"}), MemoryValidationException);
    EXPECT_THAT(*log, ElementsAre("before load", "factory", "before unload", "after unload"));
}

} // namespace tenon::test::memory_options_test
