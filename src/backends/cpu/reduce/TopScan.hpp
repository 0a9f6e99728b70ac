// SPDX-License-Identifier: Apache-2.0
// TopScan: the search for the next elements of a row that are above a bound. TopCandidates calls it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The largest number of elements that a call of TopScan finds.
constexpr size_t MaxFound = 64;

/// Scans the row from `next` on until it finds elements above the bound, or NaN. Their indices go to `found` in order,
/// at most MaxFound. Returns their number, 0 at the end of the row; `next` is the first element not yet scanned. Every
/// element is above a bound that is NaN.
template <typename T>
using TopScan = size_t (*)(const T* row, size_t& next, size_t end, T bound, uint32_t* found);

/// The scan for T: float, int32_t, int8_t or uint8_t.
template <typename T>
TopScan<T> FindTopScan();

} // namespace tenon::cpu
