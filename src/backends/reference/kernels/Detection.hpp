// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a layer that detects boxes: encoded boxes, scores and anchors as real numbers, a box decoded
// from them, and the output rows of the selected boxes. Used by DetectionPostProcess of CpuRef and of CpuAcc, which
// differ in how they select boxes.
#pragma once

#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/BoxSuppression.hpp"

#include <tenon/backend/IWorkload.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// Elements of an input as real numbers.
struct RealInput
{
    size_t m_Input = 0;
    DataType m_Type = DataType::Float32;
    TensorQuantization m_Quantization; ///< unless Float32

    RealInput(const ReshapeArgs& args, size_t input) : m_Input(input), m_Type(args.GetInput(input).GetDataType())
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
        case DataType::QAsymmU8: return ToReal(args.GetInput<uint8_t>(m_Input)[i]);
        case DataType::QAsymmS8: return ToReal(args.GetInput<int8_t>(m_Input)[i]);
        case DataType::QSymmS16: return ToReal(args.GetInput<int16_t>(m_Input)[i]);
        default: return args.GetInput<float>(m_Input)[i];
        }
    }

    float ToReal(float value) const { return value; }
    float ToReal(int32_t stored) const
    {
        return static_cast<float>(stored - m_Quantization.m_ZeroPoint) * m_Quantization.m_Scale;
    }
};

/// A selected box, for one of its classes.
struct Detection
{
    uint32_t m_Box = 0;
    uint32_t m_Class = 0;
    float m_Score = 0.0f;
};

/// A score that is NaN is the worst.
inline bool IsBetterScore(float a, float b)
{
    return a > b || (std::isnan(b) && !std::isnan(a));
}

class DetectionTensors
{
public:
    static constexpr size_t BoxValues = 4; ///< values of an encoded box and of an anchor: y, x, height, width

    explicit DetectionTensors(const ReshapeArgs& args);

    /// Sets all outputs to zero, before rows are written.
    void SetToZero(const ExecuteArgs& args) const;

    /// Converts centre and size, relative to the anchor and scaled, to corners. Throws InvalidArgumentException if the
    /// corners are in the wrong order, which takes a negative size of the anchor.
    Box DecodeBox(const ExecuteArgs& args, size_t i) const;
    /// Whether these values of input 2 have anchors of negative size.
    bool HasNegativeSizes(const void* anchors) const;

    /// The index, among all scores, of the score of the first class of a box; the score of the background comes before
    /// it, if there is one.
    size_t GetFirstScore(size_t box) const { return (box + 1) * m_ScoreColumns - m_Descriptor.m_NumClasses; }
    /// The score of the best class among all scores of a box; the first of equal scores.
    const float* FindBestScore(const float* own) const
    {
        return std::min_element(own, own + m_Descriptor.m_NumClasses, IsBetterScore);
    }

    void WriteRow(const ExecuteArgs& args, size_t row, const Box& box, uint32_t classIndex, float score) const;
    /// Writes the rows of the best classes of selected box number `i`, from its scores. `classes` has room for all
    /// classes.
    void WriteBestClasses(const ExecuteArgs& args, size_t i, const Box& box, const float* own, uint32_t* classes) const;

    DetectionPostProcessDescriptor m_Descriptor;
    RealInput m_Encodings;
    RealInput m_Scores;
    RealInput m_Anchors;
    size_t m_NumBoxes = 0;
    size_t m_ScoreColumns = 0;   ///< classes, and the background where there is one
    size_t m_EncodingValues = 0; ///< values per box; values after the first four are ignored
    size_t m_NumRows = 0;        ///< rows of the outputs
    SuppressionRules m_Rules;
};

/// Merges the detections of a class into the detections of earlier classes, the best first; among equal scores, earlier
/// classes come first. Writes at most `max` of them. `getAdded(i)` returns detection i of the class. Returns the number
/// of detections.
template <typename F>
size_t MergeDetections(const Detection* best, size_t count, size_t added, const F& getAdded, size_t max,
                       Detection* merged)
{
    const size_t total = std::min(count + added, max);
    for (size_t i = 0, old = 0; i < total; ++i)
    {
        const size_t next = i - old; // index of the next new detection
        const bool isOld = next >= added || (old < count && !(getAdded(next).m_Score > best[old].m_Score));
        merged[i] = isOld ? best[old] : getAdded(next);
        old += isOld ? 1 : 0;
    }
    return total;
}

} // namespace tenon::ref
