// SPDX-License-Identifier: Apache-2.0
// The texts of exceptions: see tenon/Exceptions.hpp.
#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <iterator>

namespace tenon
{

namespace
{

/// A NUL would end the text, and other control characters move a terminal's cursor. Escaped characters stay as they
/// are.
std::string EscapeControls(const std::string& text)
{
    constexpr unsigned char firstPrintable = 0x20;
    constexpr unsigned char del = 0x7F;
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text)
    {
        const auto code = static_cast<unsigned char>(c);
        if ((code < firstPrintable && c != '\n' && c != '\t') || code == del)
        {
            fmt::format_to(std::back_inserter(escaped), "\\x{:02x}", code);
        }
        else
        {
            escaped += c;
        }
    }
    return escaped;
}

} // namespace

Exception::Exception(const std::string& message) : m_Message(EscapeControls(message)) {}

void Exception::AddContext(const std::string& context)
{
    m_Message = EscapeControls(context) + ": " + m_Message;
}

} // namespace tenon
