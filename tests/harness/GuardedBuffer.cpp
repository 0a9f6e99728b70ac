// SPDX-License-Identifier: Apache-2.0
// GuardedBuffer by pages of a memory file, which are used again and again: system calls and the first touch of a page
// take longer than most kernels that are tested.
#include "harness/GuardedBuffer.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace tenon::test
{

namespace
{

// Neither zero nor a small number in any element type, so that a kernel that forgets to write is seen.
constexpr std::byte Pattern{0xC5};

size_t GetPageBytes()
{
    static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

[[noreturn]] void ThrowSystemError(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

/// Regions that no buffer uses now, by their bytes.
class RegionPool
{
public:
    GuardedBuffer::Region Take(size_t usableBytes)
    {
        {
            const std::lock_guard lock(m_Mutex);
            std::vector<GuardedBuffer::Region>& free = m_Free[usableBytes];
            if (!free.empty())
            {
                const GuardedBuffer::Region region = free.back();
                free.pop_back();
                m_FreeBytes -= usableBytes;
                --m_FreeRegions;
                return region;
            }
        }
        return Make(usableBytes);
    }

    void Return(const GuardedBuffer::Region& region, size_t usableBytes)
    {
        const std::lock_guard lock(m_Mutex);
        if (m_FreeBytes + usableBytes > MaxFreeBytes || m_FreeRegions == MaxFreeRegions)
        {
            Clear();
        }
        m_Free[usableBytes].push_back(region);
        m_FreeBytes += usableBytes;
        ++m_FreeRegions;
    }

private:
    static constexpr size_t MaxFreeBytes = size_t{64} << 20;
    static constexpr size_t MaxFreeRegions = 4096; // each is six mappings, of which Linux allows 65530

    void Clear()
    {
        const size_t page = GetPageBytes();
        for (const auto& [usableBytes, regions] : m_Free)
        {
            for (const GuardedBuffer::Region& region : regions)
            {
                munmap(region.m_Writable - page, usableBytes + 2 * page);
                munmap(region.m_ReadOnly - page, usableBytes + 2 * page);
            }
        }
        m_Free.clear();
        m_FreeBytes = 0;
        m_FreeRegions = 0;
    }

    static std::byte* Map(int file, size_t usableBytes, int protection)
    {
        const size_t page = GetPageBytes();
        void* const whole = mmap(nullptr, usableBytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (whole == MAP_FAILED)
        {
            ThrowSystemError("no addresses for a guarded buffer");
        }
        std::byte* const inner = static_cast<std::byte*>(whole) + page;
        if (mmap(inner, usableBytes, protection, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        {
            ThrowSystemError("no memory for a guarded buffer");
        }
        return inner;
    }

    static GuardedBuffer::Region Make(size_t usableBytes)
    {
        const int file = memfd_create("guarded_buffer", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(usableBytes)) != 0)
        {
            ThrowSystemError("no memory file for a guarded buffer");
        }
        const GuardedBuffer::Region region = {Map(file, usableBytes, PROT_READ | PROT_WRITE),
                                              Map(file, usableBytes, PROT_READ)};
        close(file); // the mappings hold it
        return region;
    }

    std::mutex m_Mutex;
    std::map<size_t, std::vector<GuardedBuffer::Region>> m_Free;
    size_t m_FreeBytes = 0;
    size_t m_FreeRegions = 0;
};

RegionPool& GetPool()
{
    static auto* const pool = new RegionPool; // never destroyed: a buffer may be owned by a static object
    return *pool;
}

bool IsPattern(const std::byte* begin, const std::byte* end)
{
    // Each byte is the one before it, the first one the pattern.
    const auto count = static_cast<size_t>(end - begin);
    return count == 0 || (*begin == Pattern && std::memcmp(begin, begin + 1, count - 1) == 0);
}

} // namespace

GuardedBuffer::GuardedBuffer(size_t bytes, size_t alignment)
    : m_UsableBytes((bytes + alignment + GetPageBytes() - 1) / GetPageBytes() * GetPageBytes()), m_Bytes(bytes)
{
    m_Region = GetPool().Take(m_UsableBytes);
    std::memset(m_Region.m_Writable, static_cast<int>(Pattern), m_UsableBytes);
    m_Data = m_Region.m_Writable + (m_UsableBytes - bytes) / alignment * alignment;
}

GuardedBuffer::~GuardedBuffer()
{
    GetPool().Return(m_Region, m_UsableBytes);
}

void GuardedBuffer::MakeReadOnly()
{
    if (!m_IsReadOnly)
    {
        m_Data = m_Region.m_ReadOnly + (m_Data - m_Region.m_Writable);
        m_IsReadOnly = true;
    }
}

bool GuardedBuffer::IsIntactAround() const
{
    const std::byte* const begin = m_IsReadOnly ? m_Region.m_ReadOnly : m_Region.m_Writable;
    return IsPattern(begin, m_Data) && IsPattern(m_Data + m_Bytes, begin + m_UsableBytes);
}

} // namespace tenon::test
