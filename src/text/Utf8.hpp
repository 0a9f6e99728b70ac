// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 in texts of unknown origin, such as names from model files.
#pragma once

#include <cstddef>
#include <string_view>

namespace tenon::text
{

/// The number of bytes of the UTF-8 character at `at`; 0 if there is none. Overlong forms, surrogates and numbers past
/// U+10FFFF are no characters. Precondition: at < text.size().
size_t Utf8Length(std::string_view text, size_t at);

/// The first `maxBytes` bytes of `text`, less those of a character that continues behind them. A text that is not UTF-8
/// loses three bytes at most.
std::string_view CutAtCharacter(std::string_view text, size_t maxBytes);

/// Whether the text can name a part of a file in messages and lists: 1 to MaxPartNameBytes bytes of UTF-8 without
/// control characters.
bool IsPartName(std::string_view text);
constexpr size_t MaxPartNameBytes = 1024;

} // namespace tenon::text
