// SPDX-License-Identifier: Apache-2.0
// See Threads.hpp.
#include "common/Threads.hpp"

#include <string>
#include <string_view>
#include <windows.h>

namespace tenon
{

void NameThread(const char* name) noexcept
{
    // Windows 10 has it from version 1607 on.
    using SetDescription = HRESULT(WINAPI*)(HANDLE, PCWSTR);
    const auto set = reinterpret_cast<SetDescription>(
        reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription")));
    if (set != nullptr)
    {
        const std::string_view text(name);
        set(GetCurrentThread(), std::wstring(text.begin(), text.end()).c_str());
    }
}

void CallAroundForks(void (*)(), void (*)())
{
    // Processes do not fork here.
}

} // namespace tenon
