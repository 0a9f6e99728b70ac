// SPDX-License-Identifier: Apache-2.0
// Reading, decoding and writing of detected boxes.
#include "backends/reference/kernels/Detection.hpp"

#include <tenon/Exceptions.hpp>

#include <numeric>
#include <string>

namespace tenon::ref
{

namespace
{

/// The loop has no branches, so that compilers vectorize it.
template <typename T>
bool AnySizeBelow(const void* anchors, size_t count, T bound)
{
    constexpr size_t Values = DetectionTensors::BoxValues;
    const T* values = static_cast<const T*>(anchors);
    bool isAny = false;
    for (size_t i = 0; i < count; ++i)
    {
        isAny |= (values[i * Values + 2] < bound) | (values[i * Values + 3] < bound);
    }
    return isAny;
}

} // namespace

DetectionTensors::DetectionTensors(const ReshapeArgs& args)
    : m_Descriptor(args.GetDescriptor<DetectionPostProcessDescriptor>()), m_Encodings(args, 0), m_Scores(args, 1),
      m_Anchors(args, 2)
{
    const TensorShape& scores = args.GetInput(1).GetShape();
    m_NumBoxes = scores[1];
    m_ScoreColumns = scores[2];
    m_EncodingValues = args.GetInput(0).GetShape()[2];
    m_NumRows = args.GetOutput(1).GetNumElements();
    m_Rules = {m_NumBoxes, m_Descriptor.m_NmsScoreThreshold, m_Descriptor.m_NmsIouThreshold};
}

void DetectionTensors::SetToZero(const ExecuteArgs& args) const
{
    std::fill_n(args.GetOutput<float>(0), m_NumRows * BoxValues, 0.0f);
    std::fill_n(args.GetOutput<float>(1), m_NumRows, 0.0f);
    std::fill_n(args.GetOutput<float>(2), m_NumRows, 0.0f);
    args.GetOutput<float>(3)[0] = 0.0f;
}

Box DetectionTensors::DecodeBox(const ExecuteArgs& args, size_t i) const
{
    const auto d = [](float value) { return static_cast<double>(value); };
    const auto encoded = [&](size_t k) { return d(m_Encodings(args, i * m_EncodingValues + k)); };
    const auto anchor = [&](size_t k) { return d(m_Anchors(args, i * BoxValues + k)); };
    const auto y = static_cast<float>(encoded(0) / d(m_Descriptor.m_ScaleY) * anchor(2) + anchor(0));
    const auto x = static_cast<float>(encoded(1) / d(m_Descriptor.m_ScaleX) * anchor(3) + anchor(1));
    const auto halfHeight = static_cast<float>(0.5 * std::exp(encoded(2) / d(m_Descriptor.m_ScaleH)) * anchor(2));
    const auto halfWidth = static_cast<float>(0.5 * std::exp(encoded(3) / d(m_Descriptor.m_ScaleW)) * anchor(3));
    const Box box = {y - halfHeight, x - halfWidth, y + halfHeight, x + halfWidth};
    if (box.m_YMin > box.m_YMax || box.m_XMin > box.m_XMax)
    {
        throw InvalidArgumentException("box " + std::to_string(i) + " ends in front of its beginning: its anchor's " +
                                       "height is " + std::to_string(anchor(2)) + ", its width " +
                                       std::to_string(anchor(3)) + "; neither may be negative");
    }
    return box;
}

bool DetectionTensors::HasNegativeSizes(const void* anchors) const
{
    const int32_t zeroPoint = m_Anchors.m_Quantization.m_ZeroPoint;
    switch (m_Anchors.m_Type)
    {
    case DataType::QAsymmU8: return AnySizeBelow(anchors, m_NumBoxes, static_cast<uint8_t>(zeroPoint));
    case DataType::QAsymmS8: return AnySizeBelow(anchors, m_NumBoxes, static_cast<int8_t>(zeroPoint));
    case DataType::QSymmS16: return AnySizeBelow(anchors, m_NumBoxes, static_cast<int16_t>(zeroPoint));
    default: return AnySizeBelow(anchors, m_NumBoxes, 0.0f);
    }
}

void DetectionTensors::WriteRow(const ExecuteArgs& args, size_t row, const Box& box, uint32_t classIndex,
                                float score) const
{
    float* corners = args.GetOutput<float>(0) + row * BoxValues;
    corners[0] = box.m_YMin;
    corners[1] = box.m_XMin;
    corners[2] = box.m_YMax;
    corners[3] = box.m_XMax;
    args.GetOutput<float>(1)[row] = static_cast<float>(classIndex);
    args.GetOutput<float>(2)[row] = score;
}

void DetectionTensors::WriteBestClasses(const ExecuteArgs& args, size_t i, const Box& box, const float* own,
                                        uint32_t* classes) const
{
    const size_t numClasses = m_Descriptor.m_NumClasses;
    const size_t kept = std::min<size_t>(m_Descriptor.m_MaxClassesPerDetection, numClasses);
    if (kept == 1)
    {
        classes[0] = static_cast<uint32_t>(FindBestScore(own) - own);
    }
    else
    {
        // The order of equal scores is that of this very function, because TFLite calls it, too.
        std::iota(classes, classes + numClasses, 0U);
        std::partial_sort(classes, classes + kept, classes + numClasses,
                          [own](uint32_t a, uint32_t b) { return IsBetterScore(own[a], own[b]); });
    }
    for (size_t k = 0; k < kept; ++k)
    {
        WriteRow(args, i * m_Descriptor.m_MaxClassesPerDetection + k, box, classes[k], own[classes[k]]);
    }
}

} // namespace tenon::ref
