// SPDX-License-Identifier: Apache-2.0
// See BlockPool.hpp.
#include "common/BlockPool.hpp"

#include "common/Pages.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace tenon
{

namespace
{

constexpr size_t FirstChunkBytes = size_t{4} << 10; ///< enough for a small network
constexpr size_t LastChunkBytes = size_t{2} << 20;  ///< chunks double up to here
constexpr size_t MostDoublings = 9;
static_assert(FirstChunkBytes << MostDoublings == LastChunkBytes);

} // namespace

void* BlockPool::Take()
{
    const std::lock_guard lock(m_Mutex);
    if (m_Open == nullptr)
    {
        AddChunk();
    }
    Chunk& chunk = *m_Open;
    void* block = chunk.m_Free;
    if (block != nullptr)
    {
        std::memcpy(&chunk.m_Free, block, sizeof(chunk.m_Free));
    }
    else
    {
        char* const header = reinterpret_cast<char*>(&chunk) + chunk.m_Used;
        Chunk* const owner = &chunk;
        std::memcpy(header, &owner, sizeof(owner));
        block = header + sizeof(owner);
        chunk.m_Used += m_BlockBytes;
    }
    ++chunk.m_Taken;
    if (!HasRoom(chunk))
    {
        Unlink(chunk);
    }
    return block;
}

void BlockPool::Give(void* block) noexcept
{
    if (block == nullptr)
    {
        return;
    }
    const std::lock_guard lock(m_Mutex);
    Chunk* owner = nullptr;
    std::memcpy(&owner, static_cast<char*>(block) - sizeof(owner), sizeof(owner));
    Chunk& chunk = *owner;
    if (!HasRoom(chunk))
    {
        Link(chunk);
    }
    std::memcpy(block, &chunk.m_Free, sizeof(chunk.m_Free));
    chunk.m_Free = block;
    if (--chunk.m_Taken == 0)
    {
        Unlink(chunk);
        --m_NumChunks;
        GivePages(&chunk, chunk.m_Bytes);
    }
}

void BlockPool::AddChunk()
{
    const size_t bytes = RoundToPages(FirstChunkBytes << std::min(m_NumChunks, MostDoublings));
    auto* const chunk = new (TakePages(bytes)) Chunk;
    chunk->m_Bytes = bytes;
    chunk->m_Used = sizeof(Chunk);
    ++m_NumChunks;
    Link(*chunk);
}

void BlockPool::Link(Chunk& chunk)
{
    chunk.m_Previous = nullptr;
    chunk.m_Next = m_Open;
    if (m_Open != nullptr)
    {
        m_Open->m_Previous = &chunk;
    }
    m_Open = &chunk;
}

void BlockPool::Unlink(Chunk& chunk)
{
    (chunk.m_Previous != nullptr ? chunk.m_Previous->m_Next : m_Open) = chunk.m_Next;
    if (chunk.m_Next != nullptr)
    {
        chunk.m_Next->m_Previous = chunk.m_Previous;
    }
}

} // namespace tenon
