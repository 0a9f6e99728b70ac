// SPDX-License-Identifier: Apache-2.0
// Average precision and recall of detections by COCO's definition, with the numbers of pycocotools for boxes.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace tenon::tools::evaluate
{

/// Left, top, width and height in pixels.
using Box = std::array<double, 4>;

struct TruthBox
{
    Box m_Box = {};
    double m_Area = 0.0; ///< that of the object, which decides whether it is small or large
    bool m_IsCrowd = false;
    size_t m_Category = 0;
};

struct DetectedBox
{
    Box m_Box = {};
    double m_Score = 0.0;
    size_t m_Category = 0;
};

/// The boxes of a picture.
struct PictureBoxes
{
    std::vector<TruthBox> m_Truth;
    std::vector<DetectedBox> m_Detections;
};

/// The shares of recall at which precision is read.
constexpr size_t NumRecalls = 101;
constexpr double NoFigure = -1.0; ///< where there is nothing to be found

struct CategoryFigures
{
    double m_Precision = NoFigure;   ///< AP@[.5:.95]
    double m_Precision50 = NoFigure; ///< AP50
    double m_Recall = NoFigure;      ///< AR of 100 detections
    size_t m_NumBoxes = 0;           ///< of the ground truth, without crowds
    /// Precision at recall 0, 0.01, ... 1 and an IoU of 0.5; empty where there is nothing to be found.
    std::vector<double> m_Curve50;
};

struct CocoFigures
{
    /// The 12 figures in the order in which pycocotools prints them.
    std::array<double, 12> m_Summary = {};
    std::vector<CategoryFigures> m_Categories;
    /// The mean of the categories' curves.
    std::vector<double> m_Curve50;
};

/// Pictures in the order of their ids: equal scores of different pictures keep it.
CocoFigures ComputeCocoFigures(const std::vector<PictureBoxes>& pictures, size_t numCategories);

/// pycocotools' line for a figure of the summary.
const char* NameCocoFigure(size_t figure);

/// The detections that find a box of the ground truth at an IoU of 0.5, by COCO's rules without a bound on the area:
/// 1 for one that does, 0 for one that does not, -1 for one that does not count.
std::vector<int> MatchPicture(const PictureBoxes& picture, size_t& numMissed);

} // namespace tenon::tools::evaluate
