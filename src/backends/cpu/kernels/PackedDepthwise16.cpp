// SPDX-License-Identifier: Apache-2.0
// See PackedDepthwise16.hpp.
#include "backends/cpu/kernels/PackedDepthwise16.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

PackedDepthwise16::PackedDepthwise16(const Weights16& weights, size_t taps, size_t channels,
                                     backends::PackedStore& store)
    : m_Engine(&GetEngine16()), m_Channels(channels), m_Pairs((taps + 1) / 2),
      m_Chunks((channels + 2 * m_Engine->m_Lanes - 1) / (2 * m_Engine->m_Lanes)),
      m_Arrays(m_Chunks * 2 * m_Engine->m_Lanes, weights.m_Rounding)
{
    if (weights.m_Scales.empty())
    {
        m_IsExact = false;
        return;
    }
    SetUpChannels(weights, taps, store);
    if (IsExact())
    {
        const size_t bytes = m_Chunks * m_Pairs * 2 * m_Engine->m_Lanes * sizeof(int32_t);
        m_Data = store.GetBlock(bytes,
                                [&](std::byte* to)
                                {
                                    std::memset(to, 0, bytes);
                                    Pack(weights, taps, reinterpret_cast<int16_t*>(to));
                                });
        m_Zeros.resize(channels);
    }
}

uint64_t PackedDepthwise16::GetPackedBytes(uint64_t taps, uint64_t channels)
{
    const uint64_t width = 2 * GetEngine16().m_Lanes;
    const uint64_t places = (channels + width - 1) / width * width;
    return places * ((taps + 1) / 2 * sizeof(int32_t) + RequantizeArrays16::PlaceBytes) + channels * sizeof(int16_t);
}

size_t PackedDepthwise16::GetFirst(size_t chunk) const
{
    const size_t width = 2 * m_Engine->m_Lanes;
    return m_Channels < width ? 0 : std::min(chunk * width, m_Channels - width);
}

size_t PackedDepthwise16::GetCount() const
{
    return std::min(m_Channels, 2 * m_Engine->m_Lanes);
}

const int32_t* PackedDepthwise16::GetWeights(size_t chunk) const
{
    return m_Data.As<int32_t>() + chunk * m_Pairs * 2 * m_Engine->m_Lanes;
}

void PackedDepthwise16::SetUpChannels(const Weights16& weights, size_t taps, backends::PackedStore& store)
{
    const backends::PackedBlock sums = store.GetBlock(m_Channels * sizeof(int64_t),
                                                      [&](std::byte* to)
                                                      {
                                                          auto* const channels = reinterpret_cast<int64_t*>(to);
                                                          std::fill_n(channels, m_Channels, int64_t{0});
                                                          for (size_t i = 0; i < taps * m_Channels; ++i)
                                                          {
                                                              channels[i % m_Channels] += std::abs(weights.GetValue(i));
                                                          }
                                                      });
    const std::vector<int64_t> magnitudes = weights.ClampMagnitudes(sums.As<int64_t>(), m_Channels, taps);
    if (weights.m_Rounding != Rounding16::FixedPoint &&
        *std::max_element(magnitudes.begin(), magnitudes.end()) > RequantizeArrays16::MostMagnitude)
    {
        m_IsExact = false;
        return;
    }
    for (size_t chunk = 0; chunk < m_Chunks; ++chunk)
    {
        for (size_t i = 0; i < GetCount(); ++i)
        {
            const size_t channel = GetFirst(chunk) + i;
            m_Arrays.Set(chunk * 2 * m_Engine->m_Lanes + GetPlace16(i, 2, m_Engine->m_Lanes), magnitudes[channel],
                         weights.GetBias(channel), weights.GetScale(channel));
        }
    }
}

void PackedDepthwise16::Pack(const Weights16& weights, size_t taps, int16_t* packed) const
{
    const size_t width = 2 * m_Engine->m_Lanes;
    for (size_t chunk = 0; chunk < m_Chunks; ++chunk, packed += m_Pairs * width * 2)
    {
        for (size_t tap = 0; tap < taps; ++tap)
        {
            for (size_t i = 0; i < GetCount(); ++i)
            {
                const size_t place = GetPlace16(i, 2, m_Engine->m_Lanes);
                packed[(tap / 2 * width + place) * 2 + tap % 2] =
                    static_cast<int16_t>(weights.GetValue(tap * m_Channels + GetFirst(chunk) + i));
            }
        }
    }
}

} // namespace tenon::cpu
