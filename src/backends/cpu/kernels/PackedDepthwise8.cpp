// SPDX-License-Identifier: Apache-2.0
// Packing of the weights of 8-bit depthwise convolutions.
#include "backends/cpu/kernels/PackedDepthwise8.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/CentredWeights8.hpp"
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
    const auto isShifted = [](double scale)
    { return RequantizeColumns::IsShifted(backends::QuantizeMultiplier(scale).m_Shift); };
    return std::all_of(scales.begin(), scales.end(), isShifted);
}

std::vector<double> GetScales(const LayerView& layer)
{
    return ref::GetSumScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), true);
}

/// Rows that are interleaved.
size_t CountGroupRows()
{
    return GetDepthwiseEngine8().m_Layout == Layout8::Dots ? 4 : 2;
}

/// Whether a dimension of a layer's images has one element, whatever they are.
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

/// How the window of a layer is packed.
struct PackedDepthwise8::Window
{
    size_t m_Height;
    size_t m_Width;
    bool m_IsTurned;
    size_t m_Fold;
    size_t m_Phases; ///< output rows whose windows lie in the groups of rows that one window takes

    explicit Window(const LayerView& layer)
    {
        const TensorShape& weights = layer.GetInput(1).GetShape();
        m_IsTurned = IsOne(layer, 2) && weights[1] > 1;
        m_Height = weights[m_IsTurned ? 2 : 1];
        m_Width = weights[m_IsTurned ? 1 : 2];
        const bool isOfOneRow = m_IsTurned || IsOne(layer, 1);
        constexpr size_t LeastFolded = 5; // there are loops for three
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
                                for (const DepthwiseBlock8& block : m_Blocks)
                                {
                                    PackTaps(layer, block, to + block.m_Offset);
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
    const uint64_t pieces = DivideUp(shape[3], PieceChannels) + DepthwiseEngine8::MostPieces; // see MakeStripBlock
    const Window window(layer);
    const uint64_t taps = uint64_t{DivideUp(window.m_Height, CountGroupRows())} * window.m_Width;
    constexpr uint64_t ChannelBytes = 4 * sizeof(int32_t); // of RequantizeArrays
    return pieces * (window.m_Phases * taps * DepthwiseEngine8::PieceBytes + PieceChannels * ChannelBytes);
}

/// How many strips of output rows there are loops for that write them at once from the image itself; 0: there are none.
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

/// The block in strips that begins with this channel; m_Parts is 0 where there is none. It may have channels before it
/// once more, so that all that it reads exist. Twice as many strips of half as many channels take as long, so that a
/// block may have up to as many channels too many.
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
    // Loops that interleave whole blocks read all of their channels.
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
    m_IsExact = scales.size() == 1 || scales.size() == m_NumChannels; // else the reference kernel says what is wrong
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

size_t PackedDepthwise8::PlaceOf(const DepthwiseBlock8& block, size_t part, size_t channel) const
{
    const size_t c = part * block.m_Channels + channel - block.m_Channel;
    if (!block.m_IsInterleaved)
    {
        return c;
    }
    // Lane l of 128 bits in vector v has the channels l * channels + 4 v and the three that follow.
    const size_t lanes = m_Engine->m_BlockLanes;
    const size_t channels = block.m_Pieces * DepthwiseEngine8::PieceChannels / lanes;
    return (c % channels / 4 * lanes + c / channels) * 4 + c % 4;
}

void PackedDepthwise8::PackTaps(const LayerView& layer, const DepthwiseBlock8& block, std::byte* to) const
{
    const CentredWeights8 weights(layer);
    const bool areDots = m_Engine->m_Layout == Layout8::Dots;
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
                // Wraps above the window.
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
                        to[PlaceOf(block, part, block.m_Channel + c) * 4 + groupRow] = static_cast<std::byte>(share);
                    }
                }
                for (size_t c = 0; !areDots && c < block.m_Channels; ++c)
                {
                    const size_t place = PlaceOf(block, 0, block.m_Channel + c);
                    std::memcpy(to + place * 4 + groupRow * sizeof(int16_t), &row[c], sizeof(int16_t));
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
    // Clamped, so that what is worked out cannot overflow, whatever file it is from.
    const int64_t limit = static_cast<int64_t>(m_NumWeights) * CentredWeights8(layer).GetMost();
    const auto* bias = layer.HasInput(2) ? static_cast<const int32_t*>(layer.m_ConstantData[2]) : nullptr;
    // Dot products may take data as of the other sign, 128 more or less.
    const bool isOther = m_Engine->m_Layout == Layout8::Dots && m_IsDataSigned != m_Engine->m_TakesSigned;
    const int32_t shift = !isOther ? 0 : m_IsDataSigned ? 128 : -128;
    const int32_t zeroPoint = m_DataZeroPoint + shift;
    for (size_t c = block.m_Channel; c < block.m_Channel + block.m_Channels; ++c)
    {
        const int64_t sum = std::clamp(sums[c], -limit, limit);
        const int64_t most = std::clamp<int64_t>(sums[m_NumChannels + c], 0, limit);
        const int64_t own = bias != nullptr ? bias[c] : 0;
        for (size_t part = 0; part < block.CountCopies(); ++part)
        {
            m_Arrays.Set(block.m_Place + PlaceOf(block, part, c), most * 255 + std::abs(own), own - zeroPoint * sum,
                         scales[scales.size() == 1 ? 0 : c]);
        }
    }
}

} // namespace tenon::cpu
