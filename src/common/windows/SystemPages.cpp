// SPDX-License-Identifier: Apache-2.0
// See SystemPages.hpp. Large pages take a privilege that few users have: all are small ones.
#include "common/SystemPages.hpp"

#include <new>
#include <windows.h>

namespace tenon
{

size_t GetPageBytes()
{
    static const size_t bytes = []
    {
        SYSTEM_INFO info;
        GetSystemInfo(&info);
        return info.dwPageSize;
    }();
    return bytes;
}

void* MapPages(size_t bytes)
{
    void* const memory = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (memory == nullptr)
    {
        throw std::bad_alloc();
    }
    return memory;
}

void UnmapPages(void* memory, size_t) noexcept
{
    VirtualFree(memory, 0, MEM_RELEASE);
}

void OfferPages(void* memory, size_t bytes) noexcept
{
    VirtualAlloc(memory, bytes, MEM_RESET, PAGE_READWRITE);
}

} // namespace tenon
