// SPDX-License-Identifier: Apache-2.0
// Optimize + LoadNetwork of chains, of diamonds, of graphs full of permutes and reshapes that cancel, and of joins that
// CpuAcc has written in place: nanoseconds per layer, which must not grow with the length. Beside chains, in the same
// run, Arm NN where it is installed.
#include <tenon/Tenon.hpp>

#include <benchmark/benchmark.h>

#include <vector>

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

/// Makes networks of one shape, layer by layer.
class Builder
{
public:
    Builder() : m_Info({1, 2, 4, 2}, DataType::Float32), m_Network(INetwork::Create())
    {
        m_Last = m_Network->AddInputLayer(0, "input");
        m_Last->GetOutputSlot(0).SetTensorInfo(m_Info);
    }

    INetwork& Network() { return *m_Network; }
    IConnectableLayer* Last() const { return m_Last; }
    /// Connects a new layer behind another; it is the last one then.
    IConnectableLayer* Append(IConnectableLayer* layer, IConnectableLayer* after)
    {
        after->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        m_Last = layer;
        return layer;
    }
    INetworkPtr Finish()
    {
        m_Last->GetOutputSlot(0).Connect(m_Network->AddOutputLayer(0, "output")->GetInputSlot(0));
        return std::move(m_Network);
    }

private:
    TensorInfo m_Info;
    INetworkPtr m_Network;
    IConnectableLayer* m_Last = nullptr;
};

/// abs and neg of one tensor, added, again and again.
INetworkPtr MakeDiamonds(unsigned int numLayers)
{
    Builder builder;
    for (unsigned int i = 0; i < numLayers; i += 3)
    {
        IConnectableLayer* top = builder.Last();
        const auto unary = [&](UnaryOperation operation)
        {
            return builder.Append(
                builder.Network().AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation), "side"), top);
        };
        IConnectableLayer* left = unary(UnaryOperation::Abs);
        IConnectableLayer* right = unary(UnaryOperation::Neg);
        IConnectableLayer* sum = builder.Append(
            builder.Network().AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum"),
            left);
        right->GetOutputSlot(0).Connect(sum->GetInputSlot(1));
    }
    return builder.Finish();
}

/// Permutes and reshapes that cancel, each pair with a layer in between.
INetworkPtr MakeFoldable(unsigned int numLayers)
{
    Builder builder;
    for (unsigned int i = 0; i < numLayers; i += 6)
    {
        INetwork& network = builder.Network();
        const auto append = [&](IConnectableLayer* layer) { builder.Append(layer, builder.Last()); };
        append(network.AddPermuteLayer(PermuteDescriptor({0, 3, 1, 2}), "to NCHW"));
        append(network.AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu, 1.0f, 1.0f), "relu"));
        append(network.AddPermuteLayer(PermuteDescriptor({0, 2, 3, 1}), "to NHWC"));
        append(network.AddReshapeLayer(ReshapeDescriptor({4, 4}), "flat"));
        append(network.AddReshapeLayer(ReshapeDescriptor({1, 2, 4, 2}), "back"));
        append(network.AddActivationLayer(ActivationDescriptor(ActivationFunction::TanH, 1.0f, 1.0f), "tanh"));
    }
    return builder.Finish();
}

IConnectableLayer* AddPool(Builder& builder, PoolingAlgorithm algorithm, IConnectableLayer* after)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = algorithm;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PoolHeight = descriptor.m_PoolWidth = 3;
    descriptor.m_PadLeft = descriptor.m_PadRight = descriptor.m_PadTop = descriptor.m_PadBottom = 1;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    return builder.Append(builder.Network().AddPooling2dLayer(descriptor, "pool"), after);
}

