// SPDX-License-Identifier: Apache-2.0
// See Terminal.hpp.
#include "tools/common/Terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tenon::tools
{

bool IsTerminal(int descriptor)
{
    return isatty(descriptor) == 1;
}

std::optional<size_t> GetTerminalWidth(int descriptor)
{
    winsize size{};
    const bool isKnown = IsTerminal(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return isKnown ? std::optional<size_t>(size.ws_col) : std::nullopt;
}

} // namespace tenon::tools
