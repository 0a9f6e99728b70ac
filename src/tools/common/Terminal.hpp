// SPDX-License-Identifier: Apache-2.0
// Queries to the operating system about terminals.
#pragma once

#include <cstddef>
#include <optional>

namespace tenon::tools
{

/// The width of lines where there is no terminal.
constexpr size_t DefaultWidth = 80;

/// Whether an open stream, by its number, is a terminal.
bool IsTerminal(int descriptor);

/// The columns of the terminal that an open stream is; nothing if it is none, or its width is not known.
std::optional<size_t> GetTerminalWidth(int descriptor);

} // namespace tenon::tools
