// SPDX-License-Identifier: Apache-2.0
// PageArena: see PageArena.hpp.
#include "common/PageArena.hpp"

#include "common/Pages.hpp"

#include <algorithm>
#include <cstdint>

namespace tenon
{

namespace
{

constexpr size_t FirstArenaBytes = size_t{4} << 10; ///< a small network fits
constexpr size_t LastArenaBytes = size_t{8} << 20;  ///< chunks double up to here

} // namespace

PageArena::~PageArena()
{
    for (const Chunk& chunk : m_Chunks)
    {
        GivePages(chunk.m_Memory, chunk.m_Bytes);
    }
}

void* PageArena::Allocate(size_t bytes, size_t alignment)
{
    size_t skipped = (0 - reinterpret_cast<uintptr_t>(m_Next)) % alignment;
    if (m_Next == nullptr || m_Left < skipped || m_Left - skipped < bytes)
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
    const size_t next = m_Chunks.empty() ? FirstArenaBytes : std::min(m_Chunks.back().m_Bytes * 2, LastArenaBytes);
    const size_t size = RoundToPages(std::max(next, bytes));
    m_Chunks.reserve(m_Chunks.size() + 1); // so that the chunk is noted once it is there
    void* const memory = TakePages(size);
    m_Chunks.push_back({memory, size});
    m_Next = static_cast<char*>(memory);
    m_Left = size;
}

} // namespace tenon
