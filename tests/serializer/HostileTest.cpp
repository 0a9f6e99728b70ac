// SPDX-License-Identifier: Apache-2.0
// Files that say what no serializer writes: each is refused with a text that says what and where. tests/fuzz bends
// files blindly.
#include "Files.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <tenon_generated.h>

namespace tenon::test::hostile_test
{

using testing::AllOf;
using testing::HasSubstr;

namespace
{

namespace schema = serializer::schema;

/// input -> abs -> concat with a constant -> output
Bytes PlainFile()
{
    static const std::vector<float> values = Ramp(2);
    Network network({});
    IConnectableLayer* input = AddInput(network, 0, FloatInfo({2}), "in");
    IConnectableLayer* abs = network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Sqrt), "root");
    OriginsDescriptor descriptor(2, 1);
    descriptor.SetConcatAxis(0);
    descriptor.SetViewOriginCoord(1, 0, 2);
    IConnectableLayer* concat = network.AddConcatLayer(descriptor, "join");
    IConnectableLayer* constant = network.AddConstantLayer(
        ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), values.data()), "weights");
    Connect(input, abs);
    Connect(abs, concat, 0);
    Connect(constant, concat, 1);
    Connect(concat, network.AddOutputLayer(0, "out"));
    return Serialized(network);
}

const IRuntime& TheRuntime()
{
    static const IRuntimePtr runtime = IRuntime::Create({});
    return *runtime;
}

Bytes OptimizedFile()
{
    return Serialized(*Optimize(*Read(PlainFile()), {"CpuRef"}, TheRuntime().GetDeviceSpec()));
}

schema::Network& Root(Bytes& file)
{
    return *schema::GetMutableNetwork(file.data());
}

schema::Layer& LayerAt(Bytes& file, const std::string& name, unsigned int graph = 0)
{
    auto& layers = *Root(file).mutable_graphs()->GetMutableObject(graph)->mutable_layers();
    for (unsigned int i = 0; i < layers.size(); ++i)
    {
        schema::Layer* layer = layers.GetMutableObject(i);
        if (layer->name() != nullptr && layer->name()->str() == name)
        {
            return *layer;
        }
    }
    throw std::invalid_argument("no layer " + name);
}

schema::Connection& InputOf(Bytes& file, const std::string& name, unsigned int input = 0)
{
    return *const_cast<schema::Connection*>(LayerAt(file, name).mutable_inputs()->Get(input));
}

schema::Attribute& AttributeOf(Bytes& file, const std::string& layer, const std::string& name)
{
    auto& attributes = *LayerAt(file, layer).mutable_attributes();
    for (unsigned int i = 0; i < attributes.size(); ++i)
    {
        schema::Attribute* attribute = attributes.GetMutableObject(i);
        if (attribute->name()->str() == name)
        {
            return *attribute;
        }
    }
    throw std::invalid_argument("no attribute " + name);
}

/// Bends all texts that are exactly `from`.
void Replace(Bytes& file, const std::string& from, const std::string& to)
{
    const std::string whole = from + '\0';
    for (auto at = file.begin(); (at = std::search(at, file.end(), whole.begin(), whole.end())) != file.end(); ++at)
    {
        std::copy(to.begin(), to.end(), at);
    }
}

std::string Refusal(const Bytes& file, const IDeserializer::DeserializerOptions& options = {})
{
    return MessageOf<ParseException>([&] { Read(file, options); });
}

template <typename ExceptionType = ParseException>
std::string OptimizedRefusal(const Bytes& file)
{
    return MessageOf<ExceptionType>([&] { ReadOptimized(file, TheRuntime()); });
}

} // namespace

TEST(HostileTenon, OtherFilesAndVersions)
{
    EXPECT_THAT(Refusal({}), HasSubstr("not a .tenon file"));
    EXPECT_THAT(Refusal(Bytes(100, 0)), HasSubstr("not a .tenon file"));
    EXPECT_THAT(Refusal({16, 0, 0, 0, 'A', 'R', 'M', 'N'}), HasSubstr("an offset in its 8 bytes leads outside"));
    Bytes file = PlainFile();
    ASSERT_TRUE(Root(file).mutate_major(2));
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("2.0"), HasSubstr("newer")));
    Root(file).mutate_major(0);
    EXPECT_THAT(Refusal(file), HasSubstr("reads version 1"));
    Root(file).mutate_major(1);
    EXPECT_NE(Read(file), nullptr);
}

