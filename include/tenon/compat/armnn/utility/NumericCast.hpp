// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: numeric_cast, a conversion between number types that checks the value.
#pragma once

#include <tenon/Exceptions.hpp>

#include <armnn/Namespace.hpp>
#include <type_traits>

namespace tenon
{

/// Throws InvalidArgumentException when an integer source does not survive the conversion: it changes its value or
/// sign. Conversions from and to floating point are not checked, as in Arm NN's release builds.
template <typename Dest, typename Source>
Dest numeric_cast(Source source)
{
    const auto converted = static_cast<Dest>(source);
    const bool areIntegers = std::is_integral<Source>::value && std::is_integral<Dest>::value;
    if (areIntegers && (static_cast<Source>(converted) != source || (converted < Dest{}) != (source < Source{})))
    {
        throw InvalidArgumentException("numeric_cast: the value does not fit the type that it is converted to");
    }
    return converted;
}

} // namespace tenon
