// SPDX-License-Identifier: Apache-2.0
// The graph and INetwork: building, connecting, walking, copying, dumping, and what is refused.
#include "graph/Network.hpp"
#include "harness/Json.hpp"
#include "harness/Networks.hpp"

#include <tenon/TensorHandle.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

namespace tenon::test::graph_test
{

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

namespace
{

const Graph& GraphOf(const INetworkPtr& network)
{
    return static_cast<const Network&>(*network).GetGraph();
}

class RecordingStrategy final : public IStrategy
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char* name, LayerBindingId id) override
    {
        m_Names.push_back(name);
        m_Types.push_back(layer->GetType());
        m_Constants.push_back(constants);
        m_Ids.push_back(id);
        m_Nulls.push_back(descriptor.IsNull());
    }
    void FinishStrategy() override { m_Finished = true; }

    std::vector<std::string> m_Names;
    std::vector<LayerType> m_Types;
    std::vector<std::vector<ConstTensor>> m_Constants;
    std::vector<LayerBindingId> m_Ids;
    std::vector<bool> m_Nulls;
    bool m_Finished = false;
};

} // namespace

/// Layers must not take an info that nobody filled in for one of no elements.
TEST(Slots, TakeADefaultMadeInfoAsOneOfUnknownRank)
{
    const INetworkPtr network = INetwork::Create();
    IOutputSlot& output = network->AddInputLayer(0)->GetOutputSlot(0);
    EXPECT_THROW(output.GetTensorInfo().GetNumDimensions(), InvalidArgumentException);
    output.SetTensorInfo(TensorInfo());
    EXPECT_TRUE(output.IsTensorInfoSet());
    EXPECT_THROW(output.GetTensorInfo().GetNumDimensions(), InvalidArgumentException);
    EXPECT_THROW(output.GetTensorInfo().GetNumElements(), InvalidArgumentException);
    IInputSlot& input = network->AddOutputLayer(0)->GetInputSlot(0);
    input.SetTensorInfo(TensorInfo());
    EXPECT_THROW(input.GetTensorInfo().GetNumBytes(), InvalidArgumentException);
}

TEST(Graph, RemovesTheLastLayerAlone)
{
    Graph graph;
    Layer& input = graph.AddLayer(LayerType::Input, nullptr, "input");
    Layer& kept = graph.AddLayer(LayerType::Floor, nullptr, "kept");
    input.Output(0).Connect(kept.Input(0));
    Layer& last = graph.AddLayer(LayerType::Floor, nullptr, "last");
    input.Output(0).Connect(last.Input(0));
    const uint64_t edits = graph.NumEdits();
    graph.RemoveLast();
    EXPECT_EQ(graph.Size(), 2u);
    EXPECT_EQ(graph.Count(LayerType::Floor), 1u);
    EXPECT_EQ(graph.Types().size(), 2u);
    ASSERT_EQ(input.Output(0).GetConnections().size(), 1u);
    EXPECT_EQ(input.Output(0).GetConnections()[0], &kept.Input(0));
    EXPECT_EQ(graph.NumUnread(), 1u); // that of the layer that is kept
    EXPECT_GT(graph.NumEdits(), edits);
}

TEST(Graph, ConnectsAndDisconnects)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2, 3}));
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    IConnectableLayer* other = network->AddFloorLayer("other");
    EXPECT_EQ(input->GetOutputSlot(0).Connect(floor->GetInputSlot(0)), 0);
    EXPECT_EQ(input->GetOutputSlot(0).Connect(other->GetInputSlot(0)), 1);
    EXPECT_EQ(input->GetOutputSlot(0).GetNumConnections(), 2u);
    EXPECT_EQ(&floor->GetInputSlot(0).GetConnection()->GetOwningIConnectableLayer(), input);
    EXPECT_EQ(floor->GetInputSlot(0).GetTensorInfo().GetShape(), TensorShape({2, 3}));

    input->GetOutputSlot(0).Disconnect(floor->GetInputSlot(0));
    EXPECT_EQ(floor->GetInputSlot(0).GetConnection(), nullptr);
    ASSERT_EQ(input->GetOutputSlot(0).GetNumConnections(), 1u);
    EXPECT_EQ(&input->GetOutputSlot(0).GetConnection(0)->GetOwningIConnectableLayer(), other);
    EXPECT_EQ(input->GetOutputSlot(0).GetConnection(1), nullptr);
    EXPECT_THROW(floor->GetInputSlot(0).GetTensorInfo(), GraphValidationException);
}

