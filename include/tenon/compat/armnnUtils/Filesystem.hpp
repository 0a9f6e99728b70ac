// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: temporary files and folders. The functions are in libtenon_armnn.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/Exceptions.hpp>
#include <ostream>
#include <string>
#include <utility>
#if __cplusplus >= 201703L
#include <filesystem>

namespace fs = std::filesystem;
#else
/// Arm NN has the whole of ghc::filesystem under this name. From C++17 on it is std::filesystem here; C++14, which has
/// no such thing, gets a path alone.
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

namespace tenon
{
namespace temporary
{

/// What NamedTempFile gives, as text.
TENON_API std::string MakeTempFilePath(const char* fileName);

/// Makes an empty folder of that name in the system's folder for temporary files, and gives its path with a slash at
/// the end. One that is there is removed first, with all that is in it. Throws RuntimeException where that fails.
TENON_API std::string CreateDirectory(std::string sPath);

/// The bytes of a file. Throws RuntimeException where it is not there or cannot be read.
TENON_API std::string ReadFileContentsIntoString(const std::string& path);

/// Removes a folder and all that is in it, or a file. Links are removed, and not followed. Does nothing where the path
/// is not there. Throws RuntimeException where something cannot be removed.
TENON_API void RemoveDirectoryAndContents(const std::string& path);

} // namespace temporary
} // namespace tenon

namespace armnnUtils
{
namespace Filesystem
{

using tenon::temporary::CreateDirectory;
using tenon::temporary::ReadFileContentsIntoString;
using tenon::temporary::RemoveDirectoryAndContents;

using FileContents = std::string;

/// The path of that name in the system's folder for temporary files ($TMPDIR, or /tmp). A file or an empty folder that
/// is there is removed. Throws RuntimeException where it cannot be. (Each source has a function of its own, for its
/// type depends on the standard.)
static inline fs::path NamedTempFile(const char* fileName)
{
    return fs::path(tenon::temporary::MakeTempFilePath(fileName));
}

} // namespace Filesystem
} // namespace armnnUtils
