// SPDX-License-Identifier: Apache-2.0
// Weights of convolutions in small groups (2, 4 or 8 channels with as many outputs) in the layout of the int16
// microkernels:
//   [chunk][tap][output of the group][lanes] pairs of channels
// Used by PackedDepthwiseInt16 and, for int8 weights, by Convolution2dGroupsInt8.cpp.
#pragma once

#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Chunks of the channels of a depthwise convolution, or of one in small groups. The last chunk may overlap the one
/// before.
struct ChannelChunks
{
    size_t m_Channels;
    size_t m_Width; ///< channels of a chunk

    explicit ChannelChunks(size_t channels) : m_Channels(channels), m_Width(2 * GetMicrokernelsInt16().m_Lanes) {}

    size_t GetChunks() const { return (m_Channels + m_Width - 1) / m_Width; }
    /// First channel of a chunk, and number of its channels.
    size_t GetFirst(size_t chunk) const
    {
        return m_Channels < m_Width ? 0 : std::min(chunk * m_Width, m_Channels - m_Width);
    }
    size_t GetCount() const { return std::min(m_Channels, m_Width); }
};

/// Writes [taps][channels of a group][width] for each chunk; lanes without a channel are not written. getWeight(index)
/// returns a weight of [channels][taps][channels of a group].
template <typename F>
void PackSmallGroups(const ChannelChunks& chunks, size_t taps, size_t groupChannels, const F& getWeight,
                     int16_t* packed)
{
    for (size_t chunk = 0; chunk < chunks.GetChunks(); ++chunk)
    {
        for (size_t tap = 0; tap < taps; ++tap)
        {
            for (size_t output = 0; output < groupChannels; ++output, packed += chunks.m_Width)
            {
                for (size_t i = 0; i < chunks.GetCount(); ++i)
                {
                    const size_t inGroup = i % groupChannels;
                    const size_t channel = chunks.GetFirst(chunk) + i - inGroup + output;
                    packed[i] = static_cast<int16_t>(getWeight((channel * taps + tap) * groupChannels + inGroup));
                }
            }
        }
    }
}

/// Whether the layer is a Convolution2d in small groups with enough channels: a GEMM leaves fewer lanes empty where the
/// channels fill less than half a chunk, or three quarters of one for groups of eight. Precondition: the weights' shape
/// is known.
inline SupportResult CheckSmallGroups(const LayerView& layer)
{
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const size_t channels = weights[3];
    const bool hasTiles =
        channels <= MicrokernelsInt16::MaxGroup && GetMicrokernelsInt16().m_Groups[channels].m_Pixels != 0;
    if (!hasTiles || data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
        !data.GetDimensionSpecificity(3) || data[3] != weights[0] || data[3] % channels != 0 || data[3] == channels)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it has no groups of two, four or eight channels that give as many");
    }
    const size_t quarters = channels == MicrokernelsInt16::MaxGroup ? 3 : 2;
    if (4 * size_t{data[3]} < quarters * ChannelChunks(data[3]).m_Width)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "it has few channels");
    }
    return SupportResult::Yes();
}

} // namespace tenon::cpu