TEST(Graph, RefusesBadConnections)
{
    INetworkPtr network = INetwork::Create();
    INetworkPtr stranger = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1}));
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(input, floor);
    EXPECT_THROW(Connect(input, floor), InvalidArgumentException);
    EXPECT_THROW(Connect(input, stranger->AddFloorLayer("far")), InvalidArgumentException);
    EXPECT_THROW(floor->GetInputSlot(1), InvalidArgumentException);
    EXPECT_THROW(floor->GetOutputSlot(7), InvalidArgumentException);
}

TEST(Graph, RefusesCountsOfSlotsBeyondTheLimit)
{
    const INetworkPtr network = INetwork::Create();
    CustomDescriptor custom;
    custom.m_NumOutputs = 0xFFFFFFFFU;
    const std::function<void()> additions[] = {
        [&] { network->AddStandInLayer(StandInDescriptor(0xFFFFFFFFU, 1), "wide"); },
        [&] { network->AddStandInLayer(StandInDescriptor(1, 0xFFFFFFFFU), "wide"); },
        [&] { network->AddCustomLayer(custom, "wide"); },
    };
    for (const auto& add : additions)
    {
        try
        {
            add();
            ADD_FAILURE() << "was added";
        }
        catch (const InvalidArgumentException& error)
        {
            EXPECT_THAT(error.what(), testing::HasSubstr("'wide'"));
            EXPECT_THAT(error.what(), testing::HasSubstr("the limit is 1048576"));
        }
    }
}

TEST(Graph, OverriddenInfoOfAnInputCountsForItAlone)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2, 3}));
    IConnectableLayer* floor = network->AddFloorLayer();
    Connect(input, floor);
    EXPECT_FALSE(floor->GetInputSlot(0).IsTensorInfoOverridden());
    floor->GetInputSlot(0).SetTensorInfo(FloatInfo({6}));
    EXPECT_TRUE(floor->GetInputSlot(0).IsTensorInfoOverridden());
    EXPECT_EQ(floor->GetInputSlot(0).GetTensorInfo().GetShape(), TensorShape({6}));
    EXPECT_EQ(input->GetOutputSlot(0).GetTensorInfo().GetShape(), TensorShape({2, 3}));
}

TEST(Graph, VisitorsSeeProducersFirst)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* output = network->AddOutputLayer(7, "out");
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    IConnectableLayer* input = AddInput(*network, 5, FloatInfo({1}), "in");
    Connect(input, floor);
    Connect(floor, output);
    RecordingStrategy strategy;
    network->ExecuteStrategy(strategy);
    EXPECT_THAT(strategy.m_Names, ElementsAre("in", "floor", "out"));
    EXPECT_THAT(strategy.m_Ids, ElementsAre(5, 0, 7));
    EXPECT_TRUE(strategy.m_Finished);
}

TEST(Graph, PermuteAndTransposeReportTheirOwnType)
{
    INetworkPtr network = INetwork::Create();
    EXPECT_EQ(network->AddPermuteLayer(PermuteDescriptor({1, 0}))->GetType(), LayerType::Permute);
    EXPECT_EQ(network->AddTransposeLayer(TransposeDescriptor({1, 0}))->GetType(), LayerType::Transpose);
}

TEST(Graph, DeprecatedNamesAreForwardsOntoTheFamily)
{
    INetworkPtr network = INetwork::Create();
    const IConnectableLayer* layer = network->AddSubtractionLayer("minus");
    EXPECT_EQ(layer->GetType(), LayerType::ElementwiseBinary);
    EXPECT_EQ(static_cast<const ElementwiseBinaryDescriptor&>(layer->GetParameters()).m_Operation,
              BinaryOperation::Sub);
    EXPECT_STREQ(layer->GetName(), "minus");
}

