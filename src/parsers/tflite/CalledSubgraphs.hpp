// SPDX-License-Identifier: Apache-2.0
// Checks of NetworkBuilder before it reads a called subgraph: whether it exists, and whether it fits.
#pragma once

#include "parsers/tflite/NetworkBuilder.hpp"

#include <cstddef>

namespace tenon::tflite
{

/// The subgraphs of the source. Throws ParseException if it has only one.
ISubgraphs& Subgraphs(const Construction& construction);

/// Throws ParseException unless the number of operands or results (`kind`) equals the number that the subgraph of this
/// index has.
void CheckCount(const char* kind, size_t count, size_t index, size_t wanted);

} // namespace tenon::tflite