TEST(HostileTenon, WhatIsNotKnownNamesTheVersion)
{
    Bytes file = PlainFile();
    Replace(file, "ElementwiseUnary", "ElementwiseUnarY");
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("layer 1 'root' (ElementwiseUnarY)"), HasSubstr("not known"),
                                     HasSubstr("format version 1.0")));
    file = PlainFile();
    Replace(file, "Operation", "Operatiom");
    EXPECT_THAT(Refusal(file),
                AllOf(HasSubstr("'root'"), HasSubstr("attribute 'Operatiom'"), HasSubstr("format version 1.0")));
    Replace(file, "Operatiom", std::string("Oper\0tion", 9));
    EXPECT_THAT(Refusal(file), HasSubstr("attribute 'Oper\\x00tion' is not known"));
    file = PlainFile();
    Replace(file, "Sqrt", "Sqrd");
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("attribute 'Operation'"), HasSubstr("'Sqrd'")));
    file = PlainFile();
    Replace(file, "Float32", "Float33");
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'in'"), HasSubstr("element type 'Float33'")));
}

TEST(HostileTenon, TheSameAttributeTwice)
{
    Bytes file = PlainFile();
    Replace(file, "NumDimensions", "ConcatAxis\0\0\0");
    Replace(file, "NumViews", "NumViewz");
    EXPECT_THAT(Refusal(file), HasSubstr("attribute 'NumViewz'"));
    file = PlainFile();
    auto* attributes = LayerAt(file, "join").mutable_attributes();
    // Every entry is an offset from itself: the first then leads to where the second does.
    attributes->MutateOffset(0, reinterpret_cast<const uint8_t*>(attributes->Get(1)));
    EXPECT_THAT(Refusal(file), HasSubstr("there twice"));
}

TEST(HostileTenon, ValuesOfTheWrongKindOrRange)
{
    Bytes file = PlainFile();
    auto* views = static_cast<schema::Integer*>(AttributeOf(file, "join", "NumViews").mutable_value());
    views->mutate_value(int64_t{1} << 32);
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'NumViews'"), HasSubstr("out of range")));
    views->mutate_value(1000000000);
    EXPECT_THAT(Refusal(file), HasSubstr("coordinates"));
    file = PlainFile();
    auto& axis = reinterpret_cast<flatbuffers::Table&>(AttributeOf(file, "join", "ConcatAxis"));
    const auto setKind = [&](auto kind)
    { axis.SetField<uint8_t>(schema::Attribute::VT_VALUE_TYPE, static_cast<uint8_t>(kind), 0); };
    setKind(schema::Value::Unsigned);
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'ConcatAxis'"), HasSubstr("kind Unsigned in place of Integer")));
    setKind(200);
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'ConcatAxis'"), HasSubstr("kind 200, which is not known"),
                                     HasSubstr("format version 1.0")));
}

TEST(HostileTenon, SlotsThatTheParametersDoNotHave)
{
    StandInDescriptor descriptor(2, 0);
    Network network({});
    IConnectableLayer* layer = network.AddStandInLayer(descriptor, "join");
    IConnectableLayer* input = AddInput(network, 0, FloatInfo({2}), "in");
    Connect(input, layer, 0);
    Connect(input, layer, 1);
    Bytes file = Serialized(network);
    static_cast<schema::Integer*>(AttributeOf(file, "join", "NumInputs").mutable_value())->mutate_value(4000000000);
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'join'"), HasSubstr("4000000000")));
}

TEST(HostileTenon, ConnectionsThatLeadNowhereOrInACircle)
{
    Bytes file = PlainFile();
    InputOf(file, "join").mutate_layer(99);
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'join'"), HasSubstr("layer 99")));
    InputOf(file, "join").mutate_layer(0);
    InputOf(file, "join").mutate_output(1);
    EXPECT_THAT(Refusal(file), HasSubstr("output 1 of layer 0"));
    InputOf(file, "join").mutate_layer(0xFFFFFFFF);
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("malformed"), HasSubstr("not connected")));
    InputOf(file, "join").mutate_layer(2);
    InputOf(file, "join").mutate_output(0);
    EXPECT_THAT(Refusal(file), HasSubstr("cycle"));
}