TEST(Graph, ConstantsThatAnAddMethodTookAreWiredToInputs)
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info({2}, DataType::Float32, 0.0f, 0, true);
    const std::vector<float> values{1.0f, 2.0f};
    const ConstTensor tensor(info, values);
    const IConnectableLayer* layer = network->AddBatchNormalizationLayer({}, tensor, tensor, tensor, tensor, "bn");
    EXPECT_EQ(layer->GetNumInputSlots(), 1u) << "the slots of the constants are behind";
    EXPECT_EQ(layer->GetConstantTensorsByRef().size(), 4u);
    EXPECT_EQ(layer->GetConstantTensorsByRef()[0].get()->Map(), values.data());
    EXPECT_EQ(layer->GetInputSlot(1).GetConnection()->GetOwningIConnectableLayer().GetType(), LayerType::Constant);
    EXPECT_THROW(layer->GetInputSlot(5), InvalidArgumentException);
    // The shapes of the constants are known.
    EXPECT_EQ(layer->InferOutputShapes({TensorShape({1, 2, 3, 4})}),
              std::vector<TensorShape>{TensorShape({1, 2, 3, 4})});
}

TEST(Graph, VisitorsSeeConstantsThatAnAddMethodTookWithTheirLayer)
{
    const TensorInfo info({2}, DataType::Float32, 0.0f, 0, true);
    const std::vector<std::vector<float>> values{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    std::vector<ConstTensor> tensors;
    for (const std::vector<float>& list : values)
    {
        tensors.emplace_back(info, list);
    }
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, 2, 1, 2}), "in");
    IConnectableLayer* norm =
        network->AddBatchNormalizationLayer({}, tensors[0], tensors[1], tensors[2], tensors[3], "bn");
    IConnectableLayer* constant = network->AddConstantLayer(tensors[0], "constant");
    IConnectableLayer* sum = network->AddAdditionLayer("sum");
    Connect(input, norm);
    Connect(norm, sum, 0);
    Connect(constant, sum, 1);
    Connect(sum, network->AddOutputLayer(0, "out"));
    RecordingStrategy strategy;
    network->ExecuteStrategy(strategy);
    EXPECT_THAT(strategy.m_Names, UnorderedElementsAre("in", "bn", "constant", "sum", "out"));
    const auto at = static_cast<size_t>(std::find(strategy.m_Names.begin(), strategy.m_Names.end(), "bn") -
                                        strategy.m_Names.begin());
    ASSERT_EQ(strategy.m_Constants.at(at).size(), 4u);
    for (size_t i = 0; i < 4; ++i)
    {
        EXPECT_EQ(strategy.m_Constants[at][i].GetMemoryArea(), values[i].data());
    }

    // What was put in place of a constant is an input as any other, and the other constants are layers again.
    IInputSlot& mean = norm->GetInputSlot(1);
    mean.GetConnection()->Disconnect(mean);
    constant->GetOutputSlot(0).Connect(mean);
    EXPECT_EQ(norm->GetNumInputSlots(), 1u);
    mean.GetConnection()->Disconnect(mean);
    AddInput(*network, 1, FloatInfo({2}), "mean")->GetOutputSlot(0).Connect(mean);
    EXPECT_EQ(norm->GetNumInputSlots(), 5u);
    RecordingStrategy again;
    network->ExecuteStrategy(again);
    EXPECT_EQ(std::count(again.m_Types.begin(), again.m_Types.end(), LayerType::Constant), 5);
}

