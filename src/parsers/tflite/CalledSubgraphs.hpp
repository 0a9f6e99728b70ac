// SPDX-License-Identifier: Apache-2.0
// What NetworkBuilder asks before it looks into a subgraph that is called: whether there is one, whether it fits, and
// whether calls are too deep or too many.
#pragma once

#include "parsers/tflite/NetworkBuilder.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::tflite
{

/// Counts a level of subgraphs within subgraphs while it lives.
class CallLevel
{
public:
    /// Throws ParseException where there are too many.
    explicit CallLevel(Construction& construction);
    ~CallLevel() { --m_Construction.m_Depth; }
    CallLevel(const CallLevel&) = delete;
    CallLevel& operator=(const CallLevel&) = delete;

private:
    Construction& m_Construction;
};

/// Throws ParseException where the source has only one.
ISubgraphs& Subgraphs(const Construction& construction);

/// A small model may call its subgraphs again and again, each twice from the one before: that must end.
/// Throws ParseException where it is too much.
void CountVisit(Construction& construction, uint64_t cost);

/// Throws ParseException unless so many operands or results (`kind`) are what the subgraph of this index has.
void CheckCount(const char* kind, size_t count, size_t index, size_t wanted);

} // namespace tenon::tflite
