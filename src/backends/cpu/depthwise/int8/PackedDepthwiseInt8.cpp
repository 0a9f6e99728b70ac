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
size_t CountGroupRows()
{
    return GetDepthwiseEngine8().m_Layout == Layout8::Dots ? 4 : 2;
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
struct PackedDepthwise8::Window
{
    size_t m_Height;
    size_t m_Width;
    bool m_IsTurned;
    size_t m_Fold;
    size_t m_Phases; ///< output rows of a strip: their windows lie in the row groups of one window

    explicit Window(const LayerView& layer)
    {
        const TensorShape& weights = layer.GetInput(1).GetShape();
        m_IsTurned = IsOne(layer, 2) && weights[1] > 1;
        m_Height = weights[m_IsTurned ? 2 : 1];
        m_Width = weights[m_IsTurned ? 1 : 2];
        const bool isOfOneRow = m_IsTurned || IsOne(layer, 1);
        constexpr size_t LeastFolded = 5; // windows of three columns have microkernels of their own
        m_Fold = isOfOneRow && m_Width >= LeastFolded ? CountGroupRows() : 1;
        m_Width = DivideUp(m_Width, m_Fold);
        const auto& descriptor = layer.GetDescriptor<DepthwiseConvolution2dDescriptor>();
        const size_t spareRows = (CountGroupRows() - m_Height % CountGroupRows()) % CountGroupRows();
        m_Phases = descriptor.m_DilationY == 1 && !isOfOneRow ? 1 + spareRows / descriptor.m_StrideY : 1;
    }
};

PackedDepthwise8::PackedDepthwise8(const LayerView& layer, backends::PackedStore& store)
    : PackedDepthwise8(layer, store, Window(layer))
{
}

PackedDepthwise8::PackedDepthwise8(const LayerView& layer, backends::PackedStore& store, const Window& window)
    : m_Engine(&GetDepthwiseEngine8()), m_IsTurned(window.m_IsTurned), m_Fold(window.m_Fold), m_Height(window.m_Height),
      m_Width(window.m_Width), m_NumChannels(layer.GetInput(1).GetShape()[3]),
      m_NumWeights(size_t{layer.GetInput(1).GetShape()[1]} * layer.GetInput(1).GetShape()[2]),
      m_StrideY(layer.GetDescriptor<DepthwiseConvolution2dDescriptor>().m_StrideY), m_GroupRows(CountGroupRows()),
      m_Groups(DivideUp(m_Height, m_GroupRows)), m_Phases(window.m_Phases),
      m_Facts(store.GetBlock((1 + 2 * m_NumChannels) * sizeof(int64_t),
                             [&](std::byte* to) { SumChannels(layer, reinterpret_cast<int64_t*>(to)); })),
      m_Sets(static_cast<size_t>(std::clamp<int64_t>(*m_Facts.As<int64_t>(), 1, GetMostSets(layer)))),
      m_IsDataSigned(layer.GetInput(0).GetDataType() != DataType::QAsymmU8),
      m_DataZeroPoint(layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakeBlocks(layer, GetScales(layer)), Rounding8::FixedPoint, layer.GetOutput(0).GetQuantizationOffset())
{
    const std::vector<double> scales = GetScales(layer);
    for (const DepthwiseBlock8& block : m_Blocks)
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
                                const CentredWeights8 weights(layer);
                                for (const DepthwiseBlock8& block : m_Blocks)
                                {
                                    PackTaps(weights, block, to + block.m_Offset);
                                }
                            });
}

void PackedDepthwise8::SumChannels(const LayerView& layer, int64_t* facts) const
{
    const CentredWeights8 weights(layer);
    const bool areDots = m_Engine->m_Layout == Layout8::Dots;
    std::fill_n(facts, 1 + 2 * m_NumChannels, 0);
    int64_t* const sums = facts + 1;
    int64_t* const magnitudes = sums + m_NumChannels;
    size_t sets = 1;
    std::vector<int16_t> row(m_NumChannels);
    for (size_t tap = 0; tap < m_NumWeights; ++tap)
    {
        weights.Read(tap, 0, m_NumChannels, row.data());
        for (size_t c = 0; c < m_NumChannels; ++c)
        {
            sums[c] += row[c];
            magnitudes[c] += std::abs(int32_t{row[c]});
        }
        if (areDots)
        {
            const auto [least, most] = std::minmax_element(row.begin(), row.end());
            sets = std::max({sets, CountShares(*least), CountShares(*most)});
        }
    }
    facts[0] = static_cast<int64_t>(sets);
}

