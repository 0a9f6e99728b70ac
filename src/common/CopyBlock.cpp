// SPDX-License-Identifier: Apache-2.0
// See CopyBlock.hpp.
#include "common/CopyBlock.hpp"

#include <cstdint>
#include <cstring>

namespace tenon
{

namespace
{

constexpr size_t PageBytes = 4096;
constexpr size_t LineBytes = 64;

/// A line at a time, as moves of a fixed size.
void CopyLines(std::byte* to, const std::byte* from, size_t bytes)
{
    for (; bytes >= LineBytes; bytes -= LineBytes, to += LineBytes, from += LineBytes)
    {
        std::memcpy(to, from, LineBytes);
#if defined(__GNUC__)
        __asm__ volatile("" ::: "memory"); // else the compiler makes one call of memcpy of the loop
#endif
    }
    std::memcpy(to, from, bytes);
}

} // namespace

void CopyLargeBlock(void* to, const void* from, size_t bytes) noexcept
{
    const size_t behind = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % PageBytes;
    if (behind != 0 && behind < LineBytes)
    {
        CopyLines(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
    }
    else
    {
        std::memcpy(to, from, bytes);
    }
}

} // namespace tenon