TEST(Graph, VisitorsSeeTheConstantsOfCellsInArmNNsOrder)
{
    const TensorInfo info({1}, DataType::Float32, 0.0f, 0, true);
    std::vector<float> values(21);
    std::vector<ConstTensor> tensors;
    for (float& value : values)
    {
        tensors.emplace_back(info, &value);
    }
    LstmInputParams params;
    params.m_InputToForgetWeights = &tensors[0];
    params.m_InputToCellWeights = &tensors[1];
    params.m_InputToOutputWeights = &tensors[2];
    params.m_RecurrentToForgetWeights = &tensors[3];
    params.m_RecurrentToCellWeights = &tensors[4];
    params.m_RecurrentToOutputWeights = &tensors[5];
    params.m_ForgetGateBias = &tensors[6];
    params.m_CellBias = &tensors[7];
    params.m_OutputGateBias = &tensors[8];
    params.m_InputToInputWeights = &tensors[9];
    params.m_RecurrentToInputWeights = &tensors[10];
    params.m_InputGateBias = &tensors[11];
    params.m_CellToInputWeights = &tensors[12];
    params.m_CellToForgetWeights = &tensors[13];
    params.m_CellToOutputWeights = &tensors[14];
    params.m_ProjectionWeights = &tensors[15];
    params.m_ProjectionBias = &tensors[16];
    params.m_InputLayerNormWeights = &tensors[17];
    params.m_ForgetLayerNormWeights = &tensors[18];
    params.m_CellLayerNormWeights = &tensors[19];
    params.m_OutputLayerNormWeights = &tensors[20];
    const auto constantsOf = [&]
    {
        std::vector<std::vector<const void*>> constants;
        INetworkPtr network = INetwork::Create();
        for (const IConnectableLayer* layer :
             {network->AddLstmLayer(LstmDescriptor(), params), network->AddQLstmLayer(QLstmDescriptor(), params),
              network->AddUnidirectionalSequenceLstmLayer(UnidirectionalSequenceLstmDescriptor(), params)})
        {
            EXPECT_EQ(layer->GetNumInputSlots(), 3u);
        }
        RecordingStrategy strategy;
        network->ExecuteStrategy(strategy);
        EXPECT_THAT(strategy.m_Types,
                    UnorderedElementsAre(LayerType::Lstm, LayerType::QLstm, LayerType::UnidirectionalSequenceLstm));
        for (const std::vector<ConstTensor>& list : strategy.m_Constants)
        {
            constants.emplace_back();
            for (const ConstTensor& tensor : list)
            {
                constants.back().push_back(tensor.GetMemoryArea());
            }
        }
        return constants;
    };
    std::vector<const void*> wanted;
    for (const float& value : values)
    {
        wanted.push_back(&value);
    }
    EXPECT_THAT(constantsOf(), Each(wanted));
    // What is not there leaves no gap.
    params.m_InputToInputWeights = params.m_ProjectionBias = nullptr;
    wanted.erase(wanted.begin() + 16);
    wanted.erase(wanted.begin() + 9);
    EXPECT_THAT(constantsOf(), Each(wanted));
}

TEST(Graph, ConstantWithoutMemoryIsRefused)
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info({2}, DataType::Float32, 0.0f, 0, true);
    EXPECT_THROW(network->AddConstantLayer(ConstTensor(info, static_cast<const void*>(nullptr))),
                 InvalidArgumentException);
}

TEST(Graph, FindsCycles)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* a = network->AddFloorLayer("a");
    IConnectableLayer* b = network->AddFloorLayer("b");
    Connect(a, b);
    Connect(b, a);
    EXPECT_THROW(ValidateGraph(GraphOf(network)), GraphValidationException);
}

TEST(Graph, RefusesDuplicateBindingIdsAndOpenInputs)
{
    INetworkPtr twice = INetwork::Create();
    AddInput(*twice, 3, FloatInfo({1}));
    twice->AddOutputLayer(3, "out"); // inputs and outputs have ids of their own
    EXPECT_THROW(twice->AddInputLayer(3, "again"), InvalidArgumentException);
    EXPECT_THROW(twice->AddOutputLayer(3, "again"), InvalidArgumentException);
    EXPECT_EQ(GraphOf(twice).Size(), 2u) << "a layer that is refused is not added";
    twice->AddInputLayer(4, "other");

    Graph graph; // of a file
    for (const char* name : {"a", "b"})
    {
        Layer& input = graph.AddLayer(LayerType::Input, nullptr, name);
        input.SetBindingId(3);
        input.Output(0).SetTensorInfo(FloatInfo({1}));
    }
    EXPECT_THROW(ValidateGraph(graph), GraphValidationException);

    INetworkPtr open = INetwork::Create();
    open->AddOutputLayer(0, "dangling");
    try
    {
        ValidateGraph(GraphOf(open));
        FAIL() << "an open input must be refused";
    }
    catch (const LayerValidationException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("dangling"));
    }
}

TEST(Graph, CloneIsDeepAndSharesConstants)
{
    INetworkPtr network = INetwork::Create();
    const std::vector<float> values{1.0f, 2.0f};
    IConnectableLayer* constant =
        network->AddConstantLayer(ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), values), "c");
    IConnectableLayer* add =
        network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), "mul");
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    Connect(input, add, 0);
    Connect(constant, add, 1);
    Connect(add, network->AddOutputLayer(1, "o"));

    const auto copy = GraphOf(network).Clone();
    ASSERT_EQ(copy->Size(), 4u);
    network.reset();
    const Layer& mul = *copy->Layers()[1];
    EXPECT_EQ(mul.Descriptor<ElementwiseBinaryDescriptor>().m_Operation, BinaryOperation::Mul);
    EXPECT_EQ(mul.Input(0).GetProducer(), copy->Layers()[2].get());
    EXPECT_EQ(mul.GetConstantInput(1), values.data());
    EXPECT_EQ(mul.GetConstantInput(0), nullptr);
    EXPECT_EQ(copy->Layers()[3]->GetBindingId(), 1);
    EXPECT_NO_THROW(ValidateGraph(*copy));
}