/// Joins layers along their channels, and keeps two of these.
void AddJoin(Builder& builder, const std::vector<IConnectableLayer*>& layers)
{
    OriginsDescriptor channels(static_cast<uint32_t>(layers.size()), 4);
    channels.SetConcatAxis(3);
    IConnectableLayer* const join = builder.Network().AddConcatLayer(channels, "join");
    for (unsigned int i = 0; i < layers.size(); ++i)
    {
        layers[i]->GetOutputSlot(0).Connect(join->GetInputSlot(i));
    }
    builder.Append(builder.Network().AddSliceLayer(SliceDescriptor({0, 0, 0, 0}, {1, 2, 4, 2}), "slice"), join);
}

/// Two pools of one tensor, which CpuAcc writes into what joins them, again and again.
INetworkPtr MakeJoins(unsigned int numLayers)
{
    Builder builder;
    for (unsigned int i = 0; i < numLayers; i += 4)
    {
        IConnectableLayer* const top = builder.Last();
        IConnectableLayer* const average = AddPool(builder, PoolingAlgorithm::Average, top);
        AddJoin(builder, {average, AddPool(builder, PoolingAlgorithm::Max, top)});
    }
    return builder.Finish();
}

/// Pools of layers that all differ, joined by one.
INetworkPtr MakeWideJoin(unsigned int numLayers)
{
    Builder builder;
    IConnectableLayer* const top = builder.Last();
    std::vector<IConnectableLayer*> pools;
    for (unsigned int i = 0; i + 2 < numLayers; i += 2)
    {
        const ActivationDescriptor scale(ActivationFunction::Linear, 1.0f + static_cast<float>(i), 0.0f);
        IConnectableLayer* const scaled = builder.Append(builder.Network().AddActivationLayer(scale, "scale"), top);
        pools.push_back(AddPool(builder, PoolingAlgorithm::Average, scaled));
    }
    AddJoin(builder, pools);
    return builder.Finish();
}

void ReportPerLayer(benchmark::State& state)
{
    state.counters["per_layer"] =
        benchmark::Counter(static_cast<double>(state.range(0)),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Lengths(benchmark::internal::Benchmark* bench)
{
    for (const int64_t length : {1000, 4000, 10000, 64000, 100000})
    {
        bench->Arg(length);
    }
    bench->Unit(benchmark::kMillisecond);
}

void OptimizeAndLoad(benchmark::State& state, const INetworkPtr& network, const BackendId& backend = "CpuRef")
{
    const IRuntimePtr runtime = IRuntime::Create({});
    for (auto _ : state)
    {
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(*network, {backend}, runtime->GetDeviceSpec()));
        state.PauseTiming();
        runtime->UnloadNetwork(id);
        state.ResumeTiming();
    }
    ReportPerLayer(state);
}

void TenonChain(benchmark::State& state)
{
    OptimizeAndLoad(state, MakeChain(static_cast<unsigned int>(state.range(0))));
}
BENCHMARK(TenonChain)->Apply(Lengths);

void TenonDiamonds(benchmark::State& state)
{
    OptimizeAndLoad(state, MakeDiamonds(static_cast<unsigned int>(state.range(0))));
}
BENCHMARK(TenonDiamonds)->Apply(Lengths);

void TenonFoldable(benchmark::State& state)
{
    OptimizeAndLoad(state, MakeFoldable(static_cast<unsigned int>(state.range(0))));
}
BENCHMARK(TenonFoldable)->Apply(Lengths);

void TenonJoins(benchmark::State& state)
{
    OptimizeAndLoad(state, MakeJoins(static_cast<unsigned int>(state.range(0))), "CpuAcc");
}
BENCHMARK(TenonJoins)->Apply(Lengths);

void TenonWideJoin(benchmark::State& state)
{
    OptimizeAndLoad(state, MakeWideJoin(static_cast<unsigned int>(state.range(0))), "CpuAcc");
}
BENCHMARK(TenonWideJoin)->Apply(Lengths);

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
BENCHMARK(ArmnnPeerChain)->Apply(Lengths);
#endif

} // namespace

} // namespace tenon::bench

BENCHMARK_MAIN();
