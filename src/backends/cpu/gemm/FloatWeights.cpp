// SPDX-License-Identifier: Apache-2.0
// See FloatWeights.hpp.
#include "backends/cpu/gemm/FloatWeights.hpp"

#include "backends/cpu/elementwise/Conversions.hpp"
#include "common/HalfFloat.hpp"

#include <algorithm>

namespace tenon::cpu
{

FloatWeights::FloatWeights(const LayerView& layer, size_t input)
{
    const void* const data = layer.m_ConstantData[input];
    if (layer.GetInput(input).GetDataType() == DataType::Float16)
    {
        m_Halves = static_cast<const uint16_t*>(data);
    }
    else
    {
        m_Floats = static_cast<const float*>(data);
    }
}

void FloatWeights::Copy(size_t first, size_t count, float* to) const
{
    if (m_Halves == nullptr)
    {
        std::copy_n(m_Floats + first, count, to);
        return;
    }
    if (const ConversionLoop loop = FindCast(DataType::Float16, DataType::Float32); loop != nullptr)
    {
        loop(m_Halves + first, to, count, {});
        return;
    }
    std::transform(m_Halves + first, m_Halves + first + count, to, HalfToFloat);
}

const float* FloatWeights::GetAll(size_t count, std::vector<float>& memory) const
{
    if (m_Halves == nullptr)
    {
        return m_Floats;
    }
    memory.resize(count);
    Copy(0, count, memory.data());
    return memory.data();
}

} // namespace tenon::cpu
