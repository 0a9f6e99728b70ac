// SPDX-License-Identifier: Apache-2.0
// Optimize + LoadNetwork of chains of elementwise layers: nanoseconds per layer, which must not grow with the length.
// Beside it, in the same run, Arm NN where it is installed.
#include <tenon/Tenon.hpp>

#include <benchmark/benchmark.h>

#ifdef TENON_BENCH_ARMNN
#include "ArmnnPeer.hpp"
#endif

namespace tenon::bench
{

namespace
{

INetworkPtr MakeChain(unsigned int length)
{
    ActivationDescriptor descriptor(ActivationFunction::ReLu);
    const TensorInfo info({1, 16}, DataType::Float32);
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = network->AddInputLayer(0, "input");
    last->GetOutputSlot(0).SetTensorInfo(info);
    for (unsigned int i = 0; i < length; ++i)
    {
        IConnectableLayer* layer = network->AddActivationLayer(descriptor, "relu");
        last->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        layer->GetOutputSlot(0).SetTensorInfo(info);
        last = layer;
    }
    last->GetOutputSlot(0).Connect(network->AddOutputLayer(0, "output")->GetInputSlot(0));
    return network;
}

void ReportPerLayer(benchmark::State& state)
{
    state.counters["per_layer"] =
        benchmark::Counter(static_cast<double>(state.range(0)),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void TenonChain(benchmark::State& state)
{
    const INetworkPtr network = MakeChain(static_cast<unsigned int>(state.range(0)));
    const IRuntimePtr runtime = IRuntime::Create({});
    for (auto _ : state)
    {
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()));
        state.PauseTiming();
        runtime->UnloadNetwork(id);
        state.ResumeTiming();
    }
    ReportPerLayer(state);
}
BENCHMARK(TenonChain)->Arg(4000)->Arg(16000)->Arg(64000)->Unit(benchmark::kMillisecond);

#ifdef TENON_BENCH_ARMNN
void ArmnnPeerChain(benchmark::State& state)
{
    ArmnnChain chain(static_cast<unsigned int>(state.range(0)));
    for (auto _ : state)
    {
        chain.Load();
        state.PauseTiming();
        chain.Unload();
        state.ResumeTiming();
    }
    ReportPerLayer(state);
}
BENCHMARK(ArmnnPeerChain)->Arg(4000)->Arg(16000)->Arg(64000)->Unit(benchmark::kMillisecond);
#endif

} // namespace

} // namespace tenon::bench

BENCHMARK_MAIN();
