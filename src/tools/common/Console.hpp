// SPDX-License-Identifier: Apache-2.0
// Text of ExecuteNetwork for people: results go to standard output, warnings and errors to standard error.
#pragma once

#include <string_view>

namespace tenon::tools
{

/// Prints to standard output. Throws RunError when that fails.
void PrintText(std::string_view text);
/// Prints to standard error, in place of PrintText, if standard output is for machines.
void PrintTextAside(std::string_view text);
/// "warning: ..." as one line on standard error.
void PrintWarning(std::string_view message);
/// "error: ..." as one line on standard error.
void PrintError(std::string_view message);

/// Keeps a line at the end of standard error, which is a terminal: other text is printed above it. Empty text removes
/// the line. The text must be narrower than the terminal.
void SetStatusLine(std::string_view text);

} // namespace tenon::tools
