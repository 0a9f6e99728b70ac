// SPDX-License-Identifier: Apache-2.0
// DetectionPostProcess: boxes from a detector's output, its anchors and scores, as TFLite_Detection_PostProcess makes
// them. The fast way suppresses boxes by the best score that each has; the regular way does so class by class.
// Quantized inputs are dequantized first.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/BoxSuppression.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
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

constexpr size_t BoxValues = 4; ///< of an encoded box and of an anchor: y, x, height, width

/// Elements of an input as real numbers.
struct Reader
{
    size_t m_Input = 0;
    DataType m_Type = DataType::Float32;
    TensorQuantization m_Quantization; ///< unless Float32

    Reader(const ReshapeArgs& args, size_t input) : m_Input(input), m_Type(args.GetInput(input).GetDataType())
    {
        if (m_Type != DataType::Float32)
        {
            m_Quantization = GetTensorQuantization(args.GetInput(input));
        }
    }

    float operator()(const ExecuteArgs& args, size_t i) const
    {
        switch (m_Type)
        {
        case DataType::QAsymmU8: return Dequantize(args.GetInput<uint8_t>(m_Input)[i]);
        case DataType::QAsymmS8: return Dequantize(args.GetInput<int8_t>(m_Input)[i]);
        case DataType::QSymmS16: return Dequantize(args.GetInput<int16_t>(m_Input)[i]);
        default: return args.GetInput<float>(m_Input)[i];
        }
    }

    float Dequantize(int32_t stored) const
    {
        return static_cast<float>(stored - m_Quantization.m_ZeroPoint) * m_Quantization.m_Scale;
    }
};

/// What the regular way finds.
struct Detection
{
    uint32_t m_Box = 0;
    uint32_t m_Class = 0;
    float m_Score = 0.0f;
};

/// A score that is NaN is the worst.
bool IsBetter(float a, float b)
{
    return a > b || (std::isnan(b) && !std::isnan(a));
}

