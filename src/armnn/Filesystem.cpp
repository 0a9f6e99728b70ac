// SPDX-License-Identifier: Apache-2.0
// Temporary files and folders for programs written for Arm NN.
#include <tenon/Exceptions.hpp>

#include <armnnUtils/Filesystem.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace tenon::temporary
{

namespace
{

void ThrowIf(const std::error_code& error, const char* action, const std::filesystem::path& path)
{
    if (error)
    {
        throw RuntimeException(std::string("cannot ") + action + " '" + path.string() + "': " + error.message());
    }
}

std::filesystem::path PathOfTemporary(const std::string& name)
{
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    ThrowIf(error, "use the folder for temporary files", folder);
    // Within the folder, also with a slash in front.
    const std::filesystem::path below = std::filesystem::path(name).relative_path().lexically_normal();
    if (below.empty() || *below.begin() == "." || *below.begin() == "..")
    {
        throw RuntimeException("'" + name + "' names nothing within the folder for temporary files");
    }
    return folder / below;
}

} // namespace

std::string MakeTempFilePath(const char* fileName)
{
    const std::filesystem::path path = PathOfTemporary(fileName);
    std::error_code error;
    std::filesystem::remove(path, error);
    ThrowIf(error, "remove", path);
    return path.string();
}

std::string CreateDirectory(std::string sPath)
{
    const std::filesystem::path path = PathOfTemporary(sPath);
    RemoveDirectoryAndContents(path.string());
    std::error_code error;
    std::filesystem::create_directory(path, error);
    ThrowIf(error, "make folder", path);
    return path.string() + "/";
}

std::string ReadFileContentsIntoString(const std::string& path)
{
    std::error_code error;
    const bool isFolder = std::filesystem::is_directory(path, error);
    ThrowIf(error, "read", path);
    std::ifstream file(path, std::ios::binary);
    if (isFolder || !file.is_open())
    {
        throw RuntimeException("cannot read '" + path + "': " + (isFolder ? "it is a folder" : "it cannot be opened"));
    }
    std::string contents((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (file.bad())
    {
        throw RuntimeException("cannot read '" + path + "' to its end");
    }
    return contents;
}

void RemoveDirectoryAndContents(const std::string& path)
{
    std::error_code error;
    std::filesystem::remove_all(path, error);
    ThrowIf(error, "remove", path);
}

FoundFile FindFile(const std::string& path)
{
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    FoundFile found;
    found.m_IsThere = std::filesystem::exists(status);
    found.m_IsFolder = std::filesystem::is_directory(status);
    found.m_IsRegular = std::filesystem::is_regular_file(status);
    return found;
}

std::uintmax_t GetFileSize(const std::string& path)
{
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    ThrowIf(error, "find the size of", path);
    return size;
}

bool RemoveFile(const std::string& path)
{
    std::error_code error;
    const bool isRemoved = std::filesystem::remove(path, error);
    ThrowIf(error, "remove", path);
    return isRemoved;
}

bool CreateFolder(const std::string& path)
{
    std::error_code error;
    const bool isMade = std::filesystem::create_directory(path, error);
    ThrowIf(error, "make folder", path);
    return isMade;
}

std::string GetFolder()
{
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    ThrowIf(error, "use the folder for temporary files", folder);
    return folder.string();
}

} // namespace tenon::temporary
