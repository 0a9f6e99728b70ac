// SPDX-License-Identifier: Apache-2.0
// Tests of how .onnx files are read as protobuf: fields in any order, packed and one by one, twice, unknown and
// damaged.
#include "OnnxRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::onnx_messages_test
{

using namespace model;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

/// y = x + w with an x of [2].
Graph Addition()
{
    Graph graph;
    graph.Input("x", {2}).Store(Floats("w", {2}, {10.0f, 20.0f})).Add("Add", {"x", "w"}, {"y"}).Output("y");
    return graph;
}

/// y = x + the tensor of a node Constant.
Wire WithConstant(const Wire& attribute)
{
    return Model(
        Graph().Input("x", {2}).Add("Constant", {}, {"w"}, {attribute}).Add("Add", {"x", "w"}, {"y"}).Output("y"));
}

std::vector<float> Sum(const Wire& model)
{
    return RunModel(model, {List({1.0f, 2.0f})}).at(0).Floats();
}

/// y = x transposed, an x of [2,3], with the given encoding of perm = [1, 0].
std::vector<float> Transposed(const Wire& fields)
{
    const Wire attribute = Message(1, "perm") + fields;
    return RunModel(Model(Graph().Input("x", {2, 3}).Add("Transpose", {"x"}, {"y"}, {attribute}).Output("y")),
                    {Fed({2, 3}, {1, 2, 3, 4, 5, 6})})
        .at(0)
        .Floats();
}

} // namespace

TEST(OnnxMessages, FieldsInAnyOrder)
{
    const Wire graph = Message(7, Addition());
    const Wire opset = Message(8, Opset(17));
    for (const Wire& model : {Number(1, 8) + graph + opset, opset + graph, graph + opset + Number(1, 8)})
    {
        EXPECT_THAT(Sum(model), ElementsAre(11.0f, 22.0f));
    }
    // The value of an attribute before its name, outputs before nodes.
    const Wire reversed =
        Message(7, Graph()
                       .Output("y")
                       .Add(Message(5, Number(20, 7) + Number(8, 1) + Number(8, 0) + Message(1, "perm")) +
                            Message(4, "Transpose") + Message(2, "y") + Message(1, "x"))
                       .Input("x", {1, 2})
                       .Bytes()) +
        opset;
    EXPECT_THAT(RunModel(reversed, {Fed({1, 2}, {3, 4})}).at(0).Floats(), ElementsAre(3.0f, 4.0f));
}

TEST(OnnxMessages, FieldsThatStandTwice)
{
    // Messages are merged, of numbers and texts the last one counts.
    Graph first;
    first.Input("x", {2}).Store(Floats("w", {2}, {10.0f, 20.0f}));
    const Wire parts = Message(7, first) + Message(7, Graph().Add("Add", {"x", "w"}, {"y"}).Output("y"));
    EXPECT_THAT(Sum(parts + Message(8, Opset(17))), ElementsAre(11.0f, 22.0f));
    EXPECT_THAT(Sum(Model(Addition(), 6) + Message(8, Opset(17))), ElementsAre(11.0f, 22.0f));
    EXPECT_THAT(Sum(Model(Graph()
                              .Input("x", {2})
                              .Store(Message(8, "v") + Floats("w", {2}, {10.0f, 20.0f}))
                              .Add(Message(4, "Sub") + Node("Add", {"x", "w"}, {"y"}))
                              .Output("y"))),
                ElementsAre(11.0f, 22.0f));
    // An attribute's tensor in two pieces.
    const Wire tensor = Tensor<float>("w", {2}, {10.0f, 20.0f});
    const Wire attribute = Message(1, "value") + Message(5, tensor.substr(0, 4)) + Message(5, tensor.substr(4)) +
                           Number(20, static_cast<int64_t>(AttributeType::Tensor));
    ASSERT_EQ(tensor[3], 1) << "the type stands behind the dimension";
    EXPECT_THAT(Sum(WithConstant(attribute)), ElementsAre(11.0f, 22.0f));
    // A graph in two pieces.
    const Wire branch = Graph("then").Add("Neg", {"x"}, {"n"}).Bytes();
    const Wire rest = Message(12, Message(1, "n"));
    const Wire wholeBranch = Graph("else").Add("Abs", {"x"}, {"a"}).Output("a").Bytes();
    const Wire halves = Message(1, "then_branch") + Message(6, branch) + Message(6, rest) + Number(20, 5);
    const Wire model = Model(Graph()
                                 .Input("c", ElementType::Bool, Dims{})
                                 .Input("x", {2})
                                 .Add("If", {"c"}, {"y"}, {halves, GraphAttribute("else_branch", wholeBranch)})
                                 .Output("y"));
    EXPECT_THAT(RunModel(model, {Data::Of(TensorShape(Dimensionality::Scalar), std::vector<bool>{true}), List({1, 2})})
                    .at(0)
                    .Floats(),
                ElementsAre(-1.0f, -2.0f));
}

