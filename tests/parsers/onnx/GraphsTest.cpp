// SPDX-License-Identifier: Apache-2.0
// Tests of graphs in .onnx files: names, order of nodes, versions of operators, functions, and what is refused.
#include "OnnxRun.hpp"
#include "harness/WarningRecorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::onnx_graphs_test
{

using namespace model;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace
{

std::vector<float> RunOne(const Wire& model, const std::vector<float>& x = {1.0f, -2.0f})
{
    return RunModel(model, {List(x)}).at(0).Floats();
}

} // namespace

TEST(OnnxGraphs, InitializersThatAreInputs)
{
    // As files of IR version 3 have them.
    const Wire model = Model(Graph()
                                 .Input("w", {2})
                                 .Input("x", {2})
                                 .Store(Floats("w", {2}, {10.0f, 20.0f}))
                                 .Add("Mul", {"x", "w"}, {"y"})
                                 .Output("y"));
    EXPECT_THAT(RunOne(model), ElementsAre(10.0f, -40.0f));
    const Parsed parsed(model);
    EXPECT_THAT(parsed.m_Parser->GetInputNames(), ElementsAre("x"));
    // One that a shape is given for is fed.
    Options options;
    options.m_InputShapes["w"] = TensorShape({2});
    OnnxRun run(model, options);
    EXPECT_THAT(run.Run({List({3.0f, 5.0f}), List({1.0f, -2.0f})}).at(0).Floats(), ElementsAre(3.0f, -10.0f));
    // A sparse one, too.
    EXPECT_THAT(RunOne(Model(Graph()
                                 .Input("w", {2})
                                 .Input("x", {2})
                                 .StoreSparse(Sparse(Floats("w", {1}, {7.0f}), Ints("", {1}, {1}), {2}))
                                 .Add("Mul", {"x", "w"}, {"y"})
                                 .Output("y"))),
                ElementsAre(0.0f, -14.0f));
}

TEST(OnnxGraphs, InputsThatAreLeftOut)
{
    const auto clip = [](const Names& inputs)
    {
        return RunOne(Model(Graph()
                                .Input("x", {2})
                                .Store(Floats("low", {}, {-1.0f}))
                                .Store(Floats("high", {}, {0.5f}))
                                .Add("Clip", inputs, {"y"})
                                .Output("y")));
    };
    EXPECT_THAT(clip({"x", "low", "high"}), ElementsAre(0.5f, -1.0f));
    EXPECT_THAT(clip({"x", "", "high"}), ElementsAre(0.5f, -2.0f));
    EXPECT_THAT(clip({"x", "low", ""}), ElementsAre(1.0f, -1.0f));
    EXPECT_THAT(clip({"x", "low"}), ElementsAre(1.0f, -1.0f));
    EXPECT_THAT(clip({"x", "", ""}), ElementsAre(1.0f, -2.0f));
    EXPECT_THAT(clip({"x"}), ElementsAre(1.0f, -2.0f));
    const auto error = [](const std::string& op, const Names& inputs, const Names& outputs = {"y"})
    { return ErrorOf(Model(Graph().Input("x", {2}).Add(op, inputs, outputs).Output("y"))); };
    EXPECT_THAT(error("Add", {"x", ""}), HasSubstr("has 1 input; it takes 2"));
    EXPECT_THAT(error("Add", {"", "x"}), HasSubstr("input 0 is missing"));
    EXPECT_THAT(error("Abs", {"", ""}), HasSubstr("has 0 inputs; it takes 1"));
    EXPECT_THAT(error("Abs", {"x", "x"}), HasSubstr("has 2 inputs; it takes 1"));
    EXPECT_THAT(error("Abs", {"x"}, {"y", "z"}), HasSubstr("has 2 outputs; at most 1 are possible"));
    EXPECT_THAT(error("Concat", {"x", "", "x"}), HasSubstr("attribute 'axis' is missing"));
}

TEST(OnnxGraphs, OutputsThatAreLeftOut)
{
    const Wire model = Model(Graph()
                                 .Input("x", {4})
                                 .Add("Split", {"x"}, {"", "y"}, {Attribute("axis", 0)})
                                 .Add("TopK", {"y", "k"}, {"", "z"})
                                 .Store(Ints("k", {1}, {1}))
                                 .Output("y")
                                 .Output("z"));
    const std::vector<Data> results = RunModel(model, {List({1, 2, 3, 4})});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(3.0f, 4.0f));
    EXPECT_THAT(results.at(1).Ints(), ElementsAre(1));
}

