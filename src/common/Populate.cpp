// SPDX-License-Identifier: Apache-2.0
// See Populate.hpp.
#include "common/Populate.hpp"

#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tenon
{

namespace
{

#ifdef __linux__

constexpr size_t PageBytes = 4096; // where pages are larger the system refuses, and nothing is lost

/// Calls madvise(begin, bytes) for the whole pages of a block, if there are `least` bytes of them.
template <typename F>
void OfWholePages(void* data, size_t bytes, size_t least, const F& advise)
{
    const size_t before = (0 - reinterpret_cast<uintptr_t>(data)) % PageBytes;
    if (bytes >= before + least)
    {
        advise(static_cast<char*>(data) + before, (bytes - before) / PageBytes * PageBytes);
    }
}

#endif

} // namespace

void UseHugePages([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) noexcept
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const size_t before = (0 - reinterpret_cast<uintptr_t>(data)) % HugePageBytes;
    if (bytes >= before + HugePageBytes)
    {
        madvise(static_cast<char*>(data) + before, (bytes - before) / HugePageBytes * HugePageBytes, MADV_HUGEPAGE);
    }
#endif
}

void Populate([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) noexcept
{
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
    constexpr size_t Least = 16 * PageBytes; // fewer are not worth a call of the system
    OfWholePages(data, bytes, Least, [](void* pages, size_t count) { madvise(pages, count, MADV_POPULATE_WRITE); });
#endif
}

void Discard([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) noexcept
{
#ifdef __linux__
    OfWholePages(data, bytes, PageBytes,
                 [](void* pages, size_t count)
                 {
#ifdef MADV_NOHUGEPAGE
                     madvise(pages, count, MADV_NOHUGEPAGE); // else they might become part of one again
#endif
                     madvise(pages, count, MADV_DONTNEED);
                 });
#endif
}

} // namespace tenon
