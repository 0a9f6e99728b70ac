// SPDX-License-Identifier: Apache-2.0
// What backends and custom operators may do wrong, and what unloading waits for: errors get their context, outputs that
// are shaped by the execution are checked, memory that is asked for late counts against the limits.
#include "harness/HookBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"

#include <tenon/backend/ICustomOperator.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <stdexcept>
#include <thread>

namespace tenon::test::backend_fault_test
{

using testing::AllOf;
using testing::HasSubstr;

namespace
{

IRuntimePtr MakeRuntime(Hooks hooks, const Limits& limits = {})
{
    IRuntime::CreationOptions options;
    options.m_Backends = {std::make_shared<HookBackend>(std::move(hooks))};
    options.m_Limits = limits;
    return IRuntime::Create(options);
}

/// out = reshape(in, shape operand), both given at run time, then reshaped again and through Abs.
INetworkPtr MakeDataDependentNetwork(unsigned int views, unsigned int elements)
{
    INetworkPtr network = INetwork::Create();
    ReshapeDescriptor late;
    late.m_ParametersAsInputs = true;
    IConnectableLayer* last = network->AddReshapeLayer(late, "reshape");
    Connect(AddInput(*network, 0, FloatInfo({elements})), last, 0);
    Connect(AddInput(*network, 1, TensorInfo({2}, DataType::Signed32), "shape"), last, 1);
    for (unsigned int i = 0; i < views; ++i)
    {
        IConnectableLayer* view = network->AddReshapeLayer(ReshapeDescriptor({elements}), "view");
        Connect(last, view);
        last = view;
    }
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(last, abs);
    Connect(abs, network->AddOutputLayer(0, "out"));
    return network;
}

std::vector<float> RunDataDependent(IRuntime& runtime, NetworkId id, unsigned int elements)
{
    const std::vector<float> input = Ramp(elements, -1.0f, -1.0f);
    const std::vector<int32_t> target{2, -1};
    std::vector<float> result(elements);
    runtime.EnqueueWorkload(id,
                            {{0, ConstTensor(TensorInfo({elements}, DataType::Float32, 0.0f, 0, true), input.data())},
                             {1, ConstTensor(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), target.data())}},
                            [&](LayerBindingId, const TensorInfo&) { return result.data(); });
    return result;
}

/// A custom operator whose kernel is a function of the test's own.
class DataDependentOperator final : public ICustomOperator, public std::enable_shared_from_this<DataDependentOperator>
{
public:
    using Kernel = std::function<void(const ExecuteArgs&)>;
    explicit DataDependentOperator(Kernel kernel) : m_Kernel(std::move(kernel)) {}

    const char* GetName() const override { return "late"; }
    std::vector<TensorShape> InferOutputShapes(const CustomShapeArgs&) const override
    {
        return std::vector<TensorShape>(2);
    }
    bool HasLateOutputs() const override { return true; }
    SupportResult IsSupported(const LayerView&) const override { return SupportResult::Yes(); }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView&) const override
    {
        return std::make_unique<Workload>(m_Kernel);
    }

private:
    struct Shaped final : IShapedWorkload
    {
        explicit Shaped(Kernel kernel) : m_Kernel(std::move(kernel)) {}
        void Execute(const ExecuteArgs& args) const override { m_Kernel(args); }
        Kernel m_Kernel;
    };
    struct Workload final : IWorkload
    {
        explicit Workload(Kernel kernel) : m_Kernel(std::move(kernel)) {}
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs&) const override
        {
            return std::make_unique<Shaped>(m_Kernel);
        }
        const char* GetName() const override { return "Late"; }
        Kernel m_Kernel;
    };

    Kernel m_Kernel;
};

