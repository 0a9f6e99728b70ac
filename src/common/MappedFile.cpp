// SPDX-License-Identifier: Apache-2.0
// See MappedFile.hpp.
#include "common/MappedFile.hpp"

#include "common/SystemFiles.hpp"
#include "common/SystemPages.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <limits>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace tenon
{
namespace
{

void ThrowIf(const std::error_code& error, const char* action, const std::string& path)
{
    if (!error)
    {
        return;
    }
    const std::string message = fmt::format("cannot {} '{}': {}", action, path, error.message());
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
    {
        throw FileNotFoundException(message);
    }
    throw RuntimeException(message);
}

const char* KindName(FileKind kind)
{
    switch (kind)
    {
    case FileKind::Folder: return "a directory";
    case FileKind::Pipe: return "a pipe";
    case FileKind::Socket: return "a socket";
    case FileKind::Device: return "a device";
    default: return "not a regular file";
    }
}

void RequireRegular(const FileFacts& facts, const std::string& path)
{
    if (facts.m_Kind != FileKind::Regular)
    {
        throw InvalidArgumentException(
            fmt::format("cannot read '{}': it is {}; a regular file is needed", path, KindName(facts.m_Kind)));
    }
}

/// The mappings of the process, so that Release never touches memory that no file would bring back.
class Mappings
{
public:
    static Mappings& Get()
    {
        static auto* const mappings = new Mappings; // never destroyed: a mapping may be owned by a static object
        return *mappings;
    }

    void Add(const std::byte* data, std::size_t size)
    {
        const std::lock_guard lock(m_Mutex);
        m_Sizes[data] = size;
    }

    void Remove(const std::byte* data) noexcept
    {
        const std::lock_guard lock(m_Mutex);
        m_Sizes.erase(data);
    }

    void Release(const std::byte* data, std::size_t bytes) noexcept
    {
        const std::lock_guard lock(m_Mutex); // the mapping cannot go meanwhile
        auto at = m_Sizes.upper_bound(data);
        if (at == m_Sizes.begin())
        {
            return;
        }
        --at;
        const auto first = static_cast<std::size_t>(data - at->first);
        if (first >= at->second || bytes > at->second - first)
        {
            return;
        }
        const std::size_t page = GetPageBytes();
        const std::size_t begin = (first + page - 1) / page * page;
        const std::size_t end = (first + bytes) / page * page;
        if (begin < end)
        {
            ReleaseFilePages(at->first + begin, end - begin);
        }
    }

private:
    std::mutex m_Mutex;
    std::map<const std::byte*, std::size_t, std::less<>> m_Sizes;
};

} // namespace

MappedFile::MappedFile(Key, std::string path, const std::byte* data, std::size_t size)
    : m_Path(std::move(path)), m_Data(data), m_Size(size)
{
    if (m_Data != nullptr)
    {
        Mappings::Get().Add(m_Data, m_Size);
    }
}

MappedFile::~MappedFile()
{
    if (m_Data != nullptr)
    {
        Mappings::Get().Remove(m_Data);
        UnmapFile(m_Data, m_Size);
    }
}

void MappedFile::Release(const void* data, std::size_t bytes) noexcept
{
    if (data != nullptr)
    {
        Mappings::Get().Release(static_cast<const std::byte*>(data), bytes);
    }
}

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path, std::uint64_t maxBytes)
{
    if (path.find('\0') != std::string::npos)
    {
        throw InvalidArgumentException(fmt::format("cannot read '{}': the path has a zero byte in it", path.c_str()));
    }
    // Looked at before it is opened, as opening a device can already do something; and again afterwards, since the path
    // may lead elsewhere by then.
    FileFacts facts;
    ThrowIf(GetFileFacts(path, facts), "open", path);
    RequireRegular(facts, path);
    SystemFile file;
    ThrowIf(file.Open(path), "open", path);
    ThrowIf(file.GetFacts(facts), "look at", path);
    RequireRegular(facts, path);

    const std::uint64_t bytes = facts.m_Bytes;
    if (bytes > maxBytes)
    {
        throw InvalidArgumentException(
            fmt::format("'{}' has {} bytes, more than the limit of {}; raise Limits::m_MaxFileBytes if the file is to "
                        "be trusted",
                        path, bytes, maxBytes));
    }
    if (bytes > std::numeric_limits<std::size_t>::max()) // where sizes have 32 bits
    {
        throw InvalidArgumentException(
            fmt::format("'{}' has {} bytes, which do not fit into the address space", path, bytes));
    }
    const auto size = static_cast<std::size_t>(bytes);
    if (size == 0)
    {
        return std::make_shared<const MappedFile>(Key{}, path, nullptr, 0); // no system maps nothing
    }
    std::string ownPath = path; // what can fail comes before the mapping has an owner
    const std::byte* data = nullptr;
    ThrowIf(file.Map(size, data), "map", path);
    try
    {
        return std::make_shared<const MappedFile>(Key{}, std::move(ownPath), data, size);
    }
    catch (...)
    {
        UnmapFile(data, size);
        throw;
    }
}

} // namespace tenon