TEST(Graph, NamesOutliveTheOriginal)
{
    const std::string name(100, 'n');
    auto graph = std::make_unique<Graph>();
    graph->AddLayer(LayerType::Input, nullptr, "input").Output(0).SetTensorInfo(FloatInfo({2}));
    graph->AddLayer(LayerType::Floor, nullptr, name);
    std::unique_ptr<Graph> copy = graph->Clone();
    graph = copy->Clone();
    copy = graph->Compact();
    graph.reset();
    copy->AddLayer(LayerType::Floor, nullptr, name);
    EXPECT_EQ(copy->Layers()[0]->GetNameStr(), "input");
    EXPECT_EQ(copy->Layers()[1]->GetNameStr(), name);
    EXPECT_EQ(copy->Layers()[2]->GetNameStr(), name);
    Graph other;
    EXPECT_EQ(other.AddCopy(*copy->Layers()[1]).GetNameStr(), name);
}

TEST(Graph, WalksFetchWhatStandsThere)
{
    Graph graph;
    const Layer& layer = graph.AddLayer(LayerType::Floor, nullptr, "");
    const auto offset = [&](const void* of)
    { return static_cast<const char*>(of) - reinterpret_cast<const char*>(&layer); };
    EXPECT_LE(FirstHotByte, offset(&layer.m_Index));
    EXPECT_GE(FirstHotByte + 16, offset(&layer.m_Index)) << "no more than is read";
    EXPECT_EQ(offset(&layer.Input(0)), ptrdiff_t{sizeof(Layer)});
    EXPECT_EQ(offset(&layer.Output(0)), ptrdiff_t{sizeof(Layer) + sizeof(InputSlot)});
    EXPECT_EQ(&layer.Input(0).GetOwningLayer(), &layer);
    EXPECT_EQ(&layer.Output(0).GetOwningLayer(), &layer);
}

TEST(Graph, RemovesLayersAndRenumbers)
{
    Graph graph;
    Layer& a = graph.AddLayer(LayerType::Floor, nullptr, "a");
    Layer& b = graph.AddLayer(LayerType::Floor, nullptr, "b");
    Layer& c = graph.AddLayer(LayerType::Floor, nullptr, "c");
    a.Output(0).Connect(b.Input(0));
    a.Output(0).Connect(c.Input(0));
    graph.RemoveLayers({false, true, false});
    ASSERT_EQ(graph.Size(), 2u);
    EXPECT_EQ(a.Output(0).GetNumConnections(), 1u);
    EXPECT_EQ(c.m_Index, 1u);
    EXPECT_EQ(c.Input(0).GetProducer(), &a);
}

TEST(Graph, DisconnectingManyConsumersIsNotQuadratic)
{
    // 200,000 consumers of one output: with a linear search in Disconnect this takes minutes, not milliseconds.
    Graph graph;
    Layer& source = graph.AddLayer(LayerType::Floor, nullptr, "source");
    std::vector<bool> dead{false};
    for (int i = 0; i < 200000; ++i)
    {
        source.Output(0).Connect(graph.AddLayer(LayerType::Floor, nullptr, "").Input(0));
        dead.push_back(true);
    }
    graph.RemoveLayers(dead);
    EXPECT_EQ(source.Output(0).GetNumConnections(), 0u);
}

TEST(Graph, SortsVeryDeepNetworks)
{
    const INetworkPtr network = MakeChain(100000, FloatInfo({1}));
    const auto order = GraphOf(network).TopologicalOrder();
    ASSERT_EQ(order.size(), 100002u);
    for (size_t i = 0; i < order.size(); ++i)
    {
        ASSERT_EQ(order[i]->m_Index, i) << "an order that is valid already must stay";
    }
    size_t left = order.size();
    for (const Layer* layer : order.Backward())
    {
        ASSERT_EQ(layer->m_Index, --left);
    }
    EXPECT_EQ(left, 0u);
    size_t met = 0;
    for (const Layer* layer : order.WithProducers())
    {
        ASSERT_EQ(layer->m_Index, met++);
    }
    EXPECT_EQ(met, order.size());
}

