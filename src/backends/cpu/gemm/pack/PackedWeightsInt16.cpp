// SPDX-License-Identifier: Apache-2.0
// Packing of int16 panels: pairs of neighbouring weights of the depth, less their zero point.
#include "backends/cpu/gemm/pack/PackedWeightsInt16.hpp"

#include "backends/cpu/gemm/pack/PackLoopsInt16.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

size_t GetNumGroups(size_t depth)
{
    return depth / 2 + depth % 2;
}

size_t GetNumVectors(size_t columns, size_t lanes)
{
    return (columns + lanes - 1) / lanes;
}

constexpr size_t MaxPanelColumns = MicrokernelsInt16::MaxVectors * MicrokernelsInt16::MaxLanes;

/// Calls f(values, stride, depth) for each segment of the depth of `count` columns from `first` on; columns are
/// `stride` apart. Segments of transposed weights are first copied to a buffer that fits the first-level cache.
template <typename F>
void ForEachSegment(const WeightReaderInt16& weights, const WeightSizesInt16& sizes, bool isTransposed, size_t first,
                    size_t count, const F& f)
{
    if (!isTransposed)
    {
        f(weights.m_Values + first * sizes.m_Depth, sizes.m_Depth, sizes.m_Depth);
        return;
    }
    constexpr size_t SegmentDepth = 256;
    int8_t columns[MaxPanelColumns * SegmentDepth];
    for (size_t begin = 0; begin < sizes.m_Depth; begin += SegmentDepth)
    {
        const size_t depth = std::min(SegmentDepth, sizes.m_Depth - begin);
        TransposeBytes(reinterpret_cast<const std::byte*>(weights.m_Values + begin * sizes.m_Columns + first),
                       sizes.m_Columns, count, depth, reinterpret_cast<std::byte*>(columns), SegmentDepth);
        f(columns, SegmentDepth, depth);
    }
}

/// The sum of magnitudes of each column.
void SumMagnitudes(const WeightReaderInt16& weights, const WeightSizesInt16& sizes, bool isTransposed,
                   std::span<int64_t> magnitudes)
{
    std::fill(magnitudes.begin(), magnitudes.end(), int64_t{0});
    const PackLoopsInt16& loops = GetPackLoopsInt16();
    for (size_t first = 0; first < sizes.m_Columns; first += MaxPanelColumns)
    {
        const size_t count = std::min(MaxPanelColumns, sizes.m_Columns - first);
        ForEachSegment(weights, sizes, isTransposed, first, count,
                       [&](const int8_t* values, size_t stride, size_t depth)
                       {
                           for (size_t c = 0; c < count; ++c, values += stride)
                           {
                               magnitudes[first + c] += loops.m_SumMagnitudes(values, depth, weights.m_ZeroPoint);
                           }
                       });
    }
}

} // namespace

PackedWeightsInt16::PackedWeightsInt16(const WeightReaderInt16& weights, const WeightSizesInt16& sizes, size_t rows,
                                       backends::PackedStore& store, bool isTransposed)
    : m_Microkernels(&GetMicrokernelsInt16()), m_Sizes(sizes), m_Groups(GetNumGroups(sizes.m_Depth)),
      m_IsInt8(rows <= MicrokernelsInt16::MaxInt8Rows && weights.m_ZeroPoint == 0), m_NumPaddedColumns(MakePanels()),
      m_Arrays(m_NumPaddedColumns, weights.m_Rounding)
{
    if (weights.m_Scales.empty())
    {
        m_IsExact = false;
        return;
    }
    SetUpColumns(weights, store, isTransposed);
    if (!IsExact())
    {
        return;
    }
    m_Zeros.resize(sizes.m_Depth);
    m_Data = store.GetBlock(m_NumPaddedColumns * m_Groups * GetPairBytes(),
                            [&](std::byte* to)
                            {
                                for (const PanelInt16& panel : m_Panels)
                                {
                                    PackPanel(panel, weights, isTransposed, to);
                                }
                            });
    for (PanelInt16& panel : m_Panels)
    {
        FindSlices(panel);
    }
}

uint64_t PackedWeightsInt16::GetPackedBytes(const WeightSizesInt16& sizes)
{
    const size_t lanes = GetMicrokernelsInt16().m_Lanes;
    const uint64_t paddedColumns =
        uint64_t{sizes.m_Groups} * GetNumVectors(sizes.m_Columns / sizes.m_Groups, lanes) * lanes;
    return paddedColumns * (GetNumGroups(sizes.m_Depth) * sizeof(int32_t) + RequantizeArraysInt16::PaddedColumnBytes) +
           sizes.m_Depth * sizeof(int16_t);
}

