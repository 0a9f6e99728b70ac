// SPDX-License-Identifier: Apache-2.0
// See Console.hpp.
#include "cli/Console.hpp"

#include "cli/Errors.hpp"
#include "cli/Strings.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace tenon::cli
{
namespace
{

void PrintLine(const char* kind, std::string_view message)
{
    // Standard error has no other place to complain to, so a failure is passed over.
    std::fputs((kind + OneLine(message) + "\n").c_str(), stderr);
}

} // namespace

void PrintText(std::string_view text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    {
        throw RunError(std::string("cannot write to standard output: ") + std::strerror(errno));
    }
}

void PrintTextAside(std::string_view text)
{
    std::fwrite(text.data(), 1, text.size(), stderr);
}

void PrintWarning(std::string_view message)
{
    PrintLine("warning: ", message);
}

void PrintError(std::string_view message)
{
    PrintLine("error: ", message);
}

} // namespace tenon::cli
