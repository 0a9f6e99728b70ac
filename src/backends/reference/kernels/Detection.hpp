// SPDX-License-Identifier: Apache-2.0
// What a layer that detects boxes reads and writes: encoded boxes, scores and anchors as real numbers, one box decoded
// from them, and the rows of those that stay. Used by DetectionPostProcess of CpuRef and of CpuAcc, which differ in how
// they find these.
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

/// A box that stays, for one of its classes.
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
    static constexpr size_t BoxValues = 4; ///< of an encoded box and of an anchor: y, x, height, width

    explicit DetectionTensors(const ReshapeArgs& args);

    /// All outputs, before rows are written.
    void SetToZero(const ExecuteArgs& args) const;

    /// Centre and size, relative to the anchor and scaled, become corners. Throws InvalidArgumentException where they
    /// are the wrong way round, which takes a negative size of the anchor.
    Box DecodeBox(const ExecuteArgs& args, size_t i) const;
    /// Whether there are such anchors among these values of input 2.
    bool HasNegativeSizes(const void* anchors) const;

    /// Of the first class of a box, among all scores; the background comes before it where there is one.
    size_t GetFirstScore(size_t box) const { return (box + 1) * m_ScoreColumns - m_Descriptor.m_NumClasses; }
    /// The score of the best class, the first one of equal ones, of all scores of a box.
    const float* FindBestScore(const float* own) const
    {
        return std::min_element(own, own + m_Descriptor.m_NumClasses, IsBetterScore);
    }

    void WriteRow(const ExecuteArgs& args, size_t row, const Box& box, uint32_t classIndex, float score) const;
    /// The rows of the best classes of the box that stays as number `i`, of its scores. `classes` has room for all.
    void WriteBestClasses(const ExecuteArgs& args, size_t i, const Box& box, const float* own, uint32_t* classes) const;

    DetectionPostProcessDescriptor m_Descriptor;
    RealInput m_Encodings;
    RealInput m_Scores;
    RealInput m_Anchors;
    size_t m_NumBoxes = 0;
    size_t m_ScoreColumns = 0;   ///< classes, and the background where there is one
    size_t m_EncodingValues = 0; ///< of a box; those behind the first four do not count
    size_t m_NumRows = 0;        ///< of the outputs
    SuppressionRules m_Rules;
};

/// Merges the detections of a class into those of the classes before it, the best first; of equal ones these. Writes at
/// most `most` of them. `getAdded(i)` gives those of the class. Returns how many there are.
template <typename F>
size_t MergeDetections(const Detection* best, size_t count, size_t added, const F& getAdded, size_t max,
                       Detection* merged)
{
    const size_t total = std::min(count + added, max);
    for (size_t i = 0, old = 0; i < total; ++i)
    {
        const size_t next = i - old; // of the new ones
        const bool isOld = next >= added || (old < count && !(getAdded(next).m_Score > best[old].m_Score));
        merged[i] = isOld ? best[old] : getAdded(next);
        old += isOld ? 1 : 0;
    }
    return total;
}

} // namespace tenon::ref