TEST(Graph, KnowsWhetherItIsInOrder)
{
    Graph graph;
    Layer& first = graph.AddLayer(LayerType::Floor, nullptr, "first");
    Layer& second = graph.AddLayer(LayerType::Floor, nullptr, "second");
    first.Output(0).Connect(second.Input(0));
    EXPECT_TRUE(graph.IsInOrder());
    // A layer that is added last, but feeds one before it.
    graph.InsertBefore(second.Input(0), LayerType::Floor, nullptr, "between");
    EXPECT_FALSE(graph.IsInOrder());
    EXPECT_FALSE(graph.Clone()->IsInOrder());
    graph.Sort(graph.TopologicalOrder().Get());
    EXPECT_TRUE(graph.IsInOrder());
    EXPECT_TRUE(graph.Clone()->IsInOrder());
    graph.Sort({&second, &first, graph.Layers()[1].get()});
    EXPECT_FALSE(graph.IsInOrder());
    // A layer that feeds itself.
    Graph loop;
    Layer& layer = loop.AddLayer(LayerType::Floor, nullptr, "");
    layer.Output(0).Connect(layer.Input(0));
    EXPECT_FALSE(loop.IsInOrder());
    EXPECT_THROW(ValidateGraph(loop), GraphValidationException);
}

TEST(Graph, ClonesKeepTheOrderOfReaders)
{
    for (const bool isInOrder : {true, false})
    {
        SCOPED_TRACE(isInOrder);
        Graph graph;
        Layer& source = graph.AddLayer(LayerType::Floor, nullptr, "source");
        for (int i = 0; i < 9; ++i)
        {
            source.Output(0).Connect(graph.AddLayer(LayerType::Floor, nullptr, "reader").Input(0));
        }
        source.Output(0).Disconnect(graph.Layers()[3]->Input(0)); // the last reader takes its place
        source.Output(0).Connect(graph.Layers()[3]->Input(0));
        if (!isInOrder)
        {
            graph.InsertBefore(graph.Layers()[5]->Input(0), LayerType::Floor, nullptr, "");
        }
        const std::unique_ptr<Graph> clone = graph.Clone();
        const OutputSlot& copy = clone->Layers()[0]->Output(0);
        ASSERT_EQ(copy.GetNumConnections(), 9U);
        for (unsigned int i = 0; i < 9; ++i)
        {
            const InputSlot& reader = *copy.GetConnections()[i];
            EXPECT_EQ(reader.GetOwningLayer().m_Index, source.Output(0).GetConnections()[i]->GetOwningLayer().m_Index);
            EXPECT_EQ(reader.GetConnectedOutputSlot(), &copy);
        }
        std::vector<bool> dead(clone->Size(), true);
        dead[0] = false;
        clone->RemoveLayers(dead); // each finds its place among the readers
        EXPECT_EQ(copy.GetNumConnections(), 0U);
    }
}

