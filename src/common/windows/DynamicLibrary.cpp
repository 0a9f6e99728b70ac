// SPDX-License-Identifier: Apache-2.0
// See DynamicLibrary.hpp.
#include "common/DynamicLibrary.hpp"

#include "common/Paths.hpp"

#include <system_error>
#include <windows.h>

namespace tenon
{

const std::string_view LibraryEnding = ".dll";

std::string GetLibraryName(std::string_view name, std::string_view)
{
    return std::string(name).append(LibraryEnding);
}

void* OpenLibrary(const std::string& path, LibrarySymbols)
{
    DWORD mode = 0;
    SetThreadErrorMode(SEM_FAILCRITICALERRORS, &mode); // no window asks the user about a library that is missing
    // The libraries that it needs are looked for in its folder first, which takes a path with backslashes.
    void* const library =
        LoadLibraryExW(MakePath(path).make_preferred().c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    const DWORD error = GetLastError();
    SetThreadErrorMode(mode, nullptr);
    SetLastError(error);
    return library;
}

void CloseLibrary(void* library) noexcept
{
    FreeLibrary(static_cast<HMODULE>(library));
}

void KeepLibrary(const std::string& path)
{
    HMODULE module = nullptr;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, MakePath(path).make_preferred().c_str(), &module);
}

void* FindSymbol(void* library, const char* name)
{
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

std::string GetLibraryError()
{
    return std::system_category().message(static_cast<int>(GetLastError()));
}

std::string FindLibraryOf(const void* code)
{
    HMODULE module = nullptr;
    if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           static_cast<LPCWSTR>(code), &module) == 0)
    {
        return {};
    }
    std::wstring path(MAX_PATH, L'\0');
    for (;;)
    {
        const DWORD length = GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
        if (length < path.size())
        {
            path.resize(length);
            return GetPathText(path);
        }
        path.resize(path.size() * 2);
    }
}

} // namespace tenon