uint64_t PackedDepthwise8::GetPackedBytes(const LayerView& layer)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    constexpr uint64_t PieceChannels = DepthwiseEngine8::PieceChannels;
    // Strip blocks repeat channels, see MakeStripBlock.
    const uint64_t pieces = DivideUp(shape[3], PieceChannels) + DepthwiseEngine8::MostPieces;
    const Window window(layer);
    const uint64_t taps = uint64_t{DivideUp(window.m_Height, CountGroupRows())} * window.m_Width;
    constexpr uint64_t ChannelBytes = 4 * sizeof(int32_t); // bytes of a channel in RequantizeArrays
    return pieces * (window.m_Phases * taps * DepthwiseEngine8::PieceBytes + PieceChannels * ChannelBytes);
}

void PackedDepthwise8::PackTaps(const CentredWeights8& weights, const DepthwiseBlock8& block, std::byte* to) const
{
    const bool areDots = m_Engine->m_Layout == Layout8::Dots;
    const Places places = FindPlaces(block);
    int16_t row[DepthwiseEngine8::MostPieces * DepthwiseEngine8::PieceChannels];
    for (size_t phase = 0; phase < m_Phases; ++phase)
    {
        for (size_t tap = 0; tap < GetTaps(); ++tap, to += block.m_Pieces * DepthwiseEngine8::PieceBytes)
        {
            const size_t group = tap / m_Width % m_Groups;
            const size_t column = tap % m_Width;
            const size_t set = tap / (m_Groups * m_Width);
            for (size_t groupRow = 0; groupRow < m_GroupRows; ++groupRow)
            {
                // Rows above the window wrap around to large numbers.
                const size_t windowRow = group * m_GroupRows + groupRow - phase * m_StrideY;
                const size_t weight = m_Fold > 1 ? column * m_Fold + groupRow : windowRow * m_Width + column;
                if ((m_Fold == 1 && windowRow >= m_Height) || weight >= m_NumWeights)
                {
                    continue;
                }
                weights.Read(weight, block.m_Channel, block.m_Channels, row);
                for (size_t c = 0; areDots && c < block.m_Channels; ++c)
                {
                    const int32_t share = set == 0 ? ToInt8(row[c]) : GetShare(row[c], set);
                    for (size_t part = 0; part < block.CountCopies(); ++part)
                    {
                        to[places[part * block.m_Channels + c] * 4 + groupRow] = static_cast<std::byte>(share);
                    }
                }
                for (size_t c = 0; !areDots && c < block.m_Channels; ++c)
                {
                    std::memcpy(to + places[c] * 4 + groupRow * sizeof(int16_t), &row[c], sizeof(int16_t));
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
    const int64_t* const sums = m_Facts.As<int64_t>() + 1;
    // Clamped: the sums may come from a file of packed weights and must not overflow below.
    const int64_t limit = static_cast<int64_t>(m_NumWeights) * CentredWeights8::GetMost(layer);
    const auto* bias = layer.HasInput(2) ? static_cast<const int32_t*>(layer.m_ConstantData[2]) : nullptr;
    // Data may be biased by 128 (XOR 0x80) for the dot product; the zero point moves along.
    const bool isOther = m_Engine->m_Layout == Layout8::Dots && m_IsDataSigned != m_Engine->m_TakesSigned;
    const int32_t shift = !isOther ? 0 : m_IsDataSigned ? 128 : -128;
    const int32_t zeroPoint = m_DataZeroPoint + shift;
    const Places places = FindPlaces(block);
    for (size_t i = 0; i < block.m_Channels; ++i)
    {
        const size_t c = block.m_Channel + i;
        const int64_t sum = std::clamp(sums[c], -limit, limit);
        const int64_t most = std::clamp<int64_t>(sums[m_NumChannels + c], 0, limit);
        const int64_t own = bias != nullptr ? bias[c] : 0;
        for (size_t part = 0; part < block.CountCopies(); ++part)
        {
            m_Arrays.Set(block.m_Place + places[part * block.m_Channels + i], most * 255 + std::abs(own),
                         own - zeroPoint * sum, scales[scales.size() == 1 ? 0 : c]);
        }
    }
}

} // namespace tenon::cpu
