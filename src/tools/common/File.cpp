// SPDX-License-Identifier: Apache-2.0
// See File.hpp.
#include "tools/common/File.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/SystemFiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace tenon::tools
{
namespace
{

/// All that a stream of unknown length holds. Its pieces are put together at the end, each given back as soon as it has
/// been copied, so that there is hardly more memory at any time than for the bytes.
std::vector<uint8_t> ReadToEnd(std::FILE* file, uint64_t maxBytes, const char* advice, const MaxBytesToRead& maxToRead)
{
    constexpr size_t maxChunk = size_t{1} << 20; // bytes
    std::deque<std::vector<uint8_t>> pieces;
    uint64_t max = NoBound;
    size_t count = 0;
    while (std::feof(file) == 0 && count < max)
    {
        if (count > maxBytes)
        {
            throw InputError(fmt::format("it has more than {} bytes, the limit{}", maxBytes, advice));
        }
        // One byte above the limit shows that there are more.
        const uint64_t left = std::min(std::min(maxBytes, NoBound - 1) - count + 1, max - count);
        std::vector<uint8_t> piece(
            static_cast<size_t>(std::min<uint64_t>(std::clamp(count, InputSource::StartBytes, maxChunk), left)));
        const size_t read = std::fread(piece.data(), 1, piece.size(), file);
        if (std::ferror(file) != 0)
        {
            throw InputError(fmt::format("it cannot be read: {}", std::strerror(errno)));
        }
        piece.resize(read);
        if (count == 0 && maxToRead)
        {
            max = maxToRead({reinterpret_cast<const char*>(piece.data()), piece.size()});
        }
        count += read;
        pieces.push_back(std::move(piece));
    }
    std::vector<uint8_t> bytes;
    for (bytes.reserve(count); !pieces.empty(); pieces.pop_front())
    {
        bytes.insert(bytes.end(), pieces.front().begin(), pieces.front().end());
    }
    return bytes;
}

std::FILE* OpenForWriting(const std::string& path)
{
    if (IsStandardOutput(path))
    {
        return OpenCopy(StandardOutput, "wb");
    }
    // Opened by its path, a file to which a stream is redirected would be cut short and written over.
    const std::optional<int> descriptor = DescriptorOf(path);
    return descriptor ? OpenCopy(*descriptor, "wb") : std::fopen(path.c_str(), "wb");
}

} // namespace

bool IsStandardInput(const std::string& path)
{
    return path == StandardStream || DescriptorOf(path) == StandardInput;
}

bool IsStandardOutput(const std::string& path)
{
    const std::optional<int> descriptor = DescriptorOf(path);
    if (path == StandardStream || descriptor == StandardOutput)
    {
        return true;
    }
    const std::optional<FileStatus> output = GetFileStatus(StandardOutput);
    const std::optional<FileStatus> file = descriptor ? GetFileStatus(*descriptor) : GetFileStatus(path);
    // Devices are not compared: what is written to /dev/null twice disturbs nobody.
    return output && file && (file->m_IsRegular || file->m_IsPipe) && file->m_Identity == output->m_Identity;
}

void InputFile::Read(void* target, size_t bytes)
{
    bool isRead = bytes <= m_Remaining;
    if (isRead && m_Content != nullptr)
    {
        const uint8_t* const from = m_Content->data() + (m_Content->size() - m_Remaining);
        std::copy_n(from, bytes, static_cast<uint8_t*>(target));
    }
    else if (isRead)
    {
        isRead = std::fread(target, 1, bytes, m_File.get()) == bytes;
    }
    if (!isRead)
    {
        throw InputError("it ends too early");
    }
    m_Remaining -= bytes;
}

InputSource::InputSource(const std::string& path, uint64_t maxBytes, const char* advice,
                         const MaxBytesToRead& maxToRead)
    : m_Path(path), m_MaxBytes(maxBytes), m_Advice(advice)
{
    const bool isStream = path == StandardStream;
    if (!isStream)
    {
        // Asked before opening: opening a device can already do something.
        std::error_code error;
        const auto status = std::filesystem::status(path, error);
        if (!std::filesystem::exists(status))
        {
            throw InputError("the file does not exist");
        }
        if (std::filesystem::is_regular_file(status))
        {
            return;
        }
        if (!std::filesystem::is_fifo(status) && !std::filesystem::is_character_file(status) &&
            !(std::filesystem::is_socket(status) && DescriptorOf(path)))
        {
            throw InputError("it is not a regular file, nor a pipe");
        }
    }
    const std::optional<int> descriptor = isStream ? StandardInput : DescriptorOf(path);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        descriptor ? OpenCopy(*descriptor, "rb") : std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file)
    {
        throw InputError(fmt::format("it cannot be opened: {}", std::strerror(errno)));
    }
    m_Content = std::make_shared<const std::vector<uint8_t>>(ReadToEnd(file.get(), maxBytes, advice, maxToRead));
}

InputSource::InputSource(std::string path, std::shared_ptr<const std::vector<uint8_t>> content)
    : m_Path(std::move(path)), m_MaxBytes(NoBound), m_Advice(""), m_Content(std::move(content))
{
}

InputFile InputSource::Open() const
{
    InputFile file;
    if (m_Content != nullptr)
    {
        file.m_Content = m_Content;
        file.m_Remaining = m_Content->size();
        return file;
    }
    file.m_File.reset(std::fopen(m_Path.c_str(), "rb"));
    if (!file.m_File)
    {
        throw InputError(fmt::format("it cannot be opened: {}", std::strerror(errno)));
    }
    std::error_code error;
    file.m_Remaining = std::filesystem::file_size(m_Path, error);
    if (error)
    {
        throw InputError(fmt::format("its size is unknown: {}", error.message()));
    }
    return file;
}

std::string InputSource::ReadStart(size_t bytes) const
{
    InputFile file = Open();
    std::string start(static_cast<size_t>(std::min<uint64_t>(bytes, file.Remaining())), '\0');
    file.Read(start.data(), start.size());
    return start;
}

std::string InputSource::ReadAll() const
{
    InputFile file = Open();
    std::string content;
    const uint64_t max = std::min<uint64_t>(m_MaxBytes, content.max_size());
    if (file.Remaining() > max)
    {
        throw InputError(fmt::format("it has {} bytes, more than the limit of {}{}", file.Remaining(), max, m_Advice));
    }
    content.resize(static_cast<size_t>(file.Remaining()));
    file.Read(content.data(), content.size());
    return content;
}

OutputFile::OutputFile(const std::string& path) : m_Path(path), m_File(OpenForWriting(path))
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

std::filesystem::path CanonicalPath(const std::string& path)
{
    std::error_code error;
    std::filesystem::path whole = std::filesystem::absolute(path, error);
    if (!error)
    {
        whole = std::filesystem::weakly_canonical(whole, error);
    }
    return error ? std::filesystem::path(path) : whole;
}

void WriteFile(const std::string& path, std::string_view content)
{
    OutputFile file(path);
    file.Write(content.data(), content.size());
    file.Close();
}

} // namespace tenon::tools
