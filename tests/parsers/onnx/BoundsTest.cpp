// SPDX-License-Identifier: Apache-2.0
// Numbers at the edge of what types hold, in attributes and constants of .onnx files: what is not possible is refused
// by name, and what is possible is exact.
#include "OnnxRun.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tenon::test::onnx_bounds_test
{

using namespace model;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace
{

Wire OneNode(const Wire& node, const Wire& more = {}, int64_t opset = 17)
{
    return Model(Graph().Input("x", {2}).Put(more).Add(node).Output("y"), opset);
}

Wire Scalar(const std::string& name, int64_t value)
{
    return Message(5, Ints(name, {}, {value}));
}

Wire List(const std::string& name, const Sizes& values)
{
    return Message(5, Ints(name, {static_cast<int64_t>(values.size())}, values));
}

Wire Image(const std::string& name, const Dims& dims)
{
    return Message(11, ValueInfo(name, ElementType::Float, dims));
}

} // namespace

TEST(OnnxBounds, EquationsOfLettersAlone)
{
    const auto error = [](const char* equation)
    { return ErrorOf(OneNode(Node("Einsum", {"x"}, {"y"}, {Attribute("equation", equation)}))); };
    for (const char* equation : {"\x80", "\xff->", "i->\x80", "\x01", "i\x02->i", "1->1", "i->i;"})
    {
        EXPECT_THAT(error(equation), HasSubstr("has characters other than letters and an ellipsis")) << equation;
    }
    EXPECT_THAT(error("i->ii"), HasSubstr("a letter twice"));
    EXPECT_THAT(RunModel(OneNode(Node("Einsum", {"x"}, {"y"}, {Attribute("equation", "Z -> Z")})), {Fed({2}, {3, 4})})
                    .at(0)
                    .Floats(),
                ElementsAre(3, 4));
}

TEST(OnnxBounds, RangesOfFarNumbers)
{
    const auto range = [](int64_t from, int64_t to, int64_t step)
    {
        return RunModel(Model(Graph()
                                  .Put(Scalar("a", from) + Scalar("b", to) + Scalar("c", step))
                                  .Add("Range", {"a", "b", "c"}, {"y"})
                                  .Output("y")))
            .at(0)
            .Ints();
    };
    const int64_t far = int64_t{1} << 60;
    EXPECT_THAT(range(far, far + 3, 1), ElementsAre(far, far + 1, far + 2));
    EXPECT_THAT(range(far + 2, far - 1, -2), ElementsAre(far + 2, far));
    EXPECT_THAT(range(INT64_MIN, INT64_MAX, int64_t{1} << 62),
                ElementsAre(INT64_MIN, INT64_MIN / 2, 0, int64_t{1} << 62));
    EXPECT_THAT(range(INT64_MAX, INT64_MIN, INT64_MIN), ElementsAre(INT64_MAX, -1));
    EXPECT_THAT(range(INT64_MAX - 1, INT64_MAX, INT64_MAX), ElementsAre(INT64_MAX - 1));
    EXPECT_THAT(range(3, 3, 1), IsEmpty());
    EXPECT_THAT(range(5, -1, -2), ElementsAre(5, 3, 1));
    EXPECT_THAT(ErrorOf(OneNode(Node("Range", {"a", "b", "c"}, {"y"}),
                                Message(5, Tensor<int32_t>("a", {}, {0})) + Scalar("b", 4) + Scalar("c", 1))),
                HasSubstr("of types Signed64 and Signed32"));
}

TEST(OnnxBounds, RepeatsAndExponentsOfOldVersions)
{
    const auto number = [](const std::string& name, float value) { return Message(5, Floats(name, {}, {value})); };
    const auto tile = [&](float tiles, float axis) {
        return OneNode(Node("Tile", {"x", "t", "a"}, {"y"}), number("t", tiles) + number("a", axis), 5);
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(RunModel(tile(2, 0), {Fed({2}, {3, 4})}).at(0).Floats(), ElementsAre(3, 4, 3, 4));
    EXPECT_THAT(ErrorOf(tile(nan, 0)), HasSubstr("input 1 (tiles) is nan, which is not possible"));
    EXPECT_THAT(ErrorOf(tile(1e30f, 0)), HasSubstr("input 1 (tiles)"));
    EXPECT_THAT(ErrorOf(tile(2, std::numeric_limits<float>::infinity())), HasSubstr("input 2 (axis) is inf"));
    for (const float p : {nan, 0.5f, 1e30f})
    {
        EXPECT_THAT(ErrorOf(OneNode(Node("GlobalLpPool", {"image"}, {"y"}, {Attribute("p", p)}),
                                    Image("image", {1, 1, 2, 2}), 1)),
                    HasSubstr("it must be from 1 to 1024"));
    }
}

TEST(OnnxBounds, SeedsAreFractions)
{
    const auto draw = [](float seed)
    {
        return RunModel(
                   Model(Graph()
                             .Add("RandomUniform", {}, {"y"}, {Attribute("shape", Sizes{4}), Attribute("seed", seed)})
                             .Output("y")))
            .at(0)
            .Floats();
    };
    EXPECT_EQ(draw(0.25f), draw(0.25f));
    EXPECT_NE(draw(0.25f), draw(0.75f));
    EXPECT_NE(draw(std::numeric_limits<float>::infinity()), draw(0.0f));
}

TEST(OnnxBounds, Windows)
{
    const Wire weights = Message(5, Floats("w", {1, 1, 1, 3}, {1, 2, 3}));
    const auto transposed = [&](const std::vector<Wire>& attributes)
    {
        return ErrorOf(
            OneNode(Node("ConvTranspose", {"image", "w"}, {"y"}, attributes), Image("image", {1, 1, 1, 10}) + weights));
    };
    for (const char* list : {"output_padding", "output_shape"})
    {
        for (const int64_t size : {INT64_MAX, int64_t{1} << 31, int64_t{-1}})
        {
            EXPECT_THAT(transposed({Attribute(list, Sizes{1, size})}),
                        HasSubstr("which does not fit 2 spatial dimensions"));
        }
    }
    EXPECT_THAT(transposed({Attribute("output_shape", Sizes{1, 1}), Attribute("strides", Sizes{1, 2000000000})}),
                HasSubstr("output_shape [1, 1] asks for paddings of 18000000002 elements"));
    for (const char* op : {"Conv", "ConvTranspose"})
    {
        EXPECT_THAT(ErrorOf(OneNode(Node(op, {"image", "w"}, {"y"}, {Attribute("dilations", Sizes{1, INT32_MAX})}),
                                    Image("image", {1, 1, 1, 10}) + weights)),
                    HasSubstr("windows of [1, 3] elements with dilations [1, 2147483647] span more than 2^31"));
    }
    for (const char* op : {"MaxPool", "AveragePool", "LpPool"})
    {
        EXPECT_THAT(ErrorOf(OneNode(Node(op, {"image"}, {"y"}), Image("image", {1, 1, 2, 2}))),
                    HasSubstr("attribute 'kernel_shape' is missing"));
    }
    const Wire unpooled = Image("image", {1, 1, 1, 1}) + Message(5, Ints("i", {1, 1, 1, 1}, {0}));
    EXPECT_THAT(ErrorOf(OneNode(Node("MaxUnpool", {"image", "i"}, {"y"}), unpooled)),
                HasSubstr("attribute 'kernel_shape' is missing"));
    for (const int64_t size : {int64_t{-1}, int64_t{1} << 32})
    {
        EXPECT_THAT(
            ErrorOf(OneNode(Node("MaxUnpool", {"image", "i", "s"}, {"y"}, {Attribute("kernel_shape", Sizes{2, 2})}),
                            unpooled + List("s", {1, 1, 2, size}))),
            HasSubstr("a tensor cannot have the output_shape [1, 1, 2, "));
    }
    // A bias that only the run knows cannot be cut into groups.
    EXPECT_THAT(
        ErrorOf<UnimplementedException>(OneNode(Node("Conv", {"volume", "w", "b"}, {"y"}, {Attribute("group", 2)}),
                                                Image("volume", {1, 2, 1, 1, 1}) + Image("b", {"n"}) +
                                                    Message(5, Floats("w", {2, 1, 1, 1, 1}, {1, 2})))),
        HasSubstr("the number of channels of a grouped convolution is not known"));
}

TEST(OnnxBounds, Grids)
{
    const auto grid = [](const Sizes& sizes)
    {
        const auto rank = static_cast<int64_t>(sizes.size()) - 2;
        const Sizes dims = {1, rank, rank + 1};
        return Model(Graph()
                         .Store(Floats("theta", dims, std::vector<float>(static_cast<size_t>(rank * (rank + 1)))))
                         .Put(List("s", sizes))
                         .Add("AffineGrid", {"theta", "s"}, {"y"})
                         .Output("y"),
                     20);
    };
    EXPECT_EQ(RunModel(grid({1, 1, 0, 4})).at(0).m_Info.GetShape().ToString(), "[1,0,4,2]");
    EXPECT_EQ(RunModel(grid({1, 3, 2, 2, 1})).at(0).m_Info.GetShape().ToString(), "[1,2,2,1,3]");
    EXPECT_THAT(ErrorOf(grid({1, 1, -1, 4})), HasSubstr("is not that of an image or a volume"));
    Options options;
    options.m_Limits.m_MaxTensorBytes = 1000000;
    for (const Sizes& sizes : {Sizes{1, 1, 1 << 26, 2, 2}, Sizes{1, 1, 1 << 10, 1 << 10}})
    {
        EXPECT_THAT(ErrorOf(grid(sizes), options), HasSubstr("Limits::m_MaxTensorBytes"));
    }
    EXPECT_THAT(ErrorOf(grid({1, 1, 4, int64_t{1} << 62})), HasSubstr("too large")) << "of 0 points in 64 bits";
}

TEST(OnnxBounds, Shapes)
{
    EXPECT_THAT(ErrorOf(OneNode(Node("Reshape", {"x", "s"}, {"y"}), List("s", {-5, 2}))),
                HasSubstr("a shape has the size -5; sizes are -1 at least"));
    const auto old = [](const Sizes& sizes)
    {
        return RunModel(
                   Model(
                       Graph().Input("x", {2, 3}).Add("Reshape", {"x"}, {"y"}, {Attribute("shape", sizes)}).Output("y"),
                       4),
                   {Fed({2, 3}, std::vector<float>(6))})
            .at(0)
            .m_Info.GetShape()
            .ToString();
    };
    EXPECT_EQ(old({0, 1, -1}), "[2,1,3]");
    EXPECT_EQ(old({6}), "[6]");
    EXPECT_THAT(ErrorOf(OneNode(Node("And", {"a", "b"}, {"y"}), Scalar("a", 1) + Scalar("b", 0))),
                HasSubstr("operands are of types Signed64 and Signed64; they must be Boolean"));
    Options options;
    options.m_Limits.m_MaxTensorBytes = 1000;
    EXPECT_THAT(ErrorOf(Model(Graph().Input("x", {251}).Add("Abs", {"x"}, {"y"}).Output("y")), options),
                HasSubstr("input 'x': is Float32 [251] of 1004 bytes: the limit is 1000 (Limits::m_MaxTensorBytes)"));
    // Indices that name a box, but for where they begin.
    for (const int64_t start : {INT64_MAX, INT64_MIN, int64_t{1}})
    {
        const Wire indices =
            Message(5, Ints("i", {2, 1}, {start, static_cast<int64_t>(static_cast<uint64_t>(start) + 1)}));
        EXPECT_THAT(MessageOf<RuntimeException>(
                        [&] {
                            RunModel(OneNode(Node("ScatterND", {"x", "i", "x"}, {"y"}), indices), {Fed({2}, {1, 2})});
                        }),
                    HasSubstr("index"));
    }
}

TEST(OnnxBounds, ScansWithoutEntries)
{
    const Wire body = Graph("body")
                          .Input("s", {1})
                          .Input("e", {1})
                          .Add("Add", {"s", "e"}, {"t"})
                          .Add("Identity", {"t"}, {"u"})
                          .Output("t")
                          .Output("u");
    const auto scan = [&](int64_t batch)
    {
        return Model(Graph()
                         .Input("s", {batch, 1})
                         .Input("e", {batch, 2, 1})
                         .Add("Scan", {"", "s", "e"}, {"y", "z"},
                              {Attribute("num_scan_inputs", 1), GraphAttribute("body", body)})
                         .Output("y"),
                     8);
    };
    EXPECT_THAT(RunModel(scan(1), {Fed({1, 1}, {1}), Fed({1, 2, 1}, {2, 3})}).at(0).Floats(), ElementsAre(6));
    EXPECT_THAT(
        ErrorOf<UnimplementedException>(Model(Graph()
                                                  .Store(Floats("s", {0, 1}, {}))
                                                  .Store(Floats("e", {0, 2, 1}, {}))
                                                  .Add("Scan", {"", "s", "e"}, {"y", "z"},
                                                       {Attribute("num_scan_inputs", 1), GraphAttribute("body", body)})
                                                  .Output("y"),
                                              8)),
        HasSubstr("a batch of no entry"));
}

TEST(OnnxBounds, OneFileByManyNames)
{
    // Each tensor is copied, as it is not aligned: a budget for each name of the file would allow all of them.
    const tools::test::TempFolder folder;
    constexpr int64_t count = 50000;
    folder.Write("w", "x" + Wire(static_cast<size_t>(count) * sizeof(float), '\0'));
    Graph graph;
    graph.Input("x", {count});
    std::string last = "x";
    std::string location = "w";
    for (int i = 0; i < 100; ++i)
    {
        const std::string n = std::to_string(i);
        graph.Store(ExternalTensor("w" + n, ElementType::Float, {count}, {{"location", location}, {"offset", "1"}}));
        graph.Add("Add", {last, "w" + n}, {"y" + n});
        last = "y" + n;
        location = "./" + location;
    }
    const std::string path = folder.Write("model.onnx", Model(graph.Output(last)));
    EXPECT_THAT(MessageOf<ParseException>([&] { IOnnxParser::Create()->CreateNetworkFromBinaryFile(path.c_str()); }),
                HasSubstr("tensor 'w"));
}

} // namespace tenon::test::onnx_bounds_test
