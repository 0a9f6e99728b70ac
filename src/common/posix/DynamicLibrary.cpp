// SPDX-License-Identifier: Apache-2.0
// See DynamicLibrary.hpp.
#include "common/DynamicLibrary.hpp"

#include <dlfcn.h>

namespace tenon
{

#if defined(__APPLE__)

const std::string_view LibraryEnding = ".dylib";

std::string GetLibraryName(std::string_view name, std::string_view version)
{
    std::string file = "lib" + std::string(name);
    file += version.empty() ? "" : "." + std::string(version);
    return file.append(LibraryEnding);
}

#else

const std::string_view LibraryEnding = ".so";

std::string GetLibraryName(std::string_view name, std::string_view version)
{
    const std::string file = "lib" + std::string(name) + std::string(LibraryEnding);
    return version.empty() ? file : file + "." + std::string(version);
}

#endif

void* OpenLibrary(const std::string& path, LibrarySymbols symbols)
{
    return dlopen(path.c_str(), RTLD_NOW | (symbols == LibrarySymbols::Shared ? RTLD_GLOBAL : RTLD_LOCAL));
}

void CloseLibrary(void* library) noexcept
{
    dlclose(library);
}

void KeepLibrary(const std::string& path)
{
    dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

void* FindSymbol(void* library, const char* name)
{
    return dlsym(library, name);
}

std::string GetLibraryError()
{
    const char* const text = dlerror();
    return text == nullptr ? "unknown error" : text;
}

std::string FindLibraryOf(const void* code)
{
    Dl_info info{};
    return dladdr(code, &info) != 0 ? info.dli_fname : "";
}

} // namespace tenon
