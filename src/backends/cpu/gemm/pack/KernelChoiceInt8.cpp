// SPDX-License-Identifier: Apache-2.0
// See KernelChoiceInt8.hpp.
#include "backends/cpu/gemm/pack/KernelChoiceInt8.hpp"

#include "backends/cpu/gemm/pack/WeightReaderInt8.hpp"
#include "backends/cpu/gemm/pack/ZeroPointCorrectionInt8.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace tenon::cpu
{

namespace
{

/// With so few rows most of the time is reading the weights from memory, and no layout is shorter than the bytes
/// themselves.
constexpr size_t FewProductRows = 4;
/// Counterpart of KernelChoiceInt8::FewColumnsOfDots for sign transfer.
constexpr size_t FewColumnsOfSignTransfer = 5;
/// For rows of this many bytes, horizontal sums cost less than the cache space of complement blocks.
constexpr size_t DeepRows = 2048;
constexpr size_t FewColumnsOfDeepRows = 8;
constexpr size_t MinDepthOfColumn = 32;
/// Larger weights come from beyond the second-level cache, faster from huge pages than from those of a file.
constexpr size_t MaxUnpackedBytes = size_t{512} << 10;
/// Permuting weights takes as long as a few dozen inferences with fewer rows would gain, unless the depth is large.
constexpr size_t ManyRows = 16;
constexpr size_t LargeDepth = 1024;
/// Making complement blocks takes as long as multiplying one vector of columns by them, unless they are made once for
/// all pixels that read them.
constexpr size_t FewVectors = 2;

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

/// Maximum number of columns for which weights may stay unpacked, whatever the number of rows.
size_t GetFewColumns(const MicrokernelSetInt8& unpacked, size_t depth, bool isSigned)
{
    if (unpacked.m_TakesMinWeight)
    {
        return KernelChoiceInt8::FewColumnsOfDots;
    }
    return isSigned && depth >= DeepRows ? FewColumnsOfDeepRows : FewColumnsOfSignTransfer;
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

/// Extra terms, in percent of the groups, up to which split weights are faster than int16 pairs: they are 1.35 times as
/// fast with six rows; int8 data take one more instruction.
size_t GetWorthwhilePercent(const MicrokernelSetInt8& tiles)
{
    return tiles.m_IsDataBiased ? 10 : 25;
}

/// Maximum number of weights equal to -128 (int8) or 0 (uint8) in any aligned group of eight weights of a column. They
/// cannot be negated in int8.
size_t CountMinWeights(const WeightSegmentsInt8& segments, const WeightFormatInt8& bytes, backends::PackedStore& store)
{
    const auto fill = [&](std::byte* to)
    {
        const uint8_t least = bytes.m_IsSigned ? 0x80 : 0x00;
        uint32_t most = 0;
        const auto countIn = [&](const uint8_t* column)
        {
            for (size_t k = 0; k < bytes.m_Depth; k += PermuteLoopsInt8::StepDepth)
            {
                const size_t end = std::min(k + PermuteLoopsInt8::StepDepth, bytes.m_Depth);
                most = std::max(most, static_cast<uint32_t>(std::count(column + k, column + end, least)));
            }
        };
        const auto countInRun = [&](size_t, size_t count, const uint8_t* weights)
        {
            const bool hasSome = std::memchr(weights, least, count * bytes.m_Depth) != nullptr; // rarely true
            for (size_t c = 0; hasSome && c < count; ++c)
            {
                countIn(weights + c * bytes.m_Depth);
            }
        };
        segments.ForEachRun(0, bytes.m_Columns, countInRun);
        std::memcpy(to, &most, sizeof(most));
    };
    return *store.GetBlock(sizeof(uint32_t), fill).As<uint32_t>();
}

} // namespace

KernelChoiceInt8::KernelChoiceInt8(const LayerView& layer, const GemmShapeInt8& shape,
                                   const MicrokernelsInt8& microkernels, backends::PackedStore& store)
    : m_Bytes(DescribeWeights(layer, shape)), m_IsDataSigned(IsSigned(layer.GetInput(0).GetDataType())),
      m_Tiles(&Choose(layer, shape, microkernels, store))
{
}

const MicrokernelSetInt8& KernelChoiceInt8::Choose(const LayerView& layer, const GemmShapeInt8& shape,
                                                   const MicrokernelsInt8& microkernels, backends::PackedStore& store)
{
    const bool isInt4 = layer.GetInput(1).GetDataType() == DataType::QSymmS4;
    const bool isInt8 = !isInt4 && !shape.m_IsTransposed;
    const bool hasCentredWeights = m_Bytes.m_IsSigned && m_Bytes.m_ZeroPoint == 0;
    const bool isBothSigned = isInt8 && hasCentredWeights && m_IsDataSigned; // data and weights
    const bool hasFewRows = shape.m_Rows <= FewProductRows;
    WeightReaderInt8 weights(layer, m_Bytes, shape.m_Segments);
    const auto getColumns = [&weights](size_t first, size_t count) { return weights.GetColumns(first, count); };
    std::optional<size_t> knownMinWeights; // counted once at most: counting reads all weights
    const auto countMinWeights = [&]
    {
        knownMinWeights = knownMinWeights ? *knownMinWeights : CountMinWeights(weights.GetSegments(), m_Bytes, store);
        return *knownMinWeights;
    };

    const bool hasSameSigns = m_IsDataSigned == m_Bytes.m_IsSigned; // data and weights have the same sign
    const MicrokernelSetInt8& unpacked = m_IsDataSigned ? microkernels.Get(KernelRoleInt8::UnpackedInt8)
                                                        : microkernels.Get(KernelRoleInt8::UnpackedUInt8);
    const bool hasFewColumns = shape.m_Columns <= GetFewColumns(unpacked, shape.m_Depth, m_IsDataSigned) &&
                               !shape.IsHybrid() && shape.m_Depth >= MinDepthOfColumn * shape.m_Columns;
    const bool mayStay = unpacked.m_Vectors != 0 && shape.m_MayStayUnpacked && isInt8 && hasSameSigns &&
                         (hasFewRows || hasFewColumns) && shape.m_Depth >= unpacked.m_Row->m_MinDepth &&
                         shape.m_Matrices == 1 && shape.m_Columns * shape.m_Depth <= MaxUnpackedBytes;
    if (mayStay && unpacked.m_TakesMinWeight)
    {
        return unpacked;
    }
    const MicrokernelSetInt8& signTransfer = m_IsDataSigned ? microkernels.Get(KernelRoleInt8::SignTransferInt8)
                                                            : microkernels.Get(KernelRoleInt8::SignTransferUInt8);
    if (signTransfer.m_Vectors != 0 && isInt8 && (hasFewRows || mayStay) && hasSameSigns && countMinWeights() == 0)
    {
        return mayStay ? unpacked : signTransfer; // neither takes -128
    }

    const bool isPaidBack = shape.m_Rows >= ManyRows || (!hasFewRows && shape.m_Depth >= LargeDepth);
    const bool mayPermute = microkernels.Get(KernelRoleInt8::Permuted).m_Vectors != 0 && isBothSigned && isPaidBack &&
                            shape.m_Depth >= PermutedWeightsInt8::MinDepth &&
                            shape.m_Depth <= PermutedWeightsInt8::MaxDepth;
    // Weights with a scale for each channel usually have too many terms.
    const bool hasFewTerms = !(mayPermute && layer.GetInput(1).HasMultipleQuantizationScales());
    const MicrokernelSetInt8& splits =
        m_IsDataSigned ? microkernels.Get(KernelRoleInt8::SplitInt8) : microkernels.Get(KernelRoleInt8::SplitUInt8);
    if (splits.m_Vectors != 0 && isInt8 && hasFewTerms && !(hasFewRows && hasCentredWeights))
    {
        m_Splits = SplitCountsInt8(getColumns, m_Bytes, splits, GetWorthwhilePercent(splits), microkernels, store);
        if (m_Splits.IsWorthwhile())
        {
            return splits;
        }
    }
    const size_t minWeights = mayPermute ? countMinWeights() : 0;
    if (mayPermute && minWeights == 0 && signTransfer.m_Vectors != 0 &&
        shape.m_Columns <= FewVectors * microkernels.m_Lanes * shape.m_Matrices &&
        !SharesComplementBlocks(layer.GetInput(1).GetShape()))
    {
        return signTransfer;
    }
    if (mayPermute && minWeights <= PermuteLoopsInt8::MaxMinWeights)
    {
        m_Permuted = PermutedWeightsInt8(shape.m_Depth, microkernels.m_Lanes);
        return microkernels.Get(KernelRoleInt8::Permuted);
    }
    // Dot products of 8-bit weights are as fast as those of 4-bit weights, whose only gain is fewer bytes from memory.
    constexpr size_t FewRowsInt4 = 4;
    const bool hasDots = microkernels.GetPlain(true).m_Layout == WeightLayoutInt8::Int8x4;
    const size_t maxRowsInt4 = hasDots ? FewRowsInt4 : std::numeric_limits<size_t>::max();
    if (isInt4 && microkernels.Get(KernelRoleInt8::Int4).m_Vectors != 0 && !shape.m_IsTransposed &&
        shape.m_Rows <= maxRowsInt4)
    {
        const bool isOne = shape.m_Rows == 1 && microkernels.Get(KernelRoleInt8::Int4OneRow).m_Vectors != 0;
        return isOne ? microkernels.Get(KernelRoleInt8::Int4OneRow) : microkernels.Get(KernelRoleInt8::Int4);
    }
    if (microkernels.Get(KernelRoleInt8::Int8x2).m_Vectors != 0 && !shape.m_IsTransposed && hasCentredWeights)
    {
        return microkernels.Get(KernelRoleInt8::Int8x2);
    }
    if (microkernels.Get(KernelRoleInt8::Hybrid).m_Vectors != 0 && layer.GetInput(0).GetDataType() == DataType::Float32)
    {
        return microkernels.Get(KernelRoleInt8::Hybrid);
    }
    return m_IsDataSigned ? microkernels.Get(KernelRoleInt8::Int8) : microkernels.Get(KernelRoleInt8::UInt8);
}

uint64_t KernelChoiceInt8::GetMaxBytes(size_t columns, size_t depth, const MicrokernelsInt8& microkernels)
{
    constexpr size_t GroupBytes = 4;
    const size_t vectors = DivideUp(columns, microkernels.m_Lanes);
    uint64_t most = uint64_t{vectors} * microkernels.m_Lanes *
                    GetNumGroupsInt8(microkernels.Get(KernelRoleInt8::Int8), depth) * GroupBytes;
    if (microkernels.Get(KernelRoleInt8::SplitUInt8).m_Vectors != 0)
    {
        const MicrokernelSetInt8& tiles = microkernels.Get(KernelRoleInt8::SplitUInt8);
        const uint64_t panels = DivideUp(vectors, tiles.m_Vectors);
        const uint64_t terms = panels * DivideUp(depth, GroupBytes) * (100 + GetWorthwhilePercent(tiles)) / 100;
        const uint64_t width = uint64_t{tiles.m_Vectors} * microkernels.m_Lanes;
        most = std::max(most, panels * (GetSplitHeaderBytes(0) + sizeof(SplitHeader)) +
                                  terms * (width * GroupBytes + sizeof(uint32_t)));
    }
    if (microkernels.Get(KernelRoleInt8::Permuted).m_Vectors != 0)
    {
        const size_t steps = GetNumPermutedSteps(depth);
        most = std::max(most, uint64_t{vectors} * GetPermutedBytes(microkernels.m_Lanes, steps));
    }
    return most;
}

} // namespace tenon::cpu
