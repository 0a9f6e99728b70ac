// SPDX-License-Identifier: Apache-2.0
// PageArena: memory for many small objects that go together, one behind the other in the order in which they were made.
// Graph keeps its layers in one: walks over a large network then run through memory in order, in few pages.
#pragma once

#include <cstddef>
#include <vector>

namespace tenon
{

/// Gives memory out of ever larger chunks, of huge pages where the system has them, and all of it back at once. Knows
/// nothing of the objects in it: whoever makes them ends their lives.
class PageArena
{
public:
    PageArena() = default;
    ~PageArena();
    PageArena(const PageArena&) = delete;
    PageArena& operator=(const PageArena&) = delete;

    /// `alignment` is a power of two of at most alignof(std::max_align_t). Throws std::bad_alloc.
    void* Allocate(size_t bytes, size_t alignment);

private:
    struct Chunk
    {
        void* m_Memory;
        size_t m_Bytes;
    };

    void AddChunk(size_t bytes);

    std::vector<Chunk> m_Chunks;
    char* m_Next = nullptr; ///< free memory of the last chunk
    size_t m_Left = 0;      ///< bytes from there on
};

} // namespace tenon
