// SPDX-License-Identifier: Apache-2.0
// See ReplaceFile.hpp.
#include "common/ReplaceFile.hpp"

#include "common/SystemFiles.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <atomic>
#include <system_error>

namespace tenon
{

namespace
{

void ThrowIfRefused(const std::error_code& error, const std::string& path)
{
    if (error)
    {
        throw RuntimeException(fmt::format("cannot write '{}': {}", path, error.message()));
    }
}

/// A file that goes away unless it is put in place.
class NewFile
{
public:
    explicit NewFile(const std::string& path) : m_Path(path)
    {
        constexpr int MaxNames = 100; // of processes that had this one's number and were killed while they wrote
        std::error_code error = std::make_error_code(std::errc::file_exists);
        for (int i = 0; i < MaxNames && error == std::errc::file_exists; ++i)
        {
            m_Name = MakeName(path);
            error = m_File.Create(m_Name);
        }
        ThrowIfRefused(error, m_Path);
    }
    ~NewFile()
    {
        if (!m_Name.empty())
        {
            static_cast<void>(m_File.Close());
            RemoveFile(m_Name);
        }
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void Write(std::span<const std::byte> bytes) { ThrowIfRefused(m_File.Write(bytes), m_Path); }

    void PutInPlace()
    {
        ThrowIfRefused(m_File.Close(), m_Path);
        ThrowIfRefused(RenameFile(m_Name, m_Path), m_Path);
        m_Name.clear();
    }

private:
    /// Makes a name that this process and call alone have.
    static std::string MakeName(const std::string& path)
    {
        static std::atomic<unsigned int> calls = 0;
        return fmt::format("{}.{}.{}.tmp", path, GetProcessNumber(), calls++);
    }

    std::string m_Path;
    std::string m_Name;
    SystemFile m_File;
};

} // namespace

void ReplaceFile(const std::string& path, std::span<const std::span<const std::byte>> parts)
{
    if (path.find('\0') != std::string::npos)
    {
        throw InvalidArgumentException(fmt::format("cannot write '{}': the path has a zero byte in it", path.c_str()));
    }
    FileFacts facts;
    if (!GetFileFacts(path, facts) && facts.m_Kind != FileKind::Regular)
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
