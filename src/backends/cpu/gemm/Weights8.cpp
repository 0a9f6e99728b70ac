// SPDX-License-Identifier: Apache-2.0
// See Weights8.hpp.
#include "backends/cpu/gemm/Weights8.hpp"

#include "backends/reference/kernels/UnpackedWeights.hpp"

namespace tenon::cpu
{

Weights8::Weights8(const LayerView& layer, const WeightBytes8& bytes)
    : m_Bytes(static_cast<const uint8_t*>(layer.m_ConstantData[1])), m_Count(bytes.m_Columns * bytes.m_Depth),
      m_Depth(bytes.m_Depth), m_IsTransposed(bytes.m_IsTransposed),
      m_ArePairs(layer.GetInput(1).GetDataType() == DataType::QSymmS4)
{
}

const uint8_t* Weights8::GetColumns(size_t first, size_t count)
{
    const size_t begin = m_IsTransposed ? 0 : first * m_Depth;
    if (!m_ArePairs)
    {
        return m_Bytes + begin;
    }
    const size_t odd = begin % 2; // a column may begin in the middle of a byte
    m_Unpacked.resize(odd + (m_IsTransposed ? m_Count : count * m_Depth));
    ref::Unpack(reinterpret_cast<const int8_t*>(m_Bytes) + begin / 2, m_Unpacked.size(), m_Unpacked.data());
    return reinterpret_cast<const uint8_t*>(m_Unpacked.data()) + odd;
}

} // namespace tenon::cpu
