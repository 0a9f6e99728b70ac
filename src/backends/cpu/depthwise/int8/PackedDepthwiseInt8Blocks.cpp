// SPDX-License-Identifier: Apache-2.0
// Chooses the blocks of channels of int8 depthwise convolutions: strip blocks where m_RunRowStrips takes the layer's
// windows (CountStrips), buffered blocks else; and the lane of each channel in its block.
#include "backends/common/Quantization.hpp"
#include "backends/cpu/depthwise/int8/PackedDepthwiseInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <numeric>

namespace tenon::cpu
{

namespace
{

/// Whether every scale is a right shift: requantization in registers requires it.
bool DoAllShift(const std::vector<double>& scales)
{
    const auto isShifted = [](double scale)
    { return RequantizeColumns::IsShifted(backends::QuantizeMultiplier(scale).m_Shift); };
    return std::all_of(scales.begin(), scales.end(), isShifted);
}

} // namespace

/// The largest number of row strips that m_RunRowStrips can compute at once for this layer; 0 if it does not take the
/// layer's windows.
size_t PackedDepthwise8::CountParts(const LayerView& layer) const
{
    const auto& descriptor = layer.GetDescriptor<DepthwiseConvolution2dDescriptor>();
    const auto isKnown = [](const TensorShape& shape, unsigned int dimension)
    { return shape.GetDimensionality() == Dimensionality::Specified && shape.GetDimensionSpecificity(dimension); };
    const TensorShape& data = layer.GetInput(0).GetShape();
    const bool isOfEachChannel = isKnown(data, 3) && data[3] == m_NumChannels;
    const bool areRowsSeen = descriptor.m_StrideX == 1 ? m_Phases == 1 || (m_Phases == 2 && m_StrideY == 1)
                                                       : descriptor.m_StrideX == 2 && m_Phases == 1 && m_Height <= 3;
    if (m_Engine->m_WriteStrips == nullptr || !isOfEachChannel || !areRowsSeen || m_Sets != 1 ||
        m_Groups != m_Engine->m_StripGroups || m_Width != 3 || m_Fold != 1 || m_IsTurned || descriptor.m_DilationX != 1)
    {
        return 0;
    }
    const TensorShape& output = layer.GetOutput(0).GetShape();
    const size_t strips = isKnown(output, 1) ? DivideUp(output[1], m_Phases) : DepthwiseStrips8::MostParts;
    return std::min<size_t>(m_Engine->m_MostStripParts, strips >= 4 ? 4 : strips >= 2 ? 2 : 1);
}

/// The strip block that begins with `channel`; m_StripCount is 0 if there is none. The block may start earlier and
/// repeat channels, because the microkernel reads whole vectors. Twice the strips with half the channels cost the same,
/// so a block is chosen if more than half of its channels are new.
DepthwiseBlock8 PackedDepthwise8::MakeStripBlock(size_t channel, size_t mostParts) const
{
    const size_t left = m_NumChannels - channel;
    DepthwiseBlock8 block;
    for (size_t parts = 1; parts <= mostParts; parts *= 2)
    {
        const size_t channels = m_Engine->m_StripChannels / parts;
        if (channels <= m_NumChannels && (left > channels / 2 || parts == m_Engine->m_MostStripParts))
        {
            block.m_Parts = parts;
            block.m_Channels = channels;
            block.m_Channel = std::min(channel, m_NumChannels - channels);
            block.m_Pieces = m_Engine->m_StripChannels / DepthwiseEngine8::PieceChannels;
            block.m_IsInterleaved = true;
            break;
        }
    }
    return block;
}

DepthwiseBlock8 PackedDepthwise8::MakeBlock(size_t channel, bool interleaves) const
{
    constexpr size_t PieceChannels = DepthwiseEngine8::PieceChannels;
    const size_t left = m_NumChannels - channel;
    const size_t most = m_Engine->m_MostPieces * PieceChannels;
    // The loop that interleaves a whole block reads all of its channels, so they have to exist.
    const bool isFull = left >= most && (interleaves || !m_Engine->m_InterleavesFullBlocks);
    const size_t mostPieces = m_Engine->m_InterleavesFullBlocks ? m_Engine->m_MostPieces - 1 : m_Engine->m_MostPieces;
    DepthwiseBlock8 block;
    block.m_Channel = channel;
    block.m_Pieces = isFull ? m_Engine->m_MostPieces : std::min(mostPieces, DivideUp(left, PieceChannels));
    block.m_Channels = std::min(left, block.m_Pieces * PieceChannels);
    block.m_IsInterleaved = isFull && interleaves;
    return block;
}

size_t PackedDepthwise8::MakeBlocks(const LayerView& layer, const std::vector<double>& scales)
{
    // Otherwise the reference kernel reports the error.
    m_IsExact = scales.size() == 1 || scales.size() == m_NumChannels;
    const bool allShift = DoAllShift(scales);
    const bool interleaves = m_Engine->m_InterleavesFullBlocks && allShift;
    const size_t mostParts = allShift ? CountParts(layer) : 0;
    size_t place = 0;
    for (size_t channel = 0; channel < m_NumChannels;)
    {
        DepthwiseBlock8 block = MakeStripBlock(channel, mostParts);
        if (block.m_Parts == 0)
        {
            block = MakeBlock(channel, interleaves);
        }
        block.m_Place = place;
        block.m_Offset = m_BlockBytes;
        m_HasStrips = m_HasStrips || block.m_Parts != 0;
        place += block.m_Pieces * DepthwiseEngine8::PieceChannels;
        m_BlockBytes += m_Phases * GetTaps() * block.m_Pieces * DepthwiseEngine8::PieceBytes;
        channel = block.m_Channel + block.m_Channels;
        m_Blocks.push_back(block);
    }
    return place;
}

PackedDepthwise8::Places PackedDepthwise8::FindPlaces(const DepthwiseBlock8& block) const
{
    Places places;
    std::iota(places.begin(), places.end(), uint16_t{0});
    if (!block.m_IsInterleaved)
    {
        return places;
    }
    // Lane l (128 bits) of vector v has the channels l * channels + 4 * v and the next three.
    const size_t lanes = m_Engine->m_BlockLanes;
    const size_t channels = block.m_Pieces * DepthwiseEngine8::PieceChannels / lanes;
    for (size_t lane = 0; lane < lanes; ++lane)
    {
        for (size_t c = 0; c < channels; ++c)
        {
            places[lane * channels + c] = static_cast<uint16_t>((c / 4 * lanes + lane) * 4 + c % 4);
        }
    }
    return places;
}

} // namespace tenon::cpu
