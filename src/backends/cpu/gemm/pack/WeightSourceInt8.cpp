// SPDX-License-Identifier: Apache-2.0
// See WeightSourceInt8.hpp.
#include "backends/cpu/gemm/pack/WeightSourceInt8.hpp"

#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "common/FourBits.hpp"

namespace tenon::cpu
{

WeightSourceInt8::WeightSourceInt8(std::span<const void* const> constants, bool isInt4, const WeightFormatInt8& format)
    : m_Columns(format.m_Columns / constants.size()), m_Depth(format.m_Depth),
      m_Count(format.m_Columns * format.m_Depth), m_IsTransposed(format.m_IsTransposed), m_IsInt4(isInt4)
{
    for (const void* const constant : constants)
    {
        m_Segments.push_back(static_cast<const uint8_t*>(constant));
    }
}

const uint8_t* WeightSourceInt8::GetColumns(size_t first, size_t count)
{
    if (m_Segments.size() > 1)
    {
        return JoinColumns(first, count);
    }
    const uint8_t* const bytes = m_Segments[0];
    const size_t depth = m_Depth;
    const size_t begin = m_IsTransposed ? 0 : first * depth;
    if (!m_IsInt4)
    {
        return bytes + begin;
    }
    if (m_IsTransposed && !m_Unpacked.empty())
    {
        return reinterpret_cast<const uint8_t*>(m_Unpacked.data()); // all weights, as before
    }
    const size_t odd = begin % 2; // a column may begin in the middle of a byte
    m_Unpacked.resize(odd + (m_IsTransposed ? m_Count : count * depth));
    UnpackFourBits(bytes + begin / 2, m_Unpacked.size(), true, m_Unpacked.data());
    return reinterpret_cast<const uint8_t*>(m_Unpacked.data()) + odd;
}

const uint8_t* WeightSourceInt8::JoinColumns(size_t first, size_t count)
{
    const uint8_t* columns = nullptr;
    m_Unpacked.clear();
    ForEachRun(first, count,
               [&](size_t, size_t ofRun, const uint8_t* weights)
               {
                   columns = weights;
                   if (ofRun != count)
                   {
                       m_Unpacked.insert(m_Unpacked.end(), weights, weights + ofRun * m_Depth);
                   }
               });
    return m_Unpacked.empty() ? columns : reinterpret_cast<const uint8_t*>(m_Unpacked.data());
}

} // namespace tenon::cpu
