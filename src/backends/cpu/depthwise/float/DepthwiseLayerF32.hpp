// SPDX-License-Identifier: Apache-2.0
// What tiles and strips of depthwise convolutions of floats or bfloat16 know of a layer. Part of
// DepthwiseDriverF32.hpp.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.hpp"
#include "backends/cpu/depthwise/float/PackedDepthwiseF32.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// What becomes of sums of whole numbers that float data were quantized to, image by image.
struct DepthwiseScaling
{
    const float* m_Scales = nullptr; ///< [images][channels]: what sums are multiplied by; null: nothing
    const float* m_Bias = nullptr;   ///< [channels]: what is added then, in place of that of the packed weights
    /// [images]: how strips quantize data; null: they are whole numbers already.
    const DepthwiseSteps* m_Steps = nullptr;

    DepthwiseScaling ForImage(size_t image, size_t channels) const
    {
        return {m_Scales != nullptr ? m_Scales + image * channels : nullptr, m_Bias,
                m_Steps != nullptr ? m_Steps + image : nullptr};
    }
};

/// A layer of known shapes.
template <typename T>
struct DepthwiseLayer
{
    ref::ConvolutionGeometry m_Geometry;
    const PackedDepthwise* m_Packed = nullptr;
    const DepthwiseTiles<T>* m_Tiles = nullptr;
    backends::FloatClamp m_Clamp;

    size_t GetTaps() const { return m_Geometry.m_Y.m_Kernel * m_Geometry.m_X.m_Kernel; }

    /// Of the image as tiles read it.
    size_t GetPixelChannels() const
    {
        return m_Tiles->m_SpreadsChannels ? m_Geometry.m_InputChannels : m_Geometry.m_OutputChannels;
    }
    /// Whether each channel of the image is repeated for those of the output before tiles read it.
    bool RepeatsChannels() const { return m_Geometry.m_GroupOutputs != 1 && !m_Tiles->m_SpreadsChannels; }

    /// Rows of the image that windows of so many rows see; and columns likewise. For windows of one size, whose strides
    /// are small.
    int64_t GetHeight(int64_t rows) const
    {
        return (rows - 1) * m_Geometry.m_Y.m_Stride + static_cast<int64_t>(m_Geometry.m_Y.m_Kernel);
    }
    int64_t GetWidth(int64_t columns) const
    {
        return (columns - 1) * m_Geometry.m_X.m_Stride + static_cast<int64_t>(m_Geometry.m_X.m_Kernel);
    }

    const float* GetBias(const DepthwiseScaling& scaling) const
    {
        return scaling.m_Scales != nullptr ? scaling.m_Bias : m_Packed->GetBias();
    }

    /// What tiles and strips have in common.
    template <typename Work>
    Work MakeWork(const DepthwiseScaling& scaling) const
    {
        Work work;
        work.m_Weights = m_Packed->GetWeights();
        work.m_Bias = GetBias(scaling);
        work.m_Scales = scaling.m_Scales;
        work.m_HasClamp = m_Clamp.IsActive();
        work.m_Low = m_Clamp.GetLow();
        work.m_High = m_Clamp.GetHigh();
        work.m_RoundsFast = GetDepthwiseEngine<T>().m_RoundsFast;
        return work;
    }
};

} // namespace tenon::cpu
