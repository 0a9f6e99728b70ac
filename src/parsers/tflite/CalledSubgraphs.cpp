// SPDX-License-Identifier: Apache-2.0
// See CalledSubgraphs.hpp.
#include "parsers/tflite/CalledSubgraphs.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

namespace tenon::tflite
{

ISubgraphs& Subgraphs(const Construction& construction)
{
    if (construction.m_Subgraphs == nullptr)
    {
        throw ParseException("calls another subgraph, but its source has only one");
    }
    return *construction.m_Subgraphs;
}

void CheckCount(const char* kind, size_t count, size_t index, size_t wanted)
{
    if (count != wanted)
    {
        throw ParseException(fmt::format("has {} {} to pass, but subgraph {} has {}", count, kind, index, wanted));
    }
}

} // namespace tenon::tflite
