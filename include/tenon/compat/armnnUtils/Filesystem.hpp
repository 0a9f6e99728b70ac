// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: temporary files and folders.
#pragma once

#include <armnn/Exceptions.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>
#if __cplusplus >= 201703L
#include <filesystem>

namespace fs = std::filesystem;
#else
/// Arm NN has the whole of ghc::filesystem under this name. From C++17 on it is std::filesystem here; C++14, which has no
/// such thing, gets a path alone.
namespace fs
{

class path
{
public:
    path() = default;
    path(std::string text) : m_Text(std::move(text)) {} // NOLINT: implicit, as std::filesystem::path is
    path(const char* text) : m_Text(text) {}            // NOLINT

    operator std::string() const { return m_Text; } // NOLINT
    const std::string& native() const { return m_Text; }
    std::string string() const { return m_Text; }
    std::string generic_string() const { return m_Text; }
    const char* c_str() const { return m_Text.c_str(); }
    bool empty() const { return m_Text.empty(); }

    friend path operator/(const path& folder, const path& name)
    {
        const bool isJoined = folder.empty() || folder.m_Text.back() == '/';
        return name.m_Text.compare(0, 1, "/") == 0 ? name : path(folder.m_Text + (isJoined ? "" : "/") + name.m_Text);
    }
    friend bool operator==(const path& a, const path& b) { return a.m_Text == b.m_Text; }
    friend bool operator!=(const path& a, const path& b) { return a.m_Text != b.m_Text; }
    friend std::ostream& operator<<(std::ostream& os, const path& p) { return os << '"' << p.m_Text << '"'; }

private:
    std::string m_Text;
};

} // namespace fs
#endif

namespace armnnUtils
{
namespace Filesystem
{

using FileContents = std::string;

namespace detail
{
[[noreturn]] inline void ThrowCannot(const std::string& action, const std::string& path, int error)
{
    throw armnn::RuntimeException("cannot " + action + " '" + path + "': " + std::strerror(error));
}

/// With a slash at the end: $TMPDIR, or /tmp.
inline std::string GetTemporaryFolder()
{
    const char* const chosen = std::getenv("TMPDIR");
    const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
    return folder.back() == '/' ? folder : folder + "/";
}
} // namespace detail

/// Removes a folder and all that is in it, or a file. Links are removed, and not followed. Does nothing where the path
/// is not there. Throws RuntimeException where something cannot be removed.
inline void RemoveDirectoryAndContents(const std::string& path)
{
    struct stat status;
    if (lstat(path.c_str(), &status) != 0)
    {
        if (errno == ENOENT)
        {
            return;
        }
        detail::ThrowCannot("look at", path, errno);
    }
    if (S_ISDIR(status.st_mode))
    {
        DIR* const folder = opendir(path.c_str());
        if (folder == nullptr)
        {
            detail::ThrowCannot("open folder", path, errno);
        }
        std::vector<std::string> names;
        while (const dirent* const entry = readdir(folder))
        {
            names.emplace_back(entry->d_name);
        }
        closedir(folder);
        for (const std::string& name : names)
        {
            if (name != "." && name != "..")
            {
                RemoveDirectoryAndContents(path + "/" + name);
            }
        }
    }
    if (std::remove(path.c_str()) != 0)
    {
        detail::ThrowCannot("remove", path, errno);
    }
}

/// The path of that name in the system's folder for temporary files; a file or an empty folder that is there is removed.
/// Throws RuntimeException where it cannot be. (Each source has a function of its own: its type depends on the standard.)
static inline fs::path NamedTempFile(const char* fileName)
{
    const std::string path = detail::GetTemporaryFolder() + fileName;
    if (std::remove(path.c_str()) != 0 && errno != ENOENT)
    {
        detail::ThrowCannot("remove", path, errno);
    }
    return fs::path(path);
}

/// Makes an empty folder of that name in the system's folder for temporary files, and gives its path with a slash at the
/// end. One that is there is removed first, with all that is in it. Throws RuntimeException where that fails.
inline std::string CreateDirectory(std::string sPath)
{
    const std::string path = detail::GetTemporaryFolder() + sPath;
    RemoveDirectoryAndContents(path);
    if (mkdir(path.c_str(), 0777) != 0)
    {
        detail::ThrowCannot("make folder", path, errno);
    }
    return path + "/";
}

/// The bytes of a file. Throws RuntimeException where it is not there or cannot be read.
inline FileContents ReadFileContentsIntoString(const std::string& path)
{
    struct stat status;
    std::ifstream file(path, std::ios::binary);
    if (stat(path.c_str(), &status) != 0 || !file.is_open())
    {
        detail::ThrowCannot("read", path, errno);
    }
    if (S_ISDIR(status.st_mode))
    {
        detail::ThrowCannot("read", path, EISDIR);
    }
    return FileContents(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

} // namespace Filesystem
} // namespace armnnUtils
