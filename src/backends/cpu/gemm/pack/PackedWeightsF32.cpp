// SPDX-License-Identifier: Apache-2.0
// Packing of constant float32 weights.
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"

#include "backends/cpu/gemm/kernels/f32/DotProductsF32.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

PackedWeightsF32::PackedWeightsF32(PanelsF32 panels, const WeightSizes& sizes)
    : m_Panels(std::move(panels)), m_Zeros(sizes.m_RowDepth * sizes.m_Groups * sizeof(float))
{
    std::fill_n(reinterpret_cast<float*>(m_Zeros.Data()), sizes.m_RowDepth * sizes.m_Groups, 0.0f);
}

PackedWeightsF32::PackedWeightsF32(const WeightSizes& sizes, backends::PackedStore& store,
                                   FunctionRef<void(const PanelF32&, float*)> pack)
    : PackedWeightsF32(PanelsF32(sizes), sizes)
{
    m_Data = store.GetBlock(m_Panels.GetFloats() * sizeof(float),
                            [&](std::byte* to)
                            {
                                for (const PanelF32& panel : m_Panels.Get())
                                {
                                    pack(panel, reinterpret_cast<float*>(to) + panel.m_Offset);
                                }
                            });
}

PackedWeightsF32::PackedWeightsF32(FunctionRef<const float*()> getWeights, const WeightSizes& sizes, WeightOrder order,
                                   backends::PackedStore& store)
    : PackedWeightsF32(sizes, store,
                       [&, weights = static_cast<const float*>(nullptr)](const PanelF32& panel, float* to) mutable
                       {
                           weights = weights == nullptr ? getWeights() : weights;
                           m_Panels.Pack(panel, FloatWeights(weights), order, to);
                       })
{
}

PackedWeightsF32::PackedWeightsF32(const FloatWeights& weights, const WeightSizes& sizes, WeightOrder order,
                                   backends::PackedStore& store)
    : PackedWeightsF32(sizes, store,
                       [&](const PanelF32& panel, float* to) { m_Panels.Pack(panel, weights, order, to); })
{
}

std::unique_ptr<PackedWeightsF32> PackedWeightsF32::MakeUnpacked(const FloatWeights& weights, const WeightSizes& sizes,
                                                                 WeightOrder order, bool isReadOnce,
                                                                 backends::PackedStore& store)
{
    std::unique_ptr<PackedWeightsF32> unpacked(new PackedWeightsF32(PanelsF32::MakeEmpty(sizes), sizes));
    const size_t count = sizes.m_Columns * sizes.m_Depth;
    const bool isTransposed = order == WeightOrder::Depth && sizes.m_Columns != 1;
    if (!isTransposed && (!weights.Is16Bit() || (isReadOnce && CanWidenOnLoad())))
    {
        unpacked->m_Unpacked = weights.GetData();
        unpacked->m_UnpackedType = weights.GetType();
        return unpacked;
    }
    unpacked->m_Data = store.GetBlock(count * sizeof(float),
                                      [&](std::byte* to)
                                      {
                                          auto* const floats = reinterpret_cast<float*>(to);
                                          if (!isTransposed)
                                          {
                                              weights.Copy(0, count, floats);
                                              return;
                                          }
                                          std::vector<float> copy;
                                          TransposeFloats(weights.GetAll(count, copy), sizes.m_Columns, sizes.m_Columns,
                                                          sizes.m_Depth, floats, sizes.m_Depth);
                                      });
    unpacked->m_Unpacked = unpacked->m_Data.As<float>();
    return unpacked;
}

uint64_t PackedWeightsF32::GetPackedBytes(const WeightSizes& sizes)
{
    const MicrokernelsF32& microkernels = GetMicrokernelsF32();
    const uint64_t columns = sizes.m_Columns / sizes.m_Groups;
    const uint64_t vectors = (columns + microkernels.m_Lanes - 1) / microkernels.m_Lanes;
    const uint64_t panels = (vectors + microkernels.m_Vectors - 1) / microkernels.m_Vectors;
    return sizes.m_Groups *
               (vectors * microkernels.m_Lanes * sizes.m_Depth * sizeof(float) + panels * sizeof(PanelF32)) +
           sizes.m_RowDepth * sizes.m_Groups * sizeof(float);
}

bool HasFewColumns(const WeightSizes& sizes)
{
    // Shorter columns do not pay for the horizontal addition of their sums.
    constexpr size_t MinVectors = 4;
    const size_t lanes = GetMicrokernelsF32().m_Lanes;
    // Measured with AVX2: seven columns take 1.1 times the time of a vector of eight.
    const size_t maxColumns = lanes == 8 ? 6 : lanes / 2;
    return sizes.m_Groups == 1 && sizes.m_Columns <= maxColumns && sizes.m_Depth >= MinVectors * lanes;
}

std::unique_ptr<PackedWeightsF32> PackMatrix(const FloatWeights& weights, const WeightSizes& sizes, WeightOrder order,
                                             size_t rows, backends::PackedStore& store)
{
    constexpr size_t FewRows = 4;
    const bool isFewRows = rows <= FewRows;
    const bool isUnpacked = HasFewColumns(sizes) || (order == WeightOrder::Columns && isFewRows);
    return isUnpacked ? PackedWeightsF32::MakeUnpacked(weights, sizes, order, isFewRows, store)
                      : std::make_unique<PackedWeightsF32>(weights, sizes, order, store);
}

} // namespace tenon::cpu
