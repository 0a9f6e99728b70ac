// SPDX-License-Identifier: Apache-2.0
// Packs the weights of int8 depthwise convolutions, and chooses the shape of the packed window (transposed, folded, one
// or more output rows a strip).
#include "backends/cpu/depthwise/int8/PackedDepthwiseInt8.hpp"

#include "backends/cpu/depthwise/int8/CentredWeightsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

namespace
{

std::vector<double> GetScales(const LayerView& layer)
{
    return ref::GetSumScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), true);
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
    size_t m_RowsPerStrip; ///< output rows of a strip: their windows lie in the row groups of one window

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
      m_Arrays(MakeBlocks(layer, GetScales(layer)), RoundingInt8::FixedPoint,
               layer.GetOutput(0).GetQuantizationOffset())
{
    const std::vector<double> scales = GetScales(layer);
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
            const auto [least, most] = std::minmax_element(row.begin(), row.end());
            terms = std::max({terms, CountTermsInt8(*least), CountTermsInt8(*most)});
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
        const int64_t most = std::clamp<int64_t>(sums[m_NumChannels + c], 0, limit);
        const int64_t own = bias != nullptr ? bias[c] : 0;
        for (size_t copy = 0; copy < block.GetCopies(); ++copy)
        {
            m_Arrays.Set(block.m_ArrayOffset + order[copy * block.m_Channels + i], most * 255 + std::abs(own),
                         own - zeroPoint * sum, scales[scales.size() == 1 ? 0 : c]);
        }
    }
}

} // namespace tenon::cpu
