// SPDX-License-Identifier: Apache-2.0
// See Paths.hpp. Paths are bytes here, and go through as they are.
#include "common/Paths.hpp"

namespace tenon
{

std::filesystem::path MakePath(std::string_view utf8)
{
    return utf8;
}

std::string GetPathText(const std::filesystem::path& path)
{
    return path.string();
}

std::FILE* OpenStream(const std::filesystem::path& path, const char* mode)
{
    return std::fopen(path.c_str(), mode);
}

} // namespace tenon