TEST(HostileTenon, OutputsWithAnInfoAndNoConnection)
{
    Network network({});
    IConnectableLayer* output = network.AddOutputLayer(0, "out");
    Connect(AddInput(network, 0, FloatInfo({2}), "in"), output);
    output->GetInputSlot(0).SetTensorInfo(FloatInfo({2}));
    Bytes file = Serialized(network);
    InputOf(file, "out").mutate_layer(0xFFFFFFFF);
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'out'"), HasSubstr("not connected")));
}

TEST(HostileTenon, TheSameIdTwice)
{
    Network network({});
    for (const char* name : {"a", "b"})
    {
        Connect(AddInput(network, name[0], FloatInfo({2}), name), network.AddOutputLayer(name[0], nullptr));
    }
    const Bytes good = Serialized(network);
    Bytes file = good;
    LayerAt(file, "a").mutate_binding_id('b');
    EXPECT_THAT(Refusal(file), HasSubstr("same binding id"));
    file = good;
    LayerAt(file, "a").mutate_guid(LayerAt(file, "b").guid());
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'a'"), HasSubstr("same guid")));
    LayerAt(file, "a").mutate_guid(~uint64_t{0});
    EXPECT_THAT(Refusal(file), HasSubstr("guid"));
}

TEST(HostileTenon, DataThatIsNotThere)
{
    const Bytes good = PlainFile();
    Bytes file = good;
    file.push_back(0);
    EXPECT_THAT(Refusal(file), HasSubstr("something behind its end"));
    file = Bytes(good.begin(), good.end() - 1);
    EXPECT_THAT(Refusal(file), HasSubstr("cut short"));
    file = good;
    Root(file).mutable_data()->mutate_offset(~uint64_t{0});
    EXPECT_THAT(Refusal(file), HasSubstr("cut short"));
    file = good;
    auto* buffer = const_cast<schema::Buffer*>(Root(file).mutable_buffers()->Get(0));
    buffer->mutate_bytes(~uint64_t{0});
    EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'weights'"), HasSubstr("outside of the data section")));
    buffer->mutate_bytes(7);
    EXPECT_THAT(Refusal(file), HasSubstr("7 bytes are no values of"));
    buffer->mutate_bytes(4);
    buffer->mutate_offset(4);
    EXPECT_THAT(Refusal(file), HasSubstr("multiple of 64"));
    file = good;
    LayerAt(file, "weights").mutable_constant()->mutable_info()->mutable_shape()->mutable_sizes()->Mutate(0, -1);
    EXPECT_THAT(Refusal(file), HasSubstr("'weights'"));
    LayerAt(file, "weights").mutable_constant()->mutable_info()->mutable_shape()->mutable_sizes()->Mutate(0, -2);
    EXPECT_THAT(Refusal(file), HasSubstr("size -2"));
    file = good;
    LayerAt(file, "weights")
        .mutable_outputs()
        ->GetMutableObject(0)
        ->mutable_info()
        ->mutable_shape()
        ->mutable_sizes()
        ->Mutate(0, 3);
    EXPECT_THAT(Refusal(file), HasSubstr("8 bytes are no values of"));
}

TEST(HostileTenon, BlocksThatNoTensorHas)
{
    TensorInfo info({4, 2}, DataType::QSymmS4, std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f}, 0);
    info.SetQuantizationBlockSize(2);
    TensorInfo other = info;
    other.SetQuantizationScales({0.4f, 0.3f, 0.2f, 0.1f});
    Network network({});
    AddInput(network, 0, other, "other"); // buffer 0
    AddInput(network, 1, info, "in");
    const Bytes good = Serialized(network);
    const auto blocks = [](Bytes& file) -> schema::Blocks&
    { return *LayerAt(file, "in").mutable_outputs()->GetMutableObject(0)->mutable_info()->mutable_blocks(); };
    Bytes file = good;
    EXPECT_TRUE(blocks(file).mutate_scales(7));
    EXPECT_THAT(Refusal(file), HasSubstr("buffer 7"));
    file = good;
    blocks(file).mutate_size(0);
    EXPECT_THAT(Refusal(file), HasSubstr("16 bytes of scales for blocks of 0 elements"));
    file = good;
    const float scale = std::numeric_limits<float>::infinity();
    std::copy_n(reinterpret_cast<const uint8_t*>(&scale), sizeof(scale), file.end() - 16);
    EXPECT_THAT(Refusal(file), HasSubstr("not a finite number"));
    // Readers that do not know blocks must refuse them.
    file = good;
    EXPECT_EQ(LayerAt(file, "in").outputs()->Get(0)->info()->per_axis()->dimension(), -2);
}

