// SPDX-License-Identifier: Apache-2.0
// See Terminal.hpp.
#include "tools/common/Terminal.hpp"

#include <io.h>
#include <windows.h>

namespace tenon::tools
{

bool IsTerminal(int descriptor)
{
    return _isatty(descriptor) != 0;
}

std::optional<size_t> GetTerminalWidth(int descriptor)
{
    CONSOLE_SCREEN_BUFFER_INFO info = {};
    const intptr_t handle = _get_osfhandle(descriptor);
    if (handle < 0 || GetConsoleScreenBufferInfo(reinterpret_cast<HANDLE>(handle), &info) == 0)
    {
        return {};
    }
    return static_cast<size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

} // namespace tenon::tools
