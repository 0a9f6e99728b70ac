// SPDX-License-Identifier: Apache-2.0
// BlockPool: memory for objects of one class, of which a large network has very many, in few pages. Pooled<T> lets a
// class have its objects there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace tenon
{

/// Blocks of one size, out of ever larger chunks, each of which goes when its last block does. Thread-safe, and free to
/// use after a fork.
class BlockPool
{
public:
    /// `bytes` is the size of a block. It is aligned to `alignment`, at most that of operator new, and to 8 bytes.
    explicit constexpr BlockPool(size_t bytes, size_t alignment = HeaderBytes)
        : m_BlockBytes(RoundUp(bytes + HeaderBytes, std::max(alignment, HeaderBytes))),
          m_FirstHeader(RoundUp(sizeof(Chunk) + HeaderBytes, std::max(alignment, HeaderBytes)) - HeaderBytes)
    {
    }
    BlockPool(const BlockPool&) = delete;
    BlockPool& operator=(const BlockPool&) = delete;

    /// Throws std::bad_alloc.
    void* Take();
    void Give(void* block) noexcept;

private:
    static constexpr size_t HeaderBytes = 8;

    /// Begins the memory of its blocks. Each block is behind a header that points to its chunk.
    struct alignas(HeaderBytes) Chunk
    {
        size_t m_Bytes = 0;
        size_t m_Used = 0;       ///< bytes that blocks were made of
        size_t m_Taken = 0;      ///< blocks
        void* m_Free = nullptr;  ///< block that was given back; it begins with the address of the next one
        Chunk* m_Next = nullptr; ///< among those with room
        Chunk* m_Previous = nullptr;
    };

    static constexpr size_t RoundUp(size_t value, size_t multiple)
    {
        return (value + multiple - 1) / multiple * multiple;
    }
    bool HasRoom(const Chunk& chunk) const
    {
        return chunk.m_Free != nullptr || chunk.m_Bytes - chunk.m_Used >= m_BlockBytes;
    }
    Chunk* MakeChunk(size_t numChunks) const;
    void Link(Chunk& chunk);
    void Unlink(Chunk& chunk);

    const size_t m_BlockBytes;  ///< with the header
    const size_t m_FirstHeader; ///< where that of a chunk's first block lies
    Chunk* m_Open = nullptr;    ///< chunks with room
    size_t m_NumChunks = 0;
};

// Sanitizers see the life of an object only if operator new gives its memory.
#if defined(__SANITIZE_ADDRESS__)
#define TENON_NO_POOLS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENON_NO_POOLS
#endif
#endif

/// The base of a final class whose objects come from a pool.
template <typename T>
class Pooled
{
public:
#ifndef TENON_NO_POOLS
    static void* operator new(size_t)
    {
        static_assert(std::is_final_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        return Pool().Take();
    }
    static void operator delete(void* object) noexcept
    {
        Pool().Give(object);
    }

private:
    static BlockPool& Pool()
    {
        static constinit BlockPool pool(sizeof(T), alignof(T));
        return pool;
    }
#endif
};

} // namespace tenon
