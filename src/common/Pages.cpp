// SPDX-License-Identifier: Apache-2.0
// See Pages.hpp.
#include "common/Pages.hpp"

#include "common/Populate.hpp"
#include "common/SystemPages.hpp"
#include "common/Threads.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

namespace tenon
{

namespace
{

constexpr size_t MinMappedBytes = size_t{128} << 10; ///< less comes from operator new

/// Memory of one kind that was given back, the oldest first.
class Pile
{
public:
    constexpr explicit Pile(size_t maxBytes) : m_MaxBytes(maxBytes) {}

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

    /// Keeps `memory`. Older memory, which nobody asks for, goes for it.
    void Keep(void* memory, size_t bytes)
    {
        while (m_Count != 0 && (m_Count == m_Spares.size() || bytes > m_MaxBytes - m_Bytes))
        {
            UnmapPages(m_Spares[0].m_Memory, m_Spares[0].m_Bytes);
            Remove(0);
        }
        if (bytes > m_MaxBytes)
        {
            UnmapPages(memory, bytes);
            return;
        }
        m_Spares[m_Count++] = {memory, bytes};
        m_Bytes += bytes;
    }

    /// Gives all back to the system, and keeps nothing from then on.
    void Close()
    {
        m_MaxBytes = 0;
        for (; m_Count != 0; Remove(0))
        {
            UnmapPages(m_Spares[0].m_Memory, m_Spares[0].m_Bytes);
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
    size_t m_MaxBytes;
};

/// Memory that is kept for later objects: the system clears each new page, which takes longer than all the rest of
/// copying a large network. It may take huge pages back whenever it needs memory. Small ones stay: to tell it of them,
/// one by one, takes as long as to be given new ones.
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
            OfferPages(memory, bytes);
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

/// Lets a process that is forked find the mutex free, and gives back the remaining memory when the library goes.
[[maybe_unused]] const struct Keeper
{
    Keeper()
    {
        CallAroundForks([] { GetPagesMutex().lock(); }, [] { GetPagesMutex().unlock(); });
    }
    ~Keeper() { sparePages.Close(); }
} keeper;

bool IsMapped(size_t bytes)
{
    return bytes >= MinMappedBytes;
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
    // There are few sizes, so that spare memory fits.
    return bytes < HugePageBytes ? std::bit_ceil(bytes) : (bytes + HugePageBytes - 1) / HugePageBytes * HugePageBytes;
}

void* TakePages(size_t bytes)
{
    if (!IsMapped(bytes))
    {
        return ::operator new(bytes);
    }
    const size_t rounded = RoundToPages(bytes);
    void* const spare = sparePages.Take(rounded);
    return spare != nullptr ? spare : MapPages(rounded);
}

void GivePages(void* memory, size_t bytes) noexcept
{
    if (!IsMapped(bytes))
    {
        ::operator delete(memory);
        return;
    }
    sparePages.Give(memory, RoundToPages(bytes));
}

} // namespace tenon
