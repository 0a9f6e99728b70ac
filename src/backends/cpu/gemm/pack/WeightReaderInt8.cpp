// SPDX-License-Identifier: Apache-2.0
// See WeightReaderInt8.hpp.
#include "backends/cpu/gemm/pack/WeightReaderInt8.hpp"

#include "backends/reference/kernels/UnpackedWeights.hpp"

namespace tenon::cpu
{

WeightReaderInt8::WeightReaderInt8(const LayerView& layer, const WeightFormatInt8& bytes,
                                   std::span<const void* const> segments)
    : m_Count(bytes.m_Columns * bytes.m_Depth), m_IsTransposed(bytes.m_IsTransposed),
      m_IsInt4(layer.GetInput(1).GetDataType() == DataType::QSymmS4)
{
    const void* const input = layer.m_ConstantData[1];
    for (const void* const segment : segments.empty() ? std::span(&input, 1) : segments)
    {
        m_Segments.m_Segments.push_back(static_cast<const uint8_t*>(segment));
    }
    m_Segments.m_Columns = bytes.m_Columns / m_Segments.m_Segments.size();
    m_Segments.m_Depth = bytes.m_Depth;
}

const uint8_t* WeightReaderInt8::GetColumns(size_t first, size_t count)
{
    if (m_Segments.m_Segments.size() > 1)
    {
        return JoinColumns(first, count);
    }
    const uint8_t* const bytes = m_Segments.m_Segments[0];
    const size_t depth = m_Segments.m_Depth;
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
    ref::Unpack(reinterpret_cast<const int8_t*>(bytes) + begin / 2, m_Unpacked.size(), m_Unpacked.data());
    return reinterpret_cast<const uint8_t*>(m_Unpacked.data()) + odd;
}

const uint8_t* WeightReaderInt8::JoinColumns(size_t first, size_t count)
{
    const uint8_t* columns = nullptr;
    m_Unpacked.clear();
    m_Segments.ForEachRun(first, count,
                          [&](size_t, size_t ofRun, const uint8_t* weights)
                          {
                              columns = weights;
                              if (ofRun != count)
                              {
                                  m_Unpacked.insert(m_Unpacked.end(), weights, weights + ofRun * m_Segments.m_Depth);
                              }
                          });
    return m_Unpacked.empty() ? columns : reinterpret_cast<const uint8_t*>(m_Unpacked.data());
}

} // namespace tenon::cpu
