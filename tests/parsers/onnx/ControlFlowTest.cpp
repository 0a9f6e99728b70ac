// SPDX-License-Identifier: Apache-2.0
// Tests of If, Loop and Scan in .onnx models, of values that graphs read from outside, and of sequences and optional
// values.
#include "OnnxRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::onnx_control_flow_test
{

using namespace model;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

Data Flag(bool value)
{
    return Data::Of(TensorShape(Dimensionality::Scalar), std::vector<bool>{value});
}

Data Count(int64_t value)
{
    return Data::Of(TensorShape(Dimensionality::Scalar), std::vector<int64_t>{value});
}

Wire IfNode(const Wire& thenBranch, const Wire& elseBranch, const Names& outputs = {"y"},
            const std::string& condition = "c")
{
    return Node("If", {condition}, outputs,
                {GraphAttribute("then_branch", thenBranch), GraphAttribute("else_branch", elseBranch)});
}

/// A graph with a run-time condition c.
Graph WithFlag(const Dims& dims = {2})
{
    Graph graph;
    graph.Input("x", dims).Input("c", ElementType::Bool, Dims{});
    return graph;
}

/// A loop body: number of the iteration and condition, then carried values.
Graph Body(const Names& carried)
{
    Graph body("body");
    body.Input("i", ElementType::Int64, Dims{}).Input("go", ElementType::Bool, Dims{});
    for (const std::string& name : carried)
    {
        body.Put(Message(11, Message(1, name)));
    }
    return body;
}

Wire LoopNode(const Names& inputs, const Names& outputs, const Wire& body)
{
    return Node("Loop", inputs, outputs, {GraphAttribute("body", body)});
}

} // namespace

TEST(OnnxIf, TakesABranch)
{
    const Wire doubled = Graph("t").Add("Add", {"x", "x"}, {"a"}).Output("a");
    const Wire negated = Graph("e").Add("Neg", {"x"}, {"a"}).Output("a");
    OnnxRun run(Model(WithFlag().Add(IfNode(doubled, negated)).Output("y")));
    EXPECT_THAT(run.Run({List({1, 2}), Flag(true)}).at(0).Floats(), ElementsAre(2.0f, 4.0f));
    EXPECT_THAT(run.Run({List({1, 2}), Flag(false)}).at(0).Floats(), ElementsAre(-1.0f, -2.0f));
    // A condition [1], as some exporters write it.
    OnnxRun list(Model(
        Graph().Input("x", {2}).Input("c", ElementType::Bool, Dims{1}).Add(IfNode(doubled, negated)).Output("y")));
    EXPECT_THAT(list.Run({List({1, 2}), Data::Of(TensorShape({1}), std::vector<bool>{false})}).at(0).Floats(),
                ElementsAre(-1.0f, -2.0f));
    // One that is known: the other branch does not matter.
    const Wire unknown = Graph("u").Add("NoSuchOperator", {"x"}, {"a"}).Output("a");
    const Wire known =
        Model(Graph().Input("x", {2}).Store(Tensor<bool>("c", {1}, {false})).Add(IfNode(unknown, negated)).Output("y"));
    EXPECT_THAT(RunModel(known, {List({1, 2})}).at(0).Floats(), ElementsAre(-1.0f, -2.0f));
}

