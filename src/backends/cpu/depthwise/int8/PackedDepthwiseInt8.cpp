// SPDX-License-Identifier: Apache-2.0
// Packs the weights of int8 depthwise convolutions: chooses the shape of the packed window (transposed, folded, one or
// more output rows a row strip) and the blocks of channels: strip blocks where m_RunRowStrips takes the layer's windows
// (GetMaxStripCount), buffered blocks else. Weights are packed as w' = w - zw; a w' that does not fit int8 is a sum of
// int8 terms.
#include "backends/cpu/depthwise/int8/PackedDepthwiseInt8.hpp"

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <tenon/backend/LayerView.hpp>
#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

namespace tenon::cpu
{

/// Reads the weights of a layer less their zero point.
class CentredWeightsInt8
{
public:
    explicit CentredWeightsInt8(const LayerView& layer)
        : m_Weights(layer), m_NumChannels(layer.GetInput(1).GetShape()[3]),
          m_IsSigned(layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
          m_ZeroPoint(ref::GetWeightsZeroPoint(layer.GetInput(1)))
    {
    }

    /// Upper bound of |w - zw|.
    static int64_t GetMaxMagnitude(const LayerView& layer)
    {
        return 255 + std::abs(int64_t{ref::GetWeightsZeroPoint(layer.GetInput(1))});
    }
    /// Writes w - zw of `count` channels of a tap.
    void Read(size_t tap, size_t channel, size_t count, int16_t* weights) const
    {
        GetMicrokernelsInt8().m_Widen(m_Weights.Get() + tap * m_NumChannels + channel, count, m_IsSigned, m_ZeroPoint,
                                      weights);
    }

private:
    ConstantWeightsInt8 m_Weights;
    size_t m_NumChannels;
    bool m_IsSigned;
    int32_t m_ZeroPoint;
};

namespace
{

int32_t ToInt8(int32_t value)
{
    return std::clamp<int32_t>(value, std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max());
}

/// Term number `set` of a weight: the remainder after the earlier terms, clamped to int8.
int32_t GetTermInt8(int32_t weight, size_t set)
{
    for (; set > 0; --set)
    {
        weight -= ToInt8(weight);
    }
    return ToInt8(weight);
}

/// Number of int8 terms of a weight.
size_t CountTermsInt8(int32_t weight)
{
    size_t count = 1;
    for (; weight != ToInt8(weight); ++count)
    {
        weight -= ToInt8(weight);
    }
    return count;
}

/// Upper bound of the number of int8 terms of a weight.
int64_t GetMaxTerms(const LayerView& layer)
{
    return CentredWeightsInt8::GetMaxMagnitude(layer) / std::numeric_limits<int8_t>::max() + 1;
}

/// Rows of a row group.
size_t CountRowsPerGroup()
{
    return GetDepthwiseMicrokernelsInt8().m_Layout == WeightLayoutInt8::Int8x4 ? 4 : 2;
}

/// Whether a dimension of the layer's images is known to be 1.
bool IsOne(const LayerView& layer, unsigned int dimension)
{
    const auto isOne = [dimension](const TensorShape& shape)
    {
        return shape.GetDimensionality() == Dimensionality::Specified && shape.GetNumDimensions() == 4 &&
               shape.GetDimensionSpecificity(dimension) && shape[dimension] == 1;
    };
    return layer.GetInput(1).GetShape()[dimension] == 1 && isOne(layer.GetInput(0).GetShape()) &&
           isOne(layer.GetOutput(0).GetShape());
}

} // namespace

/// The shape of the packed window.
struct PackedDepthwiseInt8::Window
{
    size_t m_Height;
    size_t m_Width;
    bool m_IsTransposed;
    size_t m_Fold;
    size_t m_RowsPerStrip; ///< output rows of a row strip: their windows lie in the row groups of one window