TEST(OnnxMessages, NumbersPackedOrOneByOne)
{
    const std::vector<float> expected = {1, 4, 2, 5, 3, 6};
    EXPECT_EQ(Transposed(Number(8, 1) + Number(8, 0) + Number(20, 7)), expected);
    EXPECT_EQ(Transposed(Message(8, Varints({1, 0})) + Number(20, 7)), expected);
    EXPECT_EQ(Transposed(Message(8, Varints({1})) + Number(8, 0) + Number(20, 7)), expected);
    EXPECT_EQ(Transposed(Message(8, "") + Message(8, Varints({1, 0})) + Number(20, 7)), expected);
    EXPECT_EQ(Transposed(Number(8, 1) + Number(8, 0)), expected) << "files of before 2017 have no type";
    const Wire two = Number(1, 2);
    const Wire type = Number(2, 1);
    for (const Wire& tensor : {two + type + Message(4, Raw<float>({10.0f, 20.0f})),
                               type + Message(1, Varints({2})) + Fixed32(4, 10.0f) + Fixed32(4, 20.0f),
                               Message(4, Raw<float>({10.0f})) + Fixed32(4, 20.0f) + type + two})
    {
        EXPECT_THAT(Sum(WithConstant(TensorAttribute("value", tensor))), ElementsAre(11.0f, 22.0f));
    }
    EXPECT_THAT(Sum(WithConstant(Message(1, "value_floats") + Message(7, Raw<float>({10.0f})) + Fixed32(7, 20.0f))),
                ElementsAre(11.0f, 22.0f));
    EXPECT_THAT(ErrorOf(WithConstant(Message(1, "value_floats") + Message(7, "12345"))),
                HasSubstr("AttributeProto.floats has 5 bytes, which are no floats"));
}

TEST(OnnxMessages, NegativeNumbersTakeTenBytes)
{
    EXPECT_EQ(Number(8, -1).size(), 11u);
    const Wire model = Model(Graph()
                                 .Input("x", {2, 3})
                                 .Add("Softmax", {"x"}, {"s"}, {Attribute("axis", -1)})
                                 .Add("ReduceSum", {"s", "axes"}, {"y"}, {Attribute("keepdims", 0)})
                                 .Store(TensorOf("axes", ElementType::Int64, {1}, Message(7, Varints({-1}))))
                                 .Output("y"));
    EXPECT_THAT(RunModel(model, {Fed({2, 3}, {1, 1, 1, 2, 2, 2})}).at(0).Floats(),
                ElementsAre(testing::FloatNear(1.0f, 1e-6f), testing::FloatNear(1.0f, 1e-6f)));
    // Ten bytes that hold more than 64 bits, and eleven.
    const Wire ten = Wire(9, '\xff') + '\x7f';
    EXPECT_THAT(ErrorOf(Wire("\x08") + Wire(10, '\xff') + '\x01' + Model(Addition())), HasSubstr("damaged"));
    EXPECT_NO_THROW(Parsed(Wire("\x08") + ten + Model(Addition())));
}

TEST(OnnxMessages, UnknownFieldsAreSkipped)
{
    const Wire unknown = Number(700, 5) + Message(701, "text") + Fixed32(702, 1.0f) + Fixed64(703, 1.0);
    EXPECT_THAT(Sum(unknown + Model(Addition().Put(unknown)) + unknown), ElementsAre(11.0f, 22.0f));
    EXPECT_THAT(Sum(Model(Graph()
                              .Input("x", {2})
                              .Add(unknown + Node("Add", {"x", "x"}, {"y"}) + unknown)
                              .Put(Message(12, unknown + Message(1, "y"))))),
                ElementsAre(2.0f, 4.0f));
}

TEST(OnnxMessages, GroupsAreRefused)
{
    for (const unsigned int wireType : {3u, 4u, 6u, 7u})
    {
        for (const unsigned int field : {1u, 7u, 700u})
        {
            const Wire bad = OnnxVarint(uint64_t{field} << 3 | wireType);
            EXPECT_THAT(ErrorOf(Model(Addition()) + bad), HasSubstr("not an ONNX model, or a damaged one"));
            EXPECT_NE(ErrorOf(Model(Addition().Put(bad))), "no exception");
        }
    }
    Wire nested;
    for (int i = 0; i < 10000; ++i)
    {
        nested += OnnxVarint(700 << 3 | 3);
    }
    EXPECT_THAT(ErrorOf(Model(Addition()) + nested), HasSubstr("damaged"));
}

