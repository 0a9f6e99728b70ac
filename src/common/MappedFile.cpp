// SPDX-License-Identifier: Apache-2.0
// MappedFile over POSIX mmap; see the header.
#include "common/MappedFile.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tenon
{
namespace
{

struct FileDescriptor
{
    int value;

    ~FileDescriptor()
    {
        if (value >= 0)
        {
            close(value);
        }
    }
};

[[noreturn]] void ThrowSystemError(const char* action, const std::string& path, int error)
{
    const std::string message = fmt::format("cannot {} '{}': {}", action, path, std::generic_category().message(error));
    if (error == ENOENT || error == ENOTDIR)
    {
        throw FileNotFoundException(message);
    }
    throw RuntimeException(message);
}

const char* KindName(mode_t mode)
{
    switch (mode & S_IFMT)
    {
    case S_IFDIR: return "a directory";
    case S_IFIFO: return "a pipe";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    default: return "not a regular file";
    }
}

void RequireRegular(const struct stat& info, const std::string& path)
{
    if (!S_ISREG(info.st_mode))
    {
        throw InvalidArgumentException(
            fmt::format("cannot read '{}': it is {}; a regular file is needed", path, KindName(info.st_mode)));
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
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t begin = (first + page - 1) / page * page;
        const std::size_t end = (first + bytes) / page * page;
        if (begin < end)
        {
            madvise(const_cast<std::byte*>(at->first) + begin, end - begin, MADV_DONTNEED);
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
        munmap(const_cast<std::byte*>(m_Data), m_Size);
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
    // may lead elsewhere by then. For that case O_NONBLOCK: opening a pipe must not wait for a writer.
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0)
    {
        ThrowSystemError("open", path, errno);
    }
    RequireRegular(info, path);
    const FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (file.value < 0)
    {
        ThrowSystemError("open", path, errno);
    }
    if (fstat(file.value, &info) != 0)
    {
        ThrowSystemError("look at", path, errno);
    }
    RequireRegular(info, path);

    const auto bytes = static_cast<std::uint64_t>(info.st_size);
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
        return std::make_shared<const MappedFile>(Key{}, path, nullptr, 0); // mmap refuses a length of zero
    }
    std::string ownPath = path; // what can fail comes before the mapping has an owner
    void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
    if (data == MAP_FAILED)
    {
        ThrowSystemError("map", path, errno);
    }
    try
    {
        return std::make_shared<const MappedFile>(Key{}, std::move(ownPath), static_cast<const std::byte*>(data), size);
    }
    catch (...)
    {
        munmap(data, size);
        throw;
    }
}

} // namespace tenon
