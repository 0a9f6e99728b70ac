// SPDX-License-Identifier: Apache-2.0
// Packs the weights of int16 depthwise convolutions.
#include "backends/cpu/depthwise/int16/DepthwiseDriverInt16.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

namespace
{

size_t GetNumSteps(size_t taps, size_t groupChannels)
{
    return groupChannels == 1 ? (taps + 1) / 2 : taps;
}

} // namespace

PackedDepthwiseInt16::PackedDepthwiseInt16(const WeightReaderInt16& weights, size_t taps, size_t channels,
                                           size_t groupChannels, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt16()), m_Channels(channels), m_GroupChannels(groupChannels),
      m_Steps(GetNumSteps(taps, groupChannels)), m_Chunks(channels),
      m_Arrays(m_Chunks.GetChunks() * m_Chunks.m_Width, weights.m_Rounding)
{
    if (weights.m_Scales.empty())
    {
        m_IsExact = false;
        return;
    }
    SetUpChannels(weights, taps, store);
    if (IsExact())
    {
        const size_t bytes = GetChunks() * m_Steps * GetStepPairs() * sizeof(int32_t);
        m_Data = store.GetBlock(bytes,
                                [&](std::byte* to)
                                {
                                    std::memset(to, 0, bytes);
                                    auto* const packed = reinterpret_cast<int16_t*>(to);
                                    const auto getWeight = [&](size_t i) { return weights.GetValue(i); };
                                    m_GroupChannels == 1
                                        ? PackTaps(weights, taps, packed)
                                        : PackSmallGroups(m_Chunks, taps, m_GroupChannels, getWeight, packed);
                                });
        m_Zeros.resize(channels);
    }
}

uint64_t PackedDepthwiseInt16::GetPackedBytes(uint64_t taps, uint64_t channels, uint64_t groupChannels)
{
    const uint64_t width = 2 * GetMicrokernelsInt16().m_Lanes;
    const uint64_t places = (channels + width - 1) / width * width;
    const uint64_t shorts = groupChannels == 1 ? (taps + 1) / 2 * 2 : taps * groupChannels;
    return places * (shorts * sizeof(int16_t) + RequantizeArraysInt16::PaddedColumnBytes) + channels * sizeof(int16_t);
}

const int32_t* PackedDepthwiseInt16::GetWeights(size_t chunk) const
{
    return m_Data.As<int32_t>() + chunk * m_Steps * GetStepPairs();
}

int64_t PackedDepthwiseInt16::SumMagnitudes(const WeightReaderInt16& weights, size_t taps, size_t channel) const
{
    const size_t count = taps * m_GroupChannels;
    int64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
    {
        sum += std::abs(weights.GetValue(m_GroupChannels == 1 ? i * m_Channels + channel : channel * count + i));
    }
    return sum;
}

void PackedDepthwiseInt16::SetUpChannels(const WeightReaderInt16& weights, size_t taps, backends::PackedStore& store)
{
    const backends::PackedBlock sums = store.GetBlock(m_Channels * sizeof(int64_t),
                                                      [&](std::byte* to)
                                                      {
                                                          auto* const channels = reinterpret_cast<int64_t*>(to);
                                                          for (size_t i = 0; i < m_Channels; ++i)
                                                          {
                                                              channels[i] = SumMagnitudes(weights, taps, i);
                                                          }
                                                      });
    const std::vector<int64_t> magnitudes =
        weights.ClampMagnitudes(sums.As<int64_t>(), m_Channels, taps * m_GroupChannels);
    if (*std::max_element(magnitudes.begin(), magnitudes.end()) > RequantizeArraysInt16::MaxMagnitude)
    {
        m_IsExact = false;
        return;
    }
    for (size_t chunk = 0; chunk < GetChunks(); ++chunk)
    {
        for (size_t i = 0; i < GetCount(); ++i)
        {
            const size_t channel = GetFirst(chunk) + i;
            m_Arrays.Set(chunk * 2 * m_Microkernels->m_Lanes + GetPaddedColumnInt16(i, 2, m_Microkernels->m_Lanes),
                         magnitudes[channel], weights.GetBias(channel), weights.GetScale(channel));
        }
    }
}

void PackedDepthwiseInt16::PackTaps(const WeightReaderInt16& weights, size_t taps, int16_t* packed) const
{
    const size_t width = 2 * m_Microkernels->m_Lanes;
    for (size_t chunk = 0; chunk < GetChunks(); ++chunk, packed += m_Steps * width * 2)
    {
        for (size_t tap = 0; tap < taps; ++tap)
        {
            for (size_t i = 0; i < GetCount(); ++i)
            {
                const size_t place = GetPaddedColumnInt16(i, 2, m_Microkernels->m_Lanes);
                packed[(tap / 2 * width + place) * 2 + tap % 2] =
                    static_cast<int16_t>(weights.GetValue(tap * m_Channels + GetFirst(chunk) + i));
            }
        }
    }
}

} // namespace tenon::cpu
