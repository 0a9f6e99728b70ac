// SPDX-License-Identifier: Apache-2.0
// See Utf8.hpp.
#include "text/Utf8.hpp"

#include <cstdint>

namespace tenon::text
{

size_t Utf8Length(std::string_view text, size_t at)
{
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t length = first < 0x80   ? 1
                          : first < 0xC2 ? 0
                          : first < 0xE0 ? 2
                          : first < 0xF0 ? 3
                          : first < 0xF5 ? 4
                                         : 0;
    if (length < 2)
    {
        return length;
    }
    if (text.size() - at < length)
    {
        return 0;
    }
    uint32_t code = first & (0x7FU >> length);
    for (size_t i = 1; i < length; ++i)
    {
        const auto next = static_cast<unsigned char>(text[at + i]);
        if ((next & 0xC0U) != 0x80U)
        {
            return 0;
        }
        code = code << 6 | (next & 0x3FU);
    }
    constexpr uint32_t min[] = {0x80, 0x800, 0x10000}; // shorter ones have a shorter spelling
    const bool isSurrogate = code >= 0xD800 && code < 0xE000;
    return code < min[length - 2] || code > 0x10FFFF || isSurrogate ? 0 : length;
}

std::string_view CutAtCharacter(std::string_view text, size_t maxBytes)
{
    if (text.size() <= maxBytes)
    {
        return text;
    }
    // A character that begins up to three bytes before the cut may end behind it.
    for (size_t before = 1; before <= 3 && before <= maxBytes; ++before)
    {
        if (Utf8Length(text, maxBytes - before) > before)
        {
            return text.substr(0, maxBytes - before);
        }
    }
    return text.substr(0, maxBytes);
}

bool IsPartName(std::string_view text)
{
    constexpr unsigned char firstPrintable = 0x20;
    constexpr unsigned char deleted = 0x7F;
    if (text.empty() || text.size() > MaxPartNameBytes)
    {
        return false;
    }
    for (size_t at = 0; at < text.size();)
    {
        const auto first = static_cast<unsigned char>(text[at]);
        const size_t length = Utf8Length(text, at);
        if (length == 0 || first < firstPrintable || first == deleted)
        {
            return false;
        }
        at += length;
    }
    return true;
}

} // namespace tenon::text
