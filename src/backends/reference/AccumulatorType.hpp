// SPDX-License-Identifier: Apache-2.0
// The type of sums of many elements. Used by the kernels that add elements up.
#pragma once

#include "backends/reference/ElementTypes.hpp"

#include <type_traits>

namespace tenon::ref
{

/// The type of sums of many elements. Floats of any width are summed in double precision, so that the error is the
/// rounding of the result alone. Integers wrap in their own type.
template <typename T>
using AccumulatorType = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, T>;

/// A sum as an element.
template <typename T>
T FromAccumulator(AccumulatorType<T> sum)
{
    return static_cast<T>(static_cast<ComputeType<T>>(sum));
}

} // namespace tenon::ref