    explicit Window(const LayerView& layer)
    {
        const TensorShape& weights = layer.GetInput(1).GetShape();
        m_IsTransposed = IsOne(layer, 2) && weights[1] > 1;
        m_Height = weights[m_IsTransposed ? 2 : 1];
        m_Width = weights[m_IsTransposed ? 1 : 2];
        const bool isOfOneRow = m_IsTransposed || IsOne(layer, 1);
        constexpr size_t MinFoldedWidth = 5; // windows of three columns have microkernels of their own
        m_Fold = isOfOneRow && m_Width >= MinFoldedWidth ? CountRowsPerGroup() : 1;
        m_Width = DivideUp(m_Width, m_Fold);
        const auto& descriptor = layer.GetDescriptor<DepthwiseConvolution2dDescriptor>();
        const size_t spareRows = (CountRowsPerGroup() - m_Height % CountRowsPerGroup()) % CountRowsPerGroup();
        m_RowsPerStrip = descriptor.m_DilationY == 1 && !isOfOneRow ? 1 + spareRows / descriptor.m_StrideY : 1;
    }
};

PackedDepthwiseInt8::PackedDepthwiseInt8(const LayerView& layer, backends::PackedStore& store)
    : PackedDepthwiseInt8(layer, store, Window(layer))
{
}

PackedDepthwiseInt8::PackedDepthwiseInt8(const LayerView& layer, backends::PackedStore& store, const Window& window)
    : m_Microkernels(&GetDepthwiseMicrokernelsInt8()), m_IsTransposed(window.m_IsTransposed), m_Fold(window.m_Fold),
      m_Height(window.m_Height), m_Width(window.m_Width), m_NumChannels(layer.GetInput(1).GetShape()[3]),
      m_NumWeights(size_t{layer.GetInput(1).GetShape()[1]} * layer.GetInput(1).GetShape()[2]),
      m_StrideY(layer.GetDescriptor<DepthwiseConvolution2dDescriptor>().m_StrideY), m_RowsPerGroup(CountRowsPerGroup()),
      m_RowGroups(DivideUp(m_Height, m_RowsPerGroup)), m_RowsPerStrip(window.m_RowsPerStrip),
      m_Facts(store.GetBlock((1 + 2 * m_NumChannels) * sizeof(int64_t),
                             [&](std::byte* to) { SumChannels(layer, reinterpret_cast<int64_t*>(to)); })),
      m_WeightTerms(static_cast<size_t>(std::clamp<int64_t>(*m_Facts.As<int64_t>(), 1, GetMaxTerms(layer)))),
      m_IsDataSigned(layer.GetInput(0).GetDataType() != DataType::QAsymmU8),
      m_DataZeroPoint(layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakeBlocks(layer, GetScales(layer, GetRounding(layer))), GetRounding(layer),
               layer.GetOutput(0).GetQuantizationOffset())
{
    const std::vector<double> scales = GetScales(layer, GetRounding(layer));
    for (const ChannelBlockInt8& block : m_Blocks)
    {
        SetUpSums(layer, scales, block);
    }
    m_Facts = {};
    m_IsExact = m_IsExact && m_Arrays.IsExact();
    if (!m_IsExact)
    {
        return;
    }
    m_Data = store.GetBlock(m_BlockBytes,
                            [&](std::byte* to)
                            {
                                std::memset(to, 0, m_BlockBytes);
                                const CentredWeightsInt8 weights(layer);
                                for (const ChannelBlockInt8& block : m_Blocks)
                                {
                                    PackTaps(weights, block, to + block.m_Offset);
                                }
                            });
}

void PackedDepthwiseInt8::SumChannels(const LayerView& layer, int64_t* facts) const
{
    const CentredWeightsInt8 weights(layer);
    const bool isDotLayout = m_Microkernels->m_Layout == WeightLayoutInt8::Int8x4;
    std::fill_n(facts, 1 + 2 * m_NumChannels, 0);
    int64_t* const sums = facts + 1;
    int64_t* const magnitudes = sums + m_NumChannels;
    size_t terms = 1;
    std::vector<int16_t> row(m_NumChannels);
    for (size_t tap = 0; tap < m_NumWeights; ++tap)
    {
        weights.Read(tap, 0, m_NumChannels, row.data());
        for (size_t c = 0; c < m_NumChannels; ++c)
        {
            sums[c] += row[c];
            magnitudes[c] += std::abs(int32_t{row[c]});
        }
        if (isDotLayout)
        {
            const auto [minimum, maximum] = std::minmax_element(row.begin(), row.end());
            terms = std::max({terms, CountTermsInt8(*minimum), CountTermsInt8(*maximum)});
        }
    }
    facts[0] = static_cast<int64_t>(terms);
}

uint64_t PackedDepthwiseInt8::GetPackedBytes(const LayerView& layer)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    constexpr uint64_t ChunkChannels = DepthwiseMicrokernelsInt8::ChunkChannels;
    // Strip blocks repeat channels, see MakeStripBlock.
    const uint64_t chunks = DivideUp(shape[3], ChunkChannels) + DepthwiseMicrokernelsInt8::MaxChunks;
    const Window window(layer);
    const uint64_t taps = uint64_t{DivideUp(window.m_Height, CountRowsPerGroup())} * window.m_Width;
    constexpr uint64_t ChannelBytes = 4 * sizeof(int32_t); // bytes of a channel in RequantizeArraysInt8
    return chunks *
           (window.m_RowsPerStrip * taps * DepthwiseMicrokernelsInt8::ChunkBytes + ChunkChannels * ChannelBytes);
}

void PackedDepthwiseInt8::PackTaps(const CentredWeightsInt8& weights, const ChannelBlockInt8& block,
                                   std::byte* to) const
{
    const bool isDotLayout = m_Microkernels->m_Layout == WeightLayoutInt8::Int8x4;
    const LaneOrder order = FindLaneOrder(block);
    int16_t row[DepthwiseMicrokernelsInt8::MaxChunks * DepthwiseMicrokernelsInt8::ChunkChannels];
    for (size_t outputRow = 0; outputRow < m_RowsPerStrip; ++outputRow)
    {
        for (size_t tap = 0; tap < GetTaps(); ++tap, to += block.m_Chunks * DepthwiseMicrokernelsInt8::ChunkBytes)
        {
            const size_t group = tap / m_Width % m_RowGroups;
            const size_t column = tap % m_Width;
            const size_t term = tap / (m_RowGroups * m_Width);
            for (size_t groupRow = 0; groupRow < m_RowsPerGroup; ++groupRow)
            {
                // Rows above the window wrap around to large numbers.
                const size_t windowRow = group * m_RowsPerGroup + groupRow - outputRow * m_StrideY;
                const size_t weight = m_Fold > 1 ? column * m_Fold + groupRow : windowRow * m_Width + column;
                if ((m_Fold == 1 && windowRow >= m_Height) || weight >= m_NumWeights)
                {
                    continue;
                }
                weights.Read(weight, block.m_Channel, block.m_Channels, row);
                for (size_t c = 0; isDotLayout && c < block.m_Channels; ++c)
                {
                    const int32_t termValue = term == 0 ? ToInt8(row[c]) : GetTermInt8(row[c], term);
                    for (size_t copy = 0; copy < block.GetCopies(); ++copy)
                    {
                        to[order[copy * block.m_Channels + c] * 4 + groupRow] = static_cast<std::byte>(termValue);
                    }
                }
                for (size_t c = 0; !isDotLayout && c < block.m_Channels; ++c)
                {
                    std::memcpy(to + order[c] * 4 + groupRow * sizeof(int16_t), &row[c], sizeof(int16_t));
                }
            }
        }
    }
}

void PackedDepthwiseInt8::SetUpSums(const LayerView& layer, const std::vector<double>& scales,
                                    const ChannelBlockInt8& block)
{
    if (!m_IsExact)
    {
        return;
    }
    const int64_t* const sums = m_Facts.As<int64_t>() + 1;
    // Clamped: the sums may come from a file of packed weights and must not overflow below.
    const int64_t limit = static_cast<int64_t>(m_NumWeights) * CentredWeightsInt8::GetMaxMagnitude(layer);
    const auto* bias = layer.HasInput(2) ? static_cast<const int32_t*>(layer.m_ConstantData[2]) : nullptr;
    // Data may be biased by 128 (XOR 0x80) for the dot product; the zero point moves along.
    const bool isBiased =
        m_Microkernels->m_Layout == WeightLayoutInt8::Int8x4 && m_IsDataSigned != m_Microkernels->m_TakesSigned;
    const int32_t dataBias = !isBiased ? 0 : m_IsDataSigned ? 128 : -128;
    const int32_t zeroPoint = m_DataZeroPoint + dataBias;
    const LaneOrder order = FindLaneOrder(block);
    for (size_t i = 0; i < block.m_Channels; ++i)
    {
        const size_t c = block.m_Channel + i;
        const int64_t sum = std::clamp(sums[c], -limit, limit);
        const int64_t maxSum = std::clamp<int64_t>(sums[m_NumChannels + c], 0, limit);
        const int64_t own = bias != nullptr ? bias[c] : 0;
        for (size_t copy = 0; copy < block.GetCopies(); ++copy)
        {
            m_Arrays.Set(block.m_ArrayOffset + order[copy * block.m_Channels + i], maxSum * 255 + std::abs(own),
                         own - zeroPoint * sum, scales[scales.size() == 1 ? 0 : c]);
        }
    }
}

/// The largest number of row strips that m_RunRowStrips can compute at once for this layer; 0 if it does not take the
/// layer's windows.
size_t PackedDepthwiseInt8::GetMaxStripCount(const LayerView& layer) const
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
    const size_t strips = isKnown(output, 1) ? DivideUp(output[1], m_RowsPerStrip) : RowStripsInt8::MaxStripCount;
    return std::min<size_t>(m_Microkernels->m_MaxStripCount, strips >= 4 ? 4 : strips >= 2 ? 2 : 1);
}

