// SPDX-License-Identifier: Apache-2.0
// Options of backends that are given as texts: see OptionText.hpp.
#include "common/OptionText.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace tenon
{

namespace
{

/// The number that a text is; false where it is none, or one that T cannot hold.
template <typename T>
bool ReadNumber(std::string_view text, T& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

} // namespace

BackendOptions::Var OptionFromText(const std::string& text)
{
    int integer = 0;
    unsigned int natural = 0;
    float real = 0.0f;
    if (text == "true" || text == "false")
    {
        return {text == "true", text};
    }
    // A plugin is told the number alone, so that the text of an integer must be the one that the number has: "007" is a
    // name.
    const bool isInteger = ReadNumber(text, integer);
    const bool isNatural = ReadNumber(text, natural);
    if (isInteger && std::to_string(integer) == text)
    {
        return {integer, text};
    }
    if (isNatural && std::to_string(natural) == text)
    {
        return {natural, text};
    }
    if (!isInteger && !isNatural && ReadNumber(text, real))
    {
        return {real, text};
    }
    const bool isQuoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
    return isQuoted ? text.substr(1, text.size() - 2) : text;
}

} // namespace tenon