TEST(OnnxIf, BranchesOfDifferentShapes)
{
    const Wire one = Graph("t").Store(Floats("w", {1}, {7.0f})).Output("w");
    const Wire all = Graph("e").Add("Concat", {"x", "x"}, {"a"}, {Attribute("axis", 0)}).Output("a");
    OnnxRun run(Model(WithFlag({"n"}).Add(IfNode(one, all)).Add("Neg", {"y"}, {"z"}).Output("z")));
    EXPECT_THAT(run.Run({List({1, 2}), Flag(true)}).at(0).Floats(), ElementsAre(-7.0f));
    EXPECT_THAT(run.Run({List({1, 2}), Flag(false)}).at(0).Floats(), ElementsAre(-1.0f, -2.0f, -1.0f, -2.0f));
    EXPECT_THAT(run.Run({List({3}), Flag(false)}).at(0).Floats(), ElementsAre(-3.0f, -3.0f));
    // Of another rank.
    const Wire scalar = Graph("t").Add("ReduceSum", {"x"}, {"s"}, {Attribute("keepdims", 0)}).Output("s");
    OnnxRun ranks(Model(WithFlag().Add(IfNode(scalar, all)).Output("y")));
    EXPECT_EQ(ranks.Run({List({1, 2}), Flag(true)}).at(0).m_Info.GetNumDimensions(), 0u);
    EXPECT_EQ(ranks.Run({List({1, 2}), Flag(false)}).at(0).m_Info.GetShape(), TensorShape({4}));
}

TEST(OnnxIf, ReadsFromTwoLevels)
{
    // The inner branch reads x and an initializer of the model, and a value of the branch around it.
    const Wire inner = Graph("inner").Add("Add", {"x", "m"}, {"s"}).Add("Mul", {"s", "w"}, {"r"}).Output("r");
    const Wire plain = Graph("plain").Add("Identity", {"m"}, {"r"}).Output("r");
    const Wire outer = Graph("outer").Add("Neg", {"n"}, {"m"}).Add(IfNode(inner, plain, {"q"}, "d")).Output("q");
    const Wire other = Graph("other").Add("Abs", {"n"}, {"q"}).Output("q");
    Graph graph = WithFlag();
    graph.Input("d", ElementType::Bool, Dims{}).Store(Floats("w", {}, {10.0f}));
    graph.Add("Add", {"x", "x"}, {"n"}).Add(IfNode(outer, other)).Output("y");
    OnnxRun run{Model(graph)};
    EXPECT_THAT(run.Run({List({1, -2}), Flag(true), Flag(true)}).at(0).Floats(), ElementsAre(-10.0f, 20.0f));
    EXPECT_THAT(run.Run({List({1, -2}), Flag(true), Flag(false)}).at(0).Floats(), ElementsAre(-2.0f, 4.0f));
    EXPECT_THAT(run.Run({List({1, -2}), Flag(false), Flag(true)}).at(0).Floats(), ElementsAre(2.0f, 4.0f));
}

TEST(OnnxIf, WhatIsRefused)
{
    const Wire one = Graph("t").Add("Neg", {"x"}, {"a"}).Output("a");
    const Wire two = Graph("e").Add("Neg", {"x"}, {"a"}).Output("a").Output("a");
    const auto error = [](const Wire& node) { return ErrorOf(Model(WithFlag().Add(node).Output("y"))); };
    EXPECT_THAT(error(IfNode(one, two)), HasSubstr("branch 'e' has 2 outputs in place of 1"));
    EXPECT_THAT(error(IfNode(one, one, {"y", "z"})), HasSubstr("branch 't' has 1 outputs in place of 2"));
    EXPECT_THAT(error(Node("If", {"c"}, {"y"}, {GraphAttribute("then_branch", one)})),
                HasSubstr("attribute 'else_branch' is missing"));
    EXPECT_THAT(error(Node("If", {"c"}, {"y"}, {GraphAttribute("then_branch", one), Attribute("else_branch", 1)})),
                HasSubstr("attribute 'else_branch' is no graph"));
    const Wire integers = Graph("e").Store(Ints("w", {2}, {1, 2})).Output("w");
    EXPECT_THAT(error(IfNode(one, integers)),
                HasSubstr("output 0 is of type Float32 in one branch and of type Signed64 in the other"));
    const Wire asks = Graph("e").Input("p", {2}).Add("Neg", {"p"}, {"a"}).Output("a");
    EXPECT_THAT(ErrorOf(Model(
                    Graph().Input("x", {2}).Store(Tensor<bool>("c", {}, {false})).Add(IfNode(one, asks)).Output("y"))),
                HasSubstr("graph 'e' has 1 inputs in place of 0"));
    EXPECT_THAT(error(IfNode(one, one, {"y"}, "x")), HasSubstr("the condition is of type Float32 in place of Boolean"));
    const Wire sequence = Graph("s").Add("SequenceConstruct", {"x"}, {"a"}).Output("a");
    EXPECT_THAT(ErrorOf<UnimplementedException>(Model(WithFlag().Add(IfNode(sequence, sequence)).Output("y"))),
                HasSubstr("is a sequence or an optional value, which no layer can take"));
}

