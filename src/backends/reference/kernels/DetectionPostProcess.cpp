// SPDX-License-Identifier: Apache-2.0
// DetectionPostProcess: boxes from a detector's output, its anchors and scores, as in TFLite_Detection_PostProcess. The
// fast method suppresses boxes by the best score of each box; the regular method does so class by class. Quantized
// inputs are dequantized first.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/Detection.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeSet Numbers = {DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16};
constexpr backends::TypeRow DetectionTypes[] = {
    backends::PerTensor(backends::Types({Numbers, Numbers, Numbers}, DataType::Float32))};

class Detector
{
public:
    explicit Detector(const ReshapeArgs& args) : m_Tensors(args)
    {
        const DetectionPostProcessDescriptor& descriptor = m_Tensors.m_Descriptor;
        const size_t numBoxes = m_Tensors.m_NumBoxes;
        m_BoxesAt = m_Scratch.Add<Box>(numBoxes);
        m_CandidatesAt = m_Scratch.Add<uint32_t>(numBoxes);
        m_SelectedAt = m_Scratch.Add<uint32_t>(std::min<size_t>(numBoxes, descriptor.m_MaxDetections));
        m_RankingAt = m_Scratch.Add<float>(numBoxes);
        if (m_Tensors.m_Scores.m_Type != DataType::Float32)
        {
            m_ScoresAt = m_Scratch.Add<float>(args.GetInput(1).GetNumElements());
        }
        if (descriptor.m_UseRegularNms)
        {
            m_BestAt = m_Scratch.Add<Detection>(descriptor.m_MaxDetections);
            m_MergedAt = m_Scratch.Add<Detection>(descriptor.m_MaxDetections);
        }
        else
        {
            m_ClassesAt = m_Scratch.Add<uint32_t>(descriptor.m_NumClasses);
        }
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void Run(const ExecuteArgs& args) const
    {
        m_Tensors.SetToZero(args);
        Box* boxes = Scratch::At<Box>(args.m_Scratch, m_BoxesAt);
        for (size_t i = 0; i < m_Tensors.m_NumBoxes; ++i)
        {
            boxes[i] = m_Tensors.DecodeBox(args, i);
        }
        const float* scores = LoadScores(args);
        const size_t count = m_Tensors.m_Descriptor.m_UseRegularNms ? RunRegular(args, scores) : RunFast(args, scores);
        args.GetOutput<float>(3)[0] = static_cast<float>(count);
    }

private:
    const float* LoadScores(const ExecuteArgs& args) const
    {
        if (m_Tensors.m_Scores.m_Type == DataType::Float32)
        {
            return args.GetInput<float>(1);
        }
        float* scores = Scratch::At<float>(args.m_Scratch, m_ScoresAt);
        for (size_t i = 0; i < m_Tensors.m_NumBoxes * m_Tensors.m_ScoreColumns; ++i)
        {
            scores[i] = m_Tensors.m_Scores(args, i);
        }
        return scores;
    }

    /// Selects boxes by the scores in the scratch memory's ranking.
    size_t Select(const ExecuteArgs& args, size_t limit) const
    {
        return m_Tensors.m_Rules.Select(
            Scratch::At<Box>(args.m_Scratch, m_BoxesAt), Scratch::At<float>(args.m_Scratch, m_RankingAt), limit,
            Scratch::At<uint32_t>(args.m_Scratch, m_CandidatesAt), Scratch::At<uint32_t>(args.m_Scratch, m_SelectedAt));
    }

    /// Selects boxes by their best scores; then writes the best classes of each selected box in rows of their own.
    size_t RunFast(const ExecuteArgs& args, const float* scores) const
    {
        float* ranking = Scratch::At<float>(args.m_Scratch, m_RankingAt);
        for (size_t i = 0; i < m_Tensors.m_NumBoxes; ++i)
        {
            ranking[i] = *m_Tensors.FindBestScore(scores + m_Tensors.GetFirstScore(i));
        }
        const size_t count = Select(args, m_Tensors.m_Descriptor.m_MaxDetections);
        const auto* boxes = Scratch::At<Box>(args.m_Scratch, m_BoxesAt);
        const auto* selected = Scratch::At<uint32_t>(args.m_Scratch, m_SelectedAt);
        for (size_t i = 0; i < count; ++i)
        {
            m_Tensors.WriteBestClasses(args, i, boxes[selected[i]], scores + m_Tensors.GetFirstScore(selected[i]),
                                       Scratch::At<uint32_t>(args.m_Scratch, m_ClassesAt));
        }
        return count;
    }

    /// Selects the best boxes of all classes; a box may be selected for several classes. Among equal scores the lower
    /// class comes first.
    size_t RunRegular(const ExecuteArgs& args, const float* scores) const
    {
        const size_t max = m_Tensors.m_Descriptor.m_MaxDetections;
        const size_t maxOfClass = std::min<size_t>(m_Tensors.m_Descriptor.m_DetectionsPerClass, max);
        float* ranking = Scratch::At<float>(args.m_Scratch, m_RankingAt);
        const auto* selected = Scratch::At<uint32_t>(args.m_Scratch, m_SelectedAt);
        auto* best = Scratch::At<Detection>(args.m_Scratch, m_BestAt);
        auto* merged = Scratch::At<Detection>(args.m_Scratch, m_MergedAt);
        size_t count = 0;
        for (uint32_t c = 0; c < m_Tensors.m_Descriptor.m_NumClasses; ++c)
        {
            for (size_t i = 0; i < m_Tensors.m_NumBoxes; ++i)
            {
                ranking[i] = scores[m_Tensors.GetFirstScore(i) + c];
            }
            const auto getAdded = [&](size_t i) { return Detection{selected[i], c, ranking[selected[i]]}; };
            count = MergeDetections(best, count, Select(args, maxOfClass), getAdded, max, merged);
            std::swap(best, merged);
        }
        const auto* boxes = Scratch::At<Box>(args.m_Scratch, m_BoxesAt);
        for (size_t i = 0; i < count; ++i)
        {
            m_Tensors.WriteRow(args, i, boxes[best[i].m_Box], best[i].m_Class, best[i].m_Score);
        }
        return count;
    }

    DetectionTensors m_Tensors;
    Scratch m_Scratch;
    size_t m_BoxesAt = 0;
    size_t m_CandidatesAt = 0;
    size_t m_SelectedAt = 0;
    size_t m_RankingAt = 0; ///< the scores by which boxes are selected
    size_t m_ScoresAt = 0;  ///< dequantized scores
    size_t m_BestAt = 0;
    size_t m_MergedAt = 0;
    size_t m_ClassesAt = 0;
};

void CheckShapes(const ReshapeArgs& args, const DetectionPostProcessDescriptor& d)
{
    const TensorShape& boxes = args.GetInput(0).GetShape();
    const TensorShape& scores = args.GetInput(1).GetShape();
    const TensorShape& anchors = args.GetInput(2).GetShape();
    const bool fits = boxes.GetNumDimensions() == 3 && scores.GetNumDimensions() == 3 &&
                      anchors.GetNumDimensions() == 2 && boxes[0] == 1 && scores[0] == 1 && boxes[1] == scores[1] &&
                      boxes[1] == anchors[0] && boxes[2] >= DetectionTensors::BoxValues &&
                      anchors[1] == DetectionTensors::BoxValues && d.m_NumClasses > 0 && scores[2] >= d.m_NumClasses &&
                      scores[2] - d.m_NumClasses <= 1;
    if (!fits)
    {
        throw LayerValidationException("boxes " + boxes.ToString() + ", scores " + scores.ToString() + " and anchors " +
                                       anchors.ToString() + " do not fit together and to " +
                                       std::to_string(d.m_NumClasses) + " classes");
    }
    const uint64_t rows = uint64_t{d.m_MaxDetections} * d.m_MaxClassesPerDetection;
    const uint64_t elements[] = {rows * DetectionTensors::BoxValues, rows, rows, 1};
    for (size_t i = 0; i < std::size(elements); ++i)
    {
        if (i >= args.m_Outputs.size() || args.GetOutput(i).GetShape().GetNumElements64() != elements[i])
        {
            throw LayerValidationException("output " + std::to_string(i) + " must have " + std::to_string(elements[i]) +
                                           " elements");
        }
    }
}

Prepared PrepareDetection(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<DetectionPostProcessDescriptor>();
    CheckShapes(args, descriptor);
    const Detector detector(args);
    return Prepared([detector](const ExecuteArgs& execute) { detector.Run(execute); }, detector.GetScratchBytes());
}

SupportResult CheckDetection(const LayerView& layer)
{
    for (size_t i = 1; i < layer.m_Outputs.size(); ++i)
    {
        if (layer.GetOutput(i).GetDataType() != DataType::Float32)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "output " + std::to_string(i) + " is no Float32, but " +
                                         GetDataTypeName(layer.GetOutput(i).GetDataType()));
        }
    }
    const auto& d = layer.GetDescriptor<DetectionPostProcessDescriptor>();
    if (!(d.m_NmsIouThreshold > 0.0f && d.m_NmsIouThreshold <= 1.0f))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the threshold of intersection over union is " +
                                                                         std::to_string(d.m_NmsIouThreshold) +
                                                                         "; it must be above 0 and at most 1");
    }
    if (d.m_MaxClassesPerDetection == 0 || (d.m_UseRegularNms && d.m_DetectionsPerClass == 0))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "there must be at least 1 class per detection and 1 detection per class");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefDetectionPostProcessKernel = {"RefDetectionPostProcess", DetectionTypes,
                                                               PrepareDetection, CheckDetection};

} // namespace tenon::ref
