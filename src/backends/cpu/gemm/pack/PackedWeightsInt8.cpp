// SPDX-License-Identifier: Apache-2.0
// Packing of int8 weights. ZeroPointCorrectionInt8.hpp has the formula: the column correction goes into each output
// channel's bias, the row correction is computed for each row at run time.
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"

#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

namespace
{

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
        const auto countInRun = [&](size_t, size_t count, const uint8_t* columns)
        {
            const bool hasSome = std::memchr(columns, least, count * bytes.m_Depth) != nullptr; // rarely true
            for (size_t c = 0; hasSome && c < count; ++c)
            {
                countIn(columns + c * bytes.m_Depth);
            }
        };
        weights.ForEachRun(0, bytes.m_Columns, countInRun);
        std::memcpy(to, &most, sizeof(most));
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
    uint64_t most =
        uint64_t{vectors} * microkernels.m_Lanes * GetNumGroupsInt8(microkernels.GetPlain(true), depth) * GroupBytes;
    if (const MicrokernelSetInt8& tiles = microkernels.Get(KernelRoleInt8::SplitUInt8); tiles.m_Vectors != 0)
    {
        const uint64_t panels = DivideUp(vectors, tiles.m_Vectors);
        const uint64_t terms = panels * DivideUp(depth, GroupBytes) * (100 + GetWorthwhileSplitPercent(tiles)) / 100;
        const uint64_t width = uint64_t{tiles.m_Vectors} * microkernels.m_Lanes;
        most = std::max(most, panels * (GetSplitHeaderBytes(0) + sizeof(SplitHeader)) +
                                  terms * (width * GroupBytes + sizeof(uint32_t)));
    }
    if (microkernels.Has(KernelRoleInt8::Permuted))
    {
        const size_t steps = GetNumPermutedSteps(depth);
        most = std::max(most, uint64_t{vectors} * GetPermutedBytes(microkernels.m_Lanes, steps));
    }
    return most;
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
    : m_Microkernels(&GetMicrokernelsInt8()), m_Choice(layer, shape, *m_Microkernels, store),
      m_Tiles(&m_Choice.GetTiles()), m_NumColumns(shape.m_Columns), m_Depth(shape.m_Depth),
      m_PaddedRunBytes(shape.m_PaddedRunBytes), m_IsDataSigned(m_Choice.IsDataSigned()),
      m_DataZeroPoint(shape.IsHybrid() ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_ZeroPointCorrection(*m_Tiles, m_Choice.GetBytes().m_IsSigned, m_Choice.GetBytes().m_ZeroPoint),
      m_Arrays(MakePanels(shape.IsHybrid()), shape.m_Rounding,
               shape.IsHybrid() ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    NameVariants();
    WeightSourceInt8 weights = GetWeights(layer, shape, m_Choice.GetBytes());
    const ColumnSumsInt8 sums([&weights](size_t first, size_t count) { return weights.GetColumns(first, count); },
                              m_Choice.GetBytes(), *m_Microkernels, store);
    if (shape.IsHybrid())
    {
        m_IsExact = m_Floats.SetColumns(layer, sums, m_Choice.GetBytes(), CountPaddedColumns());
    }
    else
    {
        m_IsExact = m_Arrays.SetColumns(
            layer, sums, m_Choice.GetBytes(),
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
        m_UnpackedWeights = GetWeights(layer, shape, m_Choice.GetBytes()); // without buffers
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

void PackedWeightsInt8::NameVariants()
{
    constexpr const char* Names[NumDataPathsInt8] = {"data in place", "implicit GEMM", "indirection buffer",
                                                     "complement image", "im2col"};
    using Epilogues = KernelEpiloguesInt8;
    const KernelRowInt8& row = *m_Tiles->m_Row;
    const bool canHave[NumDataPathsInt8] = {true, row.Has(Epilogues::Ig | Epilogues::IgDq), row.Has(Epilogues::Dq),
                                            row.m_Layout == WeightLayoutInt8::Permuted, true};
    for (size_t path = 0; path < NumDataPathsInt8; ++path)
    {
        m_Variants[path] = canHave[path] ? m_Choice.GetChoice().Describe(Names[path]) : "";
    }
}

size_t PackedWeightsInt8::MakePanels(bool isHybrid)
{
    m_Groups = GetNumGroupsInt8(*m_Tiles, m_Depth);
    const size_t lanes = m_Microkernels->m_Lanes;
    m_Panels = CutPanelsInt8(m_NumColumns, lanes, *m_Tiles, m_Choice.GetBytes().m_Matrices);
    for (PanelInt8& panel : m_Panels)
    {
        const size_t width = panel.m_Vectors * lanes;
        panel.m_Offset = m_PanelBytes;
        switch (m_Tiles->m_Layout)
        {
        case WeightLayoutInt8::Split:
            m_PanelBytes +=
                GetSplitPanelBytes(width, m_Choice.GetSplits().Get(static_cast<size_t>(&panel - m_Panels.data())));
            break;
        case WeightLayoutInt8::Permuted: m_PanelBytes += m_Choice.GetPermuted().GetPanelBytes(panel); break;
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
            m_Tiles->m_Layout == WeightLayoutInt8::Split ? IsSplitPanel(packed, m_Groups, m_Choice.GetSplits().Get(p))
            : m_Tiles->m_Layout == WeightLayoutInt8::Permuted ? m_Choice.GetPermuted().IsPanel(m_Panels[p], packed)
                                                              : true;
        if (!isGood)
        {
            throw ParseException("the packed weights of layer '" + layer.GetName() +
                                 "' name groups of data that there are not; delete the file of CachedNetworkFilePath, "
                                 "or save it anew with SaveCachedNetwork");
        }
    }
}

} // namespace tenon::cpu