std::string RunDataDependentOperator(DataDependentOperator::Kernel kernel)
{
    CustomDescriptor descriptor;
    descriptor.m_Name = "late";
    descriptor.m_NumInputs = 1;
    descriptor.m_NumOutputs = 2;
    descriptor.m_Operator = std::make_shared<DataDependentOperator>(std::move(kernel));
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = network->AddCustomLayer(descriptor, "mine");
    Connect(AddInput(*network, 0, FloatInfo({1})), layer);
    for (unsigned int i : {0u, 1u})
    {
        layer->GetOutputSlot(i).SetTensorInfo(TensorInfo(TensorShape(), DataType::Float32));
        Connect(layer, network->AddOutputLayer(static_cast<LayerBindingId>(i)), 0, i);
    }
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    const float one = 1.0f;
    std::vector<std::vector<float>> results(2);
    const auto run = [&]
    {
        runtime->EnqueueWorkload(id, {{0, ConstTensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), &one)}},
                                 [&](LayerBindingId output, const TensorInfo& info) -> void*
                                 {
                                     results[static_cast<size_t>(output)].resize(info.GetNumElements());
                                     return results[static_cast<size_t>(output)].data();
                                 });
    };
    return MessageOf<RuntimeException>(run);
}

} // namespace

TEST(BackendFault, ForeignExceptionsGetTheirContext)
{
    const INetworkPtr network = MakeChain(1, FloatInfo({2}));
    const auto load = [&](IRuntime& runtime) { return Load(runtime, *network, {"Hook"}); };
    {
        const IRuntimePtr runtime = MakeRuntime({[](const LayerView&) { throw std::logic_error("no!"); }});
        EXPECT_THAT(MessageOf<RuntimeException>([&] { load(*runtime); }),
                    AllOf(HasSubstr("making the workload of layer 1 'abs'"), HasSubstr("on Hook: no!")));
    }
    {
        const IRuntimePtr runtime = MakeRuntime({{}, [](const ReshapeArgs&) { throw std::bad_alloc(); }});
        EXPECT_THAT(MessageOf<MemoryValidationException>([&] { load(*runtime); }),
                    AllOf(HasSubstr("preparing layer 1 'abs'"), HasSubstr("not enough memory")));
        NetworkId id = 0;
        std::string text;
        EXPECT_EQ(runtime->LoadNetwork(id, Optimize(*network, {"Hook"}, runtime->GetDeviceSpec()), text),
                  Status::Failure);
        EXPECT_THAT(text, HasSubstr("loading the network: preparing layer 1 'abs'"));
    }
    {
        const IRuntimePtr runtime = MakeRuntime({{}, {}, [](const ExecuteArgs&) { throw 7; }});
        const NetworkId id = load(*runtime);
        EXPECT_THAT(MessageOf<RuntimeException>(
                        [&] {
                            RunFloat(*runtime, id, {2}, {1, 2});
                        }),
                    HasSubstr("running layer 1 'abs'"));
    }
}

TEST(BackendFault, LateOutputsAreChecked)
{
    const TensorShape shape({1});
    EXPECT_EQ(RunDataDependentOperator(
                  [&](const ExecuteArgs& args)
                  {
                      *static_cast<float*>(args.m_LateOutputs->Allocate(1, shape)) = 1.0f;
                      *static_cast<float*>(args.m_LateOutputs->Allocate(0, shape)) = 1.0f;
                  }),
              "no exception");
    EXPECT_THAT(RunDataDependentOperator([&](const ExecuteArgs& args) { args.m_LateOutputs->Allocate(2, shape); }),
                AllOf(HasSubstr("'mine'"), HasSubstr("output 2, but there are 2")));
    EXPECT_THAT(RunDataDependentOperator(
                    [&](const ExecuteArgs& args)
                    {
                        args.m_LateOutputs->Allocate(0, shape);
                        args.m_LateOutputs->Allocate(0, shape);
                    }),
                HasSubstr("output 0 twice"));
    EXPECT_THAT(RunDataDependentOperator([&](const ExecuteArgs& args) { args.m_LateOutputs->Allocate(1, shape); }),
                HasSubstr("gave output 0 no shape"));
    EXPECT_THAT(RunDataDependentOperator([&](const ExecuteArgs& args)
                                         { args.m_LateOutputs->Allocate(0, TensorShape(2, false)); }),
                HasSubstr("not fully known"));
}