TEST(OnnxMessages, FieldsOfAnotherWireType)
{
    EXPECT_THAT(ErrorOf(Message(1, "8") + Model(Addition())), HasSubstr("ModelProto.ir_version has another wire type"));
    EXPECT_THAT(ErrorOf(Number(7, 1) + Message(8, Opset(17))), HasSubstr("ModelProto.graph has another wire type"));
    EXPECT_THAT(ErrorOf(Model(Addition().Put(Number(1, 5)))), HasSubstr("GraphProto.node has another wire type"));
    EXPECT_THAT(ErrorOf(WithConstant(Message(1, "value_float") + Number(2, 1))),
                HasSubstr("AttributeProto.f has another wire type"));
    EXPECT_THAT(ErrorOf(WithConstant(TensorAttribute("value", Fixed32(5, 1.0f)))),
                HasSubstr("TensorProto.int32_data has another wire type"));
}

TEST(OnnxMessages, AttributesWithoutAType)
{
    const Wire tensor = Tensor<float>("w", {2}, {10.0f, 20.0f});
    EXPECT_THAT(Sum(WithConstant(Message(1, "value") + Message(5, tensor))), ElementsAre(11.0f, 22.0f));
    EXPECT_THAT(Sum(WithConstant(Message(1, "value_float") + Fixed32(2, 10.0f))), ElementsAre(11.0f, 12.0f));
    const auto reduce = [](const Wire& keepDims)
    {
        return RunModel(Model(Graph().Input("x", {2}).Add("ReduceMax", {"x"}, {"y"}, {keepDims}).Output("y")),
                        {List({1.0f, 2.0f})})
            .at(0)
            .m_Info.GetNumDimensions();
    };
    EXPECT_EQ(reduce(Message(1, "keepdims") + Number(3, 0)), 0u);
    EXPECT_EQ(reduce(Message(1, "keepdims") + Number(3, 1)), 1u);
    // A kind that the operator does not take.
    EXPECT_THAT(
        ErrorOf(
            Model(Graph().Input("x", {2}).Add("ReduceMax", {"x"}, {"y"}, {Attribute("keepdims", "yes")}).Output("y"))),
        HasSubstr("attribute keepdims is of a kind that does not fit"));
    EXPECT_THAT(ErrorOf(WithConstant(Attribute("value", 5))), HasSubstr("attribute 'value' is no tensor"));
    EXPECT_THAT(ErrorOf(WithConstant(Attribute("val", 5))), HasSubstr("none of the attributes"));
}

TEST(OnnxMessages, WhatIsNoModel)
{
    EXPECT_THAT(ErrorOf(""), HasSubstr("it has no graph"));
    EXPECT_THAT(ErrorOf(Message(8, Opset(17))), HasSubstr("it has no graph"));
    EXPECT_THAT(ErrorOf(Message(7, Addition())), HasSubstr("it imports no operator set"));
    EXPECT_THAT(ErrorOf("TFL3"), HasSubstr("not an ONNX model"));
    EXPECT_THAT(ErrorOf(Wire(100, '\0')), HasSubstr("not an ONNX model"));
    const IOnnxParserPtr parser = IOnnxParser::Create();
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { parser->CreateNetworkFromMemory(nullptr, 5); }),
                HasSubstr("the data is null"));
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { parser->CreateNetworkFromBinaryFile(nullptr); }),
                HasSubstr("the path is null"));
    EXPECT_THAT(MessageOf<FileNotFoundException>([&] { parser->CreateNetworkFromBinaryFile("no/such/file.onnx"); }),
                HasSubstr("no/such/file.onnx"));
}

// Bytes of the caller that lie at any alignment.
TEST(OnnxMessages, BytesAreUsedInPlace)
{
    const Wire model = Model(Addition());
    for (size_t shift = 0; shift < 4; ++shift)
    {
        const Wire bytes = Wire(shift, '\0') + model;
        const IOnnxParserPtr parser = IOnnxParser::Create();
        const INetworkPtr network = parser->CreateNetworkFromMemory(bytes.data() + shift, model.size());
        const IRuntimePtr runtime = IRuntime::Create({});
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()));
        const std::vector<float> x = {1.0f, 2.0f};
        std::vector<float> y(2);
        runtime->EnqueueWorkload(id, {{0, ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), x.data())}},
                                 {{0, tenon::Tensor(TensorInfo({2}, DataType::Float32), y.data())}});
        EXPECT_THAT(y, ElementsAre(11.0f, 22.0f));
    }
}

} // namespace tenon::test::onnx_messages_test