/// The strip block that begins with `channel`; m_StripCount is 0 if there is none. The block may start earlier and
/// repeat channels, because the microkernel reads whole vectors. Twice the row strips with half the channels cost the
/// same, so a block is chosen if more than half of its channels are new.
ChannelBlockInt8 PackedDepthwiseInt8::MakeStripBlock(size_t channel, size_t maxStripCount) const
{
    const size_t left = m_NumChannels - channel;
    ChannelBlockInt8 block;
    for (size_t stripCount = 1; stripCount <= maxStripCount; stripCount *= 2)
    {
        const size_t channels = m_Microkernels->m_MaxStripBlockChannels / stripCount;
        if (channels <= m_NumChannels && (left > channels / 2 || stripCount == m_Microkernels->m_MaxStripCount))
        {
            block.m_StripCount = stripCount;
            block.m_Channels = channels;
            block.m_Channel = std::min(channel, m_NumChannels - channels);
            block.m_Chunks = m_Microkernels->m_MaxStripBlockChannels / DepthwiseMicrokernelsInt8::ChunkChannels;
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
    const size_t maxChannels = m_Microkernels->m_MaxChunks * ChunkChannels;
    // The loop that interleaves a whole block reads all of its channels, so they have to exist.
    const bool isFull = left >= maxChannels && (interleaves || !m_Microkernels->m_InterleavesFullBlocks);
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
    const bool fitsRegisters = FitsRegisters(scales, GetRounding(layer));
    const bool interleaves = m_Microkernels->m_InterleavesFullBlocks && fitsRegisters;
    const size_t maxStripCount = fitsRegisters ? GetMaxStripCount(layer) : 0;
    size_t arrayOffset = 0;
    for (size_t channel = 0; channel < m_NumChannels;)
    {
        ChannelBlockInt8 block = MakeStripBlock(channel, maxStripCount);
        if (!block.IsStrip())
        {
            block = MakeBlock(channel, interleaves);
        }
        block.m_ArrayOffset = arrayOffset;
        block.m_Offset = m_BlockBytes;
        m_HasStripBlocks = m_HasStripBlocks || block.IsStrip();
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
