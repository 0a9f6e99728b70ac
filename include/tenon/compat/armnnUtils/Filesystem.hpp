// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: temporary files and folders. The functions are in libtenon_armnn.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/Exceptions.hpp>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#if __cplusplus >= 201703L
#include <filesystem>
#endif

namespace tenon
{
namespace temporary
{

/// The path that NamedTempFile gives, as text.
TENON_API std::string MakeTempFilePath(const char* fileName);

/// Makes an empty folder of that name in the system's folder for temporary files, and gives its path with a slash at
/// the end. One that is there is removed first, with all that is in it. Throws RuntimeException where that fails.
TENON_API std::string CreateDirectory(std::string sPath);

/// The bytes of a file. Throws RuntimeException where it is not there or cannot be read.
TENON_API std::string ReadFileContentsIntoString(const std::string& path);

/// Removes a folder and all that is in it, or a file. Links are removed, and not followed. Does nothing where the path
/// is not there. Throws RuntimeException where something cannot be removed.
TENON_API void RemoveDirectoryAndContents(const std::string& path);

/// The file or folder at a path, links followed.
struct FoundFile
{
    bool m_IsThere = false;
    bool m_IsFolder = false;
    bool m_IsRegular = false;
};

// The functions of namespace fs below.
TENON_API FoundFile FindFile(const std::string& path);
TENON_API std::uintmax_t GetFileSize(const std::string& path);
TENON_API bool RemoveFile(const std::string& path);
TENON_API bool CreateFolder(const std::string& path);
TENON_API std::string GetFolder();

} // namespace temporary
} // namespace tenon

#if __cplusplus >= 201703L

namespace fs = std::filesystem;
#else

/// Arm NN has the whole of ghc::filesystem under this name. From C++17 on it is std::filesystem here. C++14, which has
/// no such thing, gets the parts of a path and the questions and steps that programs need most, of the same meaning.
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
    bool is_absolute() const { return m_Text.compare(0, 1, "/") == 0; }
    bool is_relative() const { return !is_absolute(); }

    /// Everything after the last slash.
    path filename() const { return m_Text.substr(NameBegin()); }
    /// Everything before the last slash; of "/a" it is "/".
    path parent_path() const
    {
        const size_t last = NameBegin() == 0 ? std::string::npos : m_Text.find_last_not_of('/', NameBegin() - 1);
        return last != std::string::npos ? m_Text.substr(0, last + 1) : std::string(is_absolute() ? "/" : "");
    }
    /// The file's name up to its last dot; of ".a" and ".." it is the whole.
    path stem() const { return m_Text.substr(NameBegin(), ExtensionBegin() - NameBegin()); }
    /// The last dot of the file's name and everything after it; empty where there is none.
    path extension() const { return m_Text.substr(ExtensionBegin()); }
    bool has_filename() const { return !filename().empty(); }
    bool has_parent_path() const { return !parent_path().empty(); }
    bool has_stem() const { return !stem().empty(); }
    bool has_extension() const { return !extension().empty(); }

    /// `replacement` may begin with a dot or do without.
    path& replace_extension(const path& replacement = path())
    {
        m_Text.erase(ExtensionBegin());
        m_Text += replacement.empty() || replacement.m_Text[0] == '.' ? "" : ".";
        m_Text += replacement.m_Text;
        return *this;
    }
    path& replace_filename(const path& replacement)
    {
        m_Text.erase(NameBegin());
        return *this /= replacement;
    }
    path& remove_filename()
    {
        m_Text.erase(NameBegin());
        return *this;
    }
    path& operator/=(const path& name) { return *this = *this / name; }
    path& operator+=(const path& text)
    {
        m_Text += text.m_Text;
        return *this;
    }

    friend path operator/(const path& folder, const path& name)
    {
        const bool isJoined = folder.empty() || folder.m_Text.back() == '/';
        return name.is_absolute() ? name : path(folder.m_Text + (isJoined ? "" : "/") + name.m_Text);
    }
    friend bool operator<(const path& a, const path& b) { return a.m_Text < b.m_Text; }
    friend bool operator==(const path& a, const path& b) { return a.m_Text == b.m_Text; }
    friend bool operator!=(const path& a, const path& b) { return a.m_Text != b.m_Text; }
    friend std::ostream& operator<<(std::ostream& os, const path& p) { return os << '"' << p.m_Text << '"'; }

private:
    size_t NameBegin() const
    {
        const size_t slash = m_Text.rfind('/');
        return slash == std::string::npos ? 0 : slash + 1;
    }
    size_t ExtensionBegin() const
    {
        const size_t dot = m_Text.rfind('.');
        const bool isNone =
            dot == std::string::npos || dot <= NameBegin() || m_Text.compare(NameBegin(), std::string::npos, "..") == 0;
        return isNone ? m_Text.size() : dot;
    }

    std::string m_Text;
};

inline bool exists(const path& p)
{
    return tenon::temporary::FindFile(p.string()).m_IsThere;
}
inline bool is_directory(const path& p)
{
    return tenon::temporary::FindFile(p.string()).m_IsFolder;
}
inline bool is_regular_file(const path& p)
{
    return tenon::temporary::FindFile(p.string()).m_IsRegular;
}
/// Bytes of a file. Throws armnn::RuntimeException where it cannot be asked.
inline std::uintmax_t file_size(const path& p)
{
    return tenon::temporary::GetFileSize(p.string());
}
/// Removes a file or an empty folder. False where it is not there. Throws armnn::RuntimeException where it stays.
inline bool remove(const path& p)
{
    return tenon::temporary::RemoveFile(p.string());
}
/// Makes a folder in one that is there. False where it is there. Throws armnn::RuntimeException where it cannot.
inline bool create_directory(const path& p)
{
    return tenon::temporary::CreateFolder(p.string());
}
/// $TMPDIR, or /tmp.
inline path temp_directory_path()
{
    return tenon::temporary::GetFolder();
}

} // namespace fs
#endif

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
