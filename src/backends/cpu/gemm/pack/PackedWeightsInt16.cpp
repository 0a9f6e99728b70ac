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

constexpr size_t MostPlaces = Engine16::MostVectors * Engine16::MostLanes;

/// Calls f(values, stride, depth) for each segment of the depth of `count` columns from `first` on; columns are
/// `stride` apart. Segments of transposed weights are first copied to a buffer that fits the first-level cache.
template <typename F>
void ForEachPart(const Weights16& weights, const Sizes16& sizes, bool isTransposed, size_t first, size_t count,
                 const F& f)
{
    if (!isTransposed)
    {
        f(weights.m_Values + first * sizes.m_Depth, sizes.m_Depth, sizes.m_Depth);
        return;
    }
    constexpr size_t PartDepth = 256;
    int8_t columns[MostPlaces * PartDepth];
    for (size_t begin = 0; begin < sizes.m_Depth; begin += PartDepth)
    {
        const size_t depth = std::min(PartDepth, sizes.m_Depth - begin);
        TransposeBytes(reinterpret_cast<const std::byte*>(weights.m_Values + begin * sizes.m_Columns + first),
                       sizes.m_Columns, count, depth, reinterpret_cast<std::byte*>(columns), PartDepth);
        f(columns, PartDepth, depth);
    }
}

/// The sum of magnitudes of each column.
void SumMagnitudes(const Weights16& weights, const Sizes16& sizes, bool isTransposed, std::span<int64_t> magnitudes)
{
    std::fill(magnitudes.begin(), magnitudes.end(), int64_t{0});
    const PackLoops16& loops = GetPackLoops16();
    for (size_t first = 0; first < sizes.m_Columns; first += MostPlaces)
    {
        const size_t count = std::min(MostPlaces, sizes.m_Columns - first);
        ForEachPart(weights, sizes, isTransposed, first, count,
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

PackedWeights16::PackedWeights16(const Weights16& weights, const Sizes16& sizes, size_t rows,
                                 backends::PackedStore& store, bool isTransposed)
    : m_Engine(&GetEngine16()), m_Sizes(sizes), m_Groups(GetNumGroups(sizes.m_Depth)),
      m_AreBytes(rows <= Engine16::MostByteRows && weights.m_ZeroPoint == 0), m_Places(MakePanels()),
      m_Arrays(m_Places, weights.m_Rounding)
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
    m_Data = store.GetBlock(m_Places * m_Groups * GetPairBytes(),
                            [&](std::byte* to)
                            {
                                for (const Panel16& panel : m_Panels)
                                {
                                    PackPanel(panel, weights, isTransposed, to);
                                }
                            });
    for (Panel16& panel : m_Panels)
    {
        FindSlices(panel);
    }
}

uint64_t PackedWeights16::GetPackedBytes(const Sizes16& sizes)
{
    const size_t lanes = GetEngine16().m_Lanes;
    const uint64_t places = uint64_t{sizes.m_Groups} * GetNumVectors(sizes.m_Columns / sizes.m_Groups, lanes) * lanes;
    return places * (GetNumGroups(sizes.m_Depth) * sizeof(int32_t) + RequantizeArrays16::PlaceBytes) +
           sizes.m_Depth * sizeof(int16_t);
}

size_t PackedWeights16::MakePanels()
{
    const size_t lanes = m_Engine->m_Lanes;
    const size_t groupColumns = m_Sizes.m_Columns / m_Sizes.m_Groups;
    size_t place = 0;
    for (size_t group = 0; group < m_Sizes.m_Groups; ++group)
    {
        size_t column = 0;
        for (size_t left = GetNumVectors(groupColumns, lanes); left > 0;)
        {
            size_t width = std::min(left, m_Engine->m_Vectors);
            if (left == m_Engine->m_Vectors + 1 && left >= 5)
            {
                width = left - 2; // equal widths: a last panel of one vector would be slow
            }
            Panel16 panel;
            panel.m_Column = group * groupColumns + column;
            panel.m_Columns = std::min(width * lanes, groupColumns - column);
            panel.m_Vectors = width;
            panel.m_Place = place;
            panel.m_Group = group;
            m_Panels.push_back(panel);
            place += width * lanes;
            column += width * lanes;
            left -= width;
        }
    }
    return place;
}

void PackedWeights16::SetUpColumns(const Weights16& weights, backends::PackedStore& store, bool isTransposed)
{
    const size_t columns = m_Sizes.m_Columns;
    const backends::PackedBlock sums =
        store.GetBlock(columns * sizeof(int64_t),
                       [&](std::byte* to) {
                           SumMagnitudes(weights, m_Sizes, isTransposed, {reinterpret_cast<int64_t*>(to), columns});
                       });
    const std::vector<int64_t> magnitudes = weights.ClampMagnitudes(sums.As<int64_t>(), columns, m_Sizes.m_Depth);
    m_FitsOneSlice = *std::max_element(magnitudes.begin(), magnitudes.end()) <= RequantizeArrays16::MostMagnitude;
    for (const Panel16& panel : m_Panels)
    {
        for (size_t i = 0; i < panel.m_Columns; ++i)
        {
            const size_t column = panel.m_Column + i;
            m_Arrays.Set(panel.m_Place + GetPlace16(i, panel.m_Vectors, m_Engine->m_Lanes), magnitudes[column],
                         weights.GetBias(column), weights.GetScale(column));
        }
    }
}

void PackedWeights16::PackPanel(const Panel16& panel, const Weights16& weights, bool isTransposed,
                                std::byte* data) const
{
    const size_t width = panel.m_Vectors * m_Engine->m_Lanes;
    // Weights of padding columns.
    const std::vector<int8_t> none(panel.m_Columns == width ? 0 : m_Sizes.m_Depth, weights.m_ZeroPoint);
    const int8_t* rows[MostPlaces];
    std::fill_n(rows, width, none.data());
    const PackLoops16& loops = GetPackLoops16();
    const auto pack = m_AreBytes ? loops.m_PackBytes : loops.m_PackShorts;
    std::byte* to = data + panel.m_Place * m_Groups * GetPairBytes();
    ForEachPart(weights, m_Sizes, isTransposed, panel.m_Column, panel.m_Columns,
                [&](const int8_t* values, size_t stride, size_t depth)
                {
                    for (size_t c = 0; c < panel.m_Columns; ++c)
                    {
                        rows[GetPlace16(c, panel.m_Vectors, m_Engine->m_Lanes)] = values + c * stride;
                    }
                    pack(rows, width, depth, weights.m_ZeroPoint, to);
                    to += GetNumGroups(depth) * width * GetPairBytes();
                });
}

void PackedWeights16::FindSlices(Panel16& panel)
{
    panel.m_FirstSlice = m_Slices.size();
    if (!m_FitsOneSlice)
    {
        const PackLoops16& loops = GetPackLoops16();
        const auto countFitting = m_AreBytes ? loops.m_CountFittingBytes : loops.m_CountFittingShorts;
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
