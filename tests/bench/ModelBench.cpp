// SPDX-License-Identifier: Apache-2.0
// Parse, optimize, load, first and further runs of a .tflite model. By default the bundled digit classifier;
// TENON_BENCH_MODEL names another file.
#include <tenon/Tenon.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <stdexcept>

namespace tenon::bench
{

namespace
{

std::string ModelPath()
{
    const char* path = std::getenv("TENON_BENCH_MODEL");
    return path != nullptr ? path : "samples/digits/digits_int8.tflite";
}

INetworkPtr Parse(std::vector<BindingPointInfo>& inputs)
{
    const ITfLiteParserPtr parser = ITfLiteParser::Create();
    INetworkPtr network = parser->CreateNetworkFromBinaryFile(ModelPath().c_str());
    inputs.clear();
    for (const std::string& name : parser->GetSubgraphInputTensorNames(0))
    {
        inputs.push_back(parser->GetNetworkInputBindingInfo(0, name));
    }
    return network;
}

const std::vector<BackendId>& Backends(const benchmark::State& state)
{
    static const std::vector<BackendId> reference{"CpuRef"};
    static const std::vector<BackendId> fast{"CpuAcc", "CpuRef"};
    return state.range(0) == 0 ? reference : fast;
}

/// Zeros for every input, and room for every output.
class Tensors
{
public:
    explicit Tensors(const std::vector<BindingPointInfo>& inputs)
    {
        for (const auto& [id, info] : inputs)
        {
            TensorInfo constant = info;
            constant.SetConstant();
            m_Memory.emplace_back(info.GetNumBytes());
            m_Inputs.emplace_back(id, ConstTensor(constant, m_Memory.back().data()));
        }
    }
    void Run(IRuntime& runtime, NetworkId id)
    {
        runtime.EnqueueWorkload(id, m_Inputs,
                                [&](LayerBindingId output, const TensorInfo& info)
                                {
                                    auto& memory = m_Outputs[output];
                                    memory.resize(info.GetNumBytes());
                                    return memory.data();
                                });
    }

private:
    std::vector<std::vector<std::byte>> m_Memory;
    std::map<LayerBindingId, std::vector<std::byte>> m_Outputs;
    InputTensors m_Inputs;
};

void ParseModel(benchmark::State& state)
{
    std::vector<BindingPointInfo> inputs;
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(Parse(inputs));
    }
}
BENCHMARK(ParseModel)->Unit(benchmark::kMicrosecond);

void OptimizeModel(benchmark::State& state)
{
    std::vector<BindingPointInfo> inputs;
    const INetworkPtr network = Parse(inputs);
    const IRuntimePtr runtime = IRuntime::Create({});
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(Optimize(*network, Backends(state), runtime->GetDeviceSpec()));
    }
}
BENCHMARK(OptimizeModel)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void LoadModel(benchmark::State& state)
{
    std::vector<BindingPointInfo> inputs;
    const INetworkPtr network = Parse(inputs);
    const IRuntimePtr runtime = IRuntime::Create({});
    for (auto _ : state)
    {
        state.PauseTiming();
        IOptimizedNetworkPtr optimized = Optimize(*network, Backends(state), runtime->GetDeviceSpec());
        state.ResumeTiming();
        NetworkId id = 0;
        runtime->LoadNetwork(id, std::move(optimized));
        state.PauseTiming();
        runtime->UnloadNetwork(id);
        state.ResumeTiming();
    }
}
BENCHMARK(LoadModel)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void RunModel(benchmark::State& state)
{
    std::vector<BindingPointInfo> inputs;
    const INetworkPtr network = Parse(inputs);
    const IRuntimePtr runtime = IRuntime::Create({});
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(*network, Backends(state), runtime->GetDeviceSpec()));
    Tensors tensors(inputs);
    for (auto _ : state)
    {
        tensors.Run(*runtime, id);
    }
}
BENCHMARK(RunModel)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

} // namespace

} // namespace tenon::bench

BENCHMARK_MAIN();
