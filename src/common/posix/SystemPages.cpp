// SPDX-License-Identifier: Apache-2.0
// See SystemPages.hpp.
#include "common/SystemPages.hpp"

#include "common/Populate.hpp"

#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon
{

namespace
{

char* MapAnywhere(size_t bytes)
{
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
    {
        throw std::bad_alloc();
    }
    return static_cast<char*>(mapped);
}

} // namespace

size_t GetPageBytes()
{
    static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

// Huge pages: the first touch of a page costs a fault, and a look-up of its address costs more the more pages there
// are.
void* MapPages(size_t bytes)
{
    if (bytes < HugePageBytes)
    {
        return MapAnywhere(bytes);
    }
    // The mapping has room for one page more. The parts around the aligned one are given back.
    char* const first = MapAnywhere(bytes + HugePageBytes);
    const size_t before = HugePageBytes - reinterpret_cast<uintptr_t>(first) % HugePageBytes;
    char* const aligned = first + before;
    munmap(first, before);
    if (before != HugePageBytes)
    {
        munmap(aligned + bytes, HugePageBytes - before);
    }
    UseHugePages(aligned, bytes); // where it is refused, the pages are small ones
    return aligned;
}

void UnmapPages(void* memory, size_t bytes) noexcept
{
    munmap(memory, bytes);
}

void OfferPages(void* memory, size_t bytes) noexcept
{
    madvise(memory, bytes, MADV_FREE); // where it is refused, they stay
}

} // namespace tenon
