// SPDX-License-Identifier: Apache-2.0
// PartitionGraph: nanoseconds per layer, which must not grow with the number of layers, for chains, diamonds, and
// networks that make the search for cycles long.
#include "optimizer/partition/PartitionGraph.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace tenon::bench
{

namespace
{

/// Layers that are added one after the other; each reads earlier ones by their number.
class NetworkMaker
{
public:
    void Add(bool isFirst, const std::vector<size_t>& inputs)
    {
        ConcatDescriptor descriptor(static_cast<uint32_t>(inputs.size()), 1);
        Layer& layer = m_Graph.AddLayer(LayerType::Concat, std::make_unique<ConcatDescriptor>(descriptor), "layer");
        layer.SetBackendId(isFirst ? "First" : "Second");
        layer.Output(0).SetTensorInfo(TensorInfo({1}, DataType::Float32));
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            m_Layers[inputs[i]]->Output(0).Connect(layer.Input(i));
        }
        m_Layers.push_back(&layer);
    }
    size_t Size() const { return m_Layers.size(); }
    Graph& GetGraph() { return m_Graph; }

private:
    Graph m_Graph;
    std::vector<Layer*> m_Layers;
};

using Build = std::function<void(NetworkMaker&, size_t)>;

void Partition(benchmark::State& state, const Build& build)
{
    const auto size = static_cast<size_t>(state.range(0));
    NetworkMaker maker;
    maker.Add(true, {});
    build(maker, size);
    unsigned int count = 0;
    for (auto _ : state)
    {
        count = PartitionGraph(maker.GetGraph());
        benchmark::DoNotOptimize(count);
    }
    state.counters["subgraphs"] = count;
    state.counters["per_layer"] = benchmark::Counter(
        static_cast<double>(maker.Size()), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Chain(NetworkMaker& maker, size_t size)
{
    while (maker.Size() < size)
    {
        maker.Add(true, {maker.Size() - 1});
    }
}

void AlternatingChain(NetworkMaker& maker, size_t size)
{
    while (maker.Size() < size)
    {
        maker.Add(maker.Size() % 2 == 0, {maker.Size() - 1});
    }
}

/// x -> (First, Second) -> First, over and over.
void Diamonds(NetworkMaker& maker, size_t size)
{
    while (maker.Size() < size)
    {
        const size_t last = maker.Size() - 1;
        maker.Add(true, {last});
        maker.Add(false, {last});
        maker.Add(true, {last + 1, last + 2});
    }
}

/// One layer that all others read, and one that reads them all.
void WideDiamond(NetworkMaker& maker, size_t size)
{
    std::vector<size_t> all;
    while (maker.Size() + 1 < size)
    {
        all.push_back(maker.Size());
        maker.Add(maker.Size() % 2 == 0, {0});
    }
    maker.Add(true, all);
}

/// Blocks of a chain that read its layers one and four blocks before.
void SkipConnections(NetworkMaker& maker, size_t size)
{
    while (maker.Size() < size)
    {
        const size_t last = maker.Size() - 1;
        maker.Add(last % 3 != 0, {last, last - std::min<size_t>(last, 5), last - std::min<size_t>(last, 20)});
    }
}

/// A chain that alternates, and beside it layers that read it and its first one: each asks for a cycle of full length.
void Heads(NetworkMaker& maker, size_t size)
{
    size_t last = 0;
    while (maker.Size() < size)
    {
        maker.Add(false, {last});
        maker.Add(true, {maker.Size() - 1});
        last = maker.Size() - 1;
        maker.Add(true, {0, last - 1});
    }
}

void Random(NetworkMaker& maker, size_t size)
{
    std::mt19937 random(1);
    while (maker.Size() < size)
    {
        const size_t reach = std::min<size_t>(maker.Size(), 1000);
        const auto pick = [&] { return maker.Size() - 1 - random() % reach; };
        maker.Add(random() % 2 == 0, {pick(), pick()});
    }
}

void Sizes(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(Partition, Chain, Chain)->Apply(Sizes);
BENCHMARK_CAPTURE(Partition, AlternatingChain, AlternatingChain)->Apply(Sizes);
BENCHMARK_CAPTURE(Partition, Diamonds, Diamonds)->Apply(Sizes);
BENCHMARK_CAPTURE(Partition, WideDiamond, WideDiamond)->Apply(Sizes);
BENCHMARK_CAPTURE(Partition, SkipConnections, SkipConnections)->Apply(Sizes);
BENCHMARK_CAPTURE(Partition, Heads, Heads)->Apply(Sizes);
BENCHMARK_CAPTURE(Partition, Random, Random)->Apply(Sizes);

} // namespace

} // namespace tenon::bench

BENCHMARK_MAIN();
