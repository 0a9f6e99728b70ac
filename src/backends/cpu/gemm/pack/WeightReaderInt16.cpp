// SPDX-License-Identifier: Apache-2.0
// See WeightReaderInt16.hpp.
#include "backends/cpu/gemm/pack/WeightReaderInt16.hpp"

#include "backends/reference/kernels/Requantizer.hpp"
#include "common/FourBits.hpp"

#include <algorithm>
#include <cstdlib>

namespace tenon::cpu
{

namespace
{

RoundingInt16 ChooseRounding(const LayerView& layer, bool isDouble, bool sumsOf32Bits)
{
    if (isDouble)
    {
        return RoundingInt16::Double;
    }
    const bool hasBias32 = layer.HasInput(2) ? layer.GetInput(2).GetDataType() == DataType::Signed32 : sumsOf32Bits;
    return hasBias32 ? RoundingInt16::FixedPoint : RoundingInt16::HalfUp;
}

} // namespace

WeightReaderInt16::WeightReaderInt16(const LayerView& layer, size_t columns, bool isDouble, bool sumsOf32Bits)
    : m_Values(static_cast<const int8_t*>(layer.m_ConstantData[1])),
      m_Rounding(ChooseRounding(layer, isDouble, sumsOf32Bits)),
      m_Scales(ref::GetSumScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), !isDouble))
{
    const TensorInfo& info = layer.GetInput(1);
    m_ZeroPoint = info.HasMultipleQuantizationScales() ? int8_t{0} : static_cast<int8_t>(info.GetQuantizationOffset());
    if (m_Scales.size() != 1 && m_Scales.size() != columns)
    {
        m_Scales.clear(); // the reference kernel reports the error
    }
    if (info.GetDataType() == DataType::QSymmS4)
    {
        m_Unpacked.resize(info.GetNumElements());
        UnpackFourBits(m_Values, m_Unpacked.size(), true, m_Unpacked.data());
        m_Values = m_Unpacked.data();
    }
    if (layer.HasInput(2))
    {
        m_Bias = layer.m_ConstantData[2];
        m_IsBias64 = layer.GetInput(2).GetDataType() == DataType::Signed64;
    }
}

WeightReaderInt16::WeightReaderInt16(const int8_t* values, double scale) : m_Values(values), m_Scales{scale} {}

std::vector<int64_t> WeightReaderInt16::ClampMagnitudes(const int64_t* sums, size_t columns, size_t depth) const
{
    const int64_t maxSum = static_cast<int64_t>(depth) * (128 + std::abs(int64_t{m_ZeroPoint}));
    std::vector<int64_t> clamped(columns);
    std::transform(sums, sums + columns, clamped.begin(),
                   [maxSum](int64_t sum) { return std::clamp<int64_t>(sum, 0, maxSum); });
    return clamped;
}

int64_t WeightReaderInt16::GetBias(size_t column) const
{
    if (m_Bias == nullptr)
    {
        return 0;
    }
    return m_IsBias64 ? static_cast<const int64_t*>(m_Bias)[column] : static_cast<const int32_t*>(m_Bias)[column];
}

} // namespace tenon::cpu