size_t PackedWeightsInt16::MakePanels()
{
    const size_t lanes = m_Microkernels->m_Lanes;
    const size_t groupColumns = m_Sizes.m_Columns / m_Sizes.m_Groups;
    size_t paddedColumn = 0;
    for (size_t group = 0; group < m_Sizes.m_Groups; ++group)
    {
        size_t column = 0;
        for (size_t left = GetNumVectors(groupColumns, lanes); left > 0;)
        {
            size_t width = std::min(left, m_Microkernels->m_Vectors);
            if (left == m_Microkernels->m_Vectors + 1 && left >= 5)
            {
                width = left - 2; // equal widths: a last panel of one vector would be slow
            }
            PanelInt16 panel;
            panel.m_Column = group * groupColumns + column;
            panel.m_Columns = std::min(width * lanes, groupColumns - column);
            panel.m_Vectors = width;
            panel.m_PaddedColumn = paddedColumn;
            panel.m_Group = group;
            m_Panels.push_back(panel);
            paddedColumn += width * lanes;
            column += width * lanes;
            left -= width;
        }
    }
    return paddedColumn;
}

void PackedWeightsInt16::SetUpColumns(const WeightReaderInt16& weights, backends::PackedStore& store, bool isTransposed)
{
    const size_t columns = m_Sizes.m_Columns;
    const backends::PackedBlock sums =
        store.GetBlock(columns * sizeof(int64_t),
                       [&](std::byte* to) {
                           SumMagnitudes(weights, m_Sizes, isTransposed, {reinterpret_cast<int64_t*>(to), columns});
                       });
    const std::vector<int64_t> magnitudes = weights.ClampMagnitudes(sums.As<int64_t>(), columns, m_Sizes.m_Depth);
    m_FitsOneSlice = *std::max_element(magnitudes.begin(), magnitudes.end()) <= RequantizeArraysInt16::MaxMagnitude;
    for (const PanelInt16& panel : m_Panels)
    {
        for (size_t i = 0; i < panel.m_Columns; ++i)
        {
            const size_t column = panel.m_Column + i;
            m_Arrays.Set(panel.m_PaddedColumn + GetPaddedColumnInt16(i, panel.m_Vectors, m_Microkernels->m_Lanes),
                         magnitudes[column], weights.GetBias(column), weights.GetScale(column));
        }
    }
}

void PackedWeightsInt16::PackPanel(const PanelInt16& panel, const WeightReaderInt16& weights, bool isTransposed,
                                   std::byte* data) const
{
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
    // Weights of padding columns.
    const std::vector<int8_t> none(panel.m_Columns == width ? 0 : m_Sizes.m_Depth, weights.m_ZeroPoint);
    const int8_t* rows[MaxPanelColumns];
    std::fill_n(rows, width, none.data());
    const PackLoopsInt16& loops = GetPackLoopsInt16();
    const auto pack = m_IsInt8 ? loops.m_PackInt8 : loops.m_PackInt16;
    std::byte* to = data + panel.m_PaddedColumn * m_Groups * GetPairBytes();
    ForEachSegment(weights, m_Sizes, isTransposed, panel.m_Column, panel.m_Columns,
                   [&](const int8_t* values, size_t stride, size_t depth)
                   {
                       for (size_t c = 0; c < panel.m_Columns; ++c)
                       {
                           rows[GetPaddedColumnInt16(c, panel.m_Vectors, m_Microkernels->m_Lanes)] =
                               values + c * stride;
                       }
                       pack(rows, width, depth, weights.m_ZeroPoint, to);
                       to += GetNumGroups(depth) * width * GetPairBytes();
                   });
}

void PackedWeightsInt16::FindSlices(PanelInt16& panel)
{
    panel.m_FirstSlice = m_Slices.size();
    if (!m_FitsOneSlice)
    {
        const PackLoopsInt16& loops = GetPackLoopsInt16();
        const auto countFitting = m_IsInt8 ? loops.m_CountFittingInt8 : loops.m_CountFittingInt16;
        // A single group always fits, except in weights from a corrupt file; a slice then has one group.
        const auto getEnd = [&](size_t begin)
        { return begin + std::max<size_t>(1, countFitting(GetData(panel, begin), m_Groups - begin, panel.m_Vectors)); };
        for (size_t g = getEnd(0); g < m_Groups; g = getEnd(g))
        {
            m_Slices.push_back(g);
        }
    }
    m_Slices.push_back(m_Groups);
    panel.m_LastSlice = m_Slices.size();
}

} // namespace tenon::cpu
