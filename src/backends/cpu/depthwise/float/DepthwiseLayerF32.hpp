// SPDX-License-Identifier: Apache-2.0
// The parts of a layer that the tile and the strip driver share: geometry, packed weights, clamp, and scales of hybrid
// layers.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "common/HalfFloat.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon::cpu
{

inline float ToFloat(float value)
{
    return value;
}

inline float ToFloat(uint16_t bfloat16)
{
    return BFloat16ToFloat(bfloat16);
}

/// Constant weights and bias of a float depthwise convolution, packed when a workload is made:
///   [vector][tap][lane] float32, zeros behind the last channel | a pixel of zeros, for padding | bias
class PackedDepthwiseF32 final : public backends::PackedWeights
{
public:
    /// `getWeights` returns a pointer to the weights; it is called only if the store has no packed weights yet. `bias`:
    /// one for each channel.
    template <typename F, typename T = std::remove_cvref_t<decltype(*std::declval<F&>()())>>
    PackedDepthwiseF32(F getWeights, const std::vector<float>& bias, size_t taps, backends::PackedStore& store)
    {
        const size_t lanes = GetDepthwiseMicrokernelsF32<T>().m_Lanes;
        const size_t vectors = (bias.size() + lanes - 1) / lanes;
        m_Data = store.GetBlock(static_cast<size_t>(GetPackedBytes<T>(taps, bias.size())), [&](std::byte* to)
                                { Pack(getWeights(), bias, taps, lanes, reinterpret_cast<float*>(to)); });
        m_Zeros = m_Data.As<float>() + vectors * taps * lanes;
        m_Bias = m_Zeros + vectors * lanes;
    }
    template <typename T>
    PackedDepthwiseF32(const T* weights, const std::vector<float>& bias, size_t taps, backends::PackedStore& store)
        : PackedDepthwiseF32([weights] { return weights; }, bias, taps, store)
    {
    }

    template <typename T>
    static uint64_t GetPackedBytes(uint64_t taps, uint64_t channels)
    {
        const uint64_t lanes = GetDepthwiseMicrokernelsF32<T>().m_Lanes;
        return (channels + lanes - 1) / lanes * lanes * (taps + 2) * sizeof(float);
    }

    const float* GetWeights() const { return m_Data.As<float>(); }
    const float* GetBias() const { return m_Bias; }
    /// A pixel in the padding: zeros.
    template <typename T>
    const T* GetZeros() const
    {
        return reinterpret_cast<const T*>(m_Zeros);
    }

private:
    template <typename T>
    static void Pack(const T* weights, const std::vector<float>& bias, size_t taps, size_t lanes, float* packed)
    {
        const size_t channels = bias.size();
        const size_t vectors = (channels + lanes - 1) / lanes;
        std::fill_n(packed, vectors * (taps + 2) * lanes, 0.0f);
        for (size_t vector = 0; vector < vectors; ++vector)
        {
            const size_t count = std::min(lanes, channels - vector * lanes);
            for (size_t tap = 0; tap < taps; ++tap, packed += lanes)
            {
                const T* from = weights + tap * channels + vector * lanes;
                std::transform(from, from + count, packed, [](T value) { return ToFloat(value); });
            }
        }
        std::copy(bias.begin(), bias.end(), packed + vectors * lanes); // the bias follows the zeros
    }

    backends::PackedBlock m_Data;
    const float* m_Zeros = nullptr;
    const float* m_Bias = nullptr;
};

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