TEST(OnnxLoop, TurnsThatAreKnown)
{
    // v = v + w * i, and a scan output i.
    const Wire body = Body({"v"})
                          .Add("Cast", {"i"}, {"f"}, {Attribute("to", 1)})
                          .Add("Mul", {"f", "w"}, {"p"})
                          .Add("Add", {"v", "p"}, {"next"})
                          .Add("Identity", {"go"}, {"on"})
                          .Output("on")
                          .Output("next")
                          .Output("f");
    for (const int64_t turns : {1, 3, 20})
    {
        const Wire model = Model(Graph()
                                     .Input("x", {2})
                                     .Store(Ints("turns", {}, {turns}))
                                     .Store(Floats("w", {}, {2.0f}))
                                     .Add(LoopNode({"turns", "", "x"}, {"y", "z"}, body))
                                     .Output("y")
                                     .Output("z"));
        const std::vector<Data> results = RunModel(model, {List({0.5f, 1})});
        const auto sum = static_cast<float>(turns * (turns - 1));
        EXPECT_THAT(results.at(0).Floats(), ElementsAre(0.5f + sum, 1 + sum));
        EXPECT_EQ(results.at(1).m_Info.GetShape(), TensorShape({static_cast<unsigned int>(turns)}));
        EXPECT_EQ(results.at(1).Floats().back(), static_cast<float>(turns - 1));
    }
}

TEST(OnnxLoop, TurnsThatTheRunTells)
{
    const Wire body = Body({"v"})
                          .Add("Add", {"v", "x"}, {"next"})
                          .Add("ReduceSum", {"next"}, {"s"}, {Attribute("keepdims", 0)})
                          .Add("Less", {"s", "bound"}, {"on"})
                          .Output("on")
                          .Output("next")
                          .Output("s");
    Graph graph;
    graph.Input("x", {2})
        .Input("turns", ElementType::Int64, Dims{})
        .Input("c", ElementType::Bool, Dims{})
        .Input("bound", Dims{});
    graph.Add(LoopNode({"turns", "c", "x"}, {"y", "z"}, body)).Output("y").Output("z");
    OnnxRun run{Model(graph)};
    const auto bound = [](float value) { return Fed(TensorShape(Dimensionality::Scalar), {value}); };
    std::vector<Data> results = run.Run({List({1, 2}), Count(5), Flag(true), bound(1000)});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(6.0f, 12.0f));
    EXPECT_THAT(results.at(1).Floats(), ElementsAre(6.0f, 9.0f, 12.0f, 15.0f, 18.0f));
    results = run.Run({List({1, 2}), Count(5), Flag(true), bound(8)});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(3.0f, 6.0f)) << "the condition ends it";
    EXPECT_THAT(results.at(1).Floats(), ElementsAre(6.0f, 9.0f));
    results = run.Run({List({1, 2}), Count(5), Flag(false), bound(1000)});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(1.0f, 2.0f)) << "no turn";
    EXPECT_EQ(results.at(1).m_Info.GetShape(), TensorShape({0}));
    results = run.Run({List({1, 2}), Count(0), Flag(true), bound(1000)});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(1.0f, 2.0f));
    EXPECT_EQ(results.at(1).m_Info.GetShape(), TensorShape({0}));
}

