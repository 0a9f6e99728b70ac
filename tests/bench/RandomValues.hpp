// SPDX-License-Identifier: Apache-2.0
// Random numbers of any element type, for inputs and constants of benchmarks.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <random>

namespace tenon::bench
{

/// Floats of up to `most` in magnitude, which of 16 bits are at least a 32nd of it: none are subnormal. Booleans; any
/// bytes of other types.
void FillRandom(DataType type, void* data, size_t bytes, std::mt19937& random, float max = 1.0f);

} // namespace tenon::bench
