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
    return layer.GetInput(0).GetDataType() == DataType::Float32
               ? RoundingInt8::None
               : GetRounding(backends::GetRequantization(layer.m_Type, layer.m_Descriptor), fixed);
}

std::vector<double> GetScales(const TensorInfo& data, const TensorInfo& weights, const TensorInfo& output,
                              RoundingInt8 rounding)
{
    return rounding == RoundingInt8::Float
               ? ref::GetSumFactors(data, weights, output)
               : ref::GetSumScales(data, weights, output, rounding == RoundingInt8::FixedPoint);
}

std::vector<double> GetScales(const LayerView& layer, RoundingInt8 rounding)
{
    return GetScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), rounding);
}

bool FitsRegisters(const std::vector<double>& scales, RoundingInt8 rounding)
{
    const auto isShifted = [](double scale)
    { return RequantizeColumns::IsShifted(backends::QuantizeMultiplier(scale).m_Shift); };
    return rounding == RoundingInt8::Float || std::all_of(scales.begin(), scales.end(), isShifted);
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
