// SPDX-License-Identifier: Apache-2.0
// See SystemFiles.hpp.
#include "common/SystemFiles.hpp"

#include "common/Paths.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <windows.h>

namespace tenon
{

namespace
{

/// The error of the last call, which failed unless `isDone`.
std::error_code ErrorUnless(bool isDone)
{
    return {isDone ? 0 : static_cast<int>(GetLastError()), std::system_category()};
}

HANDLE ToHandle(std::intptr_t handle)
{
    return reinterpret_cast<HANDLE>(handle);
}

std::uint64_t Join(DWORD high, DWORD low)
{
    return std::uint64_t{high} << 32 | low;
}

FileKind KindOf(DWORD attributes)
{
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
    {
        return FileKind::Folder;
    }
    return (attributes & FILE_ATTRIBUTE_DEVICE) != 0 ? FileKind::Device : FileKind::Regular;
}

} // namespace

std::error_code GetFileFacts(const std::string& path, FileFacts& facts)
{
    WIN32_FILE_ATTRIBUTE_DATA info = {};
    const std::error_code error =
        ErrorUnless(GetFileAttributesExW(MakePath(path).c_str(), GetFileExInfoStandard, &info) != 0);
    facts = {KindOf(info.dwFileAttributes), Join(info.nFileSizeHigh, info.nFileSizeLow)};
    return error;
}

std::error_code SystemFile::Open(const std::string& path)
{
    // Others may replace the file while it is open, as they may elsewhere.
    m_Handle = reinterpret_cast<std::intptr_t>(CreateFileW(MakePath(path).c_str(), GENERIC_READ,
                                                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                                           nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    return ErrorUnless(m_Handle != -1);
}

std::error_code SystemFile::Create(const std::string& path)
{
    m_Handle = reinterpret_cast<std::intptr_t>(
        CreateFileW(MakePath(path).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
    return ErrorUnless(m_Handle != -1);
}

std::error_code SystemFile::Close()
{
    const std::intptr_t handle = std::exchange(m_Handle, -1);
    return ErrorUnless(handle == -1 || CloseHandle(ToHandle(handle)) != 0);
}

std::error_code SystemFile::GetFacts(FileFacts& facts) const
{
    switch (GetFileType(ToHandle(m_Handle)))
    {
    case FILE_TYPE_DISK: break;
    case FILE_TYPE_PIPE: facts = {FileKind::Pipe, 0}; return {};
    case FILE_TYPE_CHAR: facts = {FileKind::Device, 0}; return {};
    default: facts = {FileKind::Other, 0}; return {};
    }
    BY_HANDLE_FILE_INFORMATION info = {};
    const std::error_code error = ErrorUnless(GetFileInformationByHandle(ToHandle(m_Handle), &info) != 0);
    facts = {KindOf(info.dwFileAttributes), Join(info.nFileSizeHigh, info.nFileSizeLow)};
    return error;
}

std::error_code SystemFile::Map(std::size_t bytes, const std::byte*& data) const
{
    const HANDLE mapping = CreateFileMappingW(ToHandle(m_Handle), nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (mapping == nullptr)
    {
        return ErrorUnless(false);
    }
    data = static_cast<const std::byte*>(MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes));
    const std::error_code error = ErrorUnless(data != nullptr);
    CloseHandle(mapping); // the view keeps it
    return error;
}

std::error_code SystemFile::Write(std::span<const std::byte> bytes)
{
    constexpr std::size_t MaxBytes = std::size_t{1} << 30; // lengths have 32 bits
    while (!bytes.empty())
    {
        DWORD written = 0;
        const auto count = static_cast<DWORD>(std::min(bytes.size(), MaxBytes));
        if (WriteFile(ToHandle(m_Handle), bytes.data(), count, &written, nullptr) == 0)
        {
            return ErrorUnless(false);
        }
        bytes = bytes.subspan(written);
    }
    return {};
}

void UnmapFile(const std::byte* data, std::size_t) noexcept
{
    UnmapViewOfFile(data);
}

void ReleaseFilePages(const std::byte* data, std::size_t bytes) noexcept
{
    // Unlocking pages that are not locked is an error that takes them out of the working set.
    VirtualUnlock(const_cast<std::byte*>(data), bytes);
}

std::error_code RenameFile(const std::string& from, const std::string& to)
{
    return ErrorUnless(MoveFileExW(MakePath(from).c_str(), MakePath(to).c_str(), MOVEFILE_REPLACE_EXISTING) != 0);
}

void RemoveFile(const std::string& path) noexcept
{
    try
    {
        DeleteFileW(MakePath(path).c_str());
    }
    catch (const std::exception&) // no memory for the path: the file stays
    {
        return;
    }
}

std::uint64_t GetProcessNumber()
{
    return GetCurrentProcessId();
}

} // namespace tenon
