// SPDX-License-Identifier: Apache-2.0
// See FloatWeights.hpp.
#include "backends/cpu/gemm/pack/FloatWeights.hpp"

#include "backends/cpu/elementwise/ConversionLoops.hpp"

#include <algorithm>

namespace tenon::cpu
{

FloatWeights::FloatWeights(const LayerView& layer, size_t input) : m_Type(layer.GetInput(input).GetDataType())
{
    const void* const data = layer.m_ConstantData[input];
    if (m_Type == DataType::Float32)
    {
        m_Floats = static_cast<const float*>(data);
    }
    else
    {
        m_Words = static_cast<const uint16_t*>(data);
    }
}

void FloatWeights::Copy(size_t first, size_t count, float* to) const
{
    if (m_Words == nullptr)
    {
        std::copy_n(m_Floats + first, count, to);
        return;
    }
    FindCast(m_Type, DataType::Float32)(m_Words + first, to, count, {});
}

const float* FloatWeights::Get(size_t first, size_t count, std::vector<float>& memory) const
{
    if (m_Words == nullptr)
    {
        return m_Floats + first;
    }
    memory.resize(count);
    Copy(first, count, memory.data());
    return memory.data();
}

} // namespace tenon::cpu
