// SPDX-License-Identifier: Apache-2.0
// Packing of the weights of products of 16-bit data: two weights of the depth beside each other, less their zero point.
#include "backends/cpu/gemm/PackedWeights16.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

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

/// The sum of the magnitudes of each column.
void SumMagnitudes(const Weights16& weights, const Sizes16& sizes, bool isTransposed, std::span<int64_t> magnitudes)
{
    std::fill(magnitudes.begin(), magnitudes.end(), int64_t{0});
    if (isTransposed)
    {
        for (size_t k = 0, i = 0; k < sizes.m_Depth; ++k)
        {
            for (int64_t& magnitude : magnitudes)
            {
                magnitude += std::abs(weights.GetValue(i++));
            }
        }
        return;
    }
    for (size_t c = 0; c < sizes.m_Columns; ++c)
    {
        const int8_t* column = weights.m_Values + c * sizes.m_Depth;
        constexpr size_t Part = 1 << 20; // whose sum fits 32 bits
        for (size_t begin = 0; begin < sizes.m_Depth; begin += Part)
        {
            int32_t sum = 0;
            for (size_t k = begin; k < std::min(begin + Part, sizes.m_Depth); ++k)
            {
                sum += std::abs(column[k] - weights.m_ZeroPoint);
            }
            magnitudes[c] += sum;
        }
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
                                    m_AreBytes ? PackPanel<int8_t>(panel, weights, isTransposed, to)
                                               : PackPanel<int16_t>(panel, weights, isTransposed, to);
                                }
                            });
    for (Panel16& panel : m_Panels)
    {
        m_AreBytes ? FindSlices<int8_t>(panel) : FindSlices<int16_t>(panel);
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
                width = left - 2; // a lone vector at the end would make a slow panel
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
    // Sums that wrap around need no slices.
    m_FitsOneSlice = weights.m_Rounding == Rounding16::FixedPoint ||
                     *std::max_element(magnitudes.begin(), magnitudes.end()) <= RequantizeArrays16::MostMagnitude;
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

template <typename T>
void PackedWeights16::PackPanel(const Panel16& panel, const Weights16& weights, bool isTransposed,
                                std::byte* data) const
{
    const size_t width = panel.m_Vectors * m_Engine->m_Lanes;
    auto* const packed = reinterpret_cast<T*>(data) + 2 * panel.m_Place * m_Groups;
    if (panel.m_Columns != width)
    {
        std::fill_n(packed, 2 * width * m_Groups, T{0});
    }
    size_t places[Engine16::MostVectors * Engine16::MostLanes];
    for (size_t c = 0; c < panel.m_Columns; ++c)
    {
        places[c] = GetPlace16(c, panel.m_Vectors, m_Engine->m_Lanes);
    }
    // A part of the depth at a time, widened first: it fits the first-level cache.
    constexpr size_t ChunkDepth = 64;
    T wide[Engine16::MostVectors * Engine16::MostLanes][ChunkDepth];
    for (size_t begin = 0; begin < m_Sizes.m_Depth; begin += ChunkDepth)
    {
        const size_t count = std::min(ChunkDepth, m_Sizes.m_Depth - begin);
        for (size_t c = 0; c < panel.m_Columns; ++c)
        {
            const size_t column = panel.m_Column + c;
            isTransposed ? weights.Widen(begin * m_Sizes.m_Columns + column, m_Sizes.m_Columns, count, wide[c])
                         : weights.Widen(column * m_Sizes.m_Depth + begin, 1, count, wide[c]);
            if (count % 2 != 0)
            {
                wide[c][count] = 0;
            }
        }
        T* to = packed + begin * width;
        for (size_t k = 0; k < count; k += 2, to += 2 * width)
        {
            for (size_t c = 0; c < panel.m_Columns; ++c)
            {
                std::memcpy(to + 2 * places[c], &wide[c][k], 2 * sizeof(T));
            }
        }
    }
}

template <typename T>
void PackedWeights16::FindSlices(Panel16& panel)
{
    panel.m_FirstSlice = m_Slices.size();
    if (!m_FitsOneSlice)
    {
        const size_t width = panel.m_Vectors * m_Engine->m_Lanes;
        const auto* pairs = reinterpret_cast<const T*>(GetData(panel, 0));
        std::vector<int32_t> magnitudes(width);
        std::vector<int32_t> ofGroup(width);
        for (size_t g = 0; g < m_Groups; ++g, pairs += 2 * width)
        {
            int32_t most = 0;
            for (size_t i = 0; i < width; ++i)
            {
                ofGroup[i] = std::abs(int32_t{pairs[2 * i]}) + std::abs(int32_t{pairs[2 * i + 1]});
                magnitudes[i] += ofGroup[i];
                most = std::max(most, magnitudes[i]);
            }
            if (most > RequantizeArrays16::MostMagnitude)
            {
                m_Slices.push_back(g);
                magnitudes.swap(ofGroup);
            }
        }
    }
    m_Slices.push_back(m_Groups);
    panel.m_LastSlice = m_Slices.size();
}

} // namespace tenon::cpu
