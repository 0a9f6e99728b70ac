// SPDX-License-Identifier: Apache-2.0
// See Pages.hpp.
#include "common/Pages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tenon
{

namespace
{

constexpr size_t HugePageBytes = size_t{2} << 20;      ///< of x86-64, and of Arm with pages of 4 KiB
constexpr size_t LeastMappedBytes = size_t{128} << 10; ///< less comes from operator new

#ifdef __linux__

/// Huge pages where the system has them: the first touch of a page costs a fault, and a look-up of its address costs
/// more the more pages there are.
void* Map(size_t bytes)
{
    if (bytes < HugePageBytes)
    {
        void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED)
        {
            throw std::bad_alloc();
        }
        return mapped;
    }
    // Mapped with room for one page more, of which what lies around the aligned part is given back.
    const size_t mappedBytes = bytes + HugePageBytes;
    void* const mapped = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
    {
        throw std::bad_alloc();
    }
    char* const first = static_cast<char*>(mapped);
    const size_t before = HugePageBytes - reinterpret_cast<uintptr_t>(mapped) % HugePageBytes;
    char* const aligned = first + before;
    munmap(first, before);
    if (before != HugePageBytes)
    {
        munmap(aligned + bytes, HugePageBytes - before);
    }
    madvise(aligned, bytes, MADV_HUGEPAGE); // where it is refused, the pages are small ones
    return aligned;
}

/// Memory that was given back, for what comes: the system clears each new page, which takes longer than all that
/// copying a large network takes beside it. The system may take most of it back whenever it needs memory (MADV_FREE).
class SparePages
{
public:
    /// Memory of this size; null where there is none.
    void* Take(size_t bytes)
    {
        const std::lock_guard lock(m_Mutex);
        for (Spare& spare : m_Spares)
        {
            if (spare.m_Bytes == bytes)
            {
                BytesLike(bytes) -= bytes;
                spare.m_Bytes = 0;
                return spare.m_Memory;
            }
        }
        return nullptr;
    }

    void Give(void* memory, size_t bytes)
    {
        if (!Keep(memory, bytes))
        {
            munmap(memory, bytes);
        }
    }

    /// Gives all back to the system, and keeps nothing from then on.
    void Close()
    {
        const std::lock_guard lock(m_Mutex);
        for (Spare& spare : m_Spares)
        {
            if (spare.m_Bytes != 0)
            {
                munmap(spare.m_Memory, spare.m_Bytes);
                spare.m_Bytes = 0;
            }
        }
        m_Bytes = MostBytes;
        m_SmallBytes = MostSmallBytes;
    }

private:
    struct Spare
    {
        void* m_Memory = nullptr;
        size_t m_Bytes = 0; ///< 0: there is none in this place
    };

    static constexpr size_t MostBytes = size_t{128} << 20; ///< of a network of about 150,000 layers
    static constexpr size_t MostSmallBytes = size_t{16} << 20;

    /// The sum that memory of so many bytes counts for.
    size_t& BytesLike(size_t bytes) { return bytes < HugePageBytes ? m_SmallBytes : m_Bytes; }

    bool Keep(void* memory, size_t bytes)
    {
        const std::lock_guard lock(m_Mutex);
        const auto place =
            std::find_if(m_Spares.begin(), m_Spares.end(), [](const Spare& s) { return s.m_Bytes == 0; });
        // To tell the system of small pages, one by one, takes as long as to be given new ones: it gets huge ones
        // alone.
        const bool isSmall = bytes < HugePageBytes;
        if (place == m_Spares.end() ||
            (isSmall ? bytes > MostSmallBytes - m_SmallBytes : bytes > MostBytes - m_Bytes) ||
            (!isSmall && madvise(memory, bytes, MADV_FREE) != 0))
        {
            return false;
        }
        *place = {memory, bytes};
        BytesLike(bytes) += bytes;
        return true;
    }

    std::mutex m_Mutex;
    std::array<Spare, 64> m_Spares;
    size_t m_Bytes = 0;      ///< in huge pages
    size_t m_SmallBytes = 0; ///< in small ones
};

/// There as long as any memory of it may be, that of static objects included.
constinit SparePages sparePages;

/// What is left goes with the library.
[[maybe_unused]] const struct Closer
{
    ~Closer() { sparePages.Close(); }
} closer;

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
