// SPDX-License-Identifier: Apache-2.0
// Logging inside Tenon: LogWarning("layer '{}' falls back to {}", name, backend). The text is only put together if the
// message passes the filter of <tenon/Logging.hpp>. Never throws, so destructors may log. Not for a workload's Execute.
#pragma once

#include <tenon/Logging.hpp>

#include <fmt/core.h>

#include <string_view>

namespace tenon
{

// Whether a message of this severity would be written.
bool IsLogged(LogSeverity severity) noexcept;

// Writes one message as it is.
void Log(LogSeverity severity, std::string_view message) noexcept;

// Puts together and writes one message. The templates below share it.
void LogFormatted(LogSeverity severity, fmt::string_view format, fmt::format_args args) noexcept;

template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) noexcept
{
    LogFormatted(LogSeverity::Debug, format, fmt::make_format_args(args...));
}

template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) noexcept
{
    LogFormatted(LogSeverity::Info, format, fmt::make_format_args(args...));
}

template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) noexcept
{
    LogFormatted(LogSeverity::Warning, format, fmt::make_format_args(args...));
}

} // namespace tenon
