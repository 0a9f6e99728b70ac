// SPDX-License-Identifier: Apache-2.0
// Packing of constant float32 weights.
#include "backends/cpu/gemm/PackedWeightsF32.hpp"

#include "backends/cpu/moves/TransposeVectors.hpp"

#include <algorithm>

namespace tenon::cpu
{

PackedWeightsF32::PackedWeightsF32(FunctionRef<const float*()> getWeights, const WeightSizes& sizes, WeightOrder order,
                                   backends::PackedStore& store)
    : m_Panels(sizes), m_Zeros(sizes.m_RowDepth * sizeof(float))
{
    std::fill_n(reinterpret_cast<float*>(m_Zeros.Data()), sizes.m_RowDepth, 0.0f);
    m_Data = store.GetBlock(m_Panels.GetFloats() * sizeof(float),
                            [&](std::byte* to)
                            {
                                const float* const weights = getWeights();
                                const size_t stride = order == WeightOrder::Columns ? sizes.m_Depth : sizes.m_Columns;
                                for (const PanelF32& panel : m_Panels.Get())
                                {
                                    m_Panels.Pack(panel, weights, order, stride,
                                                  reinterpret_cast<float*>(to) + panel.m_Offset);
                                }
                            });
}

std::unique_ptr<PackedWeightsF32> PackedWeightsF32::MakePlain(const float* weights, const WeightSizes& sizes,
                                                              WeightOrder order, backends::PackedStore& store)
{
    std::unique_ptr<PackedWeightsF32> plain(new PackedWeightsF32(PanelsF32::MakeNone(sizes)));
    plain->m_Plain = weights;
    if (order == WeightOrder::Depth && sizes.m_Columns != 1)
    {
        plain->m_Data = store.GetBlock(sizes.m_Columns * sizes.m_Depth * sizeof(float),
                                       [&](std::byte* to)
                                       {
                                           TransposeFloats(weights, sizes.m_Columns, sizes.m_Columns, sizes.m_Depth,
                                                           reinterpret_cast<float*>(to), sizes.m_Depth);
                                       });
        plain->m_Plain = plain->m_Data.As<float>();
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

bool AreFewColumns(const WeightSizes& sizes)
{
    // Shorter columns are not worth adding up the lanes of their sums.
    constexpr size_t LeastVectors = 4;
    const size_t lanes = GetEngineF32().m_Lanes;
    return sizes.m_Groups == 1 && sizes.m_Columns <= lanes / 2 && sizes.m_Depth >= LeastVectors * lanes;
}

std::unique_ptr<PackedWeightsF32> PackMatrix(const float* weights, const WeightSizes& sizes, WeightOrder order,
                                             size_t rows, backends::PackedStore& store)
{
    constexpr size_t FewRows = 4;
    const bool isPlain = AreFewColumns(sizes) || (order == WeightOrder::Columns && rows <= FewRows);
    return isPlain ? PackedWeightsF32::MakePlain(weights, sizes, order, store)
                   : std::make_unique<PackedWeightsF32>(weights, sizes, order, store);
}

} // namespace tenon::cpu
