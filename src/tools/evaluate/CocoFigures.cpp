// SPDX-License-Identifier: Apache-2.0
// See CocoFigures.hpp. Sums and comparisons have the order of pycocotools, so that figures are equal to the last
// digits.
#include "tools/evaluate/CocoFigures.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

constexpr size_t NumIous = 10;
constexpr size_t MaxDetections = 100; ///< of a category in a picture

struct AreaRange
{
    double m_Min;
    double m_Max;

    bool Has(double area) const { return area >= m_Min && area <= m_Max; }
};

constexpr double AnyArea = 1e10;
/// All, small, medium and large objects.
constexpr std::array<AreaRange, 4> AreaRanges = {
    {{0.0, AnyArea}, {0.0, 32.0 * 32.0}, {32.0 * 32.0, 96.0 * 96.0}, {96.0 * 96.0, AnyArea}}};

/// 0.5, 0.55, ... 0.95, as numpy.linspace gives them.
std::array<double, NumIous> MakeIous()
{
    std::array<double, NumIous> ious = {};
    constexpr double first = 0.5;
    constexpr double last = 0.95;
    const double step = (last - first) / static_cast<double>(NumIous - 1);
    for (size_t i = 0; i + 1 < NumIous; ++i)
    {
        ious[i] = static_cast<double>(i) * step + first;
    }
    ious.back() = last;
    return ious;
}

/// The intersection by the union; by the detection where the truth is a crowd.
double ComputeIou(const Box& detection, const TruthBox& truth)
{
    const Box& box = truth.m_Box;
    const double width = std::min(detection[2] + detection[0], box[2] + box[0]) - std::max(detection[0], box[0]);
    const double height = std::min(detection[3] + detection[1], box[3] + box[1]) - std::max(detection[1], box[1]);
    if (width <= 0.0 || height <= 0.0)
    {
        return 0.0;
    }
    const double common = width * height;
    const double area = detection[2] * detection[3];
    return common / (truth.m_IsCrowd ? area : area + box[2] * box[3] - common);
}

/// The boxes of a category in a picture.
struct Group
{
    std::vector<const TruthBox*> m_Truth;
    std::vector<const DetectedBox*> m_Detections; ///< the best first
    std::vector<double> m_Ious;                   ///< by detection and truth

    double Iou(size_t detection, size_t truth) const { return m_Ious[detection * m_Truth.size() + truth]; }

    /// Sorts detections, keeps the best ones, and computes m_Ious.
    void Prepare()
    {
        std::stable_sort(m_Detections.begin(), m_Detections.end(),
                         [](const DetectedBox* a, const DetectedBox* b) { return a->m_Score > b->m_Score; });
        m_Detections.resize(std::min(m_Detections.size(), MaxDetections));
        m_Ious.clear();
        for (const DetectedBox* detection : m_Detections)
        {
            for (const TruthBox* truth : m_Truth)
            {
                m_Ious.push_back(ComputeIou(detection->m_Box, *truth));
            }
        }
    }
};

/// The outcome of a detection at one bound on the IoU.
struct Match
{
    bool m_IsMatched = false;
    bool m_IsIgnored = false;
    size_t m_Truth = 0; ///< in the group, if it is matched
};

