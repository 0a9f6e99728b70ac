// SPDX-License-Identifier: Apache-2.0
// GuardedBuffer: memory between two inaccessible pages, the second of which follows its last byte, so that a kernel
// that accesses one byte too many crashes at once. Used by the operator harness for every tensor and for scratch
// memory.
#pragma once

#include <cstddef>

namespace tenon::test
{

class GuardedBuffer
{
public:
    /// The buffer is filled with a pattern. Its start is a multiple of `alignment` (a power of two up to a page). Its
    /// end is at the guard if `bytes` is a multiple of `alignment`, else up to alignment - 1 bytes before the guard.
    explicit GuardedBuffer(size_t bytes, size_t alignment = 1);
    ~GuardedBuffer();
    GuardedBuffer(const GuardedBuffer&) = delete;
    GuardedBuffer& operator=(const GuardedBuffer&) = delete;

    /// Never null, even for 0 bytes.
    std::byte* GetData() const { return m_Data; }
    size_t GetBytes() const { return m_Bytes; }

    /// Moves the buffer to another address, where writing crashes, too.
    void MakeReadOnly();
    /// Whether nothing was written before the buffer or between its end and the guard.
    bool IsIntactAround() const;

    /// Pages of one size, mapped twice: once writable, and once read-only.
    struct Region
    {
        std::byte* m_Writable = nullptr;
        std::byte* m_ReadOnly = nullptr;
    };

private:
    Region m_Region;
    size_t m_UsableBytes = 0; ///< whole pages
    std::byte* m_Data = nullptr;
    size_t m_Bytes = 0;
    bool m_IsReadOnly = false;
};

} // namespace tenon::test
