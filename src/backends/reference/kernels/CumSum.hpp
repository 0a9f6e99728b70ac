// SPDX-License-Identifier: Apache-2.0
// The precision of cumulative sums, which the kernels of all backends share.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon::ref
{

/// Whether a cumulative sum of `depth` elements runs in double precision and is rounded for each output. The rounding
/// error of a float sum grows with its length: up to 1024 * 2^-24 of the sum of magnitudes if this is false.
constexpr bool IsCumSumInDouble(DataType type, size_t depth)
{
    constexpr size_t MaxFloatDepth = 1024;
    return type == DataType::Float32 && depth > MaxFloatDepth;
}

} // namespace tenon::ref