TEST(Graph, CompactKeepsAllButWhatWent)
{
    for (const bool isInOrder : {true, false})
    {
        SCOPED_TRACE(isInOrder);
        Graph graph;
        const std::vector<float> values{1.0f, 2.0f};
        Layer& constant =
            graph.AddConstant(ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), values), nullptr, "c");
        Layer& softmax =
            graph.AddLayer(LayerType::Softmax, std::make_unique<SoftmaxDescriptor>(), "a long name of one");
        softmax.BackendSelectionHint(Optional<BackendId>("CpuRef"));
        softmax.SetBackendId("CpuAcc");
        softmax.SetAssignmentReason("because");
        constant.Output(0).Connect(softmax.Input(0));
        softmax.Input(0).SetTensorInfo(FloatInfo({2, 1}));
        softmax.Output(0).SetTensorInfo(FloatInfo({2, 1}));
        Layer& output = graph.AddLayer(LayerType::Output, nullptr, "o");
        output.SetBindingId(7);
        std::vector<bool> dead(3, false);
        for (int i = 0; i < 6; ++i)
        {
            constant.Output(0).Connect(graph.AddLayer(LayerType::Floor, nullptr, "dead").Input(0));
            dead.push_back(true);
        }
        softmax.Output(0).Connect(output.Input(0));
        EXPECT_FALSE(graph.IsSparse());
        graph.RemoveLayers(dead);
        EXPECT_TRUE(graph.IsSparse());
        if (!isInOrder)
        {
            graph.Sort({&softmax, &constant, &output});
        }
        const LayerGuid guid = softmax.GetGuid();

        const std::unique_ptr<Graph> compact = graph.Compact();
        EXPECT_EQ(graph.Size(), 0U);
        ASSERT_EQ(compact->Size(), 3U);
        EXPECT_FALSE(compact->IsSparse());
        EXPECT_EQ(compact->IsInOrder(), isInOrder);
        const Layer& moved = *compact->Layers()[isInOrder ? 1 : 0];
        EXPECT_EQ(&moved.GetGraph(), compact.get());
        EXPECT_EQ(moved.GetNameStr(), "a long name of one");
        EXPECT_EQ(moved.GetGuid(), guid);
        EXPECT_EQ(moved.Descriptor<SoftmaxDescriptor>(), SoftmaxDescriptor());
        EXPECT_EQ(moved.GetBackendId(), BackendId("CpuAcc"));
        EXPECT_EQ(moved.GetBackendHint().value(), BackendId("CpuRef"));
        EXPECT_EQ(moved.GetAssignmentReason(), "because");
        EXPECT_EQ(moved.GetConstantInput(0), values.data());
        EXPECT_TRUE(moved.Input(0).IsTensorInfoOverridden());
        EXPECT_EQ(moved.Output(0).GetTensorInfo(), FloatInfo({2, 1}));
        EXPECT_EQ(compact->Layers()[2]->GetBindingId(), 7);
        EXPECT_EQ(compact->Layers()[2]->Input(0).GetProducer(), &moved);
        EXPECT_EQ(compact->Count(LayerType::Softmax), 1U);
        EXPECT_EQ(compact->NumUnread(), 0U);
        EXPECT_NO_THROW(ValidateGraph(*compact));
    }
}

TEST(Graph, CountsOutputsThatNobodyOrSeveralRead)
{
    Graph graph;
    Layer& a = graph.AddLayer(LayerType::Floor, nullptr, "a");
    Layer& b = graph.AddLayer(LayerType::Floor, nullptr, "b");
    Layer& c = graph.AddLayer(LayerType::Floor, nullptr, "c");
    EXPECT_EQ(graph.NumUnread(), 3U);
    a.Output(0).Connect(b.Input(0));
    a.Output(0).Connect(c.Input(0));
    EXPECT_EQ(graph.NumUnread(), 2U);
    EXPECT_EQ(graph.NumShared(), 1U);
    EXPECT_EQ(graph.Clone()->NumUnread(), 2U);
    EXPECT_EQ(graph.Clone()->NumShared(), 1U);
    a.Output(0).Disconnect(b.Input(0));
    EXPECT_EQ(graph.NumUnread(), 2U);
    EXPECT_EQ(graph.NumShared(), 0U);
    a.Output(0).MoveAllConnections(b.Output(0));
    EXPECT_EQ(graph.NumUnread(), 2U) << "a and c";
    b.Output(0).Disconnect(c.Input(0));
    EXPECT_EQ(graph.NumUnread(), 3U);
    c.Output(0).Connect(b.Input(0));
    graph.RemoveLayers({true, true, false});
    EXPECT_EQ(graph.NumUnread(), 1U);
}

TEST(Graph, TypesFollowTheLayers)
{
    Graph graph;
    Layer& first = graph.AddLayer(LayerType::Floor, nullptr, "first");
    graph.AddLayer(LayerType::Dequantize, nullptr, "second");
    graph.AddLayer(LayerType::Rank, nullptr, "third");
    EXPECT_THAT(graph.Types(), ElementsAre(LayerType::Floor, LayerType::Dequantize, LayerType::Rank));
    EXPECT_EQ(graph.LayersOf(LayerType::Floor).Get(), PageVector<Layer*>{&first});
    EXPECT_TRUE(graph.LayersOf(LayerType::Softmax).Get().empty());
    graph.ChangeType(first, LayerType::Softmax, std::make_unique<SoftmaxDescriptor>());
    EXPECT_EQ(first.GetType(), LayerType::Softmax);
    EXPECT_EQ(graph.Count(LayerType::Floor), 0U);
    EXPECT_EQ(graph.Count(LayerType::Softmax), 1U);
    graph.RemoveLayers({false, true, false});
    EXPECT_THAT(graph.Types(), ElementsAre(LayerType::Softmax, LayerType::Rank));
    graph.Sort({graph.Layers()[1].get(), graph.Layers()[0].get()});
    EXPECT_THAT(graph.Types(), ElementsAre(LayerType::Rank, LayerType::Softmax));
    const uint64_t edits = graph.NumEdits();
    graph.RemoveLayers({false, false});
    EXPECT_EQ(graph.NumEdits(), edits) << "nothing was removed";
    first.SetDescriptor(std::make_unique<SoftmaxDescriptor>());
    EXPECT_NE(graph.NumEdits(), edits);
}

