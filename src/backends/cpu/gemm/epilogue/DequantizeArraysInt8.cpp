// SPDX-License-Identifier: Apache-2.0
// See DequantizeArraysInt8.hpp.
#include "backends/cpu/gemm/epilogue/DequantizeArraysInt8.hpp"

#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"

#include <cstring>
#include <vector>

namespace tenon::cpu
{

bool DequantizeArraysInt8::SetColumns(const LayerView& layer, const ColumnSumsInt8& sums,
                                      const WeightFormatInt8& weights, size_t places)
{
    const std::vector<float> scales = layer.GetInput(1).GetQuantizationScales();
    if (scales.size() != 1 && scales.size() != weights.m_Columns)
    {
        return false;
    }
    constexpr int64_t MaxData = 255; // less their zero point
    m_NumPaddedColumns = places;
    m_Memory = AlignedMemory(3 * places * sizeof(float));
    std::memset(m_Memory.Data(), 0, m_Memory.Bytes());
    const auto* bias = layer.HasInput(2) ? static_cast<const float*>(layer.m_ConstantData[2]) : nullptr;
    for (size_t c = 0; c < weights.m_Columns; ++c)
    {
        if (!RequantizeArraysInt8::IsExactFor(sums.GetMagnitudes(c) * MaxData))
        {
            return false;
        }
        const int64_t sum = sums.GetSum(c) - int64_t{weights.m_ZeroPoint} * static_cast<int64_t>(weights.m_Depth);
        const size_t place =
            GetPaddedColumnInt8(c, weights.m_Columns, GetMicrokernelsInt8().m_Lanes, weights.m_Matrices);
        reinterpret_cast<int32_t*>(m_Memory.Data())[place] = static_cast<int32_t>(sum);
        Floats(1)[place] = scales[scales.size() == 1 ? 0 : c];
        Floats(2)[place] = bias != nullptr ? bias[c] : 0.0f;
    }
    return true;
}

} // namespace tenon::cpu