TEST(HostileTenon, NestedGraphs)
{
    const INetworkPtr branch = MakeChain(1, FloatInfo({2}));
    AddInput(*branch, 1, FloatInfo({2}), "second");
    Network network({});
    IConnectableLayer* layer = network.AddIfLayer(*branch, *branch, "if");
    Connect(AddInput(network, 0, TensorInfo({1}, DataType::Boolean)), layer, 0);
    Connect(AddInput(network, 1, FloatInfo({2})), layer, 1);
    Connect(AddInput(network, 2, FloatInfo({2})), layer, 2);
    const Bytes good = Serialized(network);
    EXPECT_NE(Read(good), nullptr);
    for (const uint32_t bent : {0U, 2U, 3U, 0xFFFFFFFFU})
    {
        Bytes file = good;
        LayerAt(file, "if").mutable_bodies()->Mutate(0, bent);
        EXPECT_THAT(Refusal(file), AllOf(HasSubstr("'if'"), HasSubstr("nested graph")));
    }
    Bytes file = good;
    LayerAt(file, "second", 1).mutate_binding_id(3);
    EXPECT_THAT(Refusal(file), HasSubstr("other inputs or outputs"));
    LayerAt(file, "second", 1).mutate_binding_id(70000);
    EXPECT_THAT(Refusal(file), HasSubstr("binding id 70000"));
    IDeserializer::DeserializerOptions options;
    options.m_Limits.m_MaxNesting = 0;
    EXPECT_THAT(Refusal(good, options), HasSubstr("m_MaxNesting"));
    options = {};
    options.m_Limits.m_MaxLayers = 11;
    EXPECT_THAT(Refusal(good, options), HasSubstr("12 layers"));
}

TEST(HostileTenon, Limits)
{
    const Bytes file = PlainFile();
    IDeserializer::DeserializerOptions options;
    options.m_Limits.m_MaxFileBytes = file.size() - 1;
    EXPECT_THAT(Refusal(file, options), HasSubstr("m_MaxFileBytes"));
    std::istringstream stream(std::string(file.begin(), file.end()));
    EXPECT_THROW(IDeserializer::Create(options)->CreateNetworkFromBinary(stream), ParseException);
    options = {};
    options.m_Limits.m_MaxRank = 0;
    EXPECT_THAT(Refusal(file, options), HasSubstr("m_MaxRank"));
    EXPECT_THROW(IDeserializer::Create()->CreateNetworkFromBinaryFile("no/such/file.tenon"), FileNotFoundException);
    EXPECT_THROW(IDeserializer::Create()->CreateNetworkFromBinaryFile(nullptr), InvalidArgumentException);
}