/// One for each detection. A truth outside of the range, or a crowd, is ignored, and with it a detection that finds it;
/// so is a detection outside of the range that finds none.
std::vector<Match> MatchGroup(const Group& group, const AreaRange& range, double minIou)
{
    const auto isIgnored = [&](size_t truth)
    { return group.m_Truth[truth]->m_IsCrowd || !range.Has(group.m_Truth[truth]->m_Area); };
    std::vector<size_t> order(group.m_Truth.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_partition(order.begin(), order.end(), [&](size_t truth) { return !isIgnored(truth); });

    std::vector<bool> isTaken(group.m_Truth.size());
    std::vector<Match> matches(group.m_Detections.size());
    for (size_t d = 0; d < matches.size(); ++d)
    {
        Match& match = matches[d];
        constexpr double almostOne = 1.0 - 1e-10;
        double best = std::min(minIou, almostOne);
        for (const size_t truth : order)
        {
            if (isTaken[truth] && !group.m_Truth[truth]->m_IsCrowd)
            {
                continue;
            }
            if (match.m_IsMatched && !match.m_IsIgnored && isIgnored(truth))
            {
                break;
            }
            if (group.Iou(d, truth) >= best)
            {
                best = group.Iou(d, truth);
                match = {true, isIgnored(truth), truth};
            }
        }
        if (match.m_IsMatched)
        {
            isTaken[match.m_Truth] = true;
        }
        else
        {
            const Box& box = group.m_Detections[d]->m_Box;
            match.m_IsIgnored = !range.Has(box[2] * box[3]);
        }
    }
    return matches;
}

/// The outcomes of all pictures of a category.
struct Outcome
{
    double m_Score = 0.0;
    bool m_IsRight = false;
    bool m_IsIgnored = false;
};

struct Curve
{
    double m_Recall = 0.0;
    std::array<double, NumRecalls> m_Precision = {};
};

/// `outcomes`: the best first. `numTruth`: boxes to be found, at least one.
Curve MakeCurve(const std::vector<Outcome>& outcomes, size_t numTruth)
{
    Curve curve;
    std::vector<double> recall;
    std::vector<double> precision;
    double right = 0.0;
    double wrong = 0.0;
    for (const Outcome& outcome : outcomes)
    {
        right += outcome.m_IsRight && !outcome.m_IsIgnored ? 1.0 : 0.0;
        wrong += !outcome.m_IsRight && !outcome.m_IsIgnored ? 1.0 : 0.0;
        recall.push_back(right / static_cast<double>(numTruth));
        precision.push_back(right / (wrong + right + std::numeric_limits<double>::epsilon()));
    }
    for (size_t i = precision.size(); i-- > 1;)
    {
        precision[i - 1] = std::max(precision[i - 1], precision[i]);
    }
    curve.m_Recall = recall.empty() ? 0.0 : recall.back();
    for (size_t r = 0; r < NumRecalls; ++r)
    {
        constexpr double step = 0.01;
        const double wanted = r + 1 == NumRecalls ? 1.0 : static_cast<double>(r) * step;
        const auto at = std::lower_bound(recall.begin(), recall.end(), wanted);
        curve.m_Precision[r] = at == recall.end() ? 0.0 : precision[static_cast<size_t>(at - recall.begin())];
    }
    return curve;
}

/// Adds figures up, without NoFigure.
class Mean
{
public:
    void Add(double value)
    {
        m_Sum += value;
        ++m_Count;
    }
    double Get() const { return m_Count == 0 ? NoFigure : m_Sum / static_cast<double>(m_Count); }

private:
    double m_Sum = 0.0;
    size_t m_Count = 0;
};

/// The figures of a category for a range of areas.
struct RangeFigures
{
    size_t m_NumTruth = 0;
    std::array<Curve, NumIous> m_Curves;                       ///< of 100 detections
    std::array<std::array<double, NumIous>, 2> m_Recalls = {}; ///< of 1 and 10 detections
};

RangeFigures ComputeRange(const std::vector<Group>& groups, const AreaRange& range)
{
    RangeFigures figures;
    for (const Group& group : groups)
    {
        figures.m_NumTruth += static_cast<size_t>(
            std::count_if(group.m_Truth.begin(), group.m_Truth.end(),
                          [&](const TruthBox* truth) { return !truth->m_IsCrowd && range.Has(truth->m_Area); }));
    }
    if (figures.m_NumTruth == 0)
    {
        return figures;
    }
    const std::array<double, NumIous> ious = MakeIous();
    for (size_t t = 0; t < NumIous; ++t)
    {
        std::array<std::vector<Outcome>, 3> outcomes;
        constexpr std::array<size_t, 3> maxDetections = {1, 10, MaxDetections};
        for (const Group& group : groups)
        {
            const std::vector<Match> matches = MatchGroup(group, range, ious[t]);
            for (size_t d = 0; d < matches.size(); ++d)
            {
                for (size_t m = 0; m < outcomes.size(); ++m)
                {
                    if (d < maxDetections[m])
                    {
                        outcomes[m].push_back(
                            {group.m_Detections[d]->m_Score, matches[d].m_IsMatched, matches[d].m_IsIgnored});
                    }
                }
            }
        }
        for (size_t m = 0; m < outcomes.size(); ++m)
        {
            std::stable_sort(outcomes[m].begin(), outcomes[m].end(),
                             [](const Outcome& a, const Outcome& b) { return a.m_Score > b.m_Score; });
            const Curve curve = MakeCurve(outcomes[m], figures.m_NumTruth);
            if (m < figures.m_Recalls.size())
            {
                figures.m_Recalls[m][t] = curve.m_Recall;
            }
            else
            {
                figures.m_Curves[t] = curve;
            }
        }
    }
    return figures;
}

/// The groups of each category, in the order of pictures.
std::vector<std::vector<Group>> GroupBoxes(const std::vector<PictureBoxes>& pictures, size_t numCategories)
{
    std::vector<std::vector<Group>> groups(numCategories);
    for (const PictureBoxes& picture : pictures)
    {
        std::map<size_t, Group> ofPicture;
        for (const TruthBox& truth : picture.m_Truth)
        {
            ofPicture[truth.m_Category].m_Truth.push_back(&truth);
        }
        for (const DetectedBox& detection : picture.m_Detections)
        {
            ofPicture[detection.m_Category].m_Detections.push_back(&detection);
        }
        for (auto& [category, group] : ofPicture)
        {
            group.Prepare();
            groups[category].push_back(std::move(group));
        }
    }
    return groups;
}

constexpr size_t Iou50 = 0;
constexpr size_t Iou75 = 5;

} // namespace

