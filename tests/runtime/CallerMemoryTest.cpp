// SPDX-License-Identifier: Apache-2.0
// Memory that the caller gives for outputs: any alignment, over inputs, for nothing at all; and from allocators.
#include "harness/Networks.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace tenon::test::caller_memory_test
{

namespace
{

/// Runs a network of one float input and output with memory for the output at `where`.
void RunInto(IRuntime& runtime, NetworkId id, const TensorShape& shape, const float* input, void* where)
{
    const TensorInfo info(shape, DataType::Float32, 0.0f, 0, true);
    runtime.EnqueueWorkload(id, {{0, ConstTensor(info, input)}},
                            [&](LayerBindingId, const TensorInfo&) { return where; });
}

} // namespace

TEST(CallerMemory, AllocatorIsAskedOnceForAnEmptyOutputToo)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeChain(2, FloatInfo({3})));
    for (void* memory : {static_cast<void*>(nullptr), static_cast<void*>(runtime.get())})
    {
        int calls = 0;
        const TensorInfo info({0}, DataType::Float32, 0.0f, 0, true);
        runtime->EnqueueWorkload(id, {{0, ConstTensor(info, static_cast<const void*>(nullptr))}},
                                 [&](LayerBindingId, const TensorInfo& given)
                                 {
                                     ++calls;
                                     EXPECT_EQ(given.GetNumBytes(), 0u);
                                     return memory;
                                 });
        EXPECT_EQ(calls, 1);
    }
}

TEST(CallerMemory, AllocatorMayGiveAnOddAddress)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeChain(1, FloatInfo({3})));
    // Abs writes where it is told to; a kernel that got the odd address would store floats there.
    bool aligned = true;
    const NetworkId debugged =
        Load(*runtime, *MakeChain(1, FloatInfo({3})), {"CpuRef"}, OptimizerOptionsOpaque(false, true));
    runtime->RegisterDebugCallback(debugged, [&](LayerGuid, unsigned int, ITensorHandle* tensor)
                                   { aligned = reinterpret_cast<uintptr_t>(tensor->Map()) % alignof(float) == 0; });
    const std::vector<float> input{-1, 2, -3};
    std::vector<std::byte> bytes(16);
    for (const NetworkId network : {id, debugged})
    {
        RunInto(*runtime, network, {3}, input.data(), bytes.data() + 1);
        std::vector<float> result(3);
        std::memcpy(result.data(), bytes.data() + 1, 12);
        EXPECT_EQ(result, (std::vector<float>{1, 2, 3}));
    }
    EXPECT_TRUE(aligned);
}

TEST(CallerMemory, AllocatorMayGiveTheInput)
{
    // out = in + reversed-by-transpose(in): an output that were written early would change what is read late.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2, 2}));
    IConnectableLayer* floor = network->AddFloorLayer();
    IConnectableLayer* transpose = network->AddTransposeLayer(TransposeDescriptor({1, 0}));
    Connect(input, floor);
    Connect(input, transpose);
    Connect(floor, network->AddOutputLayer(0));
    Connect(transpose, network->AddOutputLayer(1));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    alignas(64) float memory[] = {1.5f, 2.5f, 3.5f, 4.5f};
    std::vector<float> turned(4);
    const TensorInfo info({2, 2}, DataType::Float32, 0.0f, 0, true);
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, memory)}},
                             [&](LayerBindingId output, const TensorInfo&) -> void*
                             { return output == 0 ? memory : turned.data(); });
    EXPECT_EQ(turned, (std::vector<float>{1.5f, 3.5f, 2.5f, 4.5f}));
    EXPECT_EQ(std::vector<float>(memory, memory + 4), (std::vector<float>{1, 2, 3, 4}));
}

TEST(CallerMemory, ManyInputsAndOutputsOverlapInAnyOrder)
{
    // Output i lies over input n - 1 - i.
    constexpr LayerBindingId n = 9;
    INetworkPtr network = INetwork::Create();
    for (LayerBindingId i = 0; i < n; ++i)
    {
        IConnectableLayer* floor = network->AddFloorLayer();
        Connect(AddInput(*network, i, FloatInfo({4})), floor);
        Connect(floor, network->AddOutputLayer(i));
    }
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    alignas(64) float memory[n * 4];
    InputTensors inputs;
    OutputTensors outputs;
    const TensorInfo info({4}, DataType::Float32, 0.0f, 0, true);
    for (LayerBindingId i = 0; i < n; ++i)
    {
        std::fill_n(memory + i * 4, 4, static_cast<float>(i) + 0.5f);
        inputs.push_back({i, ConstTensor(info, memory + i * 4)});
        outputs.push_back({i, Tensor(info, memory + (n - 1 - i) * 4)});
    }
    runtime->EnqueueWorkload(id, inputs, outputs);
    for (LayerBindingId i = 0; i < n; ++i)
    {
        EXPECT_EQ(memory[(n - 1 - i) * 4], static_cast<float>(i)) << i;
    }
}

} // namespace tenon::test::caller_memory_test
