// SPDX-License-Identifier: Apache-2.0
// .onnx files that ask for more than they are worth: deep nesting, parts that call each other, sizes beyond all memory,
// long lists. Each is refused, or read, in bounded time and memory. tests/fuzz bends files blindly.
#include "OnnxRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace tenon::test::onnx_hostile_test
{

using namespace model;
using testing::HasSubstr;

namespace
{

Options Small()
{
    Options options;
    options.m_Limits.m_MaxTensorBytes = 1000000;
    options.m_Limits.m_MaxTotalBytes = 10000000;
    options.m_Limits.m_MaxLayers = 10000;
    return options;
}

/// What comes of the model: the text of an exception of Tenon, or "" where it ran.
std::string Outcome(const Wire& model, const std::vector<Data>& inputs = {List({1, 2})})
{
    IRuntime::CreationOptions creation;
    creation.m_Limits = Small().m_Limits;
    creation.m_Limits.m_MaxLoopIterations = 1000;
    const IRuntimePtr runtime = IRuntime::Create(creation);
    try
    {
        const Parsed parsed(model, Small());
        OptimizerOptionsOpaque options;
        options.SetLimits(creation.m_Limits);
        options.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(*parsed.m_Network, {"CpuRef"}, runtime->GetDeviceSpec(), options));
        InputTensors tensors;
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            TensorInfo info = inputs[i].m_Info;
            info.SetConstant();
            tensors.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(info, inputs[i].m_Bytes.data()));
        }
        std::vector<std::vector<uint8_t>> memory;
        runtime->EnqueueWorkload(id, tensors,
                                 [&](LayerBindingId, const TensorInfo& info)
                                 { return memory.emplace_back(info.GetNumBytes() + 1).data(); });
    }
    catch (const Exception& error)
    {
        EXPECT_STRNE(error.what(), "");
        return error.what();
    }
    return "";
}

Wire OneNode(const Wire& node, const Wire& more = {})
{
    return Model(Graph().Input("x", {2}).Put(more).Add(node).Output("y"));
}

Wire Scalar(const std::string& name, int64_t value)
{
    return Message(5, Ints(name, {}, {value}));
}

/// Fails where the test takes long: each of these models would take minutes, and all memory, if nothing stopped it.
class OnnxHostile : public testing::Test
{
protected:
    void TearDown() override
    {
        EXPECT_LT(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - m_Start).count(),
                  60);
    }

private:
    std::chrono::steady_clock::time_point m_Start = std::chrono::steady_clock::now();
};

} // namespace

