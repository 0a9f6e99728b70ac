// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: hard and soft, against a search through all pairs; and inputs that make no sense.
#include "harness/LayerRun.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tenon::test::non_max_suppression_test
{

namespace
{

struct Boxes
{
    std::vector<double> m_Corners;
    std::vector<double> m_Scores;

    unsigned int Count() const { return static_cast<unsigned int>(m_Scores.size()); }
};

Boxes RandomBoxes(unsigned int count)
{
    std::mt19937 random(count);
    const auto draw = [&random] { return static_cast<double>(random() % 64) / 8.0; };
    Boxes boxes;
    for (unsigned int i = 0; i < count; ++i)
    {
        const double y = draw();
        const double x = draw();
        const double height = 1.0 + draw();
        const double width = 1.0 + draw();
        // Corners come in any order.
        const std::vector<double> corners = i % 2 == 0 ? std::vector<double>{y, x, y + height, x + width}
                                                       : std::vector<double>{y + height, x, y, x + width};
        boxes.m_Corners.insert(boxes.m_Corners.end(), corners.begin(), corners.end());
        boxes.m_Scores.push_back((static_cast<double>(i * 37 % count) + 1.0) / count); // no two are equal
    }
    return boxes;
}

double Overlap(const Boxes& boxes, size_t a, size_t b)
{
    const auto side = [&](size_t box, size_t dimension, bool upper)
    {
        const double* corners = &boxes.m_Corners[box * 4];
        return upper ? std::max(corners[dimension], corners[dimension + 2])
                     : std::min(corners[dimension], corners[dimension + 2]);
    };
    double common = 1;
    double areaA = 1;
    double areaB = 1;
    for (size_t d = 0; d < 2; ++d)
    {
        common *= std::max(0.0, std::min(side(a, d, true), side(b, d, true)) -
                                    std::max(side(a, d, false), side(b, d, false)));
        areaA *= side(a, d, true) - side(a, d, false);
        areaB *= side(b, d, true) - side(b, d, false);
    }
    return common / (areaA + areaB - common);
}

struct Selected
{
    std::vector<double> m_Boxes;
    std::vector<double> m_Scores;
};

/// The definition: again and again the box with the highest score, lowered by all that are selected.
Selected Suppress(const Boxes& boxes, size_t limit, double overlapThreshold, double scoreThreshold, double sigma)
{
    Selected selected;
    std::vector<double> scores = boxes.m_Scores;
    while (selected.m_Boxes.size() < limit)
    {
        const auto best = std::max_element(scores.begin(), scores.end());
        if (best == scores.end() || *best <= scoreThreshold)
        {
            break;
        }
        const auto box = static_cast<size_t>(best - scores.begin());
        selected.m_Boxes.push_back(static_cast<double>(box));
        selected.m_Scores.push_back(*best);
        scores[box] = -1e9;
        for (size_t i = 0; i < scores.size(); ++i)
        {
            const double overlap = Overlap(boxes, i, box);
            const double factor = sigma > 0 ? std::exp(-0.5 / sigma * overlap * overlap) : 1.0;
            scores[i] = overlap >= overlapThreshold ? -1e9 : scores[i] * (scores[i] > 0 ? factor : 1.0);
        }
    }
    return selected;
}

LayerMaker Make(bool soft)
{
    return [=](INetwork& network)
    {
        NonMaxSuppressionDescriptor descriptor;
        descriptor.m_Soft = soft;
        return network.AddNonMaxSuppressionLayer(descriptor, "suppression");
    };
}

TestTensor Scalar(double value, DataType type = DataType::Float32)
{
    return Constant(Numbers(TensorShape(Dimensionality::Scalar), type, {value}));
}

std::vector<TestTensor> MakeInputs(const Boxes& boxes, double limit, double overlap, double score, double sigma)
{
    std::vector<TestTensor> inputs = {Numbers({boxes.Count(), 4}, DataType::Float32, boxes.m_Corners),
                                      Numbers({boxes.Count()}, DataType::Float32, boxes.m_Scores),
                                      Scalar(limit, DataType::Signed32), Scalar(overlap), Scalar(score)};
    if (sigma >= 0)
    {
        inputs.push_back(Scalar(sigma));
    }
    return inputs;
}

std::vector<double> NumbersOf(const TestTensor& tensor)
{
    return GetStored(tensor.m_Info, tensor.m_Bytes.data());
}

/// sigma below 0: hard.
void Check(const Boxes& boxes, unsigned int limit, double overlap, double score, double sigma)
{
    SCOPED_TRACE(limit);
    Selected expected = Suppress(boxes, limit, overlap, score, sigma);
    const auto count = static_cast<double>(expected.m_Boxes.size());
    expected.m_Boxes.resize(limit);
    expected.m_Scores.resize(limit);
    std::vector<TestTensor> inputs = MakeInputs(boxes, limit, overlap, score, sigma);
    for (const bool isConstant : {true, false})
    {
        inputs[2].m_Constant = isConstant;
        const std::vector<TestTensor> got = RunLayer(Make(sigma >= 0), inputs);
        EXPECT_EQ(NumbersOf(got[0]), expected.m_Boxes);
        EXPECT_EQ(NumbersOf(got.back()), (std::vector<double>{count}));
        EXPECT_TRUE(got.back().m_Info.GetShape().IsScalar());
        for (size_t i = 0; sigma >= 0 && i < limit; ++i)
        {
            EXPECT_NEAR(NumbersOf(got[1]).at(i), expected.m_Scores[i], 1e-5);
        }
    }
}

} // namespace

TEST(NonMaxSuppression, AsDefined)
{
    const Boxes boxes = RandomBoxes(60);
    for (const unsigned int limit : {0U, 1U, 7U, 100U})
    {
        for (const double sigma : {-1.0, 0.0, 0.3})
        {
            Check(boxes, limit, 0.3, 0.0, sigma);
            Check(boxes, limit, 0.9, 0.25, sigma);
        }
    }
}

TEST(NonMaxSuppression, NoBoxes)
{
    Check(Boxes(), 3, 0.5, 0.0, -1.0);
    Check(Boxes(), 3, 0.5, 0.0, 0.5);
}

TEST(NonMaxSuppression, NumbersThatAreSpecialEnd)
{
    const double nan = std::nan("");
    Boxes boxes = RandomBoxes(6);
    boxes.m_Scores[1] = nan;
    boxes.m_Scores[2] = INFINITY;
    boxes.m_Corners[13] = nan;
    boxes.m_Corners[17] = INFINITY;
    for (const double overlap : {nan, 0.0, 2.0, -1.0})
    {
        for (const double sigma : {-1.0, 0.0, 1e-40, 5.0})
        {
            const std::vector<TestTensor> got =
                RunLayer(Make(sigma >= 0), MakeInputs(boxes, 100, overlap, -INFINITY, sigma));
            EXPECT_LE(NumbersOf(got.back())[0], 6);
            for (const double box : NumbersOf(got[0]))
            {
                EXPECT_TRUE(box >= 0 && box < 6);
            }
        }
    }
}

TEST(NonMaxSuppression, RefusesWhatMakesNoSense)
{
    const Boxes boxes = RandomBoxes(3);
    EXPECT_THROW(RunLayer(Make(false), MakeInputs(boxes, -1, 0.5, 0, -1)), LayerValidationException);
    std::vector<TestTensor> inputs = MakeInputs(boxes, 1, 0.5, 0, 1);
    inputs[5] = Scalar(-0.5);
    EXPECT_THROW(RunLayer(Make(true), inputs), RuntimeException);
}

} // namespace tenon::test::non_max_suppression_test
