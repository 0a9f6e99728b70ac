// SPDX-License-Identifier: Apache-2.0
// AlignedMemory: an owned block that starts at a multiple of its alignment. Arenas, scratch and staging buffers, folded
// constants.
#pragma once

#include "common/ErrorContext.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/ICustomAllocator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace tenon
{

/// Alignment of every block and offset in host memory, in bytes: a cache line, and the widest vector register.
constexpr size_t ArenaAlignment = 64;

/// Gives a block of AlignedMemory back to its allocator.
struct AlignedFree
{
    void operator()(std::byte* p) const
    {
        if (m_Allocator != nullptr)
        {
            m_Allocator->free(p);
        }
        else
        {
            ::operator delete (p, std::align_val_t{m_Alignment});
        }
    }
    ICustomAllocator* m_Allocator = nullptr;
    size_t m_Alignment = ArenaAlignment;
};

class AlignedMemory
{
public:
    AlignedMemory() = default;
    /// Takes memory from `allocator`, which outlives the block; from the free store where it is null. Throws
    /// MemoryValidationException where there is not so much memory, or the allocator's memory is not aligned. Contents
    /// are undefined.
    explicit AlignedMemory(size_t bytes, ICustomAllocator* allocator = nullptr, size_t alignment = ArenaAlignment)
        : m_Data(nullptr, AlignedFree{allocator, alignment})
    {
        Allocate(bytes);
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
            Allocate(bytes);
        }
    }

private:
    static void* AskAllocator(ICustomAllocator& allocator, size_t bytes, size_t alignment)
    {
        try
        {
            return allocator.allocate(bytes, alignment);
        }
        catch (...)
        {
            RethrowWithContext("the custom allocator");
        }
    }

    void Allocate(size_t bytes)
    {
        if (bytes == 0)
        {
            return;
        }
        const AlignedFree& from = m_Data.get_deleter();
        void* const memory = from.m_Allocator != nullptr
                                 ? AskAllocator(*from.m_Allocator, bytes, from.m_Alignment)
                                 : ::operator new (bytes, std::align_val_t{from.m_Alignment}, std::nothrow);
        if (memory == nullptr)
        {
            throw MemoryValidationException(
                (from.m_Allocator != nullptr ? "the custom allocator has no" : "there is not enough") +
                std::string(" memory for a block of ") + std::to_string(bytes) + " bytes");
        }
        m_Data.reset(static_cast<std::byte*>(memory));
        if (reinterpret_cast<uintptr_t>(memory) % from.m_Alignment != 0)
        {
            m_Data.reset();
            throw MemoryValidationException("the custom allocator gives memory that does not start at a multiple of " +
                                            std::to_string(from.m_Alignment) + " bytes, as it was asked to");
        }
        m_Bytes = bytes;
    }

    std::unique_ptr<std::byte, AlignedFree> m_Data;
    size_t m_Bytes = 0;
};

} // namespace tenon
