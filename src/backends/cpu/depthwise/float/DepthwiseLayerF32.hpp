// SPDX-License-Identifier: Apache-2.0
// The parts of a layer that the tile and the strip driver share: geometry, packed weights, clamp, and scales of hybrid
// layers.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.hpp"
#include "backends/cpu/depthwise/float/PackedDepthwiseF32.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Dequantization of hybrid sums, image by image: out = sum * m_Scales[c] + m_Bias[c].
struct DepthwiseDequantization
{
    const float* m_Scales = nullptr; ///< [images][channels]; null: sums are not scaled
    const float* m_Bias = nullptr;   ///< [channels], in place of the packed bias
    /// [images]: quantization of the data by strips; null: data are whole numbers already.
    const DepthwiseQuantization* m_Steps = nullptr;

    DepthwiseDequantization ForImage(size_t image, size_t channels) const
    {
        return {m_Scales != nullptr ? m_Scales + image * channels : nullptr, m_Bias,
                m_Steps != nullptr ? m_Steps + image : nullptr};
    }
};

/// A layer of known shapes.
template <typename T>
struct DepthwiseLayerF32
{
    ref::ConvolutionGeometry m_Geometry;
    const PackedDepthwiseF32* m_Packed = nullptr;
    const DepthwiseTileSetF32<T>* m_Tiles = nullptr;
    backends::FloatClamp m_Clamp;

    size_t GetTaps() const { return m_Geometry.m_Y.m_Kernel * m_Geometry.m_X.m_Kernel; }

    /// Channels of a pixel of the image as tiles read it.
    size_t GetPixelChannels() const
    {
        return m_Tiles->m_BroadcastsChannels ? m_Geometry.m_InputChannels : m_Geometry.m_OutputChannels;
    }
    /// Whether the channels of the image are repeated (channel multiplier) before tiles read it.
    bool RepeatsChannels() const { return m_Geometry.m_GroupOutputs != 1 && !m_Tiles->m_BroadcastsChannels; }

    /// Image rows (columns) that `rows` output rows (`columns`) read. For windows of one size, whose strides are small.
    int64_t GetHeight(int64_t rows) const
    {
        return (rows - 1) * m_Geometry.m_Y.m_Stride + static_cast<int64_t>(m_Geometry.m_Y.m_Kernel);
    }
    int64_t GetWidth(int64_t columns) const
    {
        return (columns - 1) * m_Geometry.m_X.m_Stride + static_cast<int64_t>(m_Geometry.m_X.m_Kernel);
    }

    const float* GetBias(const DepthwiseDequantization& scaling) const
    {
        return scaling.m_Scales != nullptr ? scaling.m_Bias : m_Packed->GetBias();
    }

    /// Sets the arguments that tiles and strips have in common.
    template <typename Work>
    Work MakeWork(const DepthwiseDequantization& scaling) const
    {
        Work work;
        work.m_Weights = m_Packed->GetWeights();
        work.m_Bias = GetBias(scaling);
        work.m_Scales = scaling.m_Scales;
        work.m_HasClamp = m_Clamp.IsActive();
        work.m_Low = m_Clamp.GetLow();
        work.m_High = m_Clamp.GetHigh();
        work.m_RoundsFast = GetDepthwiseMicrokernelsF32<T>().m_RoundsFast;
        return work;
    }
};

} // namespace tenon::cpu