TEST(OnnxGraphs, OutputsOfAnyKind)
{
    const Wire model = Model(Graph()
                                 .Input("x", {2})
                                 .Store(Floats("w", {2}, {5.0f, 6.0f}))
                                 .Add("Neg", {"x"}, {"n"})
                                 .Add("Abs", {"n"}, {"a"})
                                 .Add("Constant", {}, {"c"}, {Attribute("value_int", 9)})
                                 .Output("x")
                                 .Output("w")
                                 .Output("n")
                                 .Output("a")
                                 .Output("n")
                                 .Output("c")
                                 .Output("x"));
    const Parsed parsed(model);
    EXPECT_THAT(parsed.m_Parser->GetOutputNames(), ElementsAre("x", "w", "n", "a", "n_1", "c", "x_1"));
    const std::vector<Data> results = OnnxRun(parsed).Run({List({1.0f, -2.0f})});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(1.0f, -2.0f));
    EXPECT_THAT(results.at(1).Floats(), ElementsAre(5.0f, 6.0f));
    EXPECT_THAT(results.at(2).Floats(), ElementsAre(-1.0f, 2.0f));
    EXPECT_THAT(results.at(3).Floats(), ElementsAre(1.0f, 2.0f));
    EXPECT_THAT(results.at(4).Floats(), ElementsAre(-1.0f, 2.0f));
    EXPECT_THAT(results.at(5).Ints(), ElementsAre(9));
    EXPECT_THAT(results.at(6).Floats(), ElementsAre(1.0f, -2.0f));
}

