// SPDX-License-Identifier: Apache-2.0
// Where ExecuteNetwork writes for people: results to standard output, complaints to standard error.
#pragma once

#include <string_view>

namespace tenon::cli
{

/// Throws RunError when standard output takes no more.
void PrintText(std::string_view text);
/// In place of PrintText where standard output is for machines: to standard error.
void PrintTextAside(std::string_view text);
/// "warning: ..." as one line on standard error.
void PrintWarning(std::string_view message);
/// "error: ..." as one line on standard error.
void PrintError(std::string_view message);

} // namespace tenon::cli
