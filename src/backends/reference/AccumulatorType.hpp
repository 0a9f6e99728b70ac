// SPDX-License-Identifier: Apache-2.0
// The type of sums of many elements. Used by the kernels that add elements up.
#pragma once

#include "backends/reference/ElementTypes.hpp"

#include <type_traits>

namespace tenon::ref
{

/// The type that sums of many elements are taken in: of floats of any width in double precision, so that their error
/// is that of the result's rounding. Integers wrap in their own type.
template <typename T>
using AccumulatorType = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, T>;

/// A sum as an element.
template <typename T>
T FromAccumulator(AccumulatorType<T> sum)
{
    return static_cast<T>(static_cast<ComputeType<T>>(sum));
}

} // namespace tenon::ref
