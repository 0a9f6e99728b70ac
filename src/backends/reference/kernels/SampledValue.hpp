// SPDX-License-Identifier: Apache-2.0
// Conversion of a value that was interpolated in double precision to an element. Used by GridSample and Interpolate.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace tenon::ref
{

/// Floats are rounded once. Integers are rounded to the nearest, ties to even, and saturate. NaN gives 0.
template <typename T>
T ToSampled(double value)
{
    if constexpr (std::is_integral_v<T>)
    {
        const double rounded = std::nearbyint(value);
        // The largest 64-bit numbers do not exist in double precision: the next power of two does.
        if (rounded >= static_cast<double>(std::numeric_limits<T>::max()))
        {
            return std::numeric_limits<T>::max();
        }
        if (rounded <= static_cast<double>(std::numeric_limits<T>::min()))
        {
            return std::numeric_limits<T>::min();
        }
        return rounded == rounded ? static_cast<T>(rounded) : T{0};
    }
    else
    {
        return static_cast<T>(value);
    }
}

} // namespace tenon::ref
