// SPDX-License-Identifier: Apache-2.0
// NetworkSize: see NetworkSize.hpp.
#include "parsers/common/NetworkSize.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

namespace tenon::parsers
{

void NetworkSize::CountLayer()
{
    if (++m_NumLayers > m_Limits.m_MaxLayers)
    {
        throw ParseException(
            fmt::format("the network has more than {} layers (Limits::m_MaxLayers)", m_Limits.m_MaxLayers));
    }
}

void NetworkSize::CountVisit(uint64_t cost)
{
    m_VisitCost += cost;
    if (m_VisitCost > m_Limits.m_MaxLayers)
    {
        throw ParseException(
            fmt::format("the {} that are called have more than {} operators and tensors together, each "
                        "time counted, and long names and lists as several (Limits::m_MaxLayers)",
                        m_Parts, m_Limits.m_MaxLayers));
    }
}

void NetworkSize::CountBytes(uint64_t bytes)
{
    m_NumBytes += bytes;
    if (m_NumBytes > m_Limits.m_MaxTotalBytes)
    {
        throw ParseException(fmt::format("constants that are computed, and states, have more than {} bytes together "
                                         "(Limits::m_MaxTotalBytes)",
                                         m_Limits.m_MaxTotalBytes));
    }
}

NetworkSize::Level::Level(NetworkSize& size) : m_Size(size)
{
    if (size.m_Depth >= size.m_Limits.m_MaxNesting)
    {
        throw ParseException(fmt::format("{} call each other more than {} levels deep (Limits::m_MaxNesting)",
                                         size.m_Parts, size.m_Limits.m_MaxNesting));
    }
    ++size.m_Depth;
}

} // namespace tenon::parsers
