// SPDX-License-Identifier: Apache-2.0
// IsFinite: for numbers out of files, of which infinities and NaNs are no scales. The readers of .tenon and .armnn
// files use it.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tenon
{

/// Whether no number of the range is an infinity or a NaN.
template <typename Range>
bool IsFinite(const Range& numbers)
{
    return std::all_of(std::begin(numbers), std::end(numbers), [](auto number) { return std::isfinite(number); });
}

} // namespace tenon
