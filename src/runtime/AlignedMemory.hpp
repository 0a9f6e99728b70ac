// SPDX-License-Identifier: Apache-2.0
// AlignedMemory: an owned block that starts at a multiple of ArenaAlignment. Arenas, scratch and staging buffers.
#pragma once

#include "runtime/MemoryPlanner.hpp"

#include <cstddef>
#include <memory>
#include <new>

namespace tenon
{

class AlignedMemory
{
public:
    AlignedMemory() = default;
    /// Throws std::bad_alloc. Contents are undefined.
    explicit AlignedMemory(size_t bytes)
        : m_Data(bytes == 0 ? nullptr
                            : static_cast<std::byte*>(::operator new (bytes, std::align_val_t{ArenaAlignment}))),
          m_Bytes(bytes)
    {
    }

    std::byte* Data() const { return m_Data.get(); }
    size_t Bytes() const { return m_Bytes; }

    /// Makes the block at least `bytes` large; contents are lost when it grows.
    void Reserve(size_t bytes)
    {
        if (bytes > m_Bytes)
        {
            m_Data.reset(); // before the new one, so that both never count at once
            m_Bytes = 0;
            *this = AlignedMemory(bytes);
        }
    }

private:
    struct Free
    {
        void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{ArenaAlignment}); }
    };

    std::unique_ptr<std::byte, Free> m_Data;
    size_t m_Bytes = 0;
};

} // namespace tenon