TEST(OnnxLoop, WithoutABoundOrWithoutACondition)
{
    const Wire grow = Body({"v"})
                          .Add("Add", {"v", "v"}, {"next"})
                          .Add("ReduceMax", {"next"}, {"m"}, {Attribute("keepdims", 0)})
                          .Add("Less", {"m", "hundred"}, {"on"})
                          .Output("on")
                          .Output("next");
    OnnxRun run(Model(
        WithFlag().Store(Floats("hundred", {}, {100.0f})).Add(LoopNode({"", "c", "x"}, {"y"}, grow)).Output("y")));
    EXPECT_THAT(run.Run({List({1, 3}), Flag(true)}).at(0).Floats(), ElementsAre(64.0f, 192.0f));
    // The condition that a body gives does not count where the loop has none.
    const Wire stops = Body({"v"})
                           .Add("Add", {"v", "x"}, {"next"})
                           .Store(Tensor<bool>("off", {}, {false}))
                           .Output("off")
                           .Output("next");
    OnnxRun bounded(Model(Graph()
                              .Input("x", {2})
                              .Input("turns", ElementType::Int64, Dims{1})
                              .Add(LoopNode({"turns", "", "x"}, {"y"}, stops))
                              .Output("y")));
    EXPECT_THAT(bounded.Run({List({1, 2}), Data::Of(TensorShape({1}), std::vector<int64_t>{3})}).at(0).Floats(),
                ElementsAre(4.0f, 8.0f));
}

TEST(OnnxLoop, CarriedShapesThatChange)
{
    const Wire body = Body({"v"})
                          .Add("Concat", {"v", "x"}, {"next"}, {Attribute("axis", 0)})
                          .Add("Identity", {"go"}, {"on"})
                          .Output("on")
                          .Output("next");
    OnnxRun run(Model(Graph()
                          .Input("x", {2})
                          .Input("turns", ElementType::Int64, Dims{})
                          .Add(LoopNode({"turns", "", "x"}, {"y"}, body))
                          .Output("y")));
    EXPECT_THAT(run.Run({List({1, 2}), Count(2)}).at(0).Floats(), ElementsAre(1.0f, 2.0f, 1.0f, 2.0f, 1.0f, 2.0f));
    EXPECT_THAT(run.Run({List({1, 2}), Count(0)}).at(0).Floats(), ElementsAre(1.0f, 2.0f));
    EXPECT_EQ(run.Run({List({1, 2}), Count(50)}).at(0).Floats().size(), 102u);
    // One whose parts, too, change their size from run to run.
    const Wire parts =
        Body({"v"}).Add("Neg", {"v"}, {"next"}).Add("Identity", {"go"}, {"on"}).Output("on").Output("next").Output("v");
    OnnxRun open(Model(Graph()
                           .Input("x", {"n"})
                           .Input("turns", ElementType::Int64, Dims{})
                           .Add(LoopNode({"turns", "", "x"}, {"y", "z"}, parts))
                           .Output("z")));
    const Data two = open.Run({List({1, 2}), Count(2)}).at(0);
    EXPECT_EQ(two.m_Info.GetShape(), TensorShape({2, 2}));
    EXPECT_THAT(two.Floats(), ElementsAre(1.0f, 2.0f, -1.0f, -2.0f));
    EXPECT_THAT(open.Run({List({5}), Count(3)}).at(0).Floats(), ElementsAre(5.0f, -5.0f, 5.0f));
}

TEST(OnnxLoop, WithoutCarriedValues)
{
    const Wire body = Body({})
                          .Add("Cast", {"i"}, {"f"}, {Attribute("to", 1)})
                          .Add("Add", {"x", "f"}, {"s"})
                          .Add("Identity", {"go"}, {"on"})
                          .Output("on")
                          .Output("s");
    OnnxRun run(Model(Graph()
                          .Input("x", {1})
                          .Input("turns", ElementType::Int64, Dims{})
                          .Add(LoopNode({"turns", ""}, {"y"}, body))
                          .Output("y")));
    EXPECT_THAT(run.Run({List({5}), Count(3)}).at(0).Floats(), ElementsAre(5.0f, 6.0f, 7.0f));
    EXPECT_EQ(run.Run({List({5}), Count(0)}).at(0).m_Info.GetShape(), TensorShape({0, 1}));
}

