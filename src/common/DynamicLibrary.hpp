// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded while a program runs. Paths are UTF-8. libtenon_armnn has a copy of these functions
// of its own.
#pragma once

#include <string>
#include <string_view>

namespace tenon
{

/// The ending of a library's file, before a version: ".so", ".dylib" or ".dll".
extern const std::string_view LibraryEnding;
/// The file of a library of Tenon, e.g. "libtenon.so". A version ("0.2") is part of the name where the system has
/// versions in names: "libtenon.so.0.2".
std::string GetLibraryName(std::string_view name, std::string_view version);

enum class LibrarySymbols
{
    Own,   ///< nobody else finds them
    Shared ///< libraries that are loaded later find them, where the system looks through all libraries for a name
};

/// A library of an absolute path, to be closed; null: see GetLibraryError().
void* OpenLibrary(const std::string& path, LibrarySymbols symbols);
void CloseLibrary(void* library) noexcept;
/// Keeps a library that is open until the program ends.
void KeepLibrary(const std::string& path);
/// Null where it exports none of this name.
void* FindSymbol(void* library, const char* name);
/// Why the last call of this thread failed.
std::string GetLibraryError();

/// The path of the library or program that has this code; empty where the system does not know.
std::string FindLibraryOf(const void* code);

} // namespace tenon
