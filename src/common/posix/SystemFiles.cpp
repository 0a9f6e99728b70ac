// SPDX-License-Identifier: Apache-2.0
// See SystemFiles.hpp.
#include "common/SystemFiles.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tenon
{

namespace
{

/// The error of the last call, which failed unless `isDone`.
std::error_code ErrorUnless(bool isDone)
{
    return {isDone ? 0 : errno, std::generic_category()};
}

FileKind KindOf(mode_t mode)
{
    switch (mode & S_IFMT)
    {
    case S_IFREG: return FileKind::Regular;
    case S_IFDIR: return FileKind::Folder;
    case S_IFIFO: return FileKind::Pipe;
    case S_IFSOCK: return FileKind::Socket;
    case S_IFCHR:
    case S_IFBLK: return FileKind::Device;
    default: return FileKind::Other;
    }
}

FileFacts FactsOf(const struct stat& info)
{
    return {KindOf(info.st_mode), static_cast<std::uint64_t>(info.st_size)};
}

} // namespace

std::error_code GetFileFacts(const std::string& path, FileFacts& facts)
{
    struct stat info = {};
    const std::error_code error = ErrorUnless(stat(path.c_str(), &info) == 0);
    facts = FactsOf(info);
    return error;
}

std::error_code SystemFile::Open(const std::string& path)
{
    m_Handle = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return ErrorUnless(m_Handle >= 0);
}

std::error_code SystemFile::Create(const std::string& path)
{
    m_Handle = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return ErrorUnless(m_Handle >= 0);
}

std::error_code SystemFile::Close()
{
    const auto handle = static_cast<int>(std::exchange(m_Handle, -1));
    return ErrorUnless(handle < 0 || close(handle) == 0);
}

std::error_code SystemFile::GetFacts(FileFacts& facts) const
{
    struct stat info = {};
    const std::error_code error = ErrorUnless(fstat(static_cast<int>(m_Handle), &info) == 0);
    facts = FactsOf(info);
    return error;
}

std::error_code SystemFile::Map(std::size_t bytes, const std::byte*& data) const
{
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, static_cast<int>(m_Handle), 0);
    data = static_cast<const std::byte*>(mapped);
    return ErrorUnless(mapped != MAP_FAILED);
}

std::error_code SystemFile::Write(std::span<const std::byte> bytes)
{
    while (!bytes.empty())
    {
        const ssize_t written = write(static_cast<int>(m_Handle), bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR)
        {
            return ErrorUnless(false);
        }
        bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    return {};
}

void UnmapFile(const std::byte* data, std::size_t bytes) noexcept
{
    munmap(const_cast<std::byte*>(data), bytes);
}

void ReleaseFilePages(const std::byte* data, std::size_t bytes) noexcept
{
    madvise(const_cast<std::byte*>(data), bytes, MADV_DONTNEED);
}

std::error_code RenameFile(const std::string& from, const std::string& to)
{
    return ErrorUnless(std::rename(from.c_str(), to.c_str()) == 0);
}

void RemoveFile(const std::string& path) noexcept
{
    unlink(path.c_str());
}

std::uint64_t GetProcessNumber()
{
    return static_cast<std::uint64_t>(getpid());
}

} // namespace tenon
