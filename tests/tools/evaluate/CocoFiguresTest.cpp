// SPDX-License-Identifier: Apache-2.0
// Figures by COCO's definition, for boxes whose figures are known.
#include "tools/evaluate/CocoFigures.hpp"

#include <gtest/gtest.h>

namespace tenon::tools::evaluate
{
namespace
{

constexpr double Small = 16.0; // a side of a small object
constexpr double Medium = 50.0;

TruthBox Truth(double x, double side, bool isCrowd = false, size_t category = 0)
{
    return {{x, 0.0, side, side}, side * side, isCrowd, category};
}

DetectedBox Found(double x, double side, double score, size_t category = 0)
{
    return {{x, 0.0, side, side}, score, category};
}

TEST(CocoFigures, NothingToFindHasNoFigure)
{
    const CocoFigures figures = ComputeCocoFigures({{{}, {Found(0, Small, 0.5)}}}, 1);
    for (const double figure : figures.m_Summary)
    {
        EXPECT_EQ(figure, NoFigure);
    }
    EXPECT_EQ(figures.m_Categories.at(0).m_NumBoxes, 0U);
    EXPECT_TRUE(figures.m_Categories[0].m_Curve50.empty());
}

TEST(CocoFigures, AllFoundIsOne)
{
    const CocoFigures figures = ComputeCocoFigures(
        {{{Truth(0, Small), Truth(100, Medium)}, {Found(100, Medium, 0.4), Found(0, Small, 0.9)}}}, 1);
    for (const size_t figure : {0U, 1U, 2U, 3U, 4U})
    {
        EXPECT_NEAR(figures.m_Summary[figure], 1.0, 1e-12) << figure;
    }
    EXPECT_EQ(figures.m_Summary[5], NoFigure) << "there is no large object";
    EXPECT_EQ(figures.m_Summary[6], 0.5) << "one detection finds one of two";
    EXPECT_EQ(figures.m_Summary[7], 1.0);
}

TEST(CocoFigures, WrongDetectionsLowerPrecision)
{
    // The better one is wrong: precision is 1/2 at any recall.
    const CocoFigures figures =
        ComputeCocoFigures({{{Truth(0, Small)}, {Found(0, Small, 0.4), Found(500, Small, 0.9)}}}, 1);
    EXPECT_NEAR(figures.m_Summary[1], 0.5, 1e-12);
    // The worse one is wrong: all is found before.
    const CocoFigures late =
        ComputeCocoFigures({{{Truth(0, Small)}, {Found(0, Small, 0.9), Found(500, Small, 0.4)}}}, 1);
    EXPECT_NEAR(late.m_Summary[1], 1.0, 1e-12);
    // A second detection of the same box is wrong.
    const CocoFigures twice =
        ComputeCocoFigures({{{Truth(0, Small), Truth(100, Small)}, {Found(0, Small, 0.9), Found(0, Small, 0.8)}}}, 1);
    EXPECT_NEAR(twice.m_Summary[1], 51.0 / 101.0, 1e-12) << "recall 0 to 0.5 of 101 steps";
}

TEST(CocoFigures, IousDecideByTheirBounds)
{
    // Half of the side is common: 1/3. Four fifths: 0.8 / 1.2 = 2/3, which four of ten bounds allow.
    const CocoFigures third = ComputeCocoFigures({{{Truth(0, 20.0)}, {Found(10.0, 20.0, 1.0)}}}, 1);
    EXPECT_EQ(third.m_Summary[0], 0.0);
    const CocoFigures more = ComputeCocoFigures({{{Truth(0, 20.0)}, {Found(4.0, 20.0, 1.0)}}}, 1);
    EXPECT_NEAR(more.m_Summary[0], 0.4, 1e-12);
    EXPECT_NEAR(more.m_Summary[1], 1.0, 1e-12);
    EXPECT_EQ(more.m_Summary[2], 0.0);
}

TEST(CocoFigures, CrowdsDoNotCount)
{
    // Detections within a crowd are neither right nor wrong, and a crowd need not be found.
    const CocoFigures figures =
        ComputeCocoFigures({{{Truth(0, Small), Truth(100, 200.0, true)},
                             {Found(110, Small, 0.9), Found(150, Small, 0.8), Found(0, Small, 0.7)}}},
                           1);
    EXPECT_NEAR(figures.m_Summary[0], 1.0, 1e-12);
    EXPECT_EQ(figures.m_Categories.at(0).m_NumBoxes, 1U);
}

TEST(CocoFigures, CategoriesAreApart)
{
    const CocoFigures figures = ComputeCocoFigures({{{Truth(0, Small, false, 0), Truth(100, Small, false, 1)},
                                                     {Found(0, Small, 0.9, 1), Found(100, Small, 0.9, 1)}}},
                                                   3);
    EXPECT_EQ(figures.m_Categories.at(0).m_Precision50, 0.0);
    EXPECT_NEAR(figures.m_Categories.at(1).m_Precision50, 0.5, 1e-12);
    EXPECT_EQ(figures.m_Categories.at(2).m_Precision50, NoFigure);
    EXPECT_NEAR(figures.m_Summary[1], 0.25, 1e-12);
}

TEST(CocoFigures, DetectionsOfAPictureAreMatched)
{
    const PictureBoxes picture = {{Truth(0, Small), Truth(100, Small), Truth(200, 100.0, true)},
                                  {Found(0, Small, 0.5), Found(50, Small, 0.6), Found(220, Small, 0.7)}};
    size_t numMissed = 0;
    EXPECT_EQ(MatchPicture(picture, numMissed), (std::vector<int>{1, 0, -1}));
    EXPECT_EQ(numMissed, 1U);
}

} // namespace
} // namespace tenon::tools::evaluate
