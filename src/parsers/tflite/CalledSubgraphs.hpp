// SPDX-License-Identifier: Apache-2.0
// What NetworkBuilder asks before it looks into a subgraph that is called: whether there is one, and whether it fits.
#pragma once

#include "parsers/tflite/NetworkBuilder.hpp"

#include <cstddef>

namespace tenon::tflite
{

/// Throws ParseException where the source has only one.
ISubgraphs& Subgraphs(const Construction& construction);

/// Throws ParseException unless so many operands or results (`kind`) are what the subgraph of this index has.
void CheckCount(const char* kind, size_t count, size_t index, size_t wanted);

} // namespace tenon::tflite
