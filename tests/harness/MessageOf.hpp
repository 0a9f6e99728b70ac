// SPDX-License-Identifier: Apache-2.0
// MessageOf: the text of an expected exception.
#pragma once

#include <exception>
#include <string>

namespace tenon::test
{

/// The text of an exception of that kind. If another or none is thrown, it is a text that says so and matches nothing.
template <typename ExceptionType, typename Function>
std::string MessageOf(Function function)
{
    try
    {
        function();
    }
    catch (const ExceptionType& error)
    {
        return error.what();
    }
    catch (const std::exception& error)
    {
        return std::string("another exception: ") + error.what();
    }
    return "no exception";
}

} // namespace tenon::test
