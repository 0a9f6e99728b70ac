// SPDX-License-Identifier: Apache-2.0
// Tests of sizes that .onnx models leave open: given by options, or different from run to run.
#include "OnnxRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace tenon::test::onnx_open_sizes_test
{

using namespace model;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace
{

/// [batch, length, 4] through what exporters write: sizes taken from the shape, heads split off, a product, softmax.
Wire Attention()
{
    std::vector<float> weights(16);
    std::iota(weights.begin(), weights.end(), -8.0f);
    Graph graph;
    graph.Input("x", {"batch", "length", 4})
        .Store(Floats("w", {4, 4}, weights))
        .Store(Ints("zero", {}, {0}))
        .Store(Ints("one", {}, {1}));
    graph.Store(Ints("axis", {1}, {0}))
        .Store(Ints("two", {1}, {2}))
        .Store(Ints("all", {1}, {-1}))
        .Store(Ints("four", {1}, {4}));
    graph.Add("Shape", {"x"}, {"s"}).Add("Gather", {"s", "zero"}, {"b"}).Add("Gather", {"s", "one"}, {"n"});
    graph.Add("Unsqueeze", {"b", "axis"}, {"b1"}).Add("Unsqueeze", {"n", "axis"}, {"n1"});
    graph.Add("Concat", {"b1", "n1", "two", "all"}, {"split"}, {Attribute("axis", 0)});
    graph.Add("Concat", {"b1", "n1", "four"}, {"merge"}, {Attribute("axis", 0)});
    graph.Add("MatMul", {"x", "w"}, {"q"}).Add("Reshape", {"q", "split"}, {"heads"});
    graph.Add("Transpose", {"heads"}, {"h"}, {Attribute("perm", Sizes{0, 2, 1, 3})});
    graph.Add("Transpose", {"h"}, {"t"}, {Attribute("perm", Sizes{0, 1, 3, 2})});
    graph.Add("MatMul", {"h", "t"}, {"scores"})
        .Add("Softmax", {"scores"}, {"p"}, {Attribute("axis", -1)})
        .Add("MatMul", {"p", "h"}, {"v"});
    graph.Add("Transpose", {"v"}, {"back"}, {Attribute("perm", Sizes{0, 2, 1, 3})})
        .Add("Reshape", {"back", "merge"}, {"y"})
        .Output("y");
    return Model(graph);
}

Data Sequence(unsigned int batch, unsigned int length)
{
    std::vector<float> values(size_t{batch} * length * 4);
    for (size_t i = 0; i < values.size(); ++i)
    {
        values[i] = static_cast<float>(i % 7) * 0.1f - 0.3f;
    }
    return Fed({batch, length, 4}, values);
}

Wire Relu(const std::optional<Dims>& dims)
{
    return Model(Graph().Input("x", ElementType::Float, dims).Add("Relu", {"x"}, {"y"}).Output("y"));
}

} // namespace

TEST(OnnxOpenSizes, RunsOfDifferentSizes)
{
    OnnxRun open(Attention());
    for (const auto& [batch, length] :
         {std::pair{1u, 3u}, std::pair{2u, 5u}, std::pair{1u, 1u}, std::pair{3u, 2u}, std::pair{1u, 3u}})
    {
        Options options;
        options.m_Dimensions = {{"batch", batch}, {"length", length}};
        const Data x = Sequence(batch, length);
        const Data expected = RunModel(Attention(), {x}, options).at(0);
        const Data actual = open.Run({x}).at(0);
        EXPECT_EQ(actual.m_Info.GetShape(), TensorShape({batch, length, 4}));
        EXPECT_THAT(actual.Floats(), testing::Pointwise(testing::FloatNear(1e-5f), expected.Floats()));
        // One of the two fixed.
        options.m_Dimensions.erase("batch");
        OnnxRun half(Attention(), options);
        EXPECT_THAT(half.Run({x}).at(0).Floats(), testing::Pointwise(testing::FloatNear(1e-5f), expected.Floats()));
        EXPECT_THAT(half.Run({Sequence(4, length)}).at(0).m_Info.GetShape(), TensorShape({4, length, 4}));
    }
}

TEST(OnnxOpenSizes, RunsThatContradictFixedSizes)
{
    Options options;
    options.m_Dimensions = {{"length", 3}};
    OnnxRun run(Attention(), options);
    EXPECT_NO_THROW(run.Run({Sequence(2, 3)}));
    EXPECT_NE(MessageOf<Exception>([&] { run.Run({Sequence(2, 4)}); }), "no exception");
    EXPECT_NE(MessageOf<Exception>(
                  [&] {
                      run.Run({Fed({2, 3, 5}, std::vector<float>(30))});
                  }),
              "no exception")
        << "the model's own size";
    EXPECT_NE(MessageOf<Exception>(
                  [&] {
                      run.Run({Fed({2, 12}, std::vector<float>(24))});
                  }),
              "no exception")
        << "another rank";
    EXPECT_NO_THROW(run.Run({Sequence(1, 3)})) << "goes on after an error";
    OnnxRun fixed(Relu(Dims{2, 3}));
    EXPECT_NE(MessageOf<Exception>([&] { fixed.Run({Fed({3, 3}, std::vector<float>(9))}); }), "no exception");
}

TEST(OnnxOpenSizes, ImagesOfDifferentSizes)
{
    // A convolution, a pool, a resize to the input's size, and a grid made of sizes.
    Graph graph;
    graph.Input("x", {"n", 1, "h", "w"})
        .Store(Floats("k", {1, 1, 3, 3}, std::vector<float>(9, 1.0f)))
        .Store(Ints("from", {1}, {2}))
        .Store(Ints("to", {1}, {4}));
    graph.Store(Ints("lead", {2}, {1, 1}))
        .Store(Ints("zero", {}, {0}))
        .Store(Ints("one", {}, {1}))
        .Store(Ints("three", {}, {3}));
    graph.Add("Conv", {"x", "k"}, {"c"}, {Attribute("pads", Sizes{1, 1, 1, 1})});
    graph.Add("MaxPool", {"c"}, {"p"}, {Attribute("kernel_shape", Sizes{2, 2}), Attribute("strides", Sizes{2, 2})});
    graph.Add("Shape", {"x"}, {"s"})
        .Add("Shape", {"p"}, {"ps"})
        .Add("Slice", {"s", "from", "to"}, {"hw"})
        .Add("Slice", {"ps", "zero1", "from"}, {"nc"})
        .Store(Ints("zero1", {1}, {0}));
    graph.Add("Concat", {"nc", "hw"}, {"sizes"}, {Attribute("axis", 0)});
    graph.Add("Resize", {"p", "", "", "sizes"}, {"r"},
              {Attribute("mode", "nearest"), Attribute("coordinate_transformation_mode", "asymmetric"),
               Attribute("nearest_mode", "floor")});
    graph.Add("Gather", {"s", "three"}, {"width"})
        .Add("Range", {"zero", "width", "one"}, {"columns"})
        .Add("Cast", {"columns"}, {"f"}, {Attribute("to", 1)});
    graph.Add("Add", {"r", "f"}, {"y"}).Output("y");
    OnnxRun open{Model(graph)};
    for (const auto& [n, h, w] : {std::tuple{1u, 4u, 6u}, std::tuple{2u, 2u, 2u}, std::tuple{1u, 6u, 4u}})
    {
        Options options;
        options.m_InputShapes["x"] = TensorShape({n, 1, h, w});
        std::vector<float> values(size_t{n} * h * w);
        std::iota(values.begin(), values.end(), 0.0f);
        const Data x = Fed({n, 1, h, w}, values);
        const Data actual = open.Run({x}).at(0);
        EXPECT_EQ(actual.m_Info.GetShape(), TensorShape({n, 1, h, w}));
        EXPECT_EQ(actual.Floats(), RunModel(Model(graph), {x}, options).at(0).Floats());
    }
}

TEST(OnnxOpenSizes, RecurrenceOfDifferentLengths)
{
    Graph graph;
    graph.Input("x", {"steps", "batch", 1})
        .Store(Floats("w", {1, 3, 1}, {1, 2, 3}))
        .Store(Floats("r", {1, 3, 1}, {0.5f, 0.25f, -0.5f}));
    graph.Add("GRU", {"x", "w", "r"}, {"y", "last"}, {Attribute("hidden_size", 1)}).Output("y").Output("last");
    OnnxRun open{Model(graph)};
    for (const auto& [steps, batch] : {std::pair{3u, 1u}, std::pair{1u, 2u}, std::pair{5u, 3u}})
    {
        std::vector<float> values(size_t{steps} * batch);
        std::iota(values.begin(), values.end(), -1.0f);
        Options options;
        options.m_Dimensions = {{"steps", steps}, {"batch", batch}};
        const Data x = Fed({steps, batch, 1}, values);
        const std::vector<Data> expected = RunModel(Model(graph), {x}, options);
        const std::vector<Data> actual = open.Run({x});
        EXPECT_EQ(actual.at(0).m_Info.GetShape(), TensorShape({steps, 1, batch, 1}));
        EXPECT_THAT(actual.at(0).Floats(), testing::Pointwise(testing::FloatNear(1e-6f), expected.at(0).Floats()));
        EXPECT_THAT(actual.at(1).Floats(), testing::Pointwise(testing::FloatNear(1e-6f), expected.at(1).Floats()));
    }
}

TEST(OnnxOpenSizes, OfUnknownRank)
{
    OnnxRun open(Relu(std::nullopt));
    EXPECT_THAT(open.Run({List({-1, 2})}).at(0).Floats(), ElementsAre(0.0f, 2.0f));
    const Data matrix = open.Run({Fed({1, 2}, {-1, 2})}).at(0);
    EXPECT_EQ(matrix.m_Info.GetShape(), TensorShape({1, 2}));
    EXPECT_EQ(Parsed(Relu(std::nullopt)).m_Parser->GetDimensionNames("x").size(), 0u);
    // An operator that must know it.
    const Wire transpose =
        Model(Graph().Input("x", ElementType::Float, std::nullopt).Add("Transpose", {"x"}, {"y"}).Output("y"));
    EXPECT_THAT(
        ErrorOf<UnimplementedException>(transpose),
        HasSubstr("the rank of 'x' is not known before the run; give the shapes of the model's inputs. Open are 'x'"));
    Options options;
    options.m_InputShapes["x"] = TensorShape({2, 1});
    EXPECT_EQ(RunModel(transpose, {Fed({2, 1}, {3, 4})}, options).at(0).m_Info.GetShape(), TensorShape({1, 2}));
}

TEST(OnnxOpenSizes, ThatHaveToBeGivenAreListed)
{
    const auto model = [](const std::string& op)
    {
        return Model(Graph()
                         .Input("x", Dims{"n", "", 3, "n"})
                         .Input("z", Dims{"m"})
                         .Add(op, {"x"}, {"y"})
                         .Output("y")
                         .Output("z"));
    };
    const std::string error = ErrorOf<UnimplementedException>(model("Squeeze"));
    EXPECT_THAT(error, HasSubstr("; give the shapes of the model's inputs. Open are 'n', 'x.1', 'm'"));
    Options options;
    options.m_Dimensions["n"] = 2;
    EXPECT_THAT(ErrorOf<UnimplementedException>(model("Squeeze"), options), HasSubstr(". Open are 'x.1', 'm'"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(model("NoOperator")), Not(HasSubstr("Open are"))) << "of no use there";
}

TEST(OnnxOpenSizes, GivenByOptions)
{
    const auto shape = [](const Dims& dims, const Options& options)
    { return Parsed(Relu(dims), options).m_Parser->GetNetworkInputBindingInfo("x").second.GetShape().ToString(); };
    Options options;
    EXPECT_EQ(shape({"n", "", 3, "n"}, options), "[?,?,3,?]");
    EXPECT_EQ(shape({0, -1, 3}, options), "[?,?,3]") << "as some tools write sizes that vary";
    options.m_Dimensions = {{"n", 4}};
    EXPECT_EQ(shape({"n", "", 3, "n"}, options), "[4,?,3,4]");
    options.m_Dimensions = {{"n", 4}, {"x.1", 5}};
    EXPECT_EQ(shape({"n", "", 3, "n"}, options), "[4,5,3,4]");
    EXPECT_EQ(shape({"n", 0, 3}, options), "[4,5,3]");
    options.m_Dimensions = {{"n", 0}};
    EXPECT_EQ(shape({"n", 3}, options), "[0,3]");
    options.m_Dimensions.clear();
    options.m_InputShapes["x"] = TensorShape({7, 8});
    EXPECT_EQ(shape({"n", 3}, options), "[7,8]") << "in place of the model's";
    options.m_InputShapes["x"] = TensorShape(2, false);
    EXPECT_EQ(shape({2, 3}, options), "[?,?]");
    options.m_InputShapes["x"] = TensorShape({5});
    EXPECT_EQ(shape({2, 3}, options), "[5]");
    EXPECT_THAT(Parsed(Relu(Dims{"n", "", 3})).m_Parser->GetDimensionNames("x"), ElementsAre("n", "x.1", ""));
}

TEST(OnnxOpenSizes, OptionsThatDoNotFit)
{
    const Wire model = Relu(Dims{"n", "", 3});
    Options options;
    options.m_Dimensions = {{"m", 4}};
    EXPECT_EQ(ErrorOf<InvalidArgumentException>(model, options),
              "the model has no open dimension 'm'; it has 'n', 'x.1'");
    options.m_Dimensions = {{"x.2", 4}};
    EXPECT_THAT(ErrorOf<InvalidArgumentException>(model, options), HasSubstr("no open dimension 'x.2'"))
        << "its size is fixed";
    EXPECT_THAT(ErrorOf<InvalidArgumentException>(Relu(Dims{2}), options), HasSubstr("it has none"));
    options.m_Dimensions.clear();
    options.m_InputShapes["z"] = TensorShape({1});
    EXPECT_EQ(ErrorOf<InvalidArgumentException>(model, options),
              "a shape is given for input 'z', which the model does not have; its inputs are 'x'");
    options.m_InputShapes.clear();
    options.m_InputShapes["x"] = TensorShape({2, 2});
    options.m_InputShapes["x"] = TensorShape({5, 2, 3});
    options.m_Dimensions = {{"n", 4}};
    EXPECT_EQ(
        ErrorOf<InvalidArgumentException>(model, options),
        "input 'x': dimension 0 of the shape [5,2,3] that is given for it contradicts the size 4 that is given for "
        "'n'");
    options.m_Dimensions = {{"n", 5}};
    EXPECT_EQ(ErrorOf(model, options), "no exception") << "they agree";
    options.m_Dimensions.clear();
    options.m_InputShapes["x"] = TensorShape({2, 2});
    const Wire sum =
        Model(Graph().Input("x", {"n"}).Store(Floats("w", {3}, {1, 2, 3})).Add("Add", {"x", "w"}, {"y"}).Output("y"));
    EXPECT_THAT(ErrorOf(sum, options), HasSubstr("do not broadcast"));
    EXPECT_THAT(ErrorOf(Relu(Dims{int64_t{1} << 32})), HasSubstr("too large"));
    EXPECT_THAT(ErrorOf(Relu(Dims(9, Dim(1)))), HasSubstr("has rank 9, at most 8 is possible"));
    EXPECT_NE(ErrorOf(Relu(Dims(8, Dim(int64_t{4000000000})))), "no exception");
}

} // namespace tenon::test::onnx_open_sizes_test
