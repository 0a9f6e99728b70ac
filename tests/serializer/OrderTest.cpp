// SPDX-License-Identifier: Apache-2.0
// The order of inputs and outputs: applications go by it, as ExecuteNetwork does with the files of -d. It is the one in
// which they were declared, whatever order the layers run in.
#include "Files.hpp"

#include <gmock/gmock.h>

#include <map>

namespace tenon::test::order_test
{

using testing::ElementsAre;

namespace
{

/// "first" = -a, "second" = |b|, "third" = -c - first. The layer that reads c runs on a backend of its own, before that
/// for "first", which is in one subgraph with that for "third": b, c and a are read in this order.
INetworkPtr MakeNetwork()
{
    INetworkPtr network = INetwork::Create();
    const auto add = [&](IConnectableLayer* input, UnaryOperation operation)
    {
        IConnectableLayer* layer = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation));
        Connect(input, layer);
        return layer;
    };
    IConnectableLayer* a = AddInput(*network, 5, FloatInfo({2}), "a");
    IConnectableLayer* b = AddInput(*network, 3, FloatInfo({2}), "b");
    IConnectableLayer* c = AddInput(*network, 4, FloatInfo({2}), "c");
    IConnectableLayer* first = add(a, UnaryOperation::Neg);
    Connect(first, network->AddOutputLayer(2, "first"));
    Connect(add(b, UnaryOperation::Abs), network->AddOutputLayer(0, "second"));
    IConnectableLayer* other = add(c, UnaryOperation::Neg);
    other->BackendSelectionHint(Optional<BackendId>("CpuAcc"));
    IConnectableLayer* third =
        network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Sub), "third");
    Connect(other, third, 0);
    Connect(first, third, 1);
    Connect(third, network->AddOutputLayer(1, "third"));
    return network;
}

void ExpectOrder(const IDeserializer& read)
{
    EXPECT_THAT(read.GetNetworkInputNames(), ElementsAre("a", "b", "c"));
    EXPECT_THAT(read.GetNetworkOutputNames(), ElementsAre("first", "second", "third"));
}

std::vector<std::string> NamesOf(const Graph& graph, LayerType type)
{
    std::vector<std::string> names;
    for (const Layer* layer : graph.LayersOf(type))
    {
        names.push_back(layer->GetNameStr());
    }
    return names;
}

/// By binding id, of inputs and outputs that are Float32 [2].
using Values = std::map<LayerBindingId, std::vector<float>>;

Values RunNetwork(IRuntime& runtime, IOptimizedNetworkPtr network, const Values& inputs)
{
    NetworkId id = 0;
    runtime.LoadNetwork(id, std::move(network));
    InputTensors tensors;
    for (const auto& [binding, values] : inputs)
    {
        tensors.emplace_back(binding, ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), values.data()));
    }
    Values outputs;
    runtime.EnqueueWorkload(id, tensors,
                            [&](LayerBindingId binding, const TensorInfo& info)
                            {
                                outputs[binding].resize(info.GetNumElements());
                                return outputs[binding].data();
                            });
    return outputs;
}

} // namespace

TEST(SerializedOrder, IsThatOfDeclarationWhateverRunsFirst)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeNetwork();
    const IDeserializerPtr deserializer = IDeserializer::Create();
    deserializer->CreateNetworkFromBinary(Serialized(*network));
    ExpectOrder(*deserializer);

    const IOptimizedNetworkPtr optimized = Optimize(*network, {"CpuRef", "CpuAcc"}, runtime->GetDeviceSpec());
    EXPECT_THAT(NamesOf(GraphOf(optimized), LayerType::Input), ElementsAre("a", "b", "c"));
    EXPECT_THAT(NamesOf(GraphOf(optimized), LayerType::Output), ElementsAre("first", "second", "third"));
    const auto read = [&](const Bytes& file)
    { return deserializer->CreateOptimizedNetworkFromBinary(file, runtime->GetDeviceSpec()); };
    IOptimizedNetworkPtr again = read(Serialized(*read(Serialized(*optimized))));
    ExpectOrder(*deserializer);
    EXPECT_EQ(deserializer->GetNetworkInputBindingInfo(0, "a").first, 5);
    EXPECT_EQ(deserializer->GetNetworkOutputBindingInfo(0, "first").first, 2);
    EXPECT_EQ(RunNetwork(*runtime, std::move(again), {{5, {1, 2}}, {3, {-3, 4}}, {4, {5, 6}}}),
              (Values{{2, {-1, -2}}, {0, {3, 4}}, {1, {-4, -4}}}));
}

