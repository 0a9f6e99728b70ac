// SPDX-License-Identifier: Apache-2.0
// See RequantizeArraysInt8.hpp.
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <cstdlib>

namespace tenon::cpu
{

RoundingInt8 GetRounding(const LayerView& layer, RoundingInt8 fixed)
{
    return backends::GetRequantization(layer.m_Type, layer.m_Descriptor) == RequantizationMode::FloatHalfEven
               ? RoundingInt8::Float
               : fixed;
}

std::vector<double> GetScales(const LayerView& layer, RoundingInt8 rounding)
{
    const TensorInfo& data = layer.GetInput(0);
    const TensorInfo& weights = layer.GetInput(1);
    return rounding == RoundingInt8::Float
               ? ref::GetSumFactors(data, weights, layer.GetOutput(0))
               : ref::GetSumScales(data, weights, layer.GetOutput(0), rounding == RoundingInt8::FixedPoint);
}

bool RequantizeArraysInt8::SetColumns(const LayerView& layer, const ColumnSumsInt8& sums,
                                      const WeightFormatInt8& weights, FunctionRef<int64_t(int64_t)> correction)
{
    const std::vector<double> scales = GetScales(layer, m_Rounding);
    if (scales.size() != 1 && scales.size() != weights.m_Columns)
    {
        return false;
    }
    const auto* bias = layer.HasInput(2) ? static_cast<const int32_t*>(layer.m_ConstantData[2]) : nullptr;
    for (size_t c = 0; c < weights.m_Columns; ++c)
    {
        const int64_t own = bias != nullptr ? bias[c] : 0;
        const int64_t sum = sums.GetSum(c) - int64_t{weights.m_ZeroPoint} * static_cast<int64_t>(weights.m_Depth);
        // Data less their zero point are at most 255.
        Set(GetPaddedColumnInt8(c, weights.m_Columns, GetMicrokernelsInt8().m_Lanes, weights.m_Matrices),
            sums.GetMagnitudes(c) * 255 + std::abs(own), own + correction(sum), scales[scales.size() == 1 ? 0 : c]);
    }
    return true;
}

} // namespace tenon::cpu