TEST(OnnxLoop, WithinALoopReadsFromTwoLevels)
{
    // For i: for k: v += x * i + u, where u is of the outer body and x of the model.
    const Wire inner = Body({"v"})
                           .Add("Add", {"v", "u"}, {"s"})
                           .Add("Mul", {"x", "f"}, {"p"})
                           .Add("Add", {"s", "p"}, {"next"})
                           .Add("Identity", {"go"}, {"on"})
                           .Output("on")
                           .Output("next");
    const Wire outer = Graph("outer")
                           .Input("i2", ElementType::Int64, Dims{})
                           .Input("go2", ElementType::Bool, Dims{})
                           .Put(Message(11, Message(1, "a")))
                           .Add("Cast", {"i2"}, {"f"}, {Attribute("to", 1)})
                           .Add("Add", {"f", "one"}, {"u"})
                           .Add(LoopNode({"m", "", "a"}, {"b"}, inner))
                           .Add("Identity", {"go2"}, {"on2"})
                           .Output("on2")
                           .Output("b");
    Graph graph;
    graph.Input("x", {2})
        .Input("n", ElementType::Int64, Dims{})
        .Input("m", ElementType::Int64, Dims{})
        .Store(Floats("one", {}, {1.0f}));
    graph.Add(LoopNode({"n", "", "x"}, {"y"}, outer)).Output("y");
    OnnxRun run{Model(graph)};
    for (const auto& [n, m] : {std::pair{2, 3}, std::pair{0, 3}, std::pair{3, 0}, std::pair{4, 1}})
    {
        std::vector<float> v = {1, 10};
        for (int i = 0; i < n; ++i)
        {
            for (int k = 0; k < m; ++k)
            {
                v[0] += static_cast<float>(1 * i + i + 1);
                v[1] += static_cast<float>(10 * i + i + 1);
            }
        }
        EXPECT_EQ(run.Run({List({1, 10}), Count(n), Count(m)}).at(0).Floats(), v) << n << " by " << m;
    }
}

TEST(OnnxLoop, WhatIsRefused)
{
    const Wire body =
        Body({"v"}).Add("Neg", {"v"}, {"next"}).Add("Identity", {"go"}, {"on"}).Output("on").Output("next");
    const auto error = [](const Wire& node)
    {
        return ErrorOf(Model(Graph()
                                 .Input("x", {2})
                                 .Input("t", ElementType::Int64, Dims{})
                                 .Store(Ints("three", {}, {3}))
                                 .Add(node)
                                 .Output("y")));
    };
    for (const std::string turns : {"t", "three"})
    {
        EXPECT_THAT(error(LoopNode({turns, ""}, {"y"}, body)), HasSubstr("graph 'body' has 3 inputs in place of 2"));
        EXPECT_THAT(error(LoopNode({turns, "", "x", "x"}, {"y"}, body)),
                    HasSubstr("the body has 2 outputs for 2 carried values"));
        EXPECT_THAT(error(LoopNode({turns, "", "", "x"}, {"y"}, body)), HasSubstr("carried value 0 is left out"));
        EXPECT_THAT(error(LoopNode({turns, "", "x"}, {"y", "z"}, body)),
                    HasSubstr("has 2 outputs, but the body gives 1"));
    }
    EXPECT_THAT(error(Node("Loop", {"t", "", "x"}, {"y"})), HasSubstr("attribute 'body' is missing"));
    const Wire typed = Body({"v"})
                           .Add("Cast", {"v"}, {"next"}, {Attribute("to", 7)})
                           .Add("Identity", {"go"}, {"on"})
                           .Output("on")
                           .Output("next");
    EXPECT_THAT(error(LoopNode({"t", "", "x"}, {"y"}, typed)),
                HasSubstr("carried value 0 changes its type from iteration to iteration"));
    EXPECT_NE(error(LoopNode({"x", "", "x"}, {"y"}, body)), "no exception") << "a float number of iterations";
    EXPECT_THAT(error(LoopNode({"t", "t", "x"}, {"y"}, body)),
                HasSubstr("the condition is of type Signed64 in place of Boolean"));
    const Wire number = Body({"v"}).Add("Neg", {"v"}, {"next"}).Output("i").Output("next");
    EXPECT_THAT(error(LoopNode({"t", "", "x"}, {"y"}, number)),
                HasSubstr("the condition is of type Signed64 in place of Boolean"));
}

