// SPDX-License-Identifier: Apache-2.0
// See BlockPool.hpp.
#include "common/BlockPool.hpp"

#include "common/Pages.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace tenon
{

namespace
{

constexpr size_t FirstChunkBytes = size_t{4} << 10; ///< enough for a small network
constexpr size_t LastChunkBytes = size_t{2} << 20;  ///< chunks double up to here
constexpr size_t MaxDoublings = 9;
static_assert(FirstChunkBytes << MaxDoublings == LastChunkBytes);

} // namespace

void* BlockPool::Take()
{
    std::unique_lock lock(GetPagesMutex());
    if (m_Open == nullptr)
    {
        const size_t numChunks = m_NumChunks;
        lock.unlock();
        Chunk* const chunk = MakeChunk(numChunks);
        lock.lock();
        ++m_NumChunks;
        Link(*chunk);
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
        block = header + HeaderBytes;
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
    Chunk* owner = nullptr;
    std::memcpy(&owner, static_cast<char*>(block) - HeaderBytes, sizeof(owner));
    Chunk& chunk = *owner;
    std::unique_lock lock(GetPagesMutex());
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
        lock.unlock();
        GivePages(&chunk, chunk.m_Bytes);
    }
}

BlockPool::Chunk* BlockPool::MakeChunk(size_t numChunks) const
{
    const size_t wanted = FirstChunkBytes << std::min(numChunks, MaxDoublings);
    const size_t bytes = RoundToPages(std::max(wanted, m_FirstHeader + m_BlockBytes));
    auto* const chunk = new (TakePages(bytes)) Chunk;
    chunk->m_Bytes = bytes;
    chunk->m_Used = m_FirstHeader;
    return chunk;
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
