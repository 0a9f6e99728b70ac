// SPDX-License-Identifier: Apache-2.0
// The 16-bit float types, for which C++20 has no types. Conversions from float round to the nearest, ties to even.
#pragma once

#include <cstdint>

namespace tenon::tools
{

/// IEEE 754 binary16.
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);

/// The upper half of a float.
float BFloat16ToFloat(uint16_t bits);
uint16_t FloatToBFloat16(float value);

} // namespace tenon::tools