TEST(HostileTenon, ListsSharedOverAndOverCostNothing)
{
    // Many layers with the inputs, attributes and name of one, in few bytes.
    constexpr uint32_t inputs = 20000;
    flatbuffers::FlatBufferBuilder builder;
    const std::vector<schema::Connection> connections(inputs, schema::Connection(0xFFFFFFFF, 0));
    const auto attribute = schema::CreateAttribute(builder, builder.CreateString("NumInputs"), schema::Value::Integer,
                                                   schema::CreateInteger(builder, inputs).Union());
    const auto layer =
        schema::CreateLayer(builder, builder.CreateString("StandIn"), builder.CreateString(std::string(100000, 'x')), 0,
                            builder.CreateVector({attribute}), builder.CreateVectorOfStructs(connections));
    const std::vector<flatbuffers::Offset<schema::Layer>> layers(20000, layer);
    const auto graph = schema::CreateGraphDirect(builder, &layers);
    const auto graphs = builder.CreateVector({graph});
    schema::DataSection data(0, 0);
    schema::FinishNetworkBuffer(builder, schema::CreateNetwork(builder, 1, 0, &data, false, graphs));
    Bytes file(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    Root(file).mutable_data()->mutate_offset(file.size());
    EXPECT_THAT(Refusal(file), HasSubstr("out of proportion"));
}

TEST(HostileTenon, OptimizedFilesThatTheOptimizerDidNotMake)
{
    const Bytes good = OptimizedFile();
    EXPECT_NE(ReadOptimized(good, TheRuntime()), nullptr);
    Bytes file = good;
    Replace(file, "CpuRef", "CpuRex");
    EXPECT_THAT(OptimizedRefusal<BackendUnavailableException>(file), AllOf(HasSubstr("'root'"), HasSubstr("CpuRex")));
    file = good;
    // Behind its consumer in the list, so that the runtime would read what is not there yet.
    InputOf(file, "root").mutate_layer(3);
    EXPECT_THAT(OptimizedRefusal(file), HasSubstr("order of"));
    file = good;
    LayerAt(file, "out").mutable_assignment()->mutate_subgraph(0);
    auto* sizes = LayerAt(file, "join").mutable_outputs()->GetMutableObject(0)->mutable_info()->mutable_shape();
    sizes->mutable_sizes()->Mutate(0, 400);
    EXPECT_THAT(OptimizedRefusal<LayerValidationException>(file), AllOf(HasSubstr("'join'"), HasSubstr("[400]")));
    file = good;
    InputOf(file, "join").mutate_layer(0xFFFFFFFF);
    EXPECT_THAT(OptimizedRefusal(file), HasSubstr("not connected"));
}

TEST(HostileTenon, OptimizedGraphsOfOtherHands)
{
    const auto write = [](auto fill)
    {
        auto graph = std::make_unique<Graph>();
        Layer& input = graph->AddLayer(LayerType::Input, nullptr, "in");
        input.Output(0).SetTensorInfo(FloatInfo({1, 2, 2, 2}));
        fill(*graph, input);
        return Serialized(OptimizedNetwork(std::move(graph), {}, std::make_shared<Profiler>(), BackendRegistry()));
    };
    const auto add = [](Graph& graph, Layer& input, LayerType type,
                        std::unique_ptr<BaseDescriptor> descriptor) -> Layer&
    {
        Layer& layer = graph.AddLayer(type, std::move(descriptor), "bad");
        layer.Output(0).SetTensorInfo(input.Output(0).GetTensorInfo());
        layer.SetBackendId("CpuRef");
        input.Output(0).Connect(layer.Input(0));
        return layer;
    };
    // Kernels know channels-last alone.
    EXPECT_THAT(OptimizedRefusal<UnimplementedException>(write(
                    [&](Graph& graph, Layer& input)
                    {
                        auto descriptor = std::make_unique<Pooling2dDescriptor>();
                        descriptor->m_PoolWidth = descriptor->m_PoolHeight = 1;
                        descriptor->m_StrideX = descriptor->m_StrideY = 1;
                        add(graph, input, LayerType::Pooling2d, std::move(descriptor));
                    })),
                HasSubstr("layout"));
    EXPECT_THAT(OptimizedRefusal<UnimplementedException>(write(
                    [&](Graph& graph, Layer& input)
                    {
                        input.Output(0).EditTensorInfo().SetDataType(DataType::Boolean);
                        add(graph, input, LayerType::Floor, nullptr);
                    })),
                HasSubstr("Boolean"));
    EXPECT_THAT(OptimizedRefusal<UnimplementedException>(
                    write([&](Graph& graph, Layer& input) { add(graph, input, LayerType::MemImport, nullptr); })),
                HasSubstr("'bad'"));
    EXPECT_THAT(OptimizedRefusal(write([&](Graph& graph, Layer& input)
                                       { add(graph, input, LayerType::Floor, nullptr).m_Subgraph = 7; })),
                HasSubstr("subgraph 7"));
    EXPECT_THAT(OptimizedRefusal<LayerValidationException>(write(
                    [&](Graph& graph, Layer& input)
                    {
                        add(graph, input, LayerType::Floor, nullptr)
                            .Input(0)
                            .SetTensorInfo(TensorInfo({1, 2, 2, 2}, DataType::Signed64));
                    })),
                HasSubstr("other bytes"));
}

} // namespace tenon::test::hostile_test
