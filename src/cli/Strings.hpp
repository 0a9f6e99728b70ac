// SPDX-License-Identifier: Apache-2.0
// Small text services of ExecuteNetwork: lists on the command line, and text from files that a terminal can be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli
{

/// text::Split, and a backslash before a separator or a backslash takes it as a part of the text: "a\\,b,c" is "a,b"
/// and "c". Any other backslash stands for itself.
std::vector<std::string> SplitEscaped(std::string_view text, char separator);

bool EndsWithNoCase(std::string_view text, std::string_view lowerCaseEnd);

/// `text` with lines joined by "; " and control characters as '?': names and messages may come from a hostile file, and
/// a message must stay one line.
std::string OneLine(std::string_view text);

/// How many bytes the character of UTF-8 at `at` has; 0 where there is none.
size_t Utf8Length(std::string_view text, size_t at);

/// At most `maxCharacters` of a text of unknown origin: what is no printable character of UTF-8 as "\\x1B", and "..."
/// for what is left out.
std::string Printable(std::string_view text, size_t maxCharacters);

/// A name from a file as a cell of a table: one line of at most 40 characters, since some names would fill a screen.
std::string NameCell(std::string_view name);

/// Rows of a table, which all have as many cells, at least one.
using TextRows = std::vector<std::vector<std::string>>;

/// A line for each row, with columns of the widths that their cells need; the last one is as long as it is.
std::string FormatRows(const TextRows& rows, std::string_view indent = {});

/// "a, b and c", each in quotes.
std::string QuotedList(const std::vector<std::string>& names);

} // namespace tenon::cli