TEST(OnnxScan, ForwardsAndBackwards)
{
    // sum = sum + e; part = sum.
    const Wire body = Graph("body")
                          .Put(Message(11, Message(1, "sum")))
                          .Put(Message(11, Message(1, "e")))
                          .Add("Add", {"sum", "e"}, {"next"})
                          .Add("Identity", {"next"}, {"part"})
                          .Output("next")
                          .Output("part");
    const auto scan = [&](const std::vector<Wire>& attributes, const std::optional<Dims>& dims)
    {
        std::vector<Wire> all = {GraphAttribute("body", body), Attribute("num_scan_inputs", 1)};
        all.insert(all.end(), attributes.begin(), attributes.end());
        return Model(Graph()
                         .Input("x", ElementType::Float, dims)
                         .Store(Floats("zero", {2}, {0, 0}))
                         .Add("Scan", {"zero", "x"}, {"y", "z"}, all)
                         .Output("y")
                         .Output("z"));
    };
    const Data x = Fed({3, 2}, {1, 10, 2, 20, 3, 30});
    for (const Dims& dims : {Dims{3, 2}, Dims{"n", 2}})
    {
        std::vector<Data> results = RunModel(scan({}, dims), {x});
        EXPECT_THAT(results.at(0).Floats(), ElementsAre(6.0f, 60.0f));
        EXPECT_THAT(results.at(1).Floats(), ElementsAre(1.0f, 10.0f, 3.0f, 30.0f, 6.0f, 60.0f));
        results = RunModel(scan({Attribute("scan_input_directions", Sizes{1})}, dims), {x});
        EXPECT_THAT(results.at(1).Floats(), ElementsAre(3.0f, 30.0f, 5.0f, 50.0f, 6.0f, 60.0f));
        results = RunModel(scan({Attribute("scan_output_directions", Sizes{1})}, dims), {x});
        EXPECT_THAT(results.at(1).Floats(), ElementsAre(6.0f, 60.0f, 3.0f, 30.0f, 1.0f, 10.0f));
        results = RunModel(scan({Attribute("scan_output_axes", Sizes{-1})}, dims), {x});
        EXPECT_EQ(results.at(1).m_Info.GetShape(), TensorShape({2, 3}));
        EXPECT_THAT(results.at(1).Floats(), ElementsAre(1.0f, 3.0f, 6.0f, 10.0f, 30.0f, 60.0f));
    }
    std::vector<Data> columns =
        RunModel(scan({Attribute("scan_input_axes", Sizes{1})}, Dims{2, "n"}), {Fed({2, 3}, {1, 2, 3, 10, 20, 30})});
    EXPECT_THAT(columns.at(0).Floats(), ElementsAre(6.0f, 60.0f));
    EXPECT_THAT(ErrorOf(scan({Attribute("num_scan_inputs", 3)}, Dims{3, 2})),
                HasSubstr("attribute 'num_scan_inputs' is 3, but there are 2 inputs"));
    EXPECT_THAT(ErrorOf(scan({Attribute("num_scan_inputs", 0)}, Dims{3, 2})),
                HasSubstr("attribute 'num_scan_inputs' is 0"));
    EXPECT_THAT(ErrorOf(scan({Attribute("scan_input_axes", Sizes{2})}, Dims{3, 2})),
                HasSubstr("axis 2 is outside of 2 dimensions"));
}

