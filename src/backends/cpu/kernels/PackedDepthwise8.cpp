// SPDX-License-Identifier: Apache-2.0
// Packing of the weights of 8-bit depthwise convolutions.
#include "backends/cpu/kernels/PackedDepthwise8.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace tenon::cpu
{

namespace
{

/// Whether every sum is shifted to the right, which the loops for interleaved channels take for granted.
bool DoAllShift(const std::vector<double>& scales)
{
    return std::all_of(scales.begin(), scales.end(),
                       [](double scale) { return backends::QuantizeMultiplier(scale).m_Shift < 0; });
}

std::vector<double> GetScales(const LayerView& layer)
{
    return ref::GetSumScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), true);
}

} // namespace

PackedDepthwise8::PackedDepthwise8(const LayerView& layer)
    : m_Engine(&GetDepthwiseEngine8()), m_Height(layer.GetInput(1).GetShape()[1]),
      m_Width(layer.GetInput(1).GetShape()[2]), m_NumChannels(layer.GetInput(1).GetShape()[3]),
      m_StrideY(layer.GetDescriptor<DepthwiseConvolution2dDescriptor>().m_StrideY),
      m_GroupRows(m_Engine->m_Layout == Layout8::Dots ? 4 : 2),
      m_IsDataSigned(layer.GetInput(0).GetDataType() != DataType::QAsymmU8),
      m_DataZeroPoint(layer.GetInput(0).GetQuantizationOffset()),
      m_Weights(static_cast<const uint8_t*>(layer.m_ConstantData[1])),
      m_AreWeightsSigned(layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
      m_WeightsZeroPoint(layer.GetInput(1).HasMultipleQuantizationScales() ? 0
                                                                           : layer.GetInput(1).GetQuantizationOffset()),
      m_Arrays(MakeBlocks(layer, GetScales(layer)), Rounding8::FixedPoint, layer.GetOutput(0).GetQuantizationOffset())
{
    const std::vector<double> scales = GetScales(layer);
    for (const DepthwiseBlock8& block : m_Blocks)
    {
        PackTaps(block);
        SetUpSums(layer, scales, block);
    }
    m_IsExact = m_IsExact && m_Arrays.IsExact();
}

size_t PackedDepthwise8::MakeBlocks(const LayerView& layer, const std::vector<double>& scales)
{
    m_Groups = (m_Height + m_GroupRows - 1) / m_GroupRows;
    if (m_Height <= m_GroupRows && layer.GetDescriptor<DepthwiseConvolution2dDescriptor>().m_DilationY == 1)
    {
        m_Phases = 1 + (m_GroupRows - m_Height) / m_StrideY;
    }
    if (m_Engine->m_Layout == Layout8::Dots)
    {
        for (size_t i = 0; i < m_Height * m_Width * m_NumChannels && m_Sets == 1; ++i)
        {
            const int32_t weight = Weight(0, 0, i);
            m_Sets = weight == static_cast<int8_t>(weight) ? 1 : 2;
        }
    }
    m_IsExact = scales.size() == 1 || scales.size() == m_NumChannels; // else the reference kernel says what is wrong
    const bool interleaves = m_Engine->m_InterleavesFullBlocks && DoAllShift(scales);
    constexpr size_t PieceChannels = DepthwiseEngine8::PieceChannels;
    size_t place = 0;
    size_t offset = 0;
    for (size_t channel = 0; channel < m_NumChannels;)
    {
        const size_t left = m_NumChannels - channel;
        const size_t most = m_Engine->m_MostPieces * PieceChannels;
        // Loops that interleave whole blocks read all of their channels.
        const bool isFull = left >= most && (interleaves || !m_Engine->m_InterleavesFullBlocks);
        const size_t mostPieces =
            m_Engine->m_InterleavesFullBlocks ? m_Engine->m_MostPieces - 1 : m_Engine->m_MostPieces;
        DepthwiseBlock8 block;
        block.m_Channel = channel;
        block.m_Pieces =
            isFull ? m_Engine->m_MostPieces : std::min(mostPieces, (left + PieceChannels - 1) / PieceChannels);
        block.m_Channels = std::min(left, block.m_Pieces * PieceChannels);
        block.m_Place = place;
        block.m_Offset = offset;
        block.m_IsInterleaved = isFull && interleaves;
        place += block.m_Pieces * PieceChannels;
        offset += m_Phases * GetTaps() * block.m_Pieces * DepthwiseEngine8::PieceBytes;
        channel += block.m_Channels;
        m_Blocks.push_back(block);
    }
    m_Data = AlignedMemory(offset);
    std::memset(m_Data.Data(), 0, m_Data.Bytes());
    return place;
}

int32_t PackedDepthwise8::Weight(size_t row, size_t column, size_t channel) const
{
    const uint8_t byte = m_Weights[(row * m_Width + column) * m_NumChannels + channel];
    return (m_AreWeightsSigned ? static_cast<int8_t>(byte) : int32_t{byte}) - m_WeightsZeroPoint;
}

size_t PackedDepthwise8::PlaceOf(const DepthwiseBlock8& block, size_t channel) const
{
    const size_t c = channel - block.m_Channel;
    // Lane l of 128 bits in vector v has the channels 16 l + 4 v and the three that follow.
    return block.m_IsInterleaved ? c % 16 / 4 * 16 + c / 16 * 4 + c % 4 : c;
}

void PackedDepthwise8::PackTaps(const DepthwiseBlock8& block)
{
    const bool areDots = m_Engine->m_Layout == Layout8::Dots;
    const size_t weightBytes = areDots ? 1 : 2;
    std::byte* to = m_Data.Data() + block.m_Offset;
    for (size_t phase = 0; phase < m_Phases; ++phase)
    {
        for (size_t tap = 0; tap < GetTaps(); ++tap, to += block.m_Pieces * DepthwiseEngine8::PieceBytes)
        {
            const DepthwiseTap8 at = GetTap(tap);
            const bool isRest = tap >= m_Groups * m_Width; // of the second set
            for (size_t row = 0; row < m_GroupRows; ++row)
            {
                const size_t windowRow = at.m_Group * m_GroupRows + row - phase * m_StrideY; // wraps above the window
                if (windowRow >= m_Height)
                {
                    continue;
                }
                for (size_t c = block.m_Channel; c < block.m_Channel + block.m_Channels; ++c)
                {
                    const int32_t weight = Weight(windowRow, at.m_Column, c);
                    const int32_t byte = std::clamp<int32_t>(weight, std::numeric_limits<int8_t>::min(),
                                                             std::numeric_limits<int8_t>::max());
                    const auto stored = static_cast<int16_t>(!areDots ? weight : isRest ? weight - byte : byte);
                    std::memcpy(to + PlaceOf(block, c) * 4 + row * weightBytes, &stored, weightBytes);
                }
            }
        }
    }
}

void PackedDepthwise8::SetUpSums(const LayerView& layer, const std::vector<double>& scales,
                                 const DepthwiseBlock8& block)
{
    if (!m_IsExact)
    {
        return;
    }
    const auto* bias = layer.HasInput(2) ? static_cast<const int32_t*>(layer.m_ConstantData[2]) : nullptr;
    // Signed data are taken as unsigned, 128 more.
    const int32_t zeroPoint = m_DataZeroPoint + (m_IsDataSigned ? 128 : 0);
    for (size_t c = block.m_Channel; c < block.m_Channel + block.m_Channels; ++c)
    {
        int64_t sum = 0;
        int64_t most = 0;
        for (size_t tap = 0; tap < m_Height * m_Width; ++tap)
        {
            const int32_t weight = Weight(tap / m_Width, tap % m_Width, c);
            sum += weight;
            most += std::abs(weight);
        }
        const int64_t own = bias != nullptr ? bias[c] : 0;
        const int64_t correction = m_Engine->m_Layout == Layout8::Dots ? -zeroPoint * sum : 0;
        m_Arrays.Set(block.m_Place + PlaceOf(block, c), most * 255 + std::abs(own), own + correction,
                     scales[scales.size() == 1 ? 0 : c]);
    }
}

} // namespace tenon::cpu
