// SPDX-License-Identifier: Apache-2.0
// Constant weights and bias of a float depthwise convolution, packed when a workload is made:
//   [vector][tap][lane] float32, zeros behind the last channel | a pixel of zeros, for padding | bias
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.hpp"
#include "common/HalfFloat.hpp"

#include <algorithm>
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

/// Weights as [vectors][taps][lanes] of float32, padded by zeros in the last vector; the bias in float32.
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

} // namespace tenon::cpu