// Version 8: a batch in front, and a list of lengths as first input.
TEST(OnnxScan, WithABatch)
{
    const Wire body = Graph("body")
                          .Put(Message(11, Message(1, "sum")))
                          .Put(Message(11, Message(1, "e")))
                          .Add("Add", {"sum", "e"}, {"next"})
                          .Add("Identity", {"next"}, {"part"})
                          .Output("next")
                          .Output("part");
    const Wire model = Model(
        Graph()
            .Input("x", {2, 2, 1})
            .Store(Floats("zero", {2, 1}, {0, 100}))
            .Add("Scan", {"", "zero", "x"}, {"y", "z"}, {GraphAttribute("body", body), Attribute("num_scan_inputs", 1)})
            .Output("y")
            .Output("z"),
        8);
    const std::vector<Data> results = RunModel(model, {Fed({2, 2, 1}, {1, 2, 3, 4})});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(3.0f, 107.0f));
    EXPECT_THAT(results.at(1).Floats(), ElementsAre(1.0f, 3.0f, 103.0f, 107.0f));
}

TEST(OnnxSequences, AreResolved)
{
    const Wire model = Model(Graph()
                                 .Input("x", {5})
                                 .Store(Ints("two", {}, {2}))
                                 .Store(Ints("last", {}, {-1}))
                                 .Store(Ints("zero", {}, {0}))
                                 .Add("SplitToSequence", {"x", "two"}, {"parts"}) // [2], [2], [1]
                                 .Add("SequenceAt", {"parts", "last"}, {"end"})
                                 .Add("Neg", {"end"}, {"n"})
                                 .Add("SequenceInsert", {"parts", "n", "zero"}, {"more"})
                                 .Add("SequenceErase", {"more", "two"}, {"fewer"})
                                 .Add("ConcatFromSequence", {"fewer"}, {"y"}, {Attribute("axis", 0)})
                                 .Add("SequenceLength", {"fewer"}, {"length"})
                                 .Output("y")
                                 .Output("length"));
    const std::vector<Data> results = RunModel(model, {List({1, 2, 3, 4, 5})});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(-5.0f, 1.0f, 2.0f, 5.0f));
    EXPECT_THAT(results.at(1).Ints(), ElementsAre(3));
    const Wire stack =
        Model(Graph()
                  .Input("x", {2})
                  .Add("Neg", {"x"}, {"n"})
                  .Add("SequenceConstruct", {"x", "n"}, {"s"})
                  .Add("ConcatFromSequence", {"s"}, {"y"}, {Attribute("axis", -1), Attribute("new_axis", 1)})
                  .Output("y"));
    EXPECT_THAT(RunModel(stack, {List({1, 2})}).at(0).Floats(), ElementsAre(1.0f, -1.0f, 2.0f, -2.0f));
}

