// SPDX-License-Identifier: Apache-2.0
// See CalledSubgraphs.hpp.
#include "parsers/tflite/CalledSubgraphs.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

namespace tenon::tflite
{

CallLevel::CallLevel(Construction& construction) : m_Construction(construction)
{
    if (construction.m_Depth >= construction.m_Limits.m_MaxNesting)
    {
        throw ParseException(fmt::format("subgraphs call each other more than {} levels deep "
                                         "(Limits::m_MaxNesting)",
                                         construction.m_Limits.m_MaxNesting));
    }
    ++construction.m_Depth;
}

ISubgraphs& Subgraphs(const Construction& construction)
{
    if (construction.m_Subgraphs == nullptr)
    {
        throw ParseException("calls another subgraph, but its source has only one");
    }
    return *construction.m_Subgraphs;
}

void CountVisit(Construction& construction, uint64_t cost)
{
    construction.m_VisitCost += cost;
    if (construction.m_VisitCost > construction.m_Limits.m_MaxLayers)
    {
        throw ParseException(fmt::format("the subgraphs that are called have more than {} operators and tensors "
                                         "together, each time counted, and long names and lists as several "
                                         "(Limits::m_MaxLayers)",
                                         construction.m_Limits.m_MaxLayers));
    }
}

void CheckCount(const char* kind, size_t count, size_t index, size_t wanted)
{
    if (count != wanted)
    {
        throw ParseException(fmt::format("has {} {} to pass, but subgraph {} has {}", count, kind, index, wanted));
    }
}

} // namespace tenon::tflite
