// SPDX-License-Identifier: Apache-2.0
// Loops that choose each element from one of two tensors by a condition. Called by Select.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[i] = condition[i] != 0 ? x[i] : y[i]; each of the inputs may be a single element. `out` overlaps none of them.
using SelectLoop = void (*)(const uint8_t* condition, const void* x, const void* y, void* out, size_t count);

/// The loop for elements of 1, 2, 4 or 8 bytes; null for others. The flags: false for inputs that are one element.
SelectLoop FindSelect(size_t elementBytes, bool moveCondition, bool moveX, bool moveY);

} // namespace tenon::cpu
