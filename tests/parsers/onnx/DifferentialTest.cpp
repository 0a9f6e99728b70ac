// SPDX-License-Identifier: Apache-2.0
// Tests of cases in which random models gave other results than ONNX Runtime: sizes and axes that only the run tells,
// no elements, NaN, rows of attention in which everything is hidden.
#include "OnnxRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace tenon::test::onnx_differential_test
{

using namespace model;
using testing::Each;
using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;

namespace
{

constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Counted(size_t count)
{
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

std::vector<TensorShape> ShapesOf(const std::vector<Data>& results)
{
    std::vector<TensorShape> shapes;
    for (const Data& result : results)
    {
        shapes.push_back(result.m_Info.GetShape());
    }
    return shapes;
}

} // namespace

TEST(OnnxDifferential, FlattenOfNoElements)
{
    OnnxRun run(Model(
        Graph().Input("x", {"a", "b", "c", "d"}).Add("Flatten", {"x"}, {"y"}, {Attribute("axis", 2)}).Output("y")));
    EXPECT_EQ(run.Run({Fed({0, 3, 2, 5}, {})}).at(0).m_Info.GetShape(), TensorShape({0, 10}));
    EXPECT_EQ(run.Run({Fed({3, 2, 0, 5}, {})}).at(0).m_Info.GetShape(), TensorShape({6, 0}));
    const Data full = run.Run({Fed({1, 2, 3, 1}, Counted(6))}).at(0);
    EXPECT_EQ(full.m_Info.GetShape(), TensorShape({2, 3}));
    EXPECT_EQ(full.Floats(), Counted(6));
}

TEST(OnnxDifferential, PartsOfAnOpenSize)
{
    // The last part is smaller from version 18 on, also where less than a part is left before it.
    const Graph graph = Graph()
                            .Input("x", {"n"})
                            .Add("Split", {"x"}, {"a", "b", "c"}, {Attribute("num_outputs", 3)})
                            .Output("a")
                            .Output("b")
                            .Output("c");
    OnnxRun run(Model(graph, 18));
    const auto partsOf = [&](unsigned int size) { return ShapesOf(run.Run({Fed({size}, Counted(size))})); };
    EXPECT_THAT(partsOf(6), ElementsAre(TensorShape({2}), TensorShape({2}), TensorShape({2})));
    EXPECT_THAT(partsOf(5), ElementsAre(TensorShape({2}), TensorShape({2}), TensorShape({1})));
    EXPECT_THAT(partsOf(4), ElementsAre(TensorShape({2}), TensorShape({2}), TensorShape({0})));
    EXPECT_THAT(partsOf(1), ElementsAre(TensorShape({1}), TensorShape({0}), TensorShape({0})));
    const std::vector<Data> results = run.Run({Fed({5}, Counted(5))});
    EXPECT_THAT(results[1].Floats(), ElementsAre(3.0f, 4.0f));
    EXPECT_THAT(results[2].Floats(), ElementsAre(5.0f));
}

TEST(OnnxDifferential, ExtremesOfNaN)
{
    for (const char* const name : {"Max", "Min"})
    {
        const Graph dynamic = Graph().Input("a", {3}).Input("b", {3}).Add(name, {"a", "b"}, {"y"}).Output("y");
        OnnxRun run(Model(dynamic, 13));
        const std::vector<float> results =
            run.Run({Fed({3}, std::vector<float>{NaN, 1, 2}), Fed({3}, std::vector<float>{1, NaN, 2})}).at(0).Floats();
        EXPECT_TRUE(std::isnan(results.at(0))) << name;
        EXPECT_TRUE(std::isnan(results.at(1))) << name;
        EXPECT_THAT(results.at(2), FloatEq(2.0f)) << name;
    }
}

TEST(OnnxDifferential, AxesWhoseNumberTheRunTells)
{
    for (const bool keepsDims : {true, false})
    {
        OnnxRun run(Model(Graph()
                              .Input("x", {2, 3})
                              .Input("axes", ElementType::Int64, Dims{"n"})
                              .Add("ReduceSum", {"x", "axes"}, {"y"}, {Attribute("keepdims", keepsDims ? 1 : 0)})
                              .Output("y")));
        const auto sum = [&](const Sizes& axes) {
            return run.Run({Fed({2, 3}, Counted(6)), Data::Of({static_cast<unsigned int>(axes.size())}, axes)}).at(0);
        };
        const Data all = sum({});
        EXPECT_THAT(all.Floats(), ElementsAre(21.0f));
        EXPECT_EQ(all.m_Info.GetShape(), keepsDims ? TensorShape({1, 1}) : TensorShape(Dimensionality::Scalar));
        EXPECT_THAT(sum({-1}).Floats(), ElementsAre(6.0f, 15.0f));
        EXPECT_THAT(sum({0, 1}).Floats(), ElementsAre(21.0f));
    }
    // Or none is reduced.
    OnnxRun identity(Model(Graph()
                               .Input("x", {2, 3})
                               .Input("axes", ElementType::Int64, Dims{"n"})
                               .Add("ReduceSum", {"x", "axes"}, {"y"}, {Attribute("noop_with_empty_axes", 1)})
                               .Output("y")));
    EXPECT_EQ(identity.Run({Fed({2, 3}, Counted(6)), Data::Of({0}, Sizes{})}).at(0).Floats(), Counted(6));
}

TEST(OnnxDifferential, GemmOfNoProducts)
{
    const Wire model = Model(Graph()
                                 .Input("a", {"n", "k"})
                                 .Store(Floats("b", {0, 3}, {}))
                                 .Store(Floats("c", {3}, {1, 2, 3}))
                                 .Add("Gemm", {"a", "b", "c"}, {"y"})
                                 .Output("y"));
    EXPECT_THAT(RunModel(model, {Fed({2, 0}, {})}).at(0).Floats(), ElementsAre(1, 2, 3, 1, 2, 3));
}

// Numbers that floats do not hold: 1 + 2^-40 and multiples of it.
TEST(OnnxDifferential, ProductsOfDoubles)
{
    constexpr double Fine = 1.0 + 0x1p-40;
    const auto stored = [](const std::string& name, const Sizes& dims, const std::vector<double>& values)
    { return TensorOf(name, ElementType::Double, dims, Message(9, Raw(values))); };
    const auto run = [&](Graph graph, const TensorShape& shape, const std::vector<double>& values)
    { return RunModel(Model(graph.Output("y")), {Data::Of(shape, values)}).at(0).As<double>(); };

    EXPECT_THAT(run(Graph()
                        .Input("a", ElementType::Double, Dims{2, 2})
                        .Store(stored("b", {2, 1}, {1, 2}))
                        .Add("MatMul", {"a", "b"}, {"y"}),
                    {2, 2}, {Fine, 1, 2 * Fine, Fine}),
                ElementsAre(Fine + 2, 4 * Fine));
    EXPECT_THAT(run(Graph()
                        .Input("a", ElementType::Double, Dims{1, 2})
                        .Store(stored("b", {2, 2}, {1, 2, 3, 4}))
                        .Store(stored("c", {2}, {Fine, -Fine}))
                        .Add("Gemm", {"a", "b", "c"}, {"y"}, {Attribute("transB", 1), Attribute("alpha", 2.0f)}),
                    {1, 2}, {Fine, 0}),
                ElementsAre(3 * Fine, 5 * Fine));
    const std::vector<double> image = {Fine, 2 * Fine, 3 * Fine, 4 * Fine};
    EXPECT_THAT(run(Graph()
                        .Input("x", ElementType::Double, Dims{1, 1, 2, 2})
                        .Store(stored("w", {1, 1, 1, 2}, {1, -4}))
                        .Store(stored("b", {1}, {Fine}))
                        .Add("Conv", {"x", "w", "b"}, {"y"}),
                    {1, 1, 2, 2}, image),
                ElementsAre(-6 * Fine, -12 * Fine));
    // A group for each channel, which is a depthwise convolution.
    EXPECT_THAT(run(Graph()
                        .Input("x", ElementType::Double, Dims{1, 2, 1, 2})
                        .Store(stored("w", {2, 1, 1, 2}, {1, 2, -1, 1}))
                        .Add("Conv", {"x", "w"}, {"y"}, {Attribute("group", 2)}),
                    {1, 2, 1, 2}, image),
                ElementsAre(5 * Fine, Fine));
}

TEST(OnnxDifferential, NaNStays)
{
    const auto run = [](const std::string& op, int64_t version, const std::vector<Wire>& attributes)
    {
        const Wire model = Model(Graph().Input("x", {"n"}).Add(op, {"x"}, {"y"}, attributes).Output("y"), version);
        return RunModel(model, {List({NaN, 0.5f, 9.0f})}).at(0).Floats();
    };
    EXPECT_TRUE(std::isnan(run("Clip", 9, {Attribute("max", 4.0f)}).at(0)));
    EXPECT_TRUE(std::isnan(run("Clip", 9, {Attribute("min", 1.0f)}).at(0)));
    EXPECT_TRUE(std::isnan(run("Clip", 9, {Attribute("min", 1.0f), Attribute("max", 4.0f)}).at(0)));
    EXPECT_THAT(run("Clip", 9, {Attribute("max", 4.0f)}).at(2), FloatEq(4.0f));
    EXPECT_THAT(run("Clip", 9, {Attribute("min", 1.0f)}).at(1), FloatEq(1.0f));
    const Wire relu = Model(Graph().Input("x", ElementType::Double, Dims{2}).Add("Relu", {"x"}, {"y"}).Output("y"));
    const std::vector<double> rectified =
        RunModel(relu, {Data::Of({2}, std::vector<double>{NaN, -1})}).at(0).As<double>();
    EXPECT_TRUE(std::isnan(rectified.at(0)));
    EXPECT_EQ(rectified.at(1), 0.0);
    for (const char* op : {"Selu", "Celu"})
    {
        EXPECT_TRUE(std::isnan(run(op, 17, {Attribute("alpha", 0.5f)}).at(0))) << op;
        EXPECT_GT(run(op, 17, {Attribute("alpha", 0.5f)}).at(2), 8.0f) << op;
    }
}

TEST(OnnxDifferential, SpectraOfSignalsWithAnOpenNumberOfParts)
{
    // [batch, length, 1 or 2]: half of the frequencies of real signals.
    const Wire model = Model(Graph()
                                 .Input("x", {1, 8, "parts"})
                                 .Store(Ints("step", {}, {4}))
                                 .Store(Ints("frame", {}, {4}))
                                 .Add("STFT", {"x", "step", "", "frame"}, {"y"})
                                 .Output("y"));
    const Data spectra = RunModel(model, {Fed({1, 8, 1}, Counted(8))}).at(0);
    EXPECT_EQ(spectra.m_Info.GetShape(), TensorShape({1, 2, 3, 2}));
    EXPECT_THAT(spectra.Floats().at(0), FloatNear(10.0f, 1e-5f));
}

TEST(OnnxDifferential, TransposedConvolutionOfAnOpenNumberOfFilters)
{
    const auto model = [](int64_t padding)
    {
        return Model(Graph()
                         .Input("x", {1, 1, 2, 1})
                         .Input("w", {1, "filters", 1, 1})
                         .Add("ConvTranspose", {"x", "w"}, {"y"},
                              {Attribute("kernel_shape", Sizes{1, 1}), Attribute("strides", Sizes{2, 1}),
                               Attribute("output_padding", Sizes{padding, 0})})
                         .Output("y"));
    };
    const Data y = RunModel(model(0), {Fed({1, 1, 2, 1}, {1, 2}), Fed({1, 2, 1, 1}, {3, 5})}).at(0);
    EXPECT_EQ(y.m_Info.GetShape(), TensorShape({1, 2, 3, 1}));
    EXPECT_THAT(y.Floats(), ElementsAre(3, 0, 6, 5, 0, 10));
    EXPECT_THAT(ErrorOf<UnimplementedException>(model(1)),
                testing::HasSubstr("the number of filters is not known before the run"));
}

TEST(OnnxDifferential, SoftmaxOfOneDimensionCountedFromTheEnd)
{
    for (const int64_t version : {11, 12, 13})
    {
        const auto run = [&](const std::string& op, const std::vector<Wire>& attributes)
        {
            const Wire model = Model(Graph().Input("x", {"n"}).Add(op, {"x"}, {"y"}, attributes).Output("y"), version);
            return RunModel(model, {List({0, 0})}).at(0).Floats();
        };
        EXPECT_THAT(run("Softmax", {Attribute("axis", -1)}), ElementsAre(0.5f, 0.5f)) << version;
        EXPECT_THAT(run("Hardmax", {Attribute("axis", -1)}), ElementsAre(1.0f, 0.0f)) << version;
        EXPECT_THAT(run("Softmax", {Attribute("axis", 0)}), ElementsAre(0.5f, 0.5f)) << version;
    }
}

TEST(OnnxDifferential, NormsOfHalves)
{
    // Squares, and sums of these, exceed what 16 bits hold.
    const auto run = [](const std::string& op, const std::vector<Wire>& attributes, float a, float b)
    {
        constexpr int half = 10;
        const Wire model = Model(Graph()
                                     .Input("x", {1, 1, 1, 2})
                                     .Add("Cast", {"x"}, {"h"}, {Attribute("to", half)})
                                     .Add(op, {"h"}, {"n"}, attributes)
                                     .Add("Cast", {"n"}, {"y"}, {Attribute("to", 1)})
                                     .Output("y"),
                                 13);
        return RunModel(model, {Fed({1, 1, 1, 2}, {a, b})}).at(0).Floats();
    };
    EXPECT_THAT(run("ReduceL2", {}, 300, 400), ElementsAre(500.0f));
    EXPECT_THAT(run("GlobalLpPool", {}, 300, 400), ElementsAre(500.0f));
    EXPECT_THAT(run("GlobalLpPool", {Attribute("p", 3)}, 300, 0), ElementsAre(FloatNear(300.0f, 0.5f)));
    EXPECT_THAT(run("LpNormalization", {}, 300, 400), ElementsAre(FloatNear(0.6f, 1e-3f), FloatNear(0.8f, 1e-3f)));
    EXPECT_THAT(run("ReduceLogSum", {}, 40000, 40000), ElementsAre(FloatNear(11.29f, 1e-2f)));
    EXPECT_THAT(run("ReduceSumSquare", {}, 0.001f, 40), ElementsAre(1600.0f));
    // The difference of an exponential and 1.
    EXPECT_THAT(run("Selu", {}, -0.001f, 1).at(0), FloatNear(-0.001757f, 1e-5f));
}

TEST(OnnxDifferential, MeanVarianceNormalizationOfWhatHardlyVaries)
{
    const Wire model =
        Model(Graph().Input("x", {1, 1, 2, 2}).Add("MeanVarianceNormalization", {"x"}, {"y"}).Output("y"));
    EXPECT_THAT(RunModel(model, {Fed({1, 1, 2, 2}, {1000, 1000.125f, 1000, 1000.125f})}).at(0).Floats(),
                ElementsAre(FloatNear(-1, 1e-4f), FloatNear(1, 1e-4f), FloatNear(-1, 1e-4f), FloatNear(1, 1e-4f)));
    EXPECT_THAT(RunModel(model, {Fed({1, 1, 2, 2}, std::vector<float>(4, 0.1f))}).at(0).Floats(), Each(0.0f));
}

TEST(OnnxDifferential, SlicesBackwardsFromBeforeTheFirstElement)
{
    const auto slice = [](int64_t start, int64_t end, unsigned int size)
    {
        const Wire model = Model(Graph()
                                     .Input("x", {static_cast<int64_t>(size)})
                                     .Store(Ints("start", {1}, {start}))
                                     .Store(Ints("end", {1}, {end}))
                                     .Store(Ints("axis", {1}, {0}))
                                     .Store(Ints("step", {1}, {-1}))
                                     .Add("Slice", {"x", "start", "end", "axis", "step"}, {"y"})
                                     .Output("y"));
        return RunModel(model, {Fed({size}, Counted(size))}).at(0).Floats();
    };
    constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
    EXPECT_THAT(slice(-7, lowest, 3), ElementsAre(1.0f));
    EXPECT_THAT(slice(-3, lowest, 3), ElementsAre(1.0f));
    EXPECT_THAT(slice(-2, lowest, 3), ElementsAre(2.0f, 1.0f));
    EXPECT_THAT(slice(-7, 0, 3), testing::IsEmpty());
}

TEST(OnnxDifferential, NearestElementsBeforeVersion11)
{
    const auto run = [](const TensorShape& shape, const std::vector<float>& scales)
    {
        const Wire model = Model(Graph()
                                     .Input("x", {1, 1, "h", "w"})
                                     .Store(Floats("scales", {4}, scales))
                                     .Add("Resize", {"x", "scales"}, {"y"}, {Attribute("mode", "nearest")})
                                     .Output("y"),
                                 10);
        return RunModel(model, {Fed(shape, Counted(shape.GetNumElements()))}).at(0).Floats();
    };
    EXPECT_THAT(run({1, 1, 2, 4}, {1, 1, 0.6f, 0.6f}), ElementsAre(1, 3));
    EXPECT_THAT(run({1, 1, 1, 3}, {1, 1, 1, 1.5f}), ElementsAre(1, 1, 2, 3));
    EXPECT_THAT(run({1, 1, 2, 4}, {1, 1, 2, 0.6f}), ElementsAre(1, 3, 1, 3, 5, 7, 5, 7));
}

TEST(OnnxDifferential, AttentionOfRowsWhereEverythingIsHidden)
{
    // All scores become the number, so that the result is the mean of the values.
    for (const float hidden : {-1e4f, -1e9f, std::numeric_limits<float>::lowest()})
    {
        const Wire model = Model(Graph()
                                     .Input("q", {1, 1, 2, 2})
                                     .Input("k", {1, 1, 2, 2})
                                     .Input("v", {1, 1, 2, 2})
                                     .Input("seen", ElementType::Bool, Dims{1, 1, 2, 2})
                                     .Store(Floats("hidden", {}, {hidden}))
                                     .Add("Transpose", {"k"}, {"t"}, {Attribute("perm", Sizes{0, 1, 3, 2})})
                                     .Add("MatMul", {"q", "t"}, {"scores"})
                                     .Add("Where", {"seen", "scores", "hidden"}, {"masked"})
                                     .Add("Softmax", {"masked"}, {"p"}, {Attribute("axis", -1)})
                                     .Add("MatMul", {"p", "v"}, {"y"})
                                     .Output("y"));
        const Data values = Fed({1, 1, 2, 2}, {1, 2, 3, 4});
        const Data seen = Data::Of({1, 1, 2, 2}, std::vector<bool>{false, false, false, true});
        const std::vector<float> y = RunModel(model, {values, values, values, seen}).at(0).Floats();
        EXPECT_THAT(y, ElementsAre(FloatEq(2.0f), FloatEq(3.0f), FloatEq(3.0f), FloatEq(4.0f))) << hidden;
    }
}

} // namespace tenon::test::onnx_differential_test