TEST(OnnxGraphs, NodesInAnyOrder)
{
    EXPECT_THAT(RunOne(Model(Graph()
                                 .Add("Abs", {"b"}, {"y"})
                                 .Add("Add", {"a", "x"}, {"b"})
                                 .Add("Neg", {"c"}, {"a"})
                                 .Add("Add", {"x", "x"}, {"c"})
                                 .Input("x", {2})
                                 .Output("y"))),
                ElementsAre(1.0f, 2.0f));
    // What a branch reads from outside counts as read by the node.
    const Wire branch = Graph("then").Add("Neg", {"later"}, {"t"}).Output("t");
    const Wire other = Graph("else").Add("Identity", {"later"}, {"e"}).Output("e");
    EXPECT_THAT(RunOne(Model(Graph()
                                 .Input("x", {2})
                                 .Add("If", {"c"}, {"y"},
                                      {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", other)})
                                 .Add("Abs", {"x"}, {"later"})
                                 .Add("Constant", {}, {"c"}, {TensorAttribute("value", Tensor<bool>("", {}, {true}))})
                                 .Output("y"))),
                ElementsAre(-1.0f, -2.0f));
}

TEST(OnnxGraphs, NamesThatContradict)
{
    const auto error = [](Graph& graph) { return ErrorOf(Model(graph)); };
    EXPECT_THAT(error(Graph().Input("x", {2}).Add("Abs", {"z"}, {"y"}).Output("y")),
                HasSubstr("graph 'graph': node 0 (Abs): reads 'z', which is neither an input, nor an initializer, nor "
                          "computed by a node"));
    EXPECT_THAT(error(Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("z")),
                HasSubstr("the output 'z' is computed by no node"));
    EXPECT_THAT(error(Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("")),
                HasSubstr("the output '' is computed by no node"));
    EXPECT_THAT(error(Graph().Input("x", {2}).Input("y", {2}).Add("Abs", {"y"}, {"x"}).Output("x")),
                HasSubstr("'x' is computed twice"));
    EXPECT_THAT(error(Graph().Input("x", {2}).Add("Split", {"x"}, {"y", "y"}, {Attribute("axis", 0)}).Output("y")),
                HasSubstr("'y' is computed twice"));
    EXPECT_THAT(error(Graph()
                          .Input("x", {2})
                          .Add("Abs", {"x"}, {"a"})
                          .Add("Neg", {"x"}, {"a"})
                          .Add("Neg", {"a"}, {"y"})
                          .Output("y")),
                HasSubstr("graph 'graph': 'a' is computed by two nodes, 0 (Abs) and 1 (Neg)"));
    EXPECT_THAT(error(Graph().Input("x", {2}).Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("y")),
                HasSubstr("input 'x': there are two inputs of this name"));
    EXPECT_THAT(error(Graph().Input("x", {2}).Add("Abs", {"z"}, {"y"}).Add("Neg", {"y"}, {"z"}).Output("y")),
                HasSubstr("the nodes form a cycle that"));
    EXPECT_THAT(error(Graph().Input("x", {2}).Add("Abs", {"y"}, {"y"}).Output("y")),
                HasSubstr("form a cycle that 'y' is a part of"));
    // A name that only a branch defines.
    const Wire branch = Graph("b").Add("Neg", {"x"}, {"inner"}).Output("inner");
    EXPECT_THAT(error(Graph()
                          .Input("x", {2})
                          .Input("c", ElementType::Bool, Dims{})
                          .Add("If", {"c"}, {"t"},
                               {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", branch)})
                          .Add("Add", {"t", "inner"}, {"y"})
                          .Output("y")),
                HasSubstr("reads 'inner'"));
}

TEST(OnnxGraphs, NodesThatNothingDependsOn)
{
    const Wire model = Model(Graph()
                                 .Input("x", {2})
                                 .Add("NoSuchOperator", {"x"}, {"a"})
                                 .Add("Abs", {"nothing"}, {"b"})
                                 .Add("Abs", {"x"}, {"y"})
                                 .Add("Neg", {"d"}, {"c"})
                                 .Add("Neg", {"c"}, {"d"})
                                 .Output("y"));
    EXPECT_THAT(RunOne(model), ElementsAre(1.0f, 2.0f));
    // Inputs stay, whether they are read or not.
    const Parsed parsed(Model(Graph().Input("unused", {3}).Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("y")));
    EXPECT_THAT(parsed.m_Parser->GetInputNames(), ElementsAre("unused", "x"));
}

TEST(OnnxGraphs, VersionsOfOperators)
{
    const Wire graph = Graph().Input("x", {2}).Add("Erf", {"x"}, {"y"}).Output("y");
    EXPECT_NO_THROW(Parsed(Model(graph, 9)));
    EXPECT_THAT(ErrorOf<UnimplementedException>(Model(graph, 8)),
                HasSubstr("Erf (ai.onnx version 8, 1 node): this version of the operator is too old"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(Model(graph, -5)), HasSubstr("Erf (ai.onnx version -5"));
    {
        const WarningRecorder warnings;
        EXPECT_NO_THROW(Parsed(Model(graph, 999)));
        EXPECT_THAT(warnings.Get(),
                    ElementsAre(HasSubstr("imports version 999 of the operator set ai.onnx; 28 is the newest")));
    }
    // "ai.onnx" is another name of "".
    const Wire named = Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}, {}, "ai.onnx").Output("y");
    EXPECT_THAT(RunOne(Model(named)), ElementsAre(1.0f, 2.0f));
    EXPECT_THAT(RunOne(Message(7, named) + Message(8, Opset(13, "ai.onnx"))), ElementsAre(1.0f, 2.0f));
    // Without an import of the set that a node is of.
    EXPECT_THAT(ErrorOf(Message(7, graph) + Message(8, Opset(1, "com.other"))),
                HasSubstr("the model imports no version of the operator set ai.onnx"));
    const Wire other = Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}, {}, "com.other").Output("y");
    EXPECT_THAT(ErrorOf<UnimplementedException>(Model(other)),
                HasSubstr("Abs (com.other version 1, 1 node): no layer computes it"));
    // Sets that no node is of do not matter.
    EXPECT_NO_THROW(Parsed(Model(graph) + Message(8, Opset(3, "com.other")) +
                           Message(8, Opset(0, ""
                                               "ai.none"))));
}

TEST(OnnxGraphs, AllThatCannotRunIsListed)
{
    const std::string error = ErrorOf<UnimplementedException>(Model(
        Graph()
            .Input("x", {2})
            .Add("NoSuchOperator", {"x"}, {"a"}, {}, "", "first")
            .Add("Other", {"a"}, {"b"}, {}, "com.other", "behind it")
            .Add("Abs", {"b"}, {"g"}) // its input is unknown: it is judged by its name alone
            .Add("NoSuchOperator", {"x"}, {"c"}, {}, "", "second")
            .Add("Other", {"x"}, {"d"}, {}, "com.other")
            .Add("BatchNormalization", {"x", "x", "x", "x", "x"}, {"e"}, {Attribute("training_mode", 1)}, "", "norm")
            .Add("Add", {"c", "d"}, {"f"})
            .Output("g")
            .Output("f")
            .Output("e")));
    EXPECT_EQ(error, "the model has operators that cannot run:\n"
                     "  NoSuchOperator (ai.onnx version 17, 2 nodes, first 'first'): no layer computes it\n"
                     "  Other (com.other version 1, 2 nodes, first 'behind it'): no layer computes it\n"
                     "  BatchNormalization (ai.onnx version 17, 1 node, first 'norm'): normalization in training is "
                     "not supported");
    // Also within branches, bodies and functions.
    const Wire branch = Graph("b").Add("InBranch", {"x"}, {"t"}).Output("t");
    const Wire plain = Graph("p").Add("Neg", {"x"}, {"t"}).Output("t");
    const Wire body = Graph("body")
                          .Input("i", ElementType::Int64, Dims{})
                          .Input("c", ElementType::Bool, Dims{})
                          .Input("v", {2})
                          .Add("InBody", {"v"}, {"w"})
                          .Add("Identity", {"c"}, {"d"})
                          .Output("d")
                          .Output("w");
    const std::string nested = ErrorOf<UnimplementedException>(Model(
        Graph()
            .Input("x", {2})
            .Input("flag", ElementType::Bool, Dims{})
            .Input("count", ElementType::Int64, Dims{})
            .Add("If", {"flag"}, {"a"}, {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", plain)})
            .Add("Loop", {"count", "", "x"}, {"b"}, {GraphAttribute("body", body)})
            .Add("F", {"x"}, {"c"}, {}, "own")
            .Output("a")
            .Output("b")
            .Output("c"),
        17, {Function("own", "F", {"p"}, {"q"}, {Node("InFunction", {"p"}, {"q"})})}));
    EXPECT_THAT(nested, HasSubstr("InBranch (ai.onnx"));
    EXPECT_THAT(nested, HasSubstr("InBody (ai.onnx"));
    EXPECT_THAT(nested, HasSubstr("InFunction (ai.onnx"));
    EXPECT_THAT(nested, Not(HasSubstr("If (")));
    EXPECT_THAT(nested, Not(HasSubstr("Loop (")));
}

TEST(OnnxGraphs, ErrorsSayWhere)
{
    const Wire function =
        Function("own", "F", {"p"}, {"q"}, {Node("Concat", {"p", "p"}, {"q"}, {Attribute("axis", 5)}, "", "join")});
    EXPECT_EQ(
        ErrorOf(
            Model(Graph("net").Input("x", {2}).Add("F", {"x"}, {"y"}, {}, "own", "call").Output("y"), 17, {function})),
        "graph 'net': node 0 'call' (F): function 'F': node 0 'join' (Concat): axis 5 is outside of 1 dimensions");
}

TEST(OnnxGraphs, MetadataIsKept)
{
    const auto entry = [](const std::string& key, const std::string& value)
    { return Message(14, Message(1, key) + Message(2, value)); };
    const Wire model = Model(Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("y"), 17, {},
                             entry("names", "{0: 'cat'}") + entry("stride", "32") + entry("empty", "") +
                                 Message(14, Message(2, "of no key")));
    const Parsed parsed(model);
    EXPECT_THAT(parsed.m_Parser->GetMetadata(),
                ElementsAre(testing::Pair("", "of no key"), testing::Pair("empty", ""),
                            testing::Pair("names", "{0: 'cat'}"), testing::Pair("stride", "32")));
    parsed.m_Parser->CreateNetworkFromBinary(BytesOf(Model(Graph().Input("x", {2}).Output("x"))));
    EXPECT_TRUE(parsed.m_Parser->GetMetadata().empty()) << "of the model read last";
}

TEST(OnnxGraphs, HeadIsKept)
{
    const Wire head = Message(2, "exporter") + Message(3, "2.1") + Message(4, "org.example") + Number(5, 7) +
                      Message(6, "a test") + Message(8, Opset(3, "com.example"));
    const Parsed parsed(Model(Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("y"), 17, {}, head));
    const IOnnxParser::ModelHeader& header = parsed.m_Parser->GetHeader();
    EXPECT_EQ(header.m_IrVersion, 10);
    EXPECT_EQ(header.m_ProducerName, "exporter");
    EXPECT_EQ(header.m_ProducerVersion, "2.1");
    EXPECT_EQ(header.m_Domain, "org.example");
    EXPECT_EQ(header.m_ModelVersion, 7);
    EXPECT_EQ(header.m_DocString, "a test");
    EXPECT_THAT(header.m_Opsets, ElementsAre(testing::Pair("ai.onnx", 17), testing::Pair("com.example", 3)));
    EXPECT_THROW(parsed.m_Parser->CreateNetworkFromBinary(
                     BytesOf(Model(Graph().Input("x", {2}).Add("Unheard", {"x"}, {"y"}).Output("y"), 16))),
                 UnimplementedException);
    EXPECT_EQ(header.m_ProducerName, "") << "of the model read last";
    EXPECT_THAT(header.m_Opsets, ElementsAre(testing::Pair("ai.onnx", 16)));
}

TEST(OnnxGraphs, BindingsByName)
{
    const Parsed parsed(Model(Graph()
                                  .Input("b", {2, "n"})
                                  .Input("a", ElementType::Int32, Dims{3})
                                  .Add("Abs", {"b"}, {"y"})
                                  .Output("y")
                                  .Output("a")));
    EXPECT_THAT(parsed.m_Parser->GetInputNames(), ElementsAre("b", "a"));
    const TensorInfo b = parsed.m_Parser->GetNetworkInputBindingInfo("b").second;
    EXPECT_EQ(b.GetShape().ToString(), "[2,?]");
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo("a").second.GetDataType(), DataType::Signed32);
    EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo("y").second.GetShape().ToString(), "[2,?]");
    EXPECT_THAT(MessageOf<ParseException>([&] { parsed.m_Parser->GetNetworkInputBindingInfo("c"); }),
                HasSubstr("the model has no input 'c'; it has 'b', 'a'"));
    EXPECT_THAT(MessageOf<ParseException>([&] { parsed.m_Parser->GetNetworkOutputBindingInfo("b"); }),
                HasSubstr("the model has no output 'b'; it has 'y', 'a'"));
    EXPECT_THAT(parsed.m_Parser->GetDimensionNames("b"), ElementsAre("", "n"));
    EXPECT_THAT(MessageOf<ParseException>([&] { parsed.m_Parser->GetDimensionNames("y"); }), HasSubstr("no input 'y'"));
}

TEST(OnnxGraphs, InputsThatCannotBeFed)
{
    const auto error = [](const Wire& type)
    {
        return ErrorOf<UnimplementedException>(
            Model(Graph().Put(Message(11, Message(1, "x") + Message(2, type))).Output("x")));
    };
    const Wire tensor = TensorType(ElementType::Float, Dims{2});
    const std::string refused = "input 'x': is no tensor";
    EXPECT_THAT(error(Message(4, Message(1, tensor))), HasSubstr(refused));
    EXPECT_THAT(error(Message(9, Message(1, tensor))), HasSubstr(refused));
    EXPECT_THAT(error(Message(5, "")), HasSubstr(refused));
    EXPECT_THAT(error(Message(7, "")), HasSubstr(refused));
    EXPECT_THAT(error(Message(8, tensor.substr(2))), HasSubstr(refused));
    EXPECT_THAT(error(""), HasSubstr(refused));
    EXPECT_THAT(error(TensorType(ElementType::String, Dims{2})), HasSubstr("element type STRING is not supported"));
    EXPECT_THAT(error(TensorType(ElementType::Undefined, Dims{2})),
                HasSubstr("element type UNDEFINED is not supported"));
}

// Functions.

TEST(OnnxFunctions, AreReadWithTheAttributesOfTheirCallers)
{
    // own.Scale: y = alpha * x + beta, whose attributes have defaults.
    const std::vector<Wire> nodes = {
        Node("Constant", {}, {"a"}, {ReferenceAttribute("value_float", "alpha", AttributeType::Float)}),
        Node("Constant", {}, {"b"}, {ReferenceAttribute("value_float", "beta", AttributeType::Float)}),
        Node("Mul", {"p", "a"}, {"m"}), Node("Add", {"m", "b"}, {"q"})};
    const Wire scale =
        Function("own", "Scale", {"p"}, {"q"}, nodes, {Attribute("alpha", 2.0f), Attribute("beta", 0.5f)});
    const auto call = [&](const std::vector<Wire>& attributes, const std::vector<Wire>& functions)
    { return Model(Graph().Input("x", {2}).Add("Scale", {"x"}, {"y"}, attributes, "own").Output("y"), 17, functions); };
    EXPECT_THAT(RunOne(call({}, {scale})), ElementsAre(2.5f, -3.5f));
    EXPECT_THAT(RunOne(call({Attribute("beta", 10.0f)}, {scale})), ElementsAre(12.0f, 6.0f));
    EXPECT_THAT(RunOne(call({Attribute("alpha", 1.0f), Attribute("beta", 0.0f), Attribute("other", 1)}, {scale})),
                ElementsAre(1.0f, -2.0f));
    // Without a default the attribute is left out.
    const Wire reduce =
        Function("own", "Scale", {"p"}, {"q"},
                 {Node("ReduceMax", {"p"}, {"q"}, {ReferenceAttribute("keepdims", "keep", AttributeType::Int)})});
    EXPECT_EQ(RunModel(call({}, {reduce}), {List({1, 2})}).at(0).m_Info.GetNumDimensions(), 1u);
    EXPECT_EQ(RunModel(call({Attribute("keep", 0)}, {reduce}), {List({1, 2})}).at(0).m_Info.GetNumDimensions(), 0u);
    EXPECT_THAT(ErrorOf(call({}, {Function("own", "Scale", {"p"}, {"q"}, nodes)})),
                HasSubstr("none of the attributes that a constant may have"));
    // A function goes before an operator of the same name.
    EXPECT_THAT(RunOne(Model(Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("y"), 17,
                             {Function("", "Abs", {"p"}, {"q"}, {Node("Neg", {"p"}, {"q"})})})),
                ElementsAre(-1.0f, 2.0f));
}

TEST(OnnxFunctions, InFunctions)
{
    const Wire inner =
        Function("own", "Inner", {"p"}, {"q"},
                 {Node("Constant", {}, {"c"}, {ReferenceAttribute("value_float", "gain", AttributeType::Float)}),
                  Node("Mul", {"p", "c"}, {"q"})});
    const Wire outer =
        Function("own", "Outer", {"p"}, {"q"},
                 {Node("Inner", {"p"}, {"i"}, {ReferenceAttribute("gain", "factor", AttributeType::Float)}, "own"),
                  Node("Inner", {"i"}, {"q"}, {Attribute("gain", 10.0f)}, "own")});
    EXPECT_THAT(
        RunOne(Model(Graph().Input("x", {2}).Add("Outer", {"x"}, {"y"}, {Attribute("factor", 3.0f)}, "own").Output("y"),
                     17, {inner, outer})),
        ElementsAre(30.0f, -60.0f));
    // Names of values are a function's own.
    const Wire swap = Function("own", "Swap", {"x", "y"}, {"y2", "x2"},
                               {Node("Identity", {"y"}, {"y2"}), Node("Identity", {"x"}, {"x2"})});
    EXPECT_THAT(RunOne(Model(Graph()
                                 .Input("x", {2})
                                 .Add("Neg", {"x"}, {"y"})
                                 .Add("Swap", {"y", "x"}, {"a", "b"}, {}, "own")
                                 .Add("Swap", {"a", "b"}, {"c", "d"}, {}, "own")
                                 .Output("c"),
                             17, {swap})),
                ElementsAre(-1.0f, 2.0f));
}

TEST(OnnxFunctions, WithBranches)
{
    // An attribute of the caller and an input that is left out, both read within a branch.
    const Wire branch =
        Graph("then")
            .Add("Constant", {}, {"c"}, {ReferenceAttribute("value_float", "gain", AttributeType::Float)})
            .Add("Clip", {"p", "low"}, {"m"})
            .Add("Mul", {"m", "c"}, {"t"})
            .Output("t");
    const Wire other = Graph("else").Add("Identity", {"p"}, {"e"}).Output("e");
    const Wire function = Function(
        "own", "F", {"p", "flag", "low"}, {"q"},
        {Node("If", {"flag"}, {"q"}, {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", other)})});
    for (const bool hasLow : {false, true})
    {
        const Wire model =
            Model(Graph()
                      .Input("x", {2})
                      .Input("flag", ElementType::Bool, Dims{})
                      .Store(Floats("zero", {}, {0.0f}))
                      .Add("F", {"x", "flag", hasLow ? "zero" : ""}, {"y"}, {Attribute("gain", 5.0f)}, "own")
                      .Output("y"),
                  17, {function});
        OnnxRun run(model);
        const auto flag = [](bool value)
        { return Data::Of(TensorShape(Dimensionality::Scalar), std::vector<bool>{value}); };
        EXPECT_THAT(run.Run({List({1, -2}), flag(true)}).at(0).Floats(), ElementsAre(5.0f, hasLow ? 0.0f : -10.0f));
        EXPECT_THAT(run.Run({List({1, -2}), flag(false)}).at(0).Floats(), ElementsAre(1.0f, -2.0f));
    }
}

TEST(OnnxFunctions, HaveVersionsOfTheirOwn)
{
    // Softmax of before 13 goes over all dimensions from the axis on.
    const auto softmax = [](int64_t version)
    {
        return Function("own", "F", {"p"}, {"q"}, {Node("Softmax", {"p"}, {"q"}, {Attribute("axis", 0)})}, {},
                        {Opset(version)});
    };
    const auto first = [&](int64_t version)
    {
        return RunModel(Model(Graph().Input("x", {2, 2}).Add("F", {"x"}, {"y"}, {}, "own").Output("y"), 17,
                              {softmax(version)}),
                        {Fed({2, 2}, {0, 0, 0, 0})})
            .at(0)
            .Floats()
            .at(0);
    };
    EXPECT_FLOAT_EQ(first(11), 0.25f);
    EXPECT_FLOAT_EQ(first(13), 0.5f);
    const Wire none = Function("own", "F", {"p"}, {"q"}, {Node("Abs", {"p"}, {"q"})}, {}, {});
    EXPECT_THAT(ErrorOf(Model(Graph().Input("x", {2}).Add("F", {"x"}, {"y"}, {}, "own").Output("y"), 17, {none})),
                HasSubstr("imports no version of the operator set ai.onnx"));
}

TEST(OnnxFunctions, InputsAndOutputsThatAreLeftOut)
{
    const Wire function = Function("own", "F", {"p", "low"}, {"q", "r"},
                                   {Node("Clip", {"p", "low"}, {"q"}), Node("NoSuchOperator", {"p"}, {"r"})});
    const auto model = [&](const Names& inputs, const Names& outputs, const std::string& output)
    {
        return Model(Graph()
                         .Input("x", {2})
                         .Store(Floats("zero", {}, {0.0f}))
                         .Add("F", inputs, outputs, {}, "own")
                         .Output(output),
                     17, {function});
    };
    EXPECT_THAT(RunOne(model({"x", "zero"}, {"y"}, "y")), ElementsAre(1.0f, 0.0f));
    EXPECT_THAT(RunOne(model({"x"}, {"y", ""}, "y")), ElementsAre(1.0f, -2.0f));
    EXPECT_THAT(ErrorOf<UnimplementedException>(model({"x"}, {"y", "z"}, "y")), HasSubstr("NoSuchOperator"));
    EXPECT_THAT(ErrorOf(model({"x", "zero", "x"}, {"y"}, "y")), HasSubstr("has 3 inputs, but function 'F' takes 2"));
    EXPECT_THAT(ErrorOf(model({"x"}, {"y", "", "w"}, "w")), HasSubstr("the output 'w' is computed by no node"));
}

TEST(OnnxFunctions, ThatCallThemselves)
{
    const auto call = [](const std::vector<Wire>& functions)
    { return ErrorOf(Model(Graph().Input("x", {2}).Add("F", {"x"}, {"y"}, {}, "own").Output("y"), 17, functions)); };
    EXPECT_THAT(call({Function("own", "F", {"p"}, {"q"}, {Node("F", {"p"}, {"q"}, {}, "own")})}),
                HasSubstr("function 'F' calls itself"));
    EXPECT_THAT(call({Function("own", "F", {"p"}, {"q"}, {Node("G", {"p"}, {"q"}, {}, "own")}),
                      Function("own", "G", {"p"}, {"q"}, {Node("F", {"p"}, {"q"}, {}, "own")})}),
                HasSubstr("function 'F' calls itself"));
    const Wire branch = Graph("b").Add("F", {"p"}, {"t"}, {}, "own").Output("t");
    EXPECT_THAT(
        call({Function("own", "F", {"p"}, {"q"},
                       {Node("Constant", {}, {"c"}, {TensorAttribute("value", Tensor<bool>("", {}, {true}))}),
                        Node("If", {"c"}, {"q"},
                             {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", branch)})})}),
        HasSubstr("function 'F' calls itself"));
}

} // namespace tenon::test::onnx_graphs_test