CocoFigures ComputeCocoFigures(const std::vector<PictureBoxes>& pictures, size_t numCategories)
{
    CocoFigures figures;
    std::array<Mean, 12> means;
    std::array<Mean, NumRecalls> curve50;
    for (const std::vector<Group>& groups : GroupBoxes(pictures, numCategories))
    {
        CategoryFigures& category = figures.m_Categories.emplace_back();
        Mean precision;
        Mean precision50;
        Mean recall;
        for (size_t a = 0; a < AreaRanges.size(); ++a)
        {
            const RangeFigures range = ComputeRange(groups, AreaRanges[a]);
            if (range.m_NumTruth == 0)
            {
                continue;
            }
            for (size_t t = 0; t < NumIous; ++t)
            {
                const Curve& curve = range.m_Curves[t];
                for (size_t r = 0; r < NumRecalls; ++r)
                {
                    // AP, AP50, AP75, and AP of small, medium and large objects.
                    means[a == 0 ? 0 : 2 + a].Add(curve.m_Precision[r]);
                    if (a == 0 && (t == Iou50 || t == Iou75))
                    {
                        means[t == Iou50 ? 1 : 2].Add(curve.m_Precision[r]);
                    }
                    if (a == 0)
                    {
                        precision.Add(curve.m_Precision[r]);
                    }
                    if (a == 0 && t == Iou50)
                    {
                        precision50.Add(curve.m_Precision[r]);
                        curve50[r].Add(curve.m_Precision[r]);
                    }
                }
                // AR of 1, 10 and 100 detections, and of small, medium and large objects.
                means[8 + a].Add(curve.m_Recall);
                if (a == 0)
                {
                    means[6].Add(range.m_Recalls[0][t]);
                    means[7].Add(range.m_Recalls[1][t]);
                    recall.Add(curve.m_Recall);
                }
            }
            if (a == 0)
            {
                category.m_NumBoxes = range.m_NumTruth;
                category.m_Curve50.assign(range.m_Curves[Iou50].m_Precision.begin(),
                                          range.m_Curves[Iou50].m_Precision.end());
            }
        }
        category.m_Precision = precision.Get();
        category.m_Precision50 = precision50.Get();
        category.m_Recall = recall.Get();
    }
    std::transform(means.begin(), means.end(), figures.m_Summary.begin(), [](const Mean& mean) { return mean.Get(); });
    for (const Mean& mean : curve50)
    {
        figures.m_Curve50.push_back(std::max(mean.Get(), 0.0));
    }
    return figures;
}

const char* NameCocoFigure(size_t figure)
{
    constexpr std::array<const char*, 12> names = {
        "Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ]",
        "Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ]",
        "Average Precision  (AP) @[ IoU=0.75      | area=   all | maxDets=100 ]",
        "Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ]",
        "Average Precision  (AP) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ]",
        "Average Precision  (AP) @[ IoU=0.50:0.95 | area= large | maxDets=100 ]",
        "Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=  1 ]",
        "Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets= 10 ]",
        "Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ]",
        "Average Recall     (AR) @[ IoU=0.50:0.95 | area= small | maxDets=100 ]",
        "Average Recall     (AR) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ]",
        "Average Recall     (AR) @[ IoU=0.50:0.95 | area= large | maxDets=100 ]"};
    return names[figure];
}

std::vector<int> MatchPicture(const PictureBoxes& picture, size_t& numMissed)
{
    std::vector<int> outcomes(picture.m_Detections.size(), -1);
    numMissed = 0;
    std::map<size_t, Group> groups;
    for (const TruthBox& truth : picture.m_Truth)
    {
        groups[truth.m_Category].m_Truth.push_back(&truth);
        numMissed += truth.m_IsCrowd ? 0 : 1;
    }
    for (const DetectedBox& detection : picture.m_Detections)
    {
        groups[detection.m_Category].m_Detections.push_back(&detection);
    }
    for (auto& [category, group] : groups)
    {
        group.Prepare();
        const std::vector<Match> matches = MatchGroup(group, AreaRanges.front(), MakeIous()[Iou50]);
        for (size_t d = 0; d < matches.size(); ++d)
        {
            const auto index = static_cast<size_t>(group.m_Detections[d] - picture.m_Detections.data());
            outcomes[index] = matches[d].m_IsIgnored ? -1 : matches[d].m_IsMatched ? 1 : 0;
            numMissed -= outcomes[index] == 1 ? 1 : 0;
        }
    }
    return outcomes;
}

} // namespace tenon::tools::evaluate
