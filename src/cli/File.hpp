// SPDX-License-Identifier: Apache-2.0
// Files of ExecuteNetwork: input files are regular, of known size and read to the byte; output files are closed before
// they count as written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace tenon::cli
{

/// Messages do not name the file: whoever reads it for a purpose adds the name and the purpose.
class InputFile
{
public:
    /// Throws InputError when the file is missing, cannot be read or is no regular file.
    explicit InputFile(const std::string& path);

    uint64_t Remaining() const { return m_Remaining; }
    /// Throws InputError when fewer than `bytes` are left.
    void Read(void* target, size_t bytes);

private:
    struct Closer
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Closer> m_File;
    uint64_t m_Remaining = 0;
};

/// The first `bytes` of a file, or as many as it has.
std::string ReadStart(const std::string& path, size_t bytes);
/// All of a file, which must not have more than `maxBytes`.
std::string ReadWhole(const std::string& path, uint64_t maxBytes);

class OutputFile
{
public:
    /// Each throws RunError naming the file.
    explicit OutputFile(const std::string& path);
    void Write(const void* data, size_t bytes);
    /// What is not closed may not be on the disk: errors can show up as late as here.
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

} // namespace tenon::cli