class Detector
{
public:
    explicit Detector(const ReshapeArgs& args)
        : m_Descriptor(args.GetDescriptor<DetectionPostProcessDescriptor>()), m_Encodings(args, 0), m_Scores(args, 1),
          m_Anchors(args, 2)
    {
        const TensorShape& scores = args.GetInput(1).GetShape();
        m_NumBoxes = scores[1];
        m_ScoreColumns = scores[2];
        m_EncodingValues = args.GetInput(0).GetShape()[2];
        m_Rules = {m_NumBoxes, m_Descriptor.m_NmsScoreThreshold, m_Descriptor.m_NmsIouThreshold};
        m_NumRows = args.GetOutput(1).GetNumElements();

        m_BoxesAt = m_Scratch.Add<Box>(m_NumBoxes);
        m_CandidatesAt = m_Scratch.Add<uint32_t>(m_NumBoxes);
        m_SelectedAt = m_Scratch.Add<uint32_t>(std::min<size_t>(m_NumBoxes, m_Descriptor.m_MaxDetections));
        m_RankingAt = m_Scratch.Add<float>(m_NumBoxes);
        if (m_Scores.m_Type != DataType::Float32)
        {
            m_ScoresAt = m_Scratch.Add<float>(args.GetInput(1).GetNumElements());
        }
        if (m_Descriptor.m_UseRegularNms)
        {
            m_BestAt = m_Scratch.Add<Detection>(m_Descriptor.m_MaxDetections);
            m_MergedAt = m_Scratch.Add<Detection>(m_Descriptor.m_MaxDetections);
        }
        else
        {
            m_ClassesAt = m_Scratch.Add<uint32_t>(m_Descriptor.m_NumClasses);
        }
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void Run(const ExecuteArgs& args) const
    {
        std::fill_n(args.GetOutput<float>(0), m_NumRows * BoxValues, 0.0f);
        std::fill_n(args.GetOutput<float>(1), m_NumRows, 0.0f);
        std::fill_n(args.GetOutput<float>(2), m_NumRows, 0.0f);
        DecodeBoxes(args);
        const float* scores = LoadScores(args);
        const size_t count = m_Descriptor.m_UseRegularNms ? RunRegular(args, scores) : RunFast(args, scores);
        args.GetOutput<float>(3)[0] = static_cast<float>(count);
    }

private:
    /// Centre and size, relative to the anchor and scaled, become corners.
    void DecodeBoxes(const ExecuteArgs& args) const
    {
        Box* boxes = Scratch::At<Box>(args.m_Scratch, m_BoxesAt);
        const auto d = [](float value) { return static_cast<double>(value); };
        for (size_t i = 0; i < m_NumBoxes; ++i)
        {
            const auto encoded = [&](size_t k) { return d(m_Encodings(args, i * m_EncodingValues + k)); };
            const auto anchor = [&](size_t k) { return d(m_Anchors(args, i * BoxValues + k)); };
            const auto y = static_cast<float>(encoded(0) / d(m_Descriptor.m_ScaleY) * anchor(2) + anchor(0));
            const auto x = static_cast<float>(encoded(1) / d(m_Descriptor.m_ScaleX) * anchor(3) + anchor(1));
            const auto halfHeight =
                static_cast<float>(0.5 * std::exp(encoded(2) / d(m_Descriptor.m_ScaleH)) * anchor(2));
            const auto halfWidth =
                static_cast<float>(0.5 * std::exp(encoded(3) / d(m_Descriptor.m_ScaleW)) * anchor(3));
            const Box box = {y - halfHeight, x - halfWidth, y + halfHeight, x + halfWidth};
            if (box.m_YMin > box.m_YMax || box.m_XMin > box.m_XMax)
            {
                throw InvalidArgumentException("box " + std::to_string(i) +
                                               " ends in front of its beginning: its anchor's height is " +
                                               std::to_string(anchor(2)) + ", its width " + std::to_string(anchor(3)) +
                                               "; neither may be negative");
            }
            boxes[i] = box;
        }
    }

    /// Scores of box i from [i * m_ScoreColumns] on.
    const float* LoadScores(const ExecuteArgs& args) const
    {
        if (m_Scores.m_Type == DataType::Float32)
        {
            return args.GetInput<float>(1);
        }
        float* scores = Scratch::At<float>(args.m_Scratch, m_ScoresAt);
        for (size_t i = 0; i < m_NumBoxes * m_ScoreColumns; ++i)
        {
            scores[i] = m_Scores(args, i);
        }
        return scores;
    }

    /// Scores of a box without that of the background, which comes first where there is one.
    const float* GetClassScores(const float* scores, size_t box) const
    {
        return scores + (box + 1) * m_ScoreColumns - m_Descriptor.m_NumClasses;
    }

    void Write(const ExecuteArgs& args, size_t row, const Detection& detection) const
    {
        const Box& box = Scratch::At<Box>(args.m_Scratch, m_BoxesAt)[detection.m_Box];
        float* corners = args.GetOutput<float>(0) + row * BoxValues;
        corners[0] = box.m_YMin;
        corners[1] = box.m_XMin;
        corners[2] = box.m_YMax;
        corners[3] = box.m_XMax;
        args.GetOutput<float>(1)[row] = static_cast<float>(detection.m_Class);
        args.GetOutput<float>(2)[row] = detection.m_Score;
    }

    /// Selects boxes by the scores in the scratch memory's ranking.
    size_t Select(const ExecuteArgs& args, size_t limit) const
    {
        return m_Rules.Select(
            Scratch::At<Box>(args.m_Scratch, m_BoxesAt), Scratch::At<float>(args.m_Scratch, m_RankingAt), limit,
            Scratch::At<uint32_t>(args.m_Scratch, m_CandidatesAt), Scratch::At<uint32_t>(args.m_Scratch, m_SelectedAt));
    }

    /// Boxes by their best scores; then the best classes of each box that stays, in rows of their own.
    size_t RunFast(const ExecuteArgs& args, const float* scores) const
    {
        const size_t numClasses = m_Descriptor.m_NumClasses;
        const size_t kept = std::min<size_t>(m_Descriptor.m_MaxClassesPerDetection, numClasses);
        float* ranking = Scratch::At<float>(args.m_Scratch, m_RankingAt);
        for (size_t i = 0; i < m_NumBoxes; ++i)
        {
            const float* own = GetClassScores(scores, i);
            ranking[i] = *std::min_element(own, own + numClasses, IsBetter);
        }
        const size_t count = Select(args, m_Descriptor.m_MaxDetections);
        const auto* selected = Scratch::At<uint32_t>(args.m_Scratch, m_SelectedAt);
        auto* classes = Scratch::At<uint32_t>(args.m_Scratch, m_ClassesAt);
        for (size_t i = 0; i < count; ++i)
        {
            const float* own = GetClassScores(scores, selected[i]);
            if (kept == 1)
            {
                classes[0] = static_cast<uint32_t>(std::min_element(own, own + numClasses, IsBetter) - own);
            }
            else
            {
                // Equal scores stand as this very function leaves them, since TFLite calls it too.
                std::iota(classes, classes + numClasses, 0U);
                std::partial_sort(classes, classes + kept, classes + numClasses,
                                  [own](uint32_t a, uint32_t b) { return IsBetter(own[a], own[b]); });
            }
            for (size_t k = 0; k < kept; ++k)
            {
                Write(args, i * m_Descriptor.m_MaxClassesPerDetection + k, {selected[i], classes[k], own[classes[k]]});
            }
        }
        return count;
    }

    /// The best boxes of all classes; a box may stand for several. Of equal scores that of the lower class comes first.
    size_t RunRegular(const ExecuteArgs& args, const float* scores) const
    {
        const size_t most = m_Descriptor.m_MaxDetections;
        const size_t mostOfClass = std::min<size_t>(m_Descriptor.m_DetectionsPerClass, most);
        float* ranking = Scratch::At<float>(args.m_Scratch, m_RankingAt);
        const auto* selected = Scratch::At<uint32_t>(args.m_Scratch, m_SelectedAt);
        auto* best = Scratch::At<Detection>(args.m_Scratch, m_BestAt);
        auto* merged = Scratch::At<Detection>(args.m_Scratch, m_MergedAt);
        size_t count = 0;
        for (uint32_t c = 0; c < m_Descriptor.m_NumClasses; ++c)
        {
            for (size_t i = 0; i < m_NumBoxes; ++i)
            {
                ranking[i] = GetClassScores(scores, i)[c];
            }
            const size_t added = Select(args, mostOfClass);
            const size_t total = std::min(count + added, most);
            for (size_t i = 0, old = 0; i < total; ++i)
            {
                const size_t next = i - old; // of the new ones
                const bool isOld = next >= added || (old < count && !(ranking[selected[next]] > best[old].m_Score));
                merged[i] = isOld ? best[old] : Detection{selected[next], c, ranking[selected[next]]};
                old += isOld ? 1 : 0;
            }
            std::swap(best, merged);
            count = total;
        }
        for (size_t i = 0; i < count; ++i)
        {
            Write(args, i, best[i]);
        }
        return count;
    }

    DetectionPostProcessDescriptor m_Descriptor;
    Reader m_Encodings;
    Reader m_Scores;
    Reader m_Anchors;
    size_t m_NumBoxes = 0;
    size_t m_ScoreColumns = 0;   ///< classes, and the background where there is one
    size_t m_EncodingValues = 0; ///< of a box; those behind the first four do not count
    size_t m_NumRows = 0;        ///< of the outputs
    SuppressionRules m_Rules;
    Scratch m_Scratch;
    size_t m_BoxesAt = 0;
    size_t m_CandidatesAt = 0;
    size_t m_SelectedAt = 0;
    size_t m_RankingAt = 0; ///< the scores that boxes are selected by
    size_t m_ScoresAt = 0;  ///< dequantized
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
                      boxes[1] == anchors[0] && boxes[2] >= BoxValues && anchors[1] == BoxValues &&
                      d.m_NumClasses > 0 && scores[2] >= d.m_NumClasses && scores[2] - d.m_NumClasses <= 1;
    if (!fits)
    {
        throw LayerValidationException("boxes " + boxes.ToString() + ", scores " + scores.ToString() + " and anchors " +
                                       anchors.ToString() + " do not fit together and to " +
                                       std::to_string(d.m_NumClasses) + " classes");
    }
    const uint64_t rows = uint64_t{d.m_MaxDetections} * d.m_MaxClassesPerDetection;
    const uint64_t elements[] = {rows * BoxValues, rows, rows, 1};
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
