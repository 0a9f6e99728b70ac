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
bool HasOnlyRightShifts(const std::vector<double>& scales)
{
    const auto isShifted = [](double scale)
    { return RequantizeColumns::IsShifted(backends::QuantizeMultiplier(scale).m_Shift); };
    return std::all_of(scales.begin(), scales.end(), isShifted);
}

} // namespace

/// The largest number of row strips that m_RunRowStrips can compute at once for this layer; 0 if it does not take the
/// layer's windows.
size_t PackedDepthwiseInt8::CountStrips(const LayerView& layer) const
{
    const auto& descriptor = layer.GetDescriptor<DepthwiseConvolution2dDescriptor>();
    const auto isKnown = [](const TensorShape& shape, unsigned int dimension)
    { return shape.GetDimensionality() == Dimensionality::Specified && shape.GetDimensionSpecificity(dimension); };
    const TensorShape& data = layer.GetInput(0).GetShape();
    const bool hasNoMultiplier = isKnown(data, 3) && data[3] == m_NumChannels;
    const bool isStrideSupported = descriptor.m_StrideX == 1
                                       ? m_RowsPerStrip == 1 || (m_RowsPerStrip == 2 && m_StrideY == 1)
                                       : descriptor.m_StrideX == 2 && m_RowsPerStrip == 1 && m_Height <= 3;
    if (m_Microkernels->m_RunRowStrips == nullptr || !hasNoMultiplier || !isStrideSupported || m_WeightTerms != 1 ||
        m_RowGroups != m_Microkernels->m_StripRowGroups || m_Width != 3 || m_Fold != 1 || m_IsTransposed ||
        descriptor.m_DilationX != 1)
    {
        return 0;
    }
    const TensorShape& output = layer.GetOutput(0).GetShape();
    const size_t strips = isKnown(output, 1) ? DivideUp(output[1], m_RowsPerStrip) : RowStripsInt8::MaxStrips;
    return std::min<size_t>(m_Microkernels->m_MaxStrips, strips >= 4 ? 4 : strips >= 2 ? 2 : 1);
}

/// The strip block that begins with `channel`; m_StripCount is 0 if there is none. The block may start earlier and
/// repeat channels, because the microkernel reads whole vectors. Twice the strips with half the channels cost the same,
/// so a block is chosen if more than half of its channels are new.
ChannelBlockInt8 PackedDepthwiseInt8::MakeStripBlock(size_t channel, size_t maxStrips) const
{
    const size_t left = m_NumChannels - channel;
    ChannelBlockInt8 block;
    for (size_t stripCount = 1; stripCount <= maxStrips; stripCount *= 2)
    {
        const size_t channels = m_Microkernels->m_StripChannels / stripCount;
        if (channels <= m_NumChannels && (left > channels / 2 || stripCount == m_Microkernels->m_MaxStrips))
        {
            block.m_StripCount = stripCount;
            block.m_Channels = channels;
            block.m_Channel = std::min(channel, m_NumChannels - channels);
            block.m_Chunks = m_Microkernels->m_StripChannels / DepthwiseMicrokernelsInt8::ChunkChannels;
            block.m_IsInterleaved = true;
            break;
        }
    }
    return block;
}

ChannelBlockInt8 PackedDepthwiseInt8::MakeBlock(size_t channel, bool interleaves) const
{
    constexpr size_t ChunkChannels = DepthwiseMicrokernelsInt8::ChunkChannels;
    const size_t left = m_NumChannels - channel;
    const size_t most = m_Microkernels->m_MaxChunks * ChunkChannels;
    // The loop that interleaves a whole block reads all of its channels, so they have to exist.
    const bool isFull = left >= most && (interleaves || !m_Microkernels->m_InterleavesFullBlocks);
    const size_t maxChunks =
        m_Microkernels->m_InterleavesFullBlocks ? m_Microkernels->m_MaxChunks - 1 : m_Microkernels->m_MaxChunks;
    ChannelBlockInt8 block;
    block.m_Channel = channel;
    block.m_Chunks = isFull ? m_Microkernels->m_MaxChunks : std::min(maxChunks, DivideUp(left, ChunkChannels));
    block.m_Channels = std::min(left, block.m_Chunks * ChunkChannels);
    block.m_IsInterleaved = isFull && interleaves;
    return block;
}

size_t PackedDepthwiseInt8::MakeBlocks(const LayerView& layer, const std::vector<double>& scales)
{
    // Otherwise the reference kernel reports the error.
    m_IsExact = scales.size() == 1 || scales.size() == m_NumChannels;
    const bool hasOnlyRightShifts = HasOnlyRightShifts(scales);
    const bool interleaves = m_Microkernels->m_InterleavesFullBlocks && hasOnlyRightShifts;
    const size_t maxStrips = hasOnlyRightShifts ? CountStrips(layer) : 0;
    size_t arrayOffset = 0;
    for (size_t channel = 0; channel < m_NumChannels;)
    {
        ChannelBlockInt8 block = MakeStripBlock(channel, maxStrips);
        if (block.m_StripCount == 0)
        {
            block = MakeBlock(channel, interleaves);
        }
        block.m_ArrayOffset = arrayOffset;
        block.m_Offset = m_BlockBytes;
        m_HasStrips = m_HasStrips || block.m_StripCount != 0;
        arrayOffset += block.m_Chunks * DepthwiseMicrokernelsInt8::ChunkChannels;
        m_BlockBytes += m_RowsPerStrip * GetTaps() * block.m_Chunks * DepthwiseMicrokernelsInt8::ChunkBytes;
        channel = block.m_Channel + block.m_Channels;
        m_Blocks.push_back(block);
    }
    return arrayOffset;
}

PackedDepthwiseInt8::LaneOrder PackedDepthwiseInt8::FindLaneOrder(const ChannelBlockInt8& block) const
{
    LaneOrder order;
    std::iota(order.begin(), order.end(), uint16_t{0});
    if (!block.m_IsInterleaved)
    {
        return order;
    }
    // Lane l (128 bits) of vector v has the channels l * channels + 4 * v and the next three.
    const size_t lanes = m_Microkernels->m_Lanes128;
    const size_t channels = block.m_Chunks * DepthwiseMicrokernelsInt8::ChunkChannels / lanes;
    for (size_t lane = 0; lane < lanes; ++lane)
    {
        for (size_t c = 0; c < channels; ++c)
        {
            order[lane * channels + c] = static_cast<uint16_t>((c / 4 * lanes + lane) * 4 + c % 4);
        }
    }
    return order;
}

} // namespace tenon::cpu
