// SPDX-License-Identifier: Apache-2.0
// MulticlassNonMaxSuppression: against a search through all pairs of boxes of each class and batch.
#include "harness/LayerRun.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

namespace tenon::test::multiclass_non_max_suppression_test
{

namespace
{

struct Problem
{
    unsigned int m_Batches = 1;
    unsigned int m_Classes = 1;
    unsigned int m_Boxes = 0;
    bool m_IsCentered = false;
    std::vector<double> m_Corners; ///< 4 numbers a box
    std::vector<double> m_Scores;
    std::optional<double> m_MaxBoxes;
    std::optional<double> m_Overlap;
    std::optional<double> m_Score;
};

/// Eighths are exact in float, scores repeat.
Problem RandomProblem(unsigned int batches, unsigned int classes, unsigned int boxes, bool isCentered)
{
    std::mt19937 random(boxes + classes);
    const auto draw = [&random](unsigned int sides) { return static_cast<double>(random() % sides) / 8.0; };
    Problem problem{batches, classes, boxes, isCentered, {}, {}, {}, {}, {}};
    for (unsigned int i = 0; i < batches * boxes; ++i)
    {
        const double y = draw(64);
        const double x = draw(64);
        const double height = 1.0 + draw(32);
        const double width = 1.0 + draw(32);
        const std::vector<double> box =
            isCentered   ? std::vector<double>{x + width / 2, y + height / 2, width, height}
            : i % 2 == 0 ? std::vector<double>{y, x, y + height, x + width}
                         : std::vector<double>{y + height, x, y, x + width}; // corners come in any order
        problem.m_Corners.insert(problem.m_Corners.end(), box.begin(), box.end());
    }
    for (unsigned int i = 0; i < batches * classes * boxes; ++i)
    {
        problem.m_Scores.push_back(draw(40));
    }
    return problem;
}

double Overlap(const Problem& problem, size_t a, size_t b)
{
    double common = 1;
    double areaA = 1;
    double areaB = 1;
    for (size_t d = 0; d < 2; ++d)
    {
        const auto side = [&](size_t box, bool upper)
        {
            const double* n = &problem.m_Corners[box * 4];
            if (problem.m_IsCentered)
            {
                return n[d] + (upper ? n[d + 2] : -n[d + 2]) / 2;
            }
            return upper ? std::max(n[d], n[d + 2]) : std::min(n[d], n[d + 2]);
        };
        common *= std::max(0.0, std::min(side(a, true), side(b, true)) - std::max(side(a, false), side(b, false)));
        areaA *= side(a, true) - side(a, false);
        areaB *= side(b, true) - side(b, false);
    }
    return common == 0 ? 0 : common / (areaA + areaB - common);
}

/// The definition: again and again the first box with the highest score, which takes out all that overlap it.
std::vector<double> Suppress(const Problem& problem)
{
    std::vector<double> selected;
    for (unsigned int batch = 0; batch < problem.m_Batches; ++batch)
    {
        for (unsigned int kind = 0; kind < problem.m_Classes; ++kind)
        {
            const auto first = problem.m_Scores.begin() +
                               static_cast<std::ptrdiff_t>((batch * problem.m_Classes + kind) * problem.m_Boxes);
            std::vector<double> scores(first, first + problem.m_Boxes);
            for (double count = 0; count < problem.m_MaxBoxes.value_or(0); ++count)
            {
                const auto best = std::max_element(scores.begin(), scores.end());
                if (best == scores.end() || *best < 0 || (problem.m_Score && *best <= *problem.m_Score))
                {
                    break;
                }
                const auto box = static_cast<size_t>(best - scores.begin());
                selected.insert(selected.end(), {double{1} * batch, double{1} * kind, static_cast<double>(box)});
                const size_t base = size_t{batch} * problem.m_Boxes;
                for (size_t i = 0; i < problem.m_Boxes; ++i)
                {
                    const bool isOut =
                        i == box || Overlap(problem, base + i, base + box) > problem.m_Overlap.value_or(0);
                    scores[i] = isOut ? -1 : scores[i];
                }
            }
        }
    }
    return selected;
}

TestTensor Scalar(const std::optional<double>& value, DataType type)
{
    return Constant(Numbers(TensorShape({1}), type, {value.value_or(0)}));
}

/// Runs the layer with the parameters that the problem has, and leaves the others out.
TestTensor RunProblem(const Problem& problem, DataType limitType = DataType::Signed64)
{
    const std::vector<TestTensor> all = {
        Numbers({problem.m_Batches, problem.m_Boxes, 4}, DataType::Float32, problem.m_Corners),
        Numbers({problem.m_Batches, problem.m_Classes, problem.m_Boxes}, DataType::Float32, problem.m_Scores),
        Scalar(problem.m_MaxBoxes, limitType), Scalar(problem.m_Overlap, DataType::Float32),
        Scalar(problem.m_Score, DataType::Float32)};
    INetworkPtr network = INetwork::Create();
    MulticlassNonMaxSuppressionDescriptor descriptor;
    descriptor.m_CenterPointBox = problem.m_IsCentered;
    IConnectableLayer* const layer = network->AddMulticlassNonMaxSuppressionLayer(descriptor, "suppression");
    InputTensors bound;
    const bool has[] = {true, true, problem.m_MaxBoxes.has_value(), problem.m_Overlap.has_value(),
                        problem.m_Score.has_value()};
    for (unsigned int i = 0; i < all.size(); ++i)
    {
        if (has[i])
        {
            TensorInfo info = all[i].m_Info;
            info.SetConstant();
            bound.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(info, all[i].m_Bytes.data()));
            Connect(AddInput(*network, static_cast<LayerBindingId>(i), all[i].m_Info), layer, i);
        }
    }
    Connect(layer, network->AddOutputLayer(0, "output"));
    TestTensor result;
    const IRuntimePtr runtime = IRuntime::Create({});
    runtime->EnqueueWorkload(Load(*runtime, *network), bound,
                             [&result](LayerBindingId, const TensorInfo& info) -> void*
                             {
                                 result.m_Info = info;
                                 result.m_Bytes.resize(info.GetNumBytes());
                                 return result.m_Bytes.data();
                             });
    return result;
}

void Check(const Problem& problem)
{
    const std::vector<double> expected = Suppress(problem);
    const TestTensor got = RunProblem(problem);
    EXPECT_EQ(got.m_Info.GetDataType(), DataType::Signed64);
    EXPECT_EQ(got.m_Info.GetShape(), TensorShape({static_cast<unsigned int>(expected.size() / 3), 3}));
    EXPECT_EQ(GetStored(got.m_Info, got.m_Bytes.data()), expected);
}

} // namespace

