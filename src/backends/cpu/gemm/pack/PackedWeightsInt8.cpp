// SPDX-License-Identifier: Apache-2.0
// Packing of int8 weights, for each layout of a panel. ZeroPointCorrectionInt8.hpp has the formula: the column
// correction goes into each output channel's bias, the row correction is computed for each row at run time.
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"

#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

namespace
{

/// Splits [words][width] words into their halves. `to`: [2 * words][width] pairs of bytes.
void SplitIntoHalfWords(const uint32_t* words, size_t numWords, size_t width, std::byte* to)
{
    for (size_t word = 0; word < numWords; ++word, words += width, to += 2 * width * sizeof(uint16_t))
    {
        auto* const lower = reinterpret_cast<uint16_t*>(to);
        for (size_t c = 0; c < width; ++c)
        {
            lower[c] = static_cast<uint16_t>(words[c]);
            lower[width + c] = static_cast<uint16_t>(words[c] >> 16);
        }
    }
}

/// Joins pairs of words of 4-bit weights. `to`: [words / 2][width] words.
void JoinInt4(const uint32_t* words, size_t numWords, size_t width, std::byte* to)
{
    auto* joined = reinterpret_cast<uint32_t*>(to);
    for (size_t word = 0; word < numWords; word += 2, words += 2 * width, joined += width)
    {
        for (size_t c = 0; c < width; ++c)
        {
            joined[c] = words[c] | words[width + c] << 4;
        }
    }
}

bool IsSigned(DataType type)
{
    return type != DataType::QAsymmU8;
}

/// Whether ComplementImageInt8 makes each block once for several rows of the GEMM.
bool SharesComplementBlocks(const TensorShape& weights)
{
    return weights.GetNumDimensions() == 4 && weights[1] * weights[2] > 1 &&
           weights[3] % PermuteLoopsInt8::StepDepth == 0;
}

WeightFormatInt8 DescribeWeights(const LayerView& layer, const GemmShapeInt8& shape)
{
    const TensorInfo& info = layer.GetInput(1);
    const bool isCentred = shape.ReadsWeightsAsInt8() || info.HasMultipleQuantizationScales();
    return {shape.m_Columns,
            shape.m_Depth,
            shape.m_IsTransposed,
            shape.ReadsWeightsAsInt8() || IsSigned(info.GetDataType()),
            isCentred ? 0 : info.GetQuantizationOffset(),
            shape.m_Matrices};
}

WeightSourceInt8 GetWeights(const LayerView& layer, const GemmShapeInt8& shape, const WeightFormatInt8& format)
{
    const void* const input = layer.m_ConstantData[1];
    return {shape.m_Segments.empty() ? std::span(&input, 1) : shape.m_Segments,
            layer.GetInput(1).GetDataType() == DataType::QSymmS4, format};
}

/// Maximum number of weights equal to -128 (int8) or 0 (uint8) in any aligned group of eight weights of a column. They
/// cannot be negated in int8.
size_t CountMinWeights(const WeightSourceInt8& weights, const WeightFormatInt8& bytes, backends::PackedStore& store)
{
    const auto fill = [&](std::byte* to)
    {
        const uint8_t lowest = bytes.m_IsSigned ? 0x80 : 0x00;
        uint32_t maxCount = 0;
        const auto countIn = [&](const uint8_t* column)
        {
            for (size_t k = 0; k < bytes.m_Depth; k += PermuteLoopsInt8::StepDepth)
            {
                const size_t end = std::min(k + PermuteLoopsInt8::StepDepth, bytes.m_Depth);
                maxCount = std::max(maxCount, static_cast<uint32_t>(std::count(column + k, column + end, lowest)));
            }
        };
        const auto countInRun = [&](size_t, size_t count, const uint8_t* columns)
        {
            const bool hasSome = std::memchr(columns, lowest, count * bytes.m_Depth) != nullptr; // rarely true
            for (size_t c = 0; hasSome && c < count; ++c)
            {
                countIn(columns + c * bytes.m_Depth);
            }
        };
        weights.ForEachRun(0, bytes.m_Columns, countInRun);
        std::memcpy(to, &maxCount, sizeof(maxCount));
    };
    return *store.GetBlock(sizeof(uint32_t), fill).As<uint32_t>();
}

GemmFactsInt8 FindFacts(const LayerView& layer, const GemmShapeInt8& shape, const WeightFormatInt8& format)
{
    const TensorInfo& weights = layer.GetInput(1);
    GemmFactsInt8 facts;
    facts.m_Rows = shape.m_Rows;
    facts.m_Columns = shape.m_Columns;
    facts.m_Depth = shape.m_Depth;
    facts.m_Matrices = shape.m_Matrices;
    facts.m_IsDataFloat = layer.GetInput(0).GetDataType() == DataType::Float32;
    facts.m_IsDataSigned = IsSigned(layer.GetInput(0).GetDataType());
    facts.m_IsWeightSigned = format.m_IsSigned;
    facts.m_WeightZeroPoint = format.m_ZeroPoint;
    facts.m_IsInt4 = weights.GetDataType() == DataType::QSymmS4;
    facts.m_IsTransposed = shape.m_IsTransposed;
    facts.m_IsHybrid = shape.IsHybrid();
    facts.m_HasScales = weights.HasMultipleQuantizationScales();
    facts.m_MayStayUnpacked = shape.m_MayStayUnpacked;
    facts.m_SharesComplementBlocks = SharesComplementBlocks(weights.GetShape());
    return facts;
}

/// Upper bound of a matrix's packed bytes over all layouts.
uint64_t GetMaxBytes(size_t columns, size_t depth, const MicrokernelsInt8& microkernels)
{
    constexpr size_t GroupBytes = 4;
    const size_t vectors = DivideUp(columns, microkernels.m_Lanes);
    uint64_t maxBytes =
        uint64_t{vectors} * microkernels.m_Lanes * GetNumGroupsInt8(microkernels.GetPlain(true), depth) * GroupBytes;
    if (const MicrokernelSetInt8& tiles = microkernels.Get(KernelRoleInt8::SplitUInt8); tiles.m_Vectors != 0)
    {
        const uint64_t panels = DivideUp(vectors, tiles.m_Vectors);
        const uint64_t terms = panels * DivideUp(depth, GroupBytes) * (100 + GetWorthwhileSplitPercent(tiles)) / 100;
        const uint64_t width = uint64_t{tiles.m_Vectors} * microkernels.m_Lanes;
        maxBytes = std::max(maxBytes, panels * (GetSplitHeaderBytes(0) + sizeof(SplitHeader)) +
                                          terms * (width * GroupBytes + sizeof(uint32_t)));
    }
    if (microkernels.Has(KernelRoleInt8::Permuted))
    {
        const size_t steps = GetNumPermutedSteps(depth);
        maxBytes = std::max(maxBytes, uint64_t{vectors} * GetPermutedBytes(microkernels.m_Lanes, steps));
    }
    return maxBytes;
}

} // namespace

