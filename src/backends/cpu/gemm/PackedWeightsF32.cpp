// SPDX-License-Identifier: Apache-2.0
// Packing of float32 weights into panels.
#include "backends/cpu/gemm/PackedWeightsF32.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

PackedWeightsF32::PackedWeightsF32(const float* weights, const WeightSizes& sizes, WeightOrder order)
    : m_Engine(&GetEngineF32()), m_Sizes(sizes), m_Zeros(sizes.m_RowDepth * sizeof(float))
{
    std::fill_n(reinterpret_cast<float*>(m_Zeros.Data()), sizes.m_RowDepth, 0.0f);
    MakePanels();
    for (const PanelF32& panel : m_Panels)
    {
        Pack(panel, weights, order);
    }
}

std::unique_ptr<PackedWeightsF32> PackedWeightsF32::MakePlain(const float* weights, const WeightSizes& sizes,
                                                              WeightOrder order)
{
    std::unique_ptr<PackedWeightsF32> plain(new PackedWeightsF32(sizes));
    plain->m_Plain = weights;
    if (order == WeightOrder::Depth && sizes.m_Columns != 1)
    {
        plain->m_Data = AlignedMemory(sizes.m_Columns * sizes.m_Depth * sizeof(float));
        auto* turned = reinterpret_cast<float*>(plain->m_Data.Data());
        for (size_t k = 0; k < sizes.m_Depth; ++k)
        {
            for (size_t c = 0; c < sizes.m_Columns; ++c)
            {
                turned[c * sizes.m_Depth + k] = *weights++;
            }
        }
        plain->m_Plain = turned;
    }
    return plain;
}

uint64_t PackedWeightsF32::GetPackedBytes(const WeightSizes& sizes)
{
    const EngineF32& engine = GetEngineF32();
    const uint64_t columns = sizes.m_Columns / sizes.m_Groups;
    const uint64_t vectors = (columns + engine.m_Lanes - 1) / engine.m_Lanes;
    const uint64_t panels = (vectors + engine.m_Vectors - 1) / engine.m_Vectors;
    return sizes.m_Groups * (vectors * engine.m_Lanes * sizes.m_Depth * sizeof(float) + panels * sizeof(PanelF32)) +
           sizes.m_RowDepth * sizeof(float);
}

void PackedWeightsF32::MakePanels()
{
    const size_t lanes = m_Engine->m_Lanes;
    const size_t columns = m_Sizes.m_Columns / m_Sizes.m_Groups;
    const size_t vectors = (columns + lanes - 1) / lanes;
    const size_t panels = (vectors + m_Engine->m_Vectors - 1) / m_Engine->m_Vectors;
    size_t offset = 0;
    for (size_t group = 0; group < m_Sizes.m_Groups; ++group)
    {
        size_t column = 0;
        for (size_t i = 0; i < panels; ++i)
        {
            // As equal as can be: a lone vector at the end would make a slow panel.
            const size_t width = vectors / panels + (i < vectors % panels ? 1 : 0);
            m_Panels.push_back(
                {group, group * columns + column, std::min(width * lanes, columns - column), width, offset});
            offset += width * lanes * m_Sizes.m_Depth;
            column += width * lanes;
        }
    }
    m_Data = AlignedMemory(offset * sizeof(float));
}

void PackedWeightsF32::Pack(const PanelF32& panel, const float* weights, WeightOrder order) const
{
    const size_t width = panel.m_Vectors * m_Engine->m_Lanes;
    const size_t depth = m_Sizes.m_Depth;
    float* const packed = reinterpret_cast<float*>(m_Data.Data()) + panel.m_Offset;
    const auto clearRest = [&](float* row) { std::fill(row + panel.m_Columns, row + width, 0.0f); };
    if (order == WeightOrder::Depth)
    {
        for (size_t k = 0; k < depth; ++k)
        {
            std::memcpy(packed + k * width, weights + k * m_Sizes.m_Columns + panel.m_Column,
                        panel.m_Columns * sizeof(float));
            clearRest(packed + k * width);
        }
        return;
    }
    constexpr size_t Block = 16; // a cache line of floats in both directions
    const float* from = weights + panel.m_Column * depth;
    for (size_t k0 = 0; k0 < depth; k0 += Block)
    {
        const size_t kEnd = std::min(depth, k0 + Block);
        for (size_t c0 = 0; c0 < panel.m_Columns; c0 += Block)
        {
            const size_t cEnd = std::min(panel.m_Columns, c0 + Block);
            for (size_t k = k0; k < kEnd; ++k)
            {
                for (size_t c = c0; c < cEnd; ++c)
                {
                    packed[k * width + c] = from[c * depth + k];
                }
            }
        }
        for (size_t k = k0; k < kEnd; ++k)
        {
            clearRest(packed + k * width);
        }
    }
}

bool AreFewColumns(const WeightSizes& sizes)
{
    // Shorter columns are not worth adding up the lanes of their sums.
    constexpr size_t LeastVectors = 4;
    const size_t lanes = GetEngineF32().m_Lanes;
    return sizes.m_Groups == 1 && sizes.m_Columns <= lanes / 2 && sizes.m_Depth >= LeastVectors * lanes;
}

std::unique_ptr<PackedWeightsF32> PackMatrix(const float* weights, const WeightSizes& sizes, WeightOrder order,
                                             size_t rows)
{
    constexpr size_t FewRows = 4;
    const bool isPlain = AreFewColumns(sizes) || (order == WeightOrder::Columns && rows <= FewRows);
    return isPlain ? PackedWeightsF32::MakePlain(weights, sizes, order)
                   : std::make_unique<PackedWeightsF32>(weights, sizes, order);
}

} // namespace tenon::cpu
