// SPDX-License-Identifier: Apache-2.0
// See ModelFolder.hpp.
#include "tools/describe/ModelFolder.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace tenon::tools
{

namespace fs = std::filesystem;

std::vector<std::string> ListFilesWithin(const std::string& folder, const char* option)
{
    std::error_code error;
    if (!fs::is_directory(folder, error))
    {
        throw UsageError(fmt::format("{}: there is no folder '{}'", option, OneLine(folder)));
    }
    std::vector<fs::path> files;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    {
        std::error_code none; // of an entry that has gone meanwhile
        const bool isHidden = entry->path().filename().string().starts_with('.');
        if (entry->is_directory(none) && isHidden)
        {
            entry.disable_recursion_pending();
        }
        else if (entry->is_regular_file(none) && !isHidden)
        {
            files.push_back(entry->path());
        }
    }
    if (error)
    {
        throw UsageError(fmt::format("{}: '{}' cannot be read: {}", option, OneLine(folder), error.message()));
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> paths;
    std::transform(files.begin(), files.end(), std::back_inserter(paths),
                   [](const fs::path& file) { return file.string(); });
    return paths;
}

} // namespace tenon::tools
