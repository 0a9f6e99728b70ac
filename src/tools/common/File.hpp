// SPDX-License-Identifier: Apache-2.0
// Files of ExecuteNetwork: input files, which may be pipes, are of known size and read to the byte; output files are
// closed before they count as written.
#pragma once

#include <tenon/Limits.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools
{

/// "-" stands for standard input if a file is read, and for standard output if a file is written.
constexpr const char* StandardStream = "-";

/// Whether a path to be read means standard input: "-", "/dev/stdin" and the like.
bool IsStandardInput(const std::string& path);
/// Whether a path to be written means standard output: "-", "/dev/stdout" and the like, or the file or pipe to which
/// standard output is redirected.
bool IsStandardOutput(const std::string& path);

/// The bytes of a file from its start on. Messages do not name the file: the caller adds the name and the purpose.
class InputFile
{
public:
    uint64_t Remaining() const { return m_Remaining; }
    /// Throws InputError when fewer than `bytes` are left.
    void Read(void* target, size_t bytes);

private:
    friend class InputSource;
    InputFile() = default;

    struct Closer
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Closer> m_File;             ///< a regular file or stream, or null
    std::shared_ptr<const std::vector<uint8_t>> m_Content; ///< content in memory, or null
    uint64_t m_Remaining = 0;
};

/// The advice in messages about a file above Limits::m_MaxFileBytes.
constexpr const char* RaiseFileBytes = "; raise --limit file-bytes if it is to be trusted";

/// Called with the first bytes of a stream (InputSource::StartBytes of them, or all); returns the number of bytes to
/// read. Reading ends there, even if more bytes follow. It may throw InputError for a useless stream.
using MaxBytesToRead = std::function<uint64_t(std::string_view start)>;
constexpr uint64_t NoBound = std::numeric_limits<uint64_t>::max();

/// A file that a user names. It can be read several times. A regular file stays on the disk. A stream that can be read
/// only once (a pipe, a terminal, "-") is read to its end by the constructor and kept in memory.
class InputSource
{
public:
    /// The number of bytes that identify the kind of a file.
    static constexpr size_t StartBytes = 4096;

    /// Throws InputError when the file is missing, is a folder or a disk, cannot be read, or is no regular file and has
    /// more than `maxBytes`; `advice` ends the message then. `maxToRead`, if given, is called for files that are not
    /// regular.
    InputSource(const std::string& path, uint64_t maxBytes = Limits().m_MaxFileBytes,
                const char* advice = RaiseFileBytes, const MaxBytesToRead& maxToRead = {});
    /// Bytes in memory, such as a file within an archive, under a path for messages.
    InputSource(std::string path, std::shared_ptr<const std::vector<uint8_t>> content);

    const std::string& Path() const { return m_Path; }
    /// The content in memory, aligned as std::max_align_t; null for a regular file.
    const std::shared_ptr<const std::vector<uint8_t>>& Content() const { return m_Content; }

    // All throw InputError.
    InputFile Open() const;
    /// The first `bytes` of the file, or as many as it has.
    std::string ReadStart(size_t bytes) const;
    /// All of the file, which must not have more than `maxBytes` of the constructor.
    std::string ReadAll() const;

private:
    std::string m_Path;
    uint64_t m_MaxBytes;
    const char* m_Advice;
    std::shared_ptr<const std::vector<uint8_t>> m_Content;
};

/// A file to write. A regular file is replaced. A pipe or device is kept; a stream that is open already ("-",
/// "/dev/stdout", "/dev/fd/3") continues at its position, wherever it is redirected.
class OutputFile
{
public:
    /// Each throws RunError naming the file.
    explicit OutputFile(const std::string& path);
    void Write(const void* data, size_t bytes);
    /// Closes the file. Bytes may reach the disk only here, so errors can occur as late as here.
    void Close();

private:
    [[noreturn]] void Fail() const;

    struct Closer
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string m_Path;
    std::unique_ptr<std::FILE, Closer> m_File;
};

/// With links followed; of a relative path whose file is not there yet, "./a" and "a" are the same.
std::filesystem::path CanonicalPath(const std::string& path);

/// Writes a whole file. Throws RunError.
void WriteFile(const std::string& path, std::string_view content);

} // namespace tenon::tools
