// SPDX-License-Identifier: Apache-2.0
// CopyBlock: memcpy for blocks that may be large.
#pragma once

#include <cstddef>
#include <cstring>

namespace tenon
{

/// CopyBlock for blocks of more than a page or so.
void CopyLargeBlock(void* to, const void* from, size_t bytes) noexcept;

/// memcpy(to, from, bytes), which may not overlap, without its slow case: on some x86 processors the C library copies
/// large blocks by one instruction (rep movsb), which takes twenty times as long where the target lies a little behind
/// the source within a page (https://sourceware.org/bugzilla/show_bug.cgi?id=30994). Blocks of memory behind a header
/// of the allocator are often placed so.
inline void CopyBlock(void* to, const void* from, size_t bytes) noexcept
{
    constexpr size_t LargeBytes = 2048; // the least that the library copies so
    if (bytes >= LargeBytes)
    {
        CopyLargeBlock(to, from, bytes);
    }
    else if (bytes != 0) // else the pointers may be null
    {
        std::memcpy(to, from, bytes);
    }
}

} // namespace tenon
