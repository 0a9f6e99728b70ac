// SPDX-License-Identifier: Apache-2.0
// Packing of int8 weights. ZeroPointCorrectionInt8.hpp has the formula: the column correction goes into each output
// channel's bias, the row correction is computed for each row at run time.
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"

#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/gemm/pack/WeightReaderInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

PackedWeightsInt8::PackedWeightsInt8(const LayerView& layer, const GemmShapeInt8& shape, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt8()), m_Choice(layer, shape, *m_Microkernels, store),
      m_Tiles(&m_Choice.GetTiles()), m_NumColumns(shape.m_Columns), m_Depth(shape.m_Depth),
      m_PaddedRunBytes(shape.m_PaddedRunBytes), m_IsDataSigned(m_Choice.IsDataSigned()),
      m_DataZeroPoint(shape.IsHybrid() ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_ZeroPointCorrection(*m_Tiles, m_Choice.GetBytes().m_IsSigned, m_Choice.GetBytes().m_ZeroPoint),
      m_Arrays(MakePanels(shape.IsHybrid()), shape.m_Rounding,
               shape.IsHybrid() ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    WeightReaderInt8 weights(layer, m_Choice.GetBytes(), shape.m_Segments);
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
        m_UnpackedWeights = weights.GetSegments();
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
    return matrices * (KernelChoiceInt8::GetMaxBytes(ofMatrix, depth, microkernels) + padded * ColumnBytes);
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
