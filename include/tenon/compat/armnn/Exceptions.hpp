// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: exceptions, the macro that says where one was thrown, and functions that throw one
// where a condition does not hold.
#pragma once

#include <tenon/Exceptions.hpp>

#include <armnn/Namespace.hpp>
#include <sstream>
#include <string>
#include <type_traits>

#define CHECK_LOCATION() TENON_CHECK_LOCATION()

namespace tenon
{

namespace detail
{
template <typename ExceptionType>
ExceptionType MakeException(std::true_type /*isDefaultConstructible*/)
{
    return ExceptionType();
}
template <typename ExceptionType>
ExceptionType MakeException(std::false_type /*isDefaultConstructible*/)
{
    return ExceptionType("a required condition does not hold");
}
} // namespace detail

/// Throws ExceptionType(message) unless the condition holds.
template <typename ExceptionType>
void ConditionalThrow(bool condition, const std::string& message)
{
    if (!condition)
    {
        throw ExceptionType(message);
    }
}

/// The same with the exception's default text.
template <typename ExceptionType>
void ConditionalThrow(bool condition)
{
    if (!condition)
    {
        throw detail::MakeException<ExceptionType>(std::is_default_constructible<ExceptionType>());
    }
}

/// Throws ExceptionType("<message> : <lhs> != <rhs>") unless both are equal.
template <typename ExceptionType, typename ComparedType>
void ConditionalThrowIfNotEqual(const std::string& message, const ComparedType& lhs, const ComparedType& rhs)
{
    if (!(lhs == rhs))
    {
        std::ostringstream text;
        text << message << " : " << lhs << " != " << rhs;
        throw ExceptionType(text.str());
    }
}

} // namespace tenon
