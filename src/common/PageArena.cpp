// SPDX-License-Identifier: Apache-2.0
// PageArena: see PageArena.hpp.
#include "common/PageArena.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tenon
{

namespace
{

constexpr size_t FirstChunkBytes = size_t{4} << 10;  ///< a small network fits
constexpr size_t HugePageBytes = size_t{2} << 20;    ///< of x86-64, and of Arm with pages of 4 KiB
constexpr size_t LastChunkBytes = HugePageBytes * 4; ///< chunks double up to here

bool IsMapped(size_t bytes)
{
#ifdef __linux__
    return bytes >= HugePageBytes;
#else
    static_cast<void>(bytes);
    return false;
#endif
}

#ifdef __linux__

/// Whole pages, huge ones where the system has them: the first touch of a page costs a fault, and a look-up of its
/// address costs more the more pages there are.
void* MapChunk(size_t bytes)
{
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

/// Chunks of arenas that are gone, for those to come: the system clears each new page, which takes longer than all that
/// copying a large network takes beside it. It may take these pages back whenever it needs memory (MADV_FREE).
class SparePages
{
public:
    /// A chunk of this size; null where there is none.
    void* Take(size_t bytes)
    {
        const std::lock_guard lock(m_Mutex);
        for (Spare& spare : m_Spares)
        {
            if (spare.m_Bytes == bytes)
            {
                m_Bytes -= bytes;
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
    }

private:
    struct Spare
    {
        void* m_Memory = nullptr;
        size_t m_Bytes = 0; ///< 0: there is none in this place
    };

    static constexpr size_t MostBytes = size_t{64} << 20; ///< of a network of about 200,000 layers

    bool Keep(void* memory, size_t bytes)
    {
        const std::lock_guard lock(m_Mutex);
        const auto place =
            std::find_if(m_Spares.begin(), m_Spares.end(), [](const Spare& s) { return s.m_Bytes == 0; });
        if (bytes > MostBytes - m_Bytes || place == m_Spares.end() || madvise(memory, bytes, MADV_FREE) != 0)
        {
            return false;
        }
        *place = {memory, bytes};
        m_Bytes += bytes;
        return true;
    }

    std::mutex m_Mutex;
    std::array<Spare, 16> m_Spares;
    size_t m_Bytes = 0;
};

/// There as long as any arena may be, static ones included.
constinit SparePages sparePages;

/// What is left goes with the library.
[[maybe_unused]] const struct Closer
{
    ~Closer() { sparePages.Close(); }
} closer;

#endif

void* TakeChunk(size_t bytes)
{
#ifdef __linux__
    if (IsMapped(bytes))
    {
        void* const spare = sparePages.Take(bytes);
        return spare != nullptr ? spare : MapChunk(bytes);
    }
#endif
    return ::operator new(bytes);
}

void GiveChunk(void* memory, size_t bytes)
{
#ifdef __linux__
    if (IsMapped(bytes))
    {
        sparePages.Give(memory, bytes);
        return;
    }
#else
    static_cast<void>(bytes);
#endif
    ::operator delete(memory);
}

} // namespace

PageArena::~PageArena()
{
    for (const Chunk& chunk : m_Chunks)
    {
        GiveChunk(chunk.m_Memory, chunk.m_Bytes);
    }
}

void* PageArena::Allocate(size_t bytes, size_t alignment)
{
    size_t skipped = (0 - reinterpret_cast<uintptr_t>(m_Next)) % alignment;
    if (m_Left < skipped || m_Left - skipped < bytes)
    {
        AddChunk(bytes);
        skipped = 0;
    }
    char* const memory = m_Next + skipped;
    m_Next = memory + bytes;
    m_Left -= skipped + bytes;
    return memory;
}

void PageArena::AddChunk(size_t bytes)
{
    size_t size = m_Chunks.empty() ? FirstChunkBytes : std::min(m_Chunks.back().m_Bytes * 2, LastChunkBytes);
    if (bytes > SIZE_MAX - 2 * HugePageBytes)
    {
        throw std::bad_alloc();
    }
    size = std::max(size, bytes);
    if (IsMapped(size))
    {
        size = (size + HugePageBytes - 1) / HugePageBytes * HugePageBytes;
    }
    m_Chunks.reserve(m_Chunks.size() + 1); // so that the chunk is noted once it is there
    void* const memory = TakeChunk(size);
    m_Chunks.push_back({memory, size});
    m_Next = static_cast<char*>(memory);
    m_Left = size;
}

} // namespace tenon
