// SPDX-License-Identifier: Apache-2.0
// See Pages.hpp.
#include "common/Pages.hpp"

#include "common/Populate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

#ifdef __linux__
#include <pthread.h>
#include <sys/mman.h>
#endif

namespace tenon
{

namespace
{

constexpr size_t LeastMappedBytes = size_t{128} << 10; ///< less comes from operator new

#ifdef __linux__

char* MapAnywhere(size_t bytes)
{
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
    {
        throw std::bad_alloc();
    }
    return static_cast<char*>(mapped);
}

/// Huge pages where the system has them: the first touch of a page costs a fault, and a look-up of its address costs
/// more the more pages there are.
void* Map(size_t bytes)
{
    if (bytes < HugePageBytes)
    {
        return MapAnywhere(bytes);
    }
    // Mapped with room for one page more, of which what lies around the aligned part is given back.
    char* const first = MapAnywhere(bytes + HugePageBytes);
    const size_t before = HugePageBytes - reinterpret_cast<uintptr_t>(first) % HugePageBytes;
    char* const aligned = first + before;
    munmap(first, before);
    if (before != HugePageBytes)
    {
        munmap(aligned + bytes, HugePageBytes - before);
    }
    madvise(aligned, bytes, MADV_HUGEPAGE); // where it is refused, the pages are small ones
    return aligned;
}

/// Memory of one kind that was given back, the oldest first.
class Pile
{
public:
    constexpr explicit Pile(size_t mostBytes) : m_MostBytes(mostBytes) {}

    /// Memory of this size; null where there is none.
    void* Take(size_t bytes)
    {
        for (size_t i = m_Count; i-- > 0;) // what was given back last is the most likely to be in a cache
        {
            if (m_Spares[i].m_Bytes == bytes)
            {
                void* const memory = m_Spares[i].m_Memory;
                Remove(i);
                return memory;
            }
        }
        return nullptr;
    }

    /// What nobody asks for goes for it.
    void Keep(void* memory, size_t bytes)
    {
        while (m_Count != 0 && (m_Count == m_Spares.size() || bytes > m_MostBytes - m_Bytes))
        {
            munmap(m_Spares[0].m_Memory, m_Spares[0].m_Bytes);
            Remove(0);
        }
        if (bytes > m_MostBytes)
        {
            munmap(memory, bytes);
            return;
        }
        m_Spares[m_Count++] = {memory, bytes};
        m_Bytes += bytes;
    }

    /// Gives all back to the system, and keeps nothing from then on.
    void Close()
    {
        m_MostBytes = 0;
        for (; m_Count != 0; Remove(0))
        {
            munmap(m_Spares[0].m_Memory, m_Spares[0].m_Bytes);
        }
    }

private:
    struct Spare
    {
        void* m_Memory = nullptr;
        size_t m_Bytes = 0;
    };

    void Remove(size_t i)
    {
        m_Bytes -= m_Spares[i].m_Bytes;
        std::move(m_Spares.begin() + static_cast<ptrdiff_t>(i) + 1, m_Spares.begin() + static_cast<ptrdiff_t>(m_Count),
                  m_Spares.begin() + static_cast<ptrdiff_t>(i));
        --m_Count;
    }

    std::array<Spare, 64> m_Spares;
    size_t m_Count = 0;
    size_t m_Bytes = 0;
    size_t m_MostBytes;
};

/// Memory for what comes: the system clears each new page, which takes longer than all that copying a large network
/// takes beside it. It may take huge pages back whenever it needs memory (MADV_FREE). Small ones stay: to tell it of
/// them, one by one, takes as long as to be given new ones.
class SparePages
{
public:
    void* Take(size_t bytes)
    {
        const std::lock_guard lock(GetPagesMutex());
        return PileFor(bytes).Take(bytes);
    }

    void Give(void* memory, size_t bytes)
    {
        if (bytes >= HugePageBytes)
        {
            madvise(memory, bytes, MADV_FREE); // where it is refused, they stay, too
        }
        const std::lock_guard lock(GetPagesMutex());
        PileFor(bytes).Keep(memory, bytes);
    }

    void Close()
    {
        const std::lock_guard lock(GetPagesMutex());
        m_Small.Close();
        m_Huge.Close();
    }

private:
    Pile& PileFor(size_t bytes) { return bytes < HugePageBytes ? m_Small : m_Huge; }

    Pile m_Small{size_t{16} << 20};
    Pile m_Huge{size_t{128} << 20}; ///< of a network of about 150,000 layers
};

/// There as long as any memory of it may be, that of static objects included.
constinit SparePages sparePages;

/// Lets a process that is forked find the mutex free, and gives back what is left when the library goes.
[[maybe_unused]] const struct Keeper
{
    Keeper()
    {
        pthread_atfork([] { GetPagesMutex().lock(); }, [] { GetPagesMutex().unlock(); },
                       [] { GetPagesMutex().unlock(); });
    }
    ~Keeper() { sparePages.Close(); }
} keeper;

#endif

bool IsMapped(size_t bytes)
{
#ifdef __linux__
    return bytes >= LeastMappedBytes;
#else
    static_cast<void>(bytes);
    return false;
#endif
}

} // namespace

std::mutex& GetPagesMutex()
{
    static constinit std::mutex mutex;
    return mutex;
}

size_t RoundToPages(size_t bytes)
{
    if (!IsMapped(bytes))
    {
        return bytes;
    }
    if (bytes > SIZE_MAX - 2 * HugePageBytes)
    {
        throw std::bad_alloc();
    }
    // Few sizes, so that what is spare fits.
    return bytes < HugePageBytes ? std::bit_ceil(bytes) : (bytes + HugePageBytes - 1) / HugePageBytes * HugePageBytes;
}

void* TakePages(size_t bytes)
{
#ifdef __linux__
    if (IsMapped(bytes))
    {
        const size_t rounded = RoundToPages(bytes);
        void* const spare = sparePages.Take(rounded);
        return spare != nullptr ? spare : Map(rounded);
    }
#endif
    return ::operator new(bytes);
}

void GivePages(void* memory, size_t bytes) noexcept
{
#ifdef __linux__
    if (IsMapped(bytes))
    {
        sparePages.Give(memory, RoundToPages(bytes));
        return;
    }
#else
    static_cast<void>(bytes);
#endif
    ::operator delete(memory);
}

} // namespace tenon