WeightPackingInt8::WeightPackingInt8(const LayerView& layer, const GemmShapeInt8& shape,
                                     const MicrokernelsInt8& microkernels, backends::PackedStore& store)
    : m_Bytes(DescribeWeights(layer, shape)), m_IsDataSigned(IsSigned(layer.GetInput(0).GetDataType())),
      m_Tiles(&Choose(layer, shape, microkernels, store))
{
}

const MicrokernelSetInt8& WeightPackingInt8::Choose(const LayerView& layer, const GemmShapeInt8& shape,
                                                    const MicrokernelsInt8& microkernels, backends::PackedStore& store)
{
    WeightSourceInt8 weights = GetWeights(layer, shape, m_Bytes);
    const auto countMinWeights = [&] { return CountMinWeights(weights, m_Bytes, store); };
    const auto isSplitWorthwhile = [&](const KernelRowInt8& row)
    {
        const auto getColumns = [&weights](size_t first, size_t count) { return weights.GetColumns(first, count); };
        m_Splits = SplitCountsInt8(getColumns, m_Bytes, microkernels.Get(row.m_Role), GetWorthwhileSplitPercent(row),
                                   microkernels, store);
        return m_Splits.IsWorthwhile();
    };
    m_Choice =
        ChooseGemmInt8(FindFacts(layer, shape, m_Bytes), microkernels.m_Rows, {countMinWeights, isSplitWorthwhile});
    if (m_Choice.m_Row->m_Layout == WeightLayoutInt8::Permuted)
    {
        m_Permuted = PermutedWeightsInt8(shape.m_Depth, microkernels.m_Lanes);
    }
    return microkernels.Get(m_Choice.m_Row->m_Role);
}

