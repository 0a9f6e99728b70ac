// SPDX-License-Identifier: Apache-2.0
// PackedWeightsBf16: panels of columns one after the other, and the bias in float32.
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"

#include "common/HalfFloat.hpp"

#include <algorithm>

namespace tenon::cpu
{

PackedWeightsBf16::PackedWeightsBf16(FunctionRef<const uint16_t*()> getWeights, const WeightSizes& sizes,
                                     WeightOrder order, const LayerView& layer, backends::PackedStore& store)
    : m_Panels(sizes), m_Zeros(sizes.m_RowDepth * sizeof(uint16_t))
{
    std::fill_n(reinterpret_cast<uint16_t*>(m_Zeros.Data()), sizes.m_RowDepth, uint16_t{0});
    const size_t stride = order == WeightOrder::Columns ? sizes.m_Depth : sizes.m_Columns;
    const auto pack = [&](std::byte* to)
    {
        const uint16_t* const weights = getWeights();
        auto* packed = reinterpret_cast<uint16_t*>(to);
        for (size_t panel = 0; panel < m_Panels.GetPanels(); ++panel)
        {
            m_Panels.Pack(panel, weights, order, stride, packed);
            packed += m_Panels.GetElements({panel, panel + 1});
        }
    };
    m_Data = store.GetBlock(m_Panels.GetVectors() * m_Panels.GetVectorElements() * sizeof(uint16_t), pack);
    PackBias(layer);
}

uint64_t PackedWeightsBf16::GetPackedBytes(const WeightSizes& sizes)
{
    const PanelsBf16 panels(sizes);
    const uint64_t bias = uint64_t{panels.GetVectors()} * panels.GetMicrokernels().m_Lanes * sizeof(float);
    return (uint64_t{panels.GetVectors()} * panels.GetVectorElements() + sizes.m_RowDepth) * sizeof(uint16_t) + bias;
}

void PackedWeightsBf16::PackBias(const LayerView& layer)
{
    const size_t padded = m_Panels.GetVectors() * m_Panels.GetMicrokernels().m_Lanes;
    m_Bias = AlignedMemory(padded * sizeof(float));
    auto* bias = reinterpret_cast<float*>(m_Bias.Data());
    std::fill_n(bias, padded, 0.0f);
    if (!layer.HasInput(2))
    {
        return;
    }
    if (layer.GetInput(2).GetDataType() == DataType::Float32)
    {
        std::copy_n(static_cast<const float*>(layer.m_ConstantData[2]), GetSizes().m_Columns, bias);
        return;
    }
    const auto* halves = static_cast<const uint16_t*>(layer.m_ConstantData[2]);
    std::transform(halves, halves + GetSizes().m_Columns, bias, BFloat16ToFloat);
}

} // namespace tenon::cpu
