// SPDX-License-Identifier: Apache-2.0
// See Console.hpp.
#include "tools/common/Console.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace tenon::tools
{
namespace
{

/// The status line as it is on the terminal; empty without one.
std::string& ShownStatus()
{
    static std::string shown;
    return shown;
}

// Standard error has no other place to complain to, so failures are passed over.

void DrawStatus()
{
    std::fputs(ShownStatus().c_str(), stderr);
    std::fflush(stderr);
}

void EraseStatus()
{
    if (!ShownStatus().empty())
    {
        std::fputs(("\r" + std::string(ShownStatus().size(), ' ') + "\r").c_str(), stderr);
        std::fflush(stderr);
    }
}

void PrintLine(const char* kind, std::string_view message)
{
    PrintTextAside(kind + OneLine(message) + "\n");
}

} // namespace

void PrintText(std::string_view text)
{
    EraseStatus();
    const bool isWritten = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    const int error = errno;
    DrawStatus();
    if (!isWritten)
    {
        throw RunError(std::string("cannot write to standard output: ") + std::strerror(error));
    }
}

void PrintTextAside(std::string_view text)
{
    EraseStatus();
    std::fwrite(text.data(), 1, text.size(), stderr);
    DrawStatus();
}

void PrintWarning(std::string_view message)
{
    PrintLine("warning: ", message);
}

void PrintError(std::string_view message)
{
    PrintLine("error: ", message);
}

void SetStatusLine(std::string_view text)
{
    EraseStatus();
    ShownStatus() = text;
    DrawStatus();
}

} // namespace tenon::tools
