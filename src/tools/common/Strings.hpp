// SPDX-License-Identifier: Apache-2.0
// Small text services of ExecuteNetwork: lists on the command line, and text from files in a form that is safe for a
// terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools
{

/// Splits as text::Split does. A separator or backslash after a backslash is a part of the text: "a\\,b,c" is "a,b" and
/// "c". Any other backslash stands for itself.
std::vector<std::string> SplitEscaped(std::string_view text, char separator);

bool EndsWithNoCase(std::string_view text, std::string_view lowerCaseEnd);

/// `text` with lines joined by "; " and control characters as '?': names and messages may come from a hostile file, and
/// a message must stay one line.
std::string OneLine(std::string_view text);

/// At most `maxCharacters` of a text of unknown origin. Bytes that are no printable character of UTF-8 become "\\x1B"
/// and the like; "..." stands for the omitted rest.
std::string Printable(std::string_view text, size_t maxCharacters);

/// A name from a file as a cell of a table: one line of at most 40 characters, because some names would fill a screen.
std::string NameCell(std::string_view name);

/// Rows of a table. All have the same number of cells, at least one.
using TextRows = std::vector<std::vector<std::string>>;

/// A line for each row, with columns as wide as their cells need; the last column is not padded.
std::string FormatRows(const TextRows& rows, std::string_view indent = {});

/// "a, b and c", each in quotes.
std::string QuotedList(const std::vector<std::string>& names);

/// At most 16 of the names: "'a', 'b' and 3 more"; "none" for none.
std::string QuoteSome(std::vector<std::string> names);

} // namespace tenon::tools
