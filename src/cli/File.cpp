// SPDX-License-Identifier: Apache-2.0
// See File.hpp.
#include "cli/File.hpp"

#include "cli/Errors.hpp"
#include "cli/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tenon::cli
{

InputFile::InputFile(const std::string& path)
{
    // Asked before opening: opening a pipe would wait for somebody who writes to it.
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
    {
        throw InputError("the file does not exist");
    }
    if (!std::filesystem::is_regular_file(status))
    {
        throw InputError("it is not a regular file");
    }
    m_File.reset(std::fopen(path.c_str(), "rb"));
    if (!m_File)
    {
        throw InputError(fmt::format("it cannot be opened: {}", std::strerror(errno)));
    }
    m_Remaining = std::filesystem::file_size(path, error);
    if (error)
    {
        throw InputError(fmt::format("its size is unknown: {}", error.message()));
    }
}

void InputFile::Read(void* target, size_t bytes)
{
    if (bytes > m_Remaining || std::fread(target, 1, bytes, m_File.get()) != bytes)
    {
        throw InputError("it ends too early");
    }
    m_Remaining -= bytes;
}

std::string ReadStart(const std::string& path, size_t bytes)
{
    InputFile file(path);
    std::string start(static_cast<size_t>(std::min<uint64_t>(bytes, file.Remaining())), '\0');
    file.Read(start.data(), start.size());
    return start;
}

std::string ReadWhole(const std::string& path, uint64_t maxBytes)
{
    InputFile file(path);
    std::string content;
    const uint64_t most = std::min<uint64_t>(maxBytes, content.max_size());
    if (file.Remaining() > most)
    {
        throw InputError(fmt::format("it has {} bytes; at most {} are read", file.Remaining(), most));
    }
    content.resize(static_cast<size_t>(file.Remaining()));
    file.Read(content.data(), content.size());
    return content;
}

OutputFile::OutputFile(const std::string& path) : m_Path(path), m_File(std::fopen(path.c_str(), "wb"))
{
    if (!m_File)
    {
        Fail();
    }
}

void OutputFile::Write(const void* data, size_t bytes)
{
    if (std::fwrite(data, 1, bytes, m_File.get()) != bytes)
    {
        Fail();
    }
}

void OutputFile::Close()
{
    if (std::fclose(m_File.release()) != 0)
    {
        Fail();
    }
}

void OutputFile::Fail() const
{
    throw RunError(fmt::format("cannot write '{}': {}", OneLine(m_Path), std::strerror(errno)));
}

} // namespace tenon::cli
