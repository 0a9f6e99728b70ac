// SPDX-License-Identifier: Apache-2.0
// Errors across the C table: an exception becomes a status and a text, and the other way round. Both sides use it.
#pragma once

#include <tenon/backend/plugin.h>

#include <string>

namespace tenon::plugin
{

/// Room for the text of one call.
class ErrorText
{
public:
    ErrorText() { m_Buffer[0] = '\0'; }
    tenon_text* Get() { return &m_Text; }
    /// "" where nothing was written; ends within the buffer whatever was written there.
    std::string ToString();

private:
    static constexpr size_t Size = 4096;
    char m_Buffer[Size];
    tenon_text m_Text{m_Buffer, Size};
};

/// Throws the exception that the status stands for unless it is TENON_OK. `who` names the plugin, `call` the function.
void ThrowUnlessOk(tenon_status status, ErrorText& text, const std::string& who, const char* call);

/// Writes a text and cuts it where there is no more room.
void WriteText(tenon_text* target, const std::string& text) noexcept;

/// Only inside of a catch block: writes the text of the exception that is handled there and gives its status.
tenon_status StatusOfException(tenon_text* error) noexcept;

/// Runs `f` so that nothing is thrown.
template <typename F>
tenon_status Guarded(tenon_text* error, F f) noexcept
{
    try
    {
        f();
        return TENON_OK;
    }
    catch (...)
    {
        return StatusOfException(error);
    }
}

} // namespace tenon::plugin
