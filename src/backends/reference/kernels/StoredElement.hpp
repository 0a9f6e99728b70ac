// SPDX-License-Identifier: Apache-2.0
// A number as an element of any type, and memory filled with it. Used by Pad and Fill.
#pragma once

#include <tenon/Types.hpp>

#include <array>
#include <cstddef>

namespace tenon::ref
{

/// An element of any type, as stored; 4-bit elements as a byte.
using StoredElement = std::array<std::byte, 16>;

/// `value` as an element of the type, not scaled; integers are rounded and kept within their range.
StoredElement StoreValue(float value, DataType type);

/// Writes `bytes` bytes of repeated elements.
void FillElements(std::byte* to, size_t bytes, const std::byte* element, size_t elementBytes);

} // namespace tenon::ref