PackedWeightsInt8::PackedWeightsInt8(const LayerView& layer, const GemmShapeInt8& shape, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt8()), m_Packing(layer, shape, *m_Microkernels, store),
      m_Tiles(&m_Packing.GetTiles()), m_NumColumns(shape.m_Columns), m_Depth(shape.m_Depth),
      m_PaddedRunBytes(shape.m_PaddedRunBytes), m_IsDataSigned(m_Packing.IsDataSigned()),
      m_DataZeroPoint(shape.IsHybrid() ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_ZeroPointCorrection(*m_Tiles, m_Packing.GetBytes().m_IsSigned, m_Packing.GetBytes().m_ZeroPoint),
      m_Arrays(MakePanels(shape.IsHybrid()), shape.m_Rounding,
               shape.IsHybrid() ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    WeightSourceInt8 weights = GetWeights(layer, shape, m_Packing.GetBytes());
    const ColumnSumsInt8 sums([&weights](size_t first, size_t count) { return weights.GetColumns(first, count); },
                              m_Packing.GetBytes(), *m_Microkernels, store);
    if (shape.IsHybrid())
    {
        m_IsExact = m_Floats.SetColumns(layer, sums, m_Packing.GetBytes(), CountPaddedColumns());
    }
    else
    {
        m_IsExact = m_Arrays.SetColumns(
            layer, sums, m_Packing.GetBytes(),
            [this](int64_t sum) {
                return m_Tiles->IsDataInt16() ? 0 : m_ZeroPointCorrection.GetCorrection(sum, m_Depth, m_DataZeroPoint);
            });
    }
    if (!IsExact())
    {
        return;
    }
    if (m_Tiles->IsUnpacked())
    {
        m_UnpackedWeights = GetWeights(layer, shape, m_Packing.GetBytes()); // without buffers
        return;
    }
    const auto pack = [&](std::byte* to)
    {
        for (const PanelInt8& panel : m_Panels)
        {
            PackPanel(panel, weights.GetColumns(panel.m_Column, panel.m_Columns), to + panel.m_Offset);
        }
    };
    m_Data = store.GetBlock(m_PanelBytes, pack);
    CheckPanels(layer);
}

uint64_t PackedWeightsInt8::GetPackedBytes(size_t columns, size_t depth, size_t matrices)
{
    const MicrokernelsInt8& microkernels = GetMicrokernelsInt8();
    const size_t ofMatrix = columns / matrices;
    const uint64_t padded = uint64_t{DivideUp(ofMatrix, microkernels.m_Lanes)} * microkernels.m_Lanes;
    constexpr uint64_t ColumnBytes = 4 * sizeof(int32_t) + 2 * sizeof(float); // of RequantizeArraysInt8 and of scales
    return matrices * (GetMaxBytes(ofMatrix, depth, microkernels) + padded * ColumnBytes);
}

AlignedMemory PackedWeightsInt8::MakeSumStart(int32_t dataZeroPoint, const int32_t* bias) const
{
    AlignedMemory memory(CountPaddedColumns() * sizeof(int32_t));
    auto* const start = reinterpret_cast<int32_t*>(memory.Data());
    std::fill_n(start, CountPaddedColumns(), 0);
    for (const PanelInt8& panel : m_Panels)
    {
        const int32_t* const sums = GetDequantization(panel).m_ColumnSums;
        for (size_t c = 0; c < panel.m_Columns; ++c)
        {
            const int64_t own = bias != nullptr ? bias[panel.m_Column + c] : 0;
            start[panel.m_PaddedColumn + c] =
                static_cast<int32_t>(own + m_ZeroPointCorrection.GetCorrection(sums[c], m_Depth, dataZeroPoint));
        }
    }
    return memory;
}

size_t PackedWeightsInt8::MakePanels(bool isHybrid)
{
    m_Groups = GetNumGroupsInt8(*m_Tiles, m_Depth);
    const size_t lanes = m_Microkernels->m_Lanes;
    m_Panels = CutPanelsInt8(m_NumColumns, lanes, *m_Tiles, m_Packing.GetBytes().m_Matrices);
    for (PanelInt8& panel : m_Panels)
    {
        const size_t width = panel.m_Vectors * lanes;
        panel.m_Offset = m_PanelBytes;
        switch (m_Tiles->m_Layout)
        {
        case WeightLayoutInt8::Split:
            m_PanelBytes +=
                GetSplitPanelBytes(width, m_Packing.GetSplits().Get(static_cast<size_t>(&panel - m_Panels.data())));
            break;
        case WeightLayoutInt8::Permuted: m_PanelBytes += m_Packing.GetPermuted().GetPanelBytes(panel); break;
        case WeightLayoutInt8::Unpacked: break;
        default: m_PanelBytes += width * m_Groups * m_Tiles->GetGroupBytes();
        }
    }
    return isHybrid ? 0 : CountPaddedColumns();
}

/// Checks panels that a file may have: in layouts with offsets these must be in range, all other numbers may be
/// anything.
void PackedWeightsInt8::CheckPanels(const LayerView& layer) const
{
    for (size_t p = 0; p < m_Panels.size(); ++p)
    {
        const std::byte* const packed = m_Data.Data() + m_Panels[p].m_Offset;
        const bool isGood =
            m_Tiles->m_Layout == WeightLayoutInt8::Split ? IsSplitPanel(packed, m_Groups, m_Packing.GetSplits().Get(p))
            : m_Tiles->m_Layout == WeightLayoutInt8::Permuted ? m_Packing.GetPermuted().IsPanel(m_Panels[p], packed)
                                                              : true;
        if (!isGood)
        {
            throw ParseException("the packed weights of layer '" + layer.GetName() +
                                 "' name groups of data that there are not; delete the file of CachedNetworkFilePath, "
                                 "or save it anew with SaveCachedNetwork");
        }
    }
}

void PackedWeightsInt8::PackPanel(const PanelInt8& panel, const uint8_t* weights, std::byte* packed) const
{
    const WeightFormatInt8& bytes = m_Packing.GetBytes();
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
    if (m_Tiles->m_Layout == WeightLayoutInt8::Permuted)
    {
        m_Packing.GetPermuted().Pack(panel, weights, packed);
        return;
    }
    if (m_Tiles->m_Layout == WeightLayoutInt8::Split)
    {
        const size_t numTerms = m_Packing.GetSplits().Get(static_cast<size_t>(&panel - m_Panels.data()));
        SplitPanelInt8(weights, panel.m_Columns, bytes, *m_Microkernels).Pack(width, numTerms, packed);
        return;
    }
    if (m_Tiles->GetGroupBytes() != GroupBytes)
    {
        PackHalfGroups(weights, panel.m_Columns, width, packed);
        return;
    }
    if (m_Groups * m_Tiles->GetGroupDepth() != m_Depth || panel.m_Columns != width)
    {
        // Padding weights are 0 in every layout, so the data that they multiply may be anything.
        std::memset(packed, 0, width * m_Groups * GroupBytes);
    }
    if (!bytes.m_IsTransposed)
    {
        m_Tiles->m_ColumnGroups == 2 ? PackGroupPairs(weights, panel.m_Columns, width, packed)
                                     : PackColumns(panel, weights, packed);
        return;
    }
    const size_t runBytes = m_Tiles->m_ColumnGroups * GroupBytes; // adjacent groups of a column
    const bool isInt8x4 = m_Tiles->m_Layout == WeightLayoutInt8::Int8x4;
    for (size_t c = 0; c < panel.m_Columns; ++c)
    {
        for (size_t k = 0; k < m_Depth; ++k)
        {
            const uint8_t byte = weights[k * m_NumColumns + panel.m_Column + c];
            if (isInt8x4)
            {
                packed[(k / runBytes * width + c) * runBytes + k % runBytes] =
                    static_cast<std::byte>(byte ^ m_ZeroPointCorrection.m_SignXor);
            }
            else
            {
                const auto centred = static_cast<int16_t>(GetValueInt8(byte, bytes.m_IsSigned) - bytes.m_ZeroPoint);
                std::memcpy(packed + (k / 2 * width + c) * 4 + k % 2 * 2, &centred, sizeof(centred));
            }
        }
    }
}

void PackedWeightsInt8::PackGroupPairs(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const
{
    constexpr size_t PairBytes = 2 * GroupBytes;
    constexpr size_t ChunkPairs = 32; // pairs of all columns fit the first-level cache
    const uint64_t signXor = m_ZeroPointCorrection.m_SignXor * 0x0101010101010101U;
    const size_t whole = m_Depth / PairBytes;
    for (size_t begin = 0; begin < whole; begin += ChunkPairs)
    {
        const size_t end = std::min(begin + ChunkPairs, whole);
        for (size_t c = 0; c < columns; ++c)
        {
            const uint8_t* from = weights + c * m_Depth;
            for (size_t i = begin; i < end; ++i)
            {
                uint64_t pair = 0;
                std::memcpy(&pair, from + PairBytes * i, PairBytes);
                pair ^= signXor;
                std::memcpy(packed + (i * width + c) * PairBytes, &pair, PairBytes);
            }
        }
    }
    for (size_t c = 0; c < columns; ++c)
    {
        for (size_t k = whole * PairBytes; k < m_Depth; ++k)
        {
            packed[(whole * width + c) * PairBytes + k % PairBytes] =
                static_cast<std::byte>(weights[c * m_Depth + k] ^ m_ZeroPointCorrection.m_SignXor);
        }
    }
}

void PackedWeightsInt8::PackHalfGroups(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const
{
    constexpr size_t SliceWords = 64; // four weights each; an even number of words
    const bool isInt4 = m_Tiles->m_Layout == WeightLayoutInt8::Int4x8;
    const size_t words = m_Groups * m_Tiles->GetGroupDepth() / GroupBytes;
    const size_t maxWords = std::min(SliceWords, words);
    AlignedMemory slice(columns * maxWords * GroupBytes);    // [columns][words]
    AlignedMemory transposed(width * maxWords * GroupBytes); // [words][columns]
    std::memset(transposed.Data(), 0, transposed.Bytes());   // columns that do not exist
    const auto* const rows = reinterpret_cast<const uint32_t*>(transposed.Data());
    for (size_t begin = 0; begin < words; begin += SliceWords)
    {
        const size_t count = std::min(SliceWords, words - begin);
        const size_t first = begin * GroupBytes;
        const size_t depth = std::min(count * GroupBytes, m_Depth - std::min(first, m_Depth));
        for (size_t c = 0; c < columns; ++c)
        {
            const uint8_t* const from = weights + c * m_Depth + first;
            std::byte* const to = slice.Data() + c * count * GroupBytes;
            std::transform(from, from + depth, to,
                           [isInt4](uint8_t weight) {
                               return static_cast<std::byte>(isInt4 ? (weight + MicrokernelsInt8::ZeroPointInt4) & 0x0F
                                                                    : weight);
                           });
            std::memset(to + depth, 0, count * GroupBytes - depth);
        }
        TransposeWords(slice.Data(), count * GroupBytes, count, columns, transposed.Data(), width * GroupBytes);
        std::byte* const to = packed + begin * width * 2 * (isInt4 ? 1 : 2);
        isInt4 ? JoinInt4(rows, count, width, to) : SplitIntoHalfWords(rows, count, width, to);
    }
}

void PackedWeightsInt8::PackColumns(const PanelInt8& panel, const uint8_t* weights, std::byte* packed) const
{
    const WeightFormatInt8& bytes = m_Packing.GetBytes();
    constexpr size_t SliceGroups = 64; // groups of all columns fit the first-level cache
    const bool isInt8x4 = m_Tiles->m_Layout == WeightLayoutInt8::Int8x4;
    const size_t groupDepth = m_Tiles->GetGroupDepth();
    const size_t groups = DivideUp(m_Depth, groupDepth);
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
    // The stored groups of a few columns, each to be moved as one number.
    AlignedMemory slice(panel.m_Columns * std::min(SliceGroups, groups) * GroupBytes);
    for (size_t begin = 0; begin < groups; begin += SliceGroups)
    {
        const size_t count = std::min(SliceGroups, groups - begin);
        const size_t first = begin * groupDepth;
        const size_t depth = std::min(count * groupDepth, m_Depth - first);
        for (size_t c = 0; c < panel.m_Columns; ++c)
        {
            const uint8_t* const from = weights + c * m_Depth + first;
            std::byte* const to = slice.Data() + c * count * GroupBytes;
            if (depth != count * groupDepth)
            {
                std::memset(to + (count - 1) * GroupBytes, 0, GroupBytes);
            }
            if (isInt8x4)
            {
                std::transform(from, from + depth, to,
                               [signXor = m_ZeroPointCorrection.m_SignXor](uint8_t byte)
                               { return static_cast<std::byte>(byte ^ signXor); });
            }
            else
            {
                m_Microkernels->m_Widen(from, depth, bytes.m_IsSigned, bytes.m_ZeroPoint,
                                        reinterpret_cast<int16_t*>(to));
            }
        }
        TransposeWords(slice.Data(), count * GroupBytes, count, panel.m_Columns, packed + begin * width * GroupBytes,
                       width * GroupBytes);
    }
}

} // namespace tenon::cpu