TEST(OnnxSequences, GrowInLoops)
{
    const Wire body = Body({"s"})
                          .Add("Cast", {"i"}, {"f"}, {Attribute("to", 1)})
                          .Add("Add", {"x", "f"}, {"e"})
                          .Add("SequenceInsert", {"s", "e"}, {"next"})
                          .Add("Identity", {"go"}, {"on"})
                          .Output("on")
                          .Output("next");
    const auto model = [&](const Wire& turns)
    {
        return Model(Graph()
                         .Input("x", {1})
                         .Put(turns)
                         .Add("SequenceEmpty", {}, {"empty"})
                         .Add(LoopNode({"turns", "", "empty"}, {"s"}, body))
                         .Add("ConcatFromSequence", {"s"}, {"y"}, {Attribute("axis", 0)})
                         .Output("y"));
    };
    EXPECT_THAT(RunModel(model(Message(5, Ints("turns", {}, {4}))), {List({0.5f})}).at(0).Floats(),
                ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
    EXPECT_EQ(RunModel(model(Message(5, Ints("turns", {}, {100}))), {List({0.5f})}).at(0).Floats().size(), 100u);
    EXPECT_THAT(
        ErrorOf<UnimplementedException>(model(Message(11, ValueInfo("turns", ElementType::Int64, Dims{})))),
        HasSubstr("a sequence is carried through a loop whose number of iterations is not known before the run"));
    const Wire map = Graph("map")
                         .Put(Message(11, Message(1, "e")))
                         .Put(Message(11, Message(1, "a")))
                         .Add("Mul", {"e", "a"}, {"p"})
                         .Output("p");
    EXPECT_THAT(RunModel(Model(Graph()
                                   .Input("x", {3})
                                   .Store(Floats("ten", {}, {10}))
                                   .Add("SplitToSequence", {"x"}, {"s"})
                                   .Add("SequenceMap", {"s", "ten"}, {"t"}, {GraphAttribute("body", map)})
                                   .Add("ConcatFromSequence", {"t"}, {"y"}, {Attribute("axis", 0)})
                                   .Output("y")),
                         {List({1, 2, 3})})
                    .at(0)
                    .Floats(),
                ElementsAre(10.0f, 20.0f, 30.0f));
}

TEST(OnnxSequences, WhatIsRefused)
{
    const auto graph = [](const std::string& op, const Names& inputs, const Wire& more = {})
    {
        return Model(Graph()
                         .Input("x", {2})
                         .Input("k", ElementType::Int64, Dims{})
                         .Store(Ints("nine", {}, {9}))
                         .Add("SequenceConstruct", {"x", "x"}, {"s"})
                         .Add("SequenceEmpty", {}, {"none"})
                         .Add(op, inputs, {"y"}, {Attribute("axis", 0)})
                         .Put(more)
                         .Output("y"));
    };
    EXPECT_THAT(ErrorOf(graph("SequenceAt", {"s", "nine"})), HasSubstr("index 9 is outside of a sequence of 2 values"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(graph("SequenceAt", {"s", "k"})),
                HasSubstr("the index are computed at the run"));
    EXPECT_THAT(ErrorOf(graph("SequenceAt", {"x", "nine"})), HasSubstr("input 0 is no sequence"));
    EXPECT_THAT(ErrorOf(graph("ConcatFromSequence", {"none"})), HasSubstr("the sequence is empty"));
    EXPECT_THAT(ErrorOf(graph("SequenceErase", {"none"})), HasSubstr("the sequence is empty"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(graph("Abs", {"s"})),
                HasSubstr("input 0 is a sequence or an optional value"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(graph("Identity", {"s"})),
                HasSubstr("output 'y': 's' is a sequence or an optional value, which no layer can take"));
    EXPECT_THAT(ErrorOf(graph("SplitToSequence", {"x", "nine"}, Message(12, Message(1, "none")))),
                HasSubstr("sequence"))
        << "as output";
}

TEST(OnnxSequences, OptionalValues)
{
    const Wire model = Model(Graph()
                                 .Input("x", {2})
                                 .Add("Optional", {"x"}, {"o"})
                                 .Add("OptionalHasElement", {"o"}, {"has"})
                                 .Add("OptionalGetElement", {"o"}, {"e"})
                                 .Add("Neg", {"e"}, {"y"})
                                 .Add("Optional", {}, {"none"})
                                 .Add("OptionalHasElement", {"none"}, {"hasNot"})
                                 .Output("y")
                                 .Output("has")
                                 .Output("hasNot"),
                             18);
    const std::vector<Data> results = RunModel(model, {List({1, 2})});
    EXPECT_THAT(results.at(0).Floats(), ElementsAre(-1.0f, -2.0f));
    EXPECT_THAT(results.at(1).m_Bytes, ElementsAre(1));
    EXPECT_THAT(results.at(2).m_Bytes, ElementsAre(0));
    EXPECT_THAT(ErrorOf(Model(Graph()
                                  .Input("x", {2})
                                  .Add("Optional", {}, {"none"})
                                  .Add("OptionalGetElement", {"none"}, {"y"})
                                  .Output("y"),
                              18)),
                HasSubstr("the optional value has no element"));
}

} // namespace tenon::test::onnx_control_flow_test