TEST(MulticlassNonMaxSuppression, AsDefined)
{
    for (const bool isCentered : {false, true})
    {
        for (const double most : {0.0, 1.0, 5.0, 1000.0})
        {
            Problem problem = RandomProblem(2, 3, 50, isCentered);
            problem.m_MaxBoxes = most;
            problem.m_Overlap = 0.25;
            problem.m_Score = 1.5;
            Check(problem);
            problem.m_Overlap = 1;
            Check(problem);
            problem.m_Score.reset();
            Check(problem);
            problem.m_Overlap.reset();
            Check(problem);
        }
    }
}

TEST(MulticlassNonMaxSuppression, NothingToSelect)
{
    Problem problem = RandomProblem(1, 2, 10, false);
    Check(problem); // without a limit none is selected
    problem.m_MaxBoxes = 5;
    problem.m_Score = 100;
    Check(problem);
    problem = RandomProblem(1, 2, 0, false);
    problem.m_MaxBoxes = 5;
    Check(problem);
    problem = RandomProblem(0, 2, 3, false);
    problem.m_MaxBoxes = 5;
    Check(problem);
}

TEST(MulticlassNonMaxSuppression, LimitsOfAnyInteger)
{
    Problem problem = RandomProblem(1, 2, 20, false);
    problem.m_MaxBoxes = 3;
    const TestTensor wide = RunProblem(problem, DataType::Signed64);
    EXPECT_EQ(wide.m_Info.GetShape(), TensorShape({6, 3}));
    EXPECT_EQ(RunProblem(problem, DataType::Signed32).m_Bytes, wide.m_Bytes);
    problem.m_MaxBoxes = -3;
    EXPECT_EQ(RunProblem(problem).m_Info.GetShape(), TensorShape({0, 3}));
}

// An overlap that equals the threshold keeps the box: these two share a third.
TEST(MulticlassNonMaxSuppression, AnOverlapAtTheThresholdIsKept)
{
    Problem problem{1, 1, 2, false, {0, 0, 1, 1, 0, 0.5, 1, 1.5}, {1, 0.5}, 2.0, 0.33333334, 0.0};
    Check(problem);
    EXPECT_EQ(RunProblem(problem).m_Info.GetShape(), TensorShape({2, 3}));
    problem.m_Overlap = 0.33;
    EXPECT_EQ(RunProblem(problem).m_Info.GetShape(), TensorShape({1, 3}));
}

TEST(MulticlassNonMaxSuppression, NumbersThatAreSpecialEnd)
{
    const double nan = std::nan("");
    Problem problem = RandomProblem(1, 2, 8, false);
    problem.m_MaxBoxes = 8;
    problem.m_Scores[1] = nan;
    problem.m_Scores[2] = INFINITY;
    problem.m_Corners[13] = nan;
    problem.m_Corners[17] = INFINITY;
    for (const double overlap : {nan, 0.0, 2.0, -1.0})
    {
        for (const std::optional<double> score : {std::optional<double>(), std::optional<double>(nan)})
        {
            problem.m_Overlap = overlap;
            problem.m_Score = score;
            const TestTensor got = RunProblem(problem);
            const std::vector<double> indices = GetStored(got.m_Info, got.m_Bytes.data());
            EXPECT_LE(indices.size(), size_t{2} * 8 * 3);
            for (size_t i = 2; i < indices.size(); i += 3)
            {
                EXPECT_TRUE(indices[i] >= 0 && indices[i] < 8);
            }
        }
    }
}

static InferCases MakeSuppressionCases()
{
    constexpr LayerType type = LayerType::MulticlassNonMaxSuppression;
    const MulticlassNonMaxSuppressionDescriptor none;
    return {
        Case(type, "all", none, {T({2, 6, 4}), T({2, 3, 6}), T({1}), T({}), T({1})}).Gives({"[unknown rank]"}),
        Case(type, "few", none, {T({2, 6, 4}), T({2, 3, 6}), Absent(), T({}), Absent()}).Gives({"[unknown rank]"}),
        Case(type, "corners", none, {T({2, 6, 5}), T({2, 3, 6}), Absent(), Absent(), Absent()}).Rejects("4 numbers"),
        Case(type, "rank", none, {T({6, 4}), T({2, 3, 6}), Absent(), Absent(), Absent()}).Rejects("3 dimensions"),
        Case(type, "scores", none, {T({2, 6, 4}), T({2, 3, 5}), Absent(), Absent(), Absent()})
            .Rejects("[2, classes, 6]"),
        Case(type, "threshold", none, {T({2, 6, 4}), T({2, 3, 6}), T({1}), T({2}), Absent()})
            .Rejects("overlap threshold"),
    };
}
static const InferTable suppression(MakeSuppressionCases);

} // namespace tenon::test::multiclass_non_max_suppression_test
