// SPDX-License-Identifier: Apache-2.0
// See SystemFiles.hpp. Streams have no paths here. The program's manifest makes char UTF-8.
#include "tools/common/SystemFiles.hpp"

#include <cerrno>
#include <fcntl.h>
#include <io.h>
#include <windows.h>

namespace tenon::tools
{
namespace
{

std::optional<FileStatus> StatusOf(HANDLE file)
{
    const DWORD type = GetFileType(file);
    FileStatus status;
    status.m_IsPipe = type == FILE_TYPE_PIPE;
    BY_HANDLE_FILE_INFORMATION info = {};
    if (type == FILE_TYPE_DISK && GetFileInformationByHandle(file, &info) != 0)
    {
        status.m_IsRegular = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
        status.m_Identity = {info.dwVolumeSerialNumber, uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow};
    }
    else if (status.m_IsPipe) // which has no number: each handle counts as a pipe of its own
    {
        status.m_Identity = {~uint64_t{0}, reinterpret_cast<uintptr_t>(file)};
    }
    return type != FILE_TYPE_UNKNOWN ? std::optional(status) : std::nullopt;
}

} // namespace

std::optional<int> DescriptorOf(std::string_view)
{
    return {};
}

std::FILE* OpenCopy(int descriptor, const char* mode)
{
    const int copy = _dup(descriptor);
    if (copy >= 0)
    {
        _setmode(copy, _O_BINARY);
    }
    std::FILE* const file = copy >= 0 ? _fdopen(copy, mode) : nullptr;
    if (copy >= 0 && file == nullptr)
    {
        _close(copy);
    }
    return file;
}

std::optional<FileStatus> GetFileStatus(const std::string& path)
{
    const DWORD attributes = GetFileAttributesA(path.c_str()); // opening a pipe would take its only place
    if (attributes == INVALID_FILE_ATTRIBUTES)
    {
        return {};
    }
    const HANDLE file = CreateFileA(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    if (file == INVALID_HANDLE_VALUE)
    {
        return {};
    }
    const std::optional<FileStatus> status = StatusOf(file);
    CloseHandle(file);
    return status;
}

std::optional<FileStatus> GetFileStatus(int descriptor)
{
    const intptr_t file = _get_osfhandle(descriptor);
    return file >= 0 ? StatusOf(reinterpret_cast<HANDLE>(file)) : std::nullopt;
}

std::error_code CheckWritable(const std::string& folder)
{
    constexpr int Write = 2;
    return {_access(folder.c_str(), Write) == 0 ? 0 : errno, std::generic_category()};
}

} // namespace tenon::tools