TEST_F(OnnxHostile, GraphsWithinGraphs)
{
    const auto nested = [](int depth, bool isKnown)
    {
        Wire branch = Graph("b").Add("Neg", {"x"}, {"t"}).Output("t").Bytes();
        for (int i = 0; i < depth; ++i)
        {
            branch = Graph("b")
                         .Add("If", {"c"}, {"t"},
                              {GraphAttribute("then_branch", branch),
                               GraphAttribute("else_branch", Graph("e").Add("Abs", {"x"}, {"t"}).Output("t"))})
                         .Output("t");
        }
        const Wire condition = isKnown ? Message(5, Tensor<bool>("c", {}, {true}))
                                       : Message(11, ValueInfo("c", ElementType::Bool, Dims{}));
        return Model(
            Graph()
                .Input("x", {2})
                .Put(condition)
                .Add("If", {"c"}, {"y"}, {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", branch)})
                .Output("y"));
    };
    for (const bool isKnown : {false, true})
    {
        std::vector<Data> inputs = {List({1, 2})};
        if (!isKnown)
        {
            inputs.push_back(Data::Of(TensorShape(Dimensionality::Scalar), std::vector<bool>{true}));
        }
        EXPECT_EQ(Outcome(nested(10, isKnown), inputs), "");
        EXPECT_THAT(Outcome(nested(40, isKnown), inputs),
                    HasSubstr("graphs are nested more than 32 deep (Limits::m_MaxNesting)"));
        EXPECT_THAT(Outcome(nested(1000, isKnown), inputs), HasSubstr("graphs are nested more than 32 deep"));
    }
    // Ten thousand levels, written from the inside without a copy for each.
    Wire deep;
    size_t size = 0;
    std::vector<Wire> heads;
    for (int i = 0; i < 10000; ++i)
    {
        heads.push_back(OnnxVarint(1 << 3 | 2)); // a node, an attribute, its graph
        Wire head;
        head = OnnxVarint(6 << 3 | 2) + OnnxVarint(size);
        size += head.size();
        Wire attribute = OnnxVarint(5 << 3 | 2) + OnnxVarint(size);
        size += attribute.size();
        Wire node = OnnxVarint(1 << 3 | 2) + OnnxVarint(size);
        size += node.size();
        heads.back() = node + attribute + head;
    }
    for (auto head = heads.rbegin(); head != heads.rend(); ++head)
    {
        deep += *head;
    }
    ASSERT_EQ(deep.size(), size);
    EXPECT_THAT(Outcome(Model(deep)), HasSubstr("graphs are nested more than 32 deep"));
}

TEST_F(OnnxHostile, TypesWithinTypes)
{
    for (const unsigned int kind : {4u, 9u}) // sequence, optional
    {
        for (const int depth : {10, 1000, 10000})
        {
            size_t size = 0;
            std::vector<Wire> heads;
            for (int i = 0; i < depth; ++i)
            {
                const Wire element = OnnxVarint(1 << 3 | 2) + OnnxVarint(size);
                size += element.size();
                heads.push_back(OnnxVarint(uint64_t{kind} << 3 | 2) + OnnxVarint(size) + element);
                size += heads.back().size() - element.size();
            }
            Wire type;
            for (auto head = heads.rbegin(); head != heads.rend(); ++head)
            {
                type += *head;
            }
            ASSERT_EQ(type.size(), size);
            const std::string outcome =
                Outcome(Model(Graph().Put(Message(11, Message(1, "x") + Message(2, type))).Output("x")), {});
            EXPECT_THAT(outcome, HasSubstr(depth > 16 ? "types are nested more than 16 deep" : "is no tensor"));
            const Wire attribute = AttributeOf("tp", AttributeType::TypeProto, Message(14, type));
            EXPECT_EQ(Outcome(OneNode(Node("Abs", {"x"}, {"y"}, {attribute}))).empty(), depth <= 16);
        }
    }
}

TEST_F(OnnxHostile, FunctionsThatCallFunctionsTwice)
{
    for (const int depth : {5, 30, 1000})
    {
        std::vector<Wire> functions = {Function("own", "f0", {"p"}, {"q"}, {Node("Neg", {"p"}, {"q"})})};
        for (int i = 1; i <= depth; ++i)
        {
            const std::string callee = "f" + std::to_string(i - 1);
            functions.push_back(
                Function("own", "f" + std::to_string(i), {"p"}, {"q"},
                         {Node(callee, {"p"}, {"m"}, {}, "own"), Node(callee, {"m"}, {"q"}, {}, "own")}));
        }
        const std::string outcome =
            Outcome(Model(Graph().Input("x", {2}).Add("f" + std::to_string(depth), {"x"}, {"y"}, {}, "own").Output("y"),
                          17, functions));
        EXPECT_THAT(outcome, depth == 5    ? testing::Eq("")
                             : depth == 30 ? testing::Matcher<std::string>(HasSubstr("(Limits::m_MaxLayers)"))
                                           : testing::Matcher<std::string>(HasSubstr(
                                                 "functions and graphs call each other more than 32 levels deep")));
    }
    // What a call looks at counts, also where it is not read: a large branch that is not taken, long names, long lists.
    const auto calls = [](const std::vector<Wire>& nodes)
    {
        Graph graph;
        graph.Input("x", {2});
        Wire call;
        for (int i = 0; i < 5000; ++i)
        {
            call += Message(1, Node("f", {"x"}, {"y" + std::to_string(i)}, {}, "own"));
        }
        Names all;
        for (int i = 0; i < 5000; ++i)
        {
            all.push_back("y" + std::to_string(i));
        }
        return Outcome(
            Model(graph.Put(call).Add("Sum", all, {"y"}).Output("y"), 17, {Function("own", "f", {"p"}, {"q"}, nodes)}));
    };
    Graph large("large");
    for (int i = 0; i < 3000; ++i)
    {
        large.Add("Neg", {"p"}, {"n" + std::to_string(i)});
    }
    large.Output("n0");
    const Wire small = Graph("small").Add("Neg", {"p"}, {"n"}).Output("n");
    const std::string tooMuch = "the functions and graphs that are called have more than 10000 operators and tensors";
    EXPECT_THAT(
        calls({Node("Constant", {}, {"c"}, {TensorAttribute("value", Tensor<bool>("", {}, {true}))}),
               Node("If", {"c"}, {"q"}, {GraphAttribute("then_branch", small), GraphAttribute("else_branch", large)})}),
        HasSubstr(tooMuch));
    EXPECT_THAT(calls({Node("Neg", {"p"}, {"q"}, {}, "", Wire(100000, 'n'))}), HasSubstr(tooMuch));
    EXPECT_THAT(calls({Node("Neg", {"p"}, {"q"}, {Attribute("list", Sizes(100000, 1))})}), HasSubstr(tooMuch));
    EXPECT_THAT(calls({Node("Max", Names(10000, "p"), {"q"})}), HasSubstr("(Limits::m_MaxLayers)"));
    // A tensor of a function is read once.
    EXPECT_NE(calls({Node("Constant", {}, {"c"},
                          {TensorAttribute(
                              "value", TensorOf("", ElementType::Int64, {100000}, Message(7, Wire(100000, '\1'))))}),
                     Node("Gather", {"c", "c"}, {"g"}), Node("Identity", {"p"}, {"q"})}),
              "not reached");
}

TEST_F(OnnxHostile, LoopsOfManyTurns)
{
    const auto loop = [](int64_t turns, const std::vector<Wire>& nodes, int depth)
    {
        Wire body;
        for (int i = 0; i < depth; ++i)
        {
            const std::string n = std::to_string(i);
            Graph graph("body");
            graph.Input("i" + n, ElementType::Int64, Dims{})
                .Input("go" + n, ElementType::Bool, Dims{})
                .Put(Message(11, Message(1, "v" + n)));
            if (i == 0)
            {
                for (const Wire& node : nodes)
                {
                    graph.Add(node);
                }
            }
            else
            {
                graph.Add("Loop", {"turns", "", "v" + n}, {"next"}, {GraphAttribute("body", body)});
            }
            body = graph.Add("Identity", {"go" + n}, {"on" + n}).Output("on" + n).Output("next");
        }
        return Model(Graph()
                         .Input("x", {2})
                         .Put(Scalar("turns", turns))
                         .Add("Loop", {"turns", "", "x"}, {"y"}, {GraphAttribute("body", body)})
                         .Output("y"));
    };
    const std::vector<Wire> neg = {Node("Neg", {"v0"}, {"next"})};
    EXPECT_EQ(Outcome(loop(16, neg, 1)), "");
    EXPECT_EQ(Outcome(loop(100, neg, 1)), "");
    EXPECT_THAT(Outcome(loop(INT64_MAX, neg, 1)), HasSubstr("Limits::m_MaxLoopIterations"));
    EXPECT_EQ(Outcome(loop(-5, neg, 1)), "");
    for (const int64_t turns : {int64_t{2}, int64_t{16}, int64_t{17}, INT64_MAX})
    {
        EXPECT_NE(Outcome(loop(turns, neg, 30)), "") << turns;
    }
    // Values that double at each turn.
    const std::vector<Wire> doubles = {Node("Concat", {"v0", "v0"}, {"next"}, {Attribute("axis", 0)})};
    EXPECT_NE(Outcome(loop(60, doubles, 1)), "");
    EXPECT_NE(Outcome(loop(16, doubles, 3)), "");
    // A sequence that doubles, and one that grows by one at each of many turns.
    const Wire body = Graph("body")
                          .Input("i", ElementType::Int64, Dims{})
                          .Input("go", ElementType::Bool, Dims{})
                          .Put(Message(11, Message(1, "s")))
                          .Add("SequenceInsert", {"s", "x"}, {"next"})
                          .Add("Identity", {"go"}, {"on"})
                          .Output("on")
                          .Output("next");
    const auto grow = [&](int64_t turns)
    {
        return Outcome(Model(Graph()
                                 .Input("x", {2})
                                 .Put(Scalar("turns", turns))
                                 .Add("SequenceEmpty", {}, {"s0"})
                                 .Add("Loop", {"turns", "", "s0"}, {"s"}, {GraphAttribute("body", body)})
                                 .Add("SequenceLength", {"s"}, {"y"})
                                 .Output("y")));
    };
    EXPECT_EQ(grow(200), "");
    EXPECT_THAT(grow(1000), HasSubstr("(Limits::m_MaxLayers)"));
    EXPECT_THAT(grow(2000), HasSubstr("number of iterations"));
}

TEST_F(OnnxHostile, SizesBeyondAllMemory)
{
    const int64_t huge = 4000000000;
    const auto list = [](const std::string& name, const Sizes& values)
    { return Message(5, Ints(name, {static_cast<int64_t>(values.size())}, values)); };
    const std::vector<Wire> models = {
        OneNode(Node("Expand", {"x", "s"}, {"y"}), list("s", {huge, 2})),
        OneNode(Node("Expand", {"x", "s"}, {"y"}), list("s", {huge, huge, huge, 2})),
        OneNode(Node("Expand", {"x", "s"}, {"y"}), list("s", {-5, 2})),
        OneNode(Node("Expand", {"x", "s"}, {"y"}), list("s", Sizes(9, 1))),
        OneNode(Node("Tile", {"x", "r"}, {"y"}), list("r", {huge})),
        OneNode(Node("Tile", {"x", "r"}, {"y"}), list("r", {INT64_MAX})),
        OneNode(Node("Tile", {"x", "r"}, {"y"}), list("r", {-1})),
        OneNode(Node("ConstantOfShape", {"s"}, {"y"}), list("s", {huge, huge})),
        OneNode(Node("ConstantOfShape", {"s"}, {"y"}), list("s", {INT64_MAX, INT64_MAX})),
        OneNode(Node("ConstantOfShape", {"s"}, {"y"}), list("s", {-1, 2})),
        OneNode(Node("ConstantOfShape", {"s"}, {"y"}), list("s", Sizes(2000, 1))),
        OneNode(Node("Range", {"a", "b", "c"}, {"y"}), Scalar("a", 0) + Scalar("b", INT64_MAX) + Scalar("c", 1)),
        OneNode(Node("Range", {"a", "b", "c"}, {"y"}),
                Scalar("a", INT64_MIN) + Scalar("b", INT64_MAX) + Scalar("c", 1)),
        OneNode(Node("Range", {"a", "b", "c"}, {"y"}), Scalar("a", 0) + Scalar("b", 5) + Scalar("c", 0)),
        OneNode(Node("OneHot", {"i", "d", "v"}, {"y"}), list("i", {1, 2}) + Scalar("d", huge) + list("v", {0, 1})),
        OneNode(Node("OneHot", {"i", "d", "v"}, {"y"}), list("i", {1, 2}) + Scalar("d", -3) + list("v", {0, 1})),
        OneNode(Node("OneHot", {"i", "d", "v"}, {"y"}),
                list("i", {1, 2}) + Message(5, Floats("d", {}, {std::numeric_limits<float>::quiet_NaN()})) +
                    list("v", {0, 1})),
        OneNode(Node("OneHot", {"i", "d", "v"}, {"y"}), list("i", {1, 2}) + Scalar("d", 1 << 30) + list("v", {0, 1})),
        OneNode(Node("Pad", {"x", "p"}, {"y"}), list("p", {INT64_MAX, INT64_MAX})),
        OneNode(Node("Pad", {"x", "p"}, {"y"}), list("p", {INT64_MIN, INT64_MIN})),
        OneNode(Node("Pad", {"x", "p"}, {"y"}), list("p", {2000000000, 2000000000})),
        OneNode(Node("Split", {"x", "p"}, {"y", "z"}), list("p", {INT64_MAX, INT64_MAX})),
        OneNode(Node("Split", {"x", "p"}, {"y", "z"}), list("p", {3, -1})),
        OneNode(Node("Resize", {"x", "", "", "s"}, {"y"}), list("s", {huge})),
        OneNode(Node("Resize", {"x", "", "s"}, {"y"}), Message(5, Floats("s", {1}, {3e9f}))),
        OneNode(Node("Resize", {"x", "", "s"}, {"y"}),
                Message(5, Floats("s", {1}, {std::numeric_limits<float>::infinity()}))),
        OneNode(Node("TopK", {"x", "k"}, {"y"}), list("k", {INT64_MAX})),
        OneNode(Node("TopK", {"x", "k"}, {"y"}), list("k", {-1})),
        OneNode(Node("HannWindow", {"n"}, {"y"}), Scalar("n", INT64_MAX)),
        OneNode(Node("HannWindow", {"n"}, {"y"}), Scalar("n", -1)),
        OneNode(Node("CenterCropPad", {"x", "s"}, {"y"}), list("s", {2000000000})),
        OneNode(Node("RandomNormal", {}, {"y"}, {Attribute("shape", Sizes{huge, huge})})),
        OneNode(Node("RandomUniform", {}, {"y"}, {Attribute("shape", Sizes{-1})})),
        OneNode(Node("Reshape", {"x", "s"}, {"y"}), list("s", {-1, -1})),
        OneNode(Node("Reshape", {"x", "s"}, {"y"}), list("s", {huge, huge, huge, huge, huge, huge, huge, -1})),
        OneNode(Node("Unsqueeze", {"x", "s"}, {"y"}), list("s", Sizes(1000, 0))),
        OneNode(Node("MelWeightMatrix", {"a", "b", "c", "d", "e"}, {"y"}),
                Scalar("a", 1 << 20) + Scalar("b", INT64_MAX) + Scalar("c", 1) + Message(5, Floats("d", {}, {0})) +
                    Message(5, Floats("e", {}, {1}))),
        OneNode(Node("MelWeightMatrix", {"a", "b", "c", "d", "e"}, {"y"}),
                Scalar("a", 4) + Scalar("b", 16) + Scalar("c", 1) + Message(5, Floats("d", {}, {-1e30f})) +
                    Message(5, Floats("e", {}, {1e30f}))),
        OneNode(Node("SplitToSequence", {"big"}, {"y"}), Message(11, ValueInfo("big", ElementType::Float, Dims{huge}))),
        OneNode(Node("STFT", {"signal", "one", "", "frame"}, {"y"}),
                Message(11, ValueInfo("signal", ElementType::Float, Dims{1, 100000, 1})) + Scalar("one", 1) +
                    Scalar("frame", 50000)),
        OneNode(Node("AffineGrid", {"theta", "s"}, {"y"}),
                Message(5, Floats("theta", {1, 2, 3}, std::vector<float>(6))) + list("s", {1, 1, 1 << 13, 1 << 13})),
        OneNode(Node("Conv", {"image", "w"}, {"y"},
                     {Attribute("pads", Sizes{2000000000, 2000000000, 2000000000, 2000000000})}),
                Message(11, ValueInfo("image", ElementType::Float, Dims{1, 1, 1, 1})) +
                    Message(5, Floats("w", {1, 1, 1, 1}, {1}))),
        OneNode(Node("Flatten", {"many"}, {"y"}),
                Message(11, ValueInfo("many", ElementType::Float, Dims{0, huge, huge, huge}))),
        OneNode(Node("Softmax", {"many"}, {"y"}),
                Message(11, ValueInfo("many", ElementType::Float, Dims{0, huge, huge, huge}))),
    };
    for (size_t i = 0; i < models.size(); ++i)
    {
        SCOPED_TRACE(i);
        EXPECT_NE(Outcome(models[i]), "");
    }
    // The same where the numbers come at the run.
    const auto run = [&](const std::string& op, const Sizes& values)
    {
        return Outcome(Model(Graph()
                                 .Input("s", ElementType::Int64, Dims{static_cast<int64_t>(values.size())})
                                 .Store(Floats("w", {1}, {1}))
                                 .Add(op, op == "ConstantOfShape" ? Names{"s"} : Names{"w", "s"}, {"y"})
                                 .Output("y")),
                       {Data::Of(TensorShape({static_cast<unsigned int>(values.size())}), values)});
    };
    for (const char* op : {"Expand", "Tile", "ConstantOfShape", "Reshape", "Pad"})
    {
        for (const Sizes& values :
             {Sizes{huge}, Sizes{INT64_MAX}, Sizes{INT64_MIN}, Sizes{-2}, Sizes{huge, huge}, Sizes(9, 1000)})
        {
            EXPECT_NE(run(op, values), "") << op << " " << values.size() << " of " << values[0];
        }
    }
}

TEST_F(OnnxHostile, InputsThatAreHuge)
{
    // A list of sizes, axes or indices, of as many elements as 32 bits count.
    for (const char* op : {"Expand", "Tile", "Reshape", "Unsqueeze", "Squeeze", "ReduceSum", "Pad", "Resize", "Slice",
                           "Split", "TopK", "Gather", "OneHot", "Compress", "Upsample"})
    {
        for (const ElementType type : {ElementType::Int64, ElementType::Bool, ElementType::Float})
        {
            for (const Dims& dims : {Dims{4294967295}, Dims{4294967295, 4294967295}, Dims{65536, 65536, 0}})
            {
                EXPECT_NE(
                    Outcome(
                        Model(Graph().Input("x", {2}).Input("n", type, dims).Add(op, {"x", "n"}, {"y"}).Output("y")),
                        {}),
                    "")
                    << op;
            }
        }
    }
    EXPECT_NE(Outcome(Model(Graph()
                                .Input("n", ElementType::Int64, Dims{4294967295})
                                .Add("ConstantOfShape", {"n"}, {"y"})
                                .Output("y")),
                      {}),
              "");
    const Wire branch = Graph("b").Add("Reshape", {"n", "bad"}, {"t"}).Store(Ints("bad", {1}, {5})).Output("t");
    const Wire plain = Graph("p").Add("Identity", {"n"}, {"t"}).Output("t");
    EXPECT_NE(Outcome(Model(Graph()
                                .Input("n", ElementType::Int64, Dims{4294967295})
                                .Input("c", ElementType::Bool, Dims{})
                                .Add("If", {"c"}, {"y"},
                                     {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", plain)})
                                .Output("y")),
                      {}),
              "");
}

TEST_F(OnnxHostile, TensorsThatLieAboutTheirSize)
{
    for (const Sizes& dims : {Sizes{250000}, Sizes{4000000000}, Sizes{1 << 30, 1 << 30}, Sizes{INT64_MAX}})
    {
        for (const ElementType type :
             {ElementType::Float, ElementType::Int64, ElementType::Bool, ElementType::Double, ElementType::Complex128})
        {
            for (const Wire& data :
                 {Wire(), Message(9, "12345678"), Message(4, "12345678"), Message(7, "\1\2"), Message(5, "\1")})
            {
                EXPECT_NE(
                    Outcome(
                        Model(Graph().Store(TensorOf("w", type, dims, data)).Add("Identity", {"w"}, {"y"}).Output("y")),
                        {}),
                    "");
                EXPECT_NE(
                    Outcome(Model(Graph()
                                      .StoreSparse(Sparse(TensorOf("w", type, dims, data), Ints("", {1}, {0}), dims))
                                      .Add("Identity", {"w"}, {"y"})
                                      .Output("y")),
                            {}),
                    "");
            }
        }
    }
}

TEST_F(OnnxHostile, MessagesWithLittleInThem)
{
    const auto repeat = [](const Wire& wire, size_t count)
    {
        Wire all;
        all.reserve(wire.size() * count);
        for (size_t i = 0; i < count; ++i)
        {
            all += wire;
        }
        return all;
    };
    const std::string tooMany = "so many messages with little in them";
    EXPECT_THAT(Outcome(OneNode(Node("Abs", {"x"}, {"y"}) + repeat(Message(5, ""), 1000000))), HasSubstr(tooMany));
    EXPECT_EQ(Outcome(Model(Graph().Input("x", {2}).Output("x"), 17, {}, repeat(Message(25, ""), 1000000))), "");
    EXPECT_NE(Outcome(Model(Graph().Put(repeat(Message(11, ""), 1000000)))), "");
    EXPECT_NE(Outcome(Model(Graph().Put(repeat(Message(12, ""), 1000000)))), "");
    EXPECT_THAT(Outcome(Model(Graph().Put(repeat(Message(1, ""), 1000000)))),
                HasSubstr("the model has more than 10000 nodes"));
    EXPECT_THAT(Outcome(Model(Graph().Put(repeat(Message(5, ""), 1000000)))),
                HasSubstr("the model has more than 10000 initializers"));
    EXPECT_THAT(Outcome(Model(Graph().Put(repeat(Message(15, ""), 1000000)))),
                HasSubstr("the model has more than 10000 initializers"));
    EXPECT_NE(Outcome(Model(Graph().Put(
                  Message(11, Message(1, "x") + Message(2, Message(1, Message(2, repeat(Message(1, ""), 1000000)))))))),
              "");
    // One message a million times: it is merged, not copied.
    Graph large("g");
    for (int i = 0; i < 5000; ++i)
    {
        large.Add("Neg", {"x"}, {"n" + std::to_string(i)});
    }
    const Wire attribute = Message(1, "then_branch") + Message(6, large) + repeat(Message(6, ""), 1000000);
    EXPECT_NE(Outcome(OneNode(Node("If", {"x"}, {"y"}, {attribute}))), "");
    const Wire tensor =
        Message(1, "value") + Message(5, repeat(Number(1, 1), 100000)) + repeat(Message(5, ""), 1000000);
    EXPECT_NE(Outcome(OneNode(Node("Constant", {}, {"y"}, {tensor}))), "");
    EXPECT_NE(Outcome(Message(7, Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"})) + repeat(Message(7, ""), 1000000)),
              "");
    EXPECT_EQ(Outcome(OneNode(Node("Abs", {"x"}, {"y"}, std::vector<Wire>(1000, Attribute("same", 1))))), "");
    EXPECT_EQ(Outcome(Model(Graph().Input("x", {2}).Add("Abs", {"x"}, {"y"}).Output("y")) +
                      repeat(Message(8, Opset(17)), 100000)),
              "");
}

TEST_F(OnnxHostile, ManyThingsOfAKind)
{
    // Inputs with dimensions of names of their own.
    Graph inputs;
    Graph outputs;
    Graph unknown;
    unknown.Input("x", {2});
    outputs.Input("x", {2});
    for (int i = 0; i < 9000; ++i)
    {
        const std::string n = std::to_string(i);
        inputs.Input("x" + n, {("a" + n).c_str(), ("b" + n).c_str(), ("c" + n).c_str(), ("d" + n).c_str()});
        outputs.Output("x");
        unknown.Add("Unknown" + n, {"x"}, {"y" + n}).Output("y" + n);
    }
    EXPECT_NO_THROW(Parsed(Model(inputs.Output("x0")), Small()));
    EXPECT_NO_THROW(Parsed(Model(outputs), Small()));
    EXPECT_THAT(Outcome(Model(unknown)), HasSubstr("\n  and 8000 more kinds"));
    // Lists of numbers that are known, each made of the one before; and one list joined to itself many times.
    Graph lists;
    lists.Store(Ints("n0", {1024}, Sizes(1024, 1)));
    for (int i = 1; i < 5000; ++i)
    {
        lists.Add("Neg", {"n" + std::to_string(i - 1)}, {"n" + std::to_string(i)});
    }
    EXPECT_THAT(Outcome(Model(lists.Output("n4999")), {}), HasSubstr("(Limits::m_MaxLayers)"));
    EXPECT_NE(Outcome(Model(Graph()
                                .Store(Ints("n", {1024}, Sizes(1024, 1)))
                                .Add("Concat", Names(50000, "n"), {"y"}, {Attribute("axis", 0)})
                                .Output("y")),
                      {}),
              "");
    // A long name for each of many layers.
    EXPECT_EQ(Outcome(OneNode(Node("Sum", Names(5000, "x"), {"y"}, {}, "", Wire(1000000, 'n')))), "");
    // Cycles that go through thousands of nodes, and a chain that is as long, in the wrong order.
    Graph cycle;
    Graph chain;
    cycle.Input("x", {2});
    chain.Input("v2000", {2});
    for (int i = 0; i < 2000; ++i)
    {
        cycle.Add("Neg", {"v" + std::to_string((i + 1) % 2000)}, {"v" + std::to_string(i)});
        chain.Add("Neg", {"v" + std::to_string(i + 1)}, {"v" + std::to_string(i)});
    }
    EXPECT_THAT(Outcome(Model(cycle.Output("v0"))), HasSubstr("the nodes form a cycle"));
    EXPECT_EQ(Outcome(Model(chain.Output("v0"))), "");
}

} // namespace tenon::test::onnx_hostile_test