TEST(Graph, DumpsEscapeNames)
{
    INetworkPtr network = INetwork::Create();
    SoftmaxDescriptor descriptor;
    descriptor.m_Beta = 2.5f;
    IConnectableLayer* softmax = network->AddSoftmaxLayer(descriptor, "so\"ft{max}\n\\");
    Connect(AddInput(*network, 0, FloatInfo({1, 8})), softmax);
    Connect(softmax, network->AddOutputLayer(0, "out"));

    std::ostringstream dot;
    network->SerializeToDot(dot);
    EXPECT_THAT(dot.str(), HasSubstr("digraph Network {"));
    EXPECT_THAT(dot.str(), HasSubstr("Beta : 2.5\\l"));
    EXPECT_THAT(dot.str(), HasSubstr("so\\\"ft\\{max\\} \\\\"));
    EXPECT_THAT(dot.str(), HasSubstr("[label=< [1,8] >]"));

    std::ostringstream json;
    network->SerializeToJson(json);
    const Json parsed = Json::Parse(json.str());
    ASSERT_EQ(parsed.At("layers").m_Items.size(), 3u);
    const Json& layer = parsed.At("layers").m_Items[0];
    EXPECT_EQ(layer.At("name").m_Text, "so\"ft{max}\n\\");
    EXPECT_EQ(layer.At("parameters").At("Beta").m_Text, "2.5");
    EXPECT_EQ(layer.At("outputs").m_Items[0].At("shape").m_Items.size(), 0u) << "nothing was inferred yet";
    const Json& input = parsed.At("layers").m_Items[1];
    EXPECT_EQ(input.At("outputs").m_Items[0].At("type").m_Text, "Float32");
    EXPECT_EQ(input.At("outputs").m_Items[0].At("shape").m_Items.at(1).m_Number, 8.0);
    EXPECT_EQ(layer.At("inputs").m_Items[0].At("guid").m_Number, input.At("guid").m_Number);
}

TEST(Graph, DumpsAreJsonWhateverScalesAndNamesAre)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = network->AddInputLayer(0, "\xFF not UTF-8");
    const std::vector<float> scales = {std::numeric_limits<float>::quiet_NaN(), 1e-30f,
                                       std::numeric_limits<float>::infinity()};
    input->GetOutputSlot(0).SetTensorInfo(TensorInfo({3}, DataType::QSymmS8, scales, 0));
    Connect(input, network->AddOutputLayer(0, "out"));
    std::ostringstream json;
    network->SerializeToJson(json);
    const Json parsed = Json::Parse(json.str());
    const Json& layer = parsed.At("layers").m_Items[0];
    EXPECT_EQ(layer.At("name").m_Text, "\xEF\xBF\xBD not UTF-8");
    const std::vector<Json>& written = layer.At("outputs").m_Items[0].At("scales").m_Items;
    EXPECT_EQ(written[0].m_Kind, Json::Kind::Null);
    EXPECT_EQ(written[1].m_Number, 1e-30);
    EXPECT_EQ(written[2].m_Kind, Json::Kind::Null);
}

TEST(OpSchema, EveryRowIsComplete)
{
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        const OpSchema& schema = GetSchema(type);
        EXPECT_STREQ(schema.m_Name, GetLayerTypeAsCString(type));
        EXPECT_NE(schema.m_Infer, nullptr) << schema.m_Name;
    }
    EXPECT_THROW(GetSchema(LayerType::Addition), InvalidArgumentException);
}

} // namespace tenon::test::graph_test
