// SPDX-License-Identifier: Apache-2.0
// Random numbers of any element type, for inputs and constants of benchmarks.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <random>

namespace tenon::bench
{

/// Fills memory with floats of up to `max` in magnitude. 16-bit floats are at least a 32nd of it, so that none is
/// subnormal. Booleans get 0 or 1, other types any bytes.
void FillRandom(DataType type, void* data, size_t bytes, std::mt19937& random, float max = 1.0f);

} // namespace tenon::bench
