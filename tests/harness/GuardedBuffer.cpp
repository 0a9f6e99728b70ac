// SPDX-License-Identifier: Apache-2.0
// GuardedBuffer by mmap and mprotect.
#include "harness/GuardedBuffer.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon::test
{

namespace
{
// Neither zero nor a small number in any element type, so that a kernel that forgets to write is seen.
constexpr std::byte Pattern{0xC5};
} // namespace

GuardedBuffer::GuardedBuffer(size_t bytes, size_t alignment) : m_Bytes(bytes)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    m_UsableBytes = (bytes + alignment + page - 1) / page * page;
    m_MapBytes = m_UsableBytes + page;
    void* map = mmap(nullptr, m_MapBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
    {
        throw std::bad_alloc();
    }
    m_Map = static_cast<std::byte*>(map);
    std::memset(m_Map, static_cast<int>(Pattern), m_UsableBytes);
    m_Data = m_Map + (m_UsableBytes - bytes) / alignment * alignment;
    if (mprotect(m_Map + m_UsableBytes, page, PROT_NONE) != 0)
    {
        throw std::runtime_error("mprotect failed for a guard page");
    }
}

GuardedBuffer::~GuardedBuffer()
{
    munmap(m_Map, m_MapBytes);
}

void GuardedBuffer::MakeReadOnly()
{
    if (mprotect(m_Map, m_UsableBytes, PROT_READ) != 0)
    {
        throw std::runtime_error("mprotect failed for a read-only buffer");
    }
}

bool GuardedBuffer::IsIntactAround() const
{
    const auto intact = [](std::byte b) { return b == Pattern; };
    return std::all_of(m_Map, m_Data, intact) && std::all_of(m_Data + m_Bytes, m_Map + m_UsableBytes, intact);
}

} // namespace tenon::test
