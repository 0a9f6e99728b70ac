// SPDX-License-Identifier: Apache-2.0
// ReplaceFile over POSIX; see the header.
#include "common/ReplaceFile.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tenon
{

namespace
{

[[noreturn]] void ThrowSystemError(const std::string& path, int error)
{
    throw RuntimeException(fmt::format("cannot write '{}': {}", path, std::generic_category().message(error)));
}

/// A file that goes away unless it is put in place.
class NewFile
{
public:
    explicit NewFile(const std::string& path) : m_Path(path)
    {
        constexpr int MostNames = 100; // of processes that had this one's number and were killed while they wrote
        for (int i = 0; i < MostNames && m_File < 0; ++i)
        {
            m_Name = MakeName(path);
            // O_EXCL: what somebody else made, a link perhaps, is not written through.
            m_File = open(m_Name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (m_File < 0 && errno != EEXIST)
            {
                break;
            }
        }
        if (m_File < 0)
        {
            ThrowSystemError(m_Path, errno);
        }
    }
    ~NewFile()
    {
        if (m_File >= 0)
        {
            close(m_File);
        }
        if (!m_Name.empty())
        {
            unlink(m_Name.c_str());
        }
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void Write(std::span<const std::byte> bytes)
    {
        while (!bytes.empty())
        {
            const ssize_t written = write(m_File, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR)
            {
                ThrowSystemError(m_Path, errno);
            }
            bytes = bytes.subspan(written < 0 ? 0 : static_cast<size_t>(written));
        }
    }

    void PutInPlace()
    {
        if (close(std::exchange(m_File, -1)) != 0 || std::rename(m_Name.c_str(), m_Path.c_str()) != 0)
        {
            ThrowSystemError(m_Path, errno);
        }
        m_Name.clear();
    }

private:
    /// Of this process and call alone.
    static std::string MakeName(const std::string& path)
    {
        static std::atomic<unsigned int> calls = 0;
        return fmt::format("{}.{}.{}.tmp", path, getpid(), calls++);
    }

    std::string m_Path;
    std::string m_Name;
    int m_File = -1;
};

} // namespace

void ReplaceFile(const std::string& path, std::span<const std::span<const std::byte>> parts)
{
    if (path.find('\0') != std::string::npos)
    {
        throw InvalidArgumentException(fmt::format("cannot write '{}': the path has a zero byte in it", path.c_str()));
    }
    struct stat info = {};
    if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    {
        throw InvalidArgumentException(fmt::format("cannot write '{}': it is not a regular file", path));
    }
    NewFile file(path);
    for (const auto part : parts)
    {
        file.Write(part);
    }
    file.PutInPlace();
}

} // namespace tenon
