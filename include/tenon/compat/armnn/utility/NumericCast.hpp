// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: numeric_cast, a conversion between number types that checks the value.
#pragma once

#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/utility/Assert.hpp>
#include <limits>
#include <type_traits>
#include <typeinfo>

/// An assertion; with ARMNN_NUMERIC_CAST_TESTABLE it throws std::bad_cast in place of ending the program. For programs'
/// own checks: numeric_cast always throws.
#if defined(ARMNN_NUMERIC_CAST_TESTABLE)
#define ARMNN_NUMERIC_CAST_CHECK(cond, msg) ::tenon::ConditionalThrow<std::bad_cast>(cond)
#else
#define ARMNN_NUMERIC_CAST_CHECK(cond, msg) ARMNN_ASSERT_MSG(cond, msg)
#endif

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
