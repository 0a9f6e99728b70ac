// SPDX-License-Identifier: Apache-2.0
// Paths of the interface, which are UTF-8 on every system, as the system takes them.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace tenon
{

std::filesystem::path MakePath(std::string_view utf8);
/// The path as UTF-8.
std::string GetPathText(const std::filesystem::path& path);

/// std::fopen for such a path. The result is null, with errno, for a file that cannot be opened.
std::FILE* OpenStream(const std::filesystem::path& path, const char* mode);

} // namespace tenon
