// SPDX-License-Identifier: Apache-2.0
// See Paths.hpp. Paths are UTF-16 here; char would be the code page of the user.
#include "common/Paths.hpp"

namespace tenon
{

std::filesystem::path MakePath(std::string_view utf8)
{
    return std::u8string_view(reinterpret_cast<const char8_t*>(utf8.data()), utf8.size());
}

std::string GetPathText(const std::filesystem::path& path)
{
    const std::u8string text = path.u8string();
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::FILE* OpenStream(const std::filesystem::path& path, const char* mode)
{
    return _wfopen(path.c_str(), std::filesystem::path(mode).c_str());
}

} // namespace tenon