TEST(SerializedOrder, OlderFilesMixInputsAndOutputsWithWhatRuns)
{
    auto graph = std::make_unique<Graph>();
    for (const auto& [id, in, out] : {std::tuple(1, "b", "y"), std::tuple(0, "a", "x")})
    {
        Layer* last = &graph->AddLayer(LayerType::Input, nullptr, in);
        last->SetBindingId(id);
        Layer& floor = graph->AddLayer(LayerType::Floor, nullptr, "");
        floor.SetBackendId("CpuRef");
        floor.m_Subgraph = static_cast<unsigned int>(1 - id);
        for (Layer* layer : {&floor, &graph->AddLayer(LayerType::Output, nullptr, out)})
        {
            last->Output(0).SetTensorInfo(FloatInfo({2}));
            last->Output(0).Connect(layer->Input(0));
            last = layer;
        }
        last->SetBindingId(id);
    }
    const Bytes file =
        Serialized(OptimizedNetwork(std::move(graph), {}, std::make_shared<Profiler>(), BackendRegistry()));
    const IRuntimePtr runtime = IRuntime::Create({});
    const IDeserializerPtr deserializer = IDeserializer::Create();
    IOptimizedNetworkPtr read = deserializer->CreateOptimizedNetworkFromBinary(file, runtime->GetDeviceSpec());
    EXPECT_THAT(deserializer->GetNetworkInputNames(), ElementsAre("b", "a"));
    EXPECT_THAT(deserializer->GetNetworkOutputNames(), ElementsAre("y", "x"));
    EXPECT_EQ(RunNetwork(*runtime, std::move(read), {{0, {1.5f, 2}}, {1, {3, 4.5f}}}),
              (Values{{0, {1, 2}}, {1, {3, 4}}}));
}

TEST(SerializedOrder, NestedNetworksGoByBindingIds)
{
    // Outputs and inputs are declared, and read, in another order than their ids have.
    const INetworkPtr body = INetwork::Create();
    IConnectableLayer* difference = body->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Sub));
    IConnectableLayer* floor = body->AddFloorLayer();
    Connect(difference, body->AddOutputLayer(1));
    Connect(floor, body->AddOutputLayer(0));
    Connect(AddInput(*body, 1, FloatInfo({2})), difference, 0);
    IConnectableLayer* first = AddInput(*body, 0, FloatInfo({2}));
    Connect(first, difference, 1);
    Connect(first, floor);
    INetworkPtr network = INetwork::Create();
    const auto truth = std::make_shared<uint8_t>(uint8_t{1});
    IConnectableLayer* condition = network->AddConstantLayer(
        ConstTensor(TensorInfo({1}, DataType::Boolean, 0.0f, 0, true), truth.get()), truth, "truth");
    IConnectableLayer* branches = network->AddIfLayer(*body, *body, "if");
    Connect(condition, branches, 0);
    for (unsigned int i = 0; i < 2; ++i)
    {
        const auto id = static_cast<LayerBindingId>(i);
        Connect(AddInput(*network, id, FloatInfo({2})), branches, i + 1);
        Connect(branches, network->AddOutputLayer(id), 0, i);
    }
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto optimize = [&](const INetwork& source)
    { return Optimize(source, {"CpuRef"}, runtime->GetDeviceSpec()); };
    const Values inputs{{0, {1.5f, 2}}, {1, {7, 9}}};
    const Values wanted{{0, {1, 2}}, {1, {5.5f, 7}}};
    EXPECT_EQ(RunNetwork(*runtime, optimize(*network), inputs), wanted);
    EXPECT_EQ(RunNetwork(*runtime, optimize(*Read(Serialized(*network))), inputs), wanted);
    EXPECT_EQ(RunNetwork(*runtime, ReadOptimized(Serialized(*optimize(*network)), *runtime), inputs), wanted);
}

} // namespace tenon::test::order_test
