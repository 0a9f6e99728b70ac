// SPDX-License-Identifier: Apache-2.0
// Small text services of ExecuteNetwork: lists on the command line, and text from files that a terminal can be shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli
{

/// The parts between separators, without blanks around them. An empty text has no parts.
std::vector<std::string> Split(std::string_view text, char separator);

std::string_view Trim(std::string_view text);
bool EndsWithNoCase(std::string_view text, std::string_view lowerCaseEnd);

/// `text` with lines joined by "; " and control characters as '?': names and messages may come from a hostile file, and
/// a message must stay one line.
std::string OneLine(std::string_view text);

/// "a, b and c", each in quotes.
std::string QuotedList(const std::vector<std::string>& names);

} // namespace tenon::cli
