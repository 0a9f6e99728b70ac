// SPDX-License-Identifier: Apache-2.0
// PageArena: see PageArena.hpp.
#include "common/PageArena.hpp"

#include <algorithm>
#include <cstdint>
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

/// Whole pages. The first touch of a page costs a fault, and a look-up of its address costs more the more pages there
/// are: in huge ones both are rare.
void* MapChunk(size_t bytes)
{
#ifdef __linux__
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
#else
    return ::operator new(bytes);
#endif
}

} // namespace

PageArena::~PageArena()
{
    for (const Chunk& chunk : m_Chunks)
    {
#ifdef __linux__
        if (IsMapped(chunk.m_Bytes))
        {
            munmap(chunk.m_Memory, chunk.m_Bytes);
            continue;
        }
#endif
        ::operator delete(chunk.m_Memory);
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
    void* const memory = IsMapped(size) ? MapChunk(size) : ::operator new(size);
    m_Chunks.push_back({memory, size});
    m_Next = static_cast<char*>(memory);
    m_Left = size;
}

} // namespace tenon
