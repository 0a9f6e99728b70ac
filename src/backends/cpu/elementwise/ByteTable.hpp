// SPDX-License-Identifier: Apache-2.0
// Any function of one 8-bit tensor to another, by a table of its 256 results, which the reference kernel computes when
// a layer is prepared.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <cstdint>

namespace tenon::cpu
{

/// Runs a layer with one input and one output of the same shape, both of 8 bits with one scale, whose reference kernel
/// computes each element from its own and throws for no value.
backends::Prepared MakeByteTable(const ReshapeArgs& args, LayerType type);

} // namespace tenon::cpu