TEST(BackendFault, ScratchOfLateStepsCounts)
{
    Hooks hooks;
    hooks.m_ScratchBytes = 1 << 20;
    Limits limits;
    limits.m_MaxTotalBytes = (1 << 20) - 1;
    const IRuntimePtr tight = MakeRuntime(hooks, limits);
    const NetworkId id = Load(*tight, *MakeDataDependentNetwork(0, 4), {"Hook"});
    EXPECT_THROW(RunDataDependent(*tight, id, 4), MemoryValidationException);
    limits.m_MaxTotalBytes = (1 << 20) + 64; // each step has it to itself
    const IRuntimePtr enough = MakeRuntime(hooks, limits);
    EXPECT_EQ(RunDataDependent(*enough, Load(*enough, *MakeDataDependentNetwork(3, 4), {"Hook"}), 4), Ramp(4, 1.0f));
}

TEST(BackendFault, LateViewsTakeNoMemory)
{
    // Room for the result of Abs alone: the views before it are of the caller's memory.
    Limits limits;
    limits.m_MaxTotalBytes = 4000;
    const IRuntimePtr runtime = MakeRuntime({}, limits);
    EXPECT_EQ(RunDataDependent(*runtime, Load(*runtime, *MakeDataDependentNetwork(5, 1000), {"Hook"}), 1000),
              Ramp(1000, 1.0f));
}

TEST(Unload, WaitsForARunInAnyOfItsStages)
{
    enum class Stage
    {
        Reshape,
        Execute
    };
    for (const Stage stage : {Stage::Reshape, Stage::Execute})
    {
        std::promise<void> entered;
        std::promise<void> released;
        std::shared_future<void> release = released.get_future().share();
        std::atomic<bool> armed{false};
        const auto hold = [&]
        {
            if (armed.exchange(false))
            {
                entered.set_value();
                release.wait();
            }
        };
        Hooks hooks;
        hooks.m_OnReshape = [&](const ReshapeArgs&)
        {
            if (stage == Stage::Reshape)
            {
                hold();
            }
        };
        hooks.m_OnExecute = [&](const ExecuteArgs&)
        {
            if (stage == Stage::Execute)
            {
                hold();
            }
        };
        const IRuntimePtr runtime = MakeRuntime(hooks);
        const NetworkId id = Load(*runtime, *MakeChain(1, FloatInfo({2})), {"Hook"});
        armed = true;
        // Another shape than it was loaded with, so that the run reshapes; an odd address, so that it copies at its
        // end.
        const std::vector<float> input{-1, 2, -3};
        std::vector<std::byte> output(16);
        std::thread runner(
            [&]
            {
                runtime->EnqueueWorkload(
                    id, {{0, ConstTensor(TensorInfo({3}, DataType::Float32, 0.0f, 0, true), input.data())}},
                    OutputTensors{{0, Tensor(FloatInfo({3}), output.data() + 1)}});
            });
        entered.get_future().wait();
        std::atomic<bool> unloaded{false};
        std::vector<float> seen(3);
        std::thread unloader(
            [&]
            {
                runtime->UnloadNetwork(id);
                unloaded = true;
                std::memcpy(seen.data(), output.data() + 1, 12);
            });
        // Not before the network is gone for others does unloading begin to wait.
        while (true)
        {
            try
            {
                runtime->GetStatistics(id);
                std::this_thread::yield();
            }
            catch (const InvalidArgumentException&)
            {
                break;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_FALSE(unloaded) << "while a run was in stage " << static_cast<int>(stage);
        released.set_value();
        unloader.join();
        runner.join();
        EXPECT_EQ(seen, (std::vector<float>{1, 2, 3})) << "all that the run writes must be there by then";
    }
}

TEST(Runtime, RefusesPropertiesThatItCannotHonour)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeChain(1, FloatInfo({2}));
    const auto load = [&](const INetworkProperties& properties)
    {
        NetworkId id = 0;
        std::string text;
        const auto status =
            runtime->LoadNetwork(id, Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()), text, properties);
        EXPECT_EQ(text.empty(), status == Status::Success);
        return status;
    };
    EXPECT_EQ(load({MemorySource::Malloc, MemorySource::Undefined}), Status::Success);
    EXPECT_EQ(load({MemorySource::DmaBuf, MemorySource::Undefined}), Status::Failure);
    EXPECT_EQ(load({MemorySource::Undefined, MemorySource::DmaBuf}), Status::Failure);
}

} // namespace tenon::test::backend_fault_test
