// SPDX-License-Identifier: Apache-2.0
// AlignedMemory: an owned block that starts at a multiple of ArenaAlignment. Arenas, scratch and staging
// buffers, folded constants.
#pragma once

#include <tenon/Exceptions.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <string>

namespace tenon
{

/// Alignment of every block and offset, in bytes: a cache line, and the widest vector register.
constexpr size_t ArenaAlignment = 64;

class AlignedMemory
{
public:
    AlignedMemory() = default;
    /// Throws MemoryValidationException where there is not so much memory. Contents are undefined.
    explicit AlignedMemory(size_t bytes) : m_Bytes(bytes)
    {
        if (bytes != 0)
        {
            m_Data.reset(
                static_cast<std::byte*>(::operator new (bytes, std::align_val_t{ArenaAlignment}, std::nothrow)));
            if (m_Data == nullptr)
            {
                throw MemoryValidationException("there is not enough memory for a block of " + std::to_string(bytes) +
                                                " bytes");
            }
        }
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
