// SPDX-License-Identifier: Apache-2.0
// CallWithoutThrowing: calls a backend where nothing may be thrown.
#pragma once

#include <tenon/Logging.hpp>

#include <exception>
#include <string>

namespace tenon
{

/// Calls `f` and logs the text of its exception as an error. `name` is the name of the called function in the text.
template <typename F>
void CallWithoutThrowing(const std::string& name, F f) noexcept
{
    try
    {
        f();
    }
    catch (const std::exception& e)
    {
        LogMessage(LogSeverity::Error, name + " throws: " + e.what());
    }
    catch (...)
    {
        LogMessage(LogSeverity::Error, name + " throws");
    }
}

} // namespace tenon
