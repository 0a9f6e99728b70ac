// SPDX-License-Identifier: Apache-2.0
// The search for the few elements of a row that may be among its largest. Used by TopCandidates.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// How many elements a call of TopScan finds at most.
constexpr size_t MostFound = 64;

/// Goes through the row from `next` on, up to where some elements are above the bound, or NaN: their places go to
/// `found`, in order. Returns how many there are; none: that was the end. `next` moves behind what was looked at. All
/// are above a bound that is NaN.
template <typename T>
using TopScan = size_t (*)(const T* row, size_t& next, size_t end, T bound, uint32_t* found);

/// Of float, int32_t, int8_t or uint8_t.
template <typename T>
TopScan<T> FindTopScan();

} // namespace tenon::cpu
