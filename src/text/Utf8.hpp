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

} // namespace tenon::text
