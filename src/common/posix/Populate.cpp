// SPDX-License-Identifier: Apache-2.0
// See Populate.hpp.
#include "common/Populate.hpp"

#include "common/SystemPages.hpp"

#include <cstdint>
#include <sys/mman.h>

namespace tenon
{

namespace
{

/// Calls advise(begin, bytes) for the whole pages of a block, if there are at least `minPages` of them: the system
/// rounds lengths up to whole pages.
template <typename F>
void OfWholePages(void* data, size_t bytes, size_t minPages, const F& advise)
{
    const size_t page = GetPageBytes();
    const size_t before = (0 - reinterpret_cast<uintptr_t>(data)) % page;
    if (bytes >= before + minPages * page)
    {
        advise(static_cast<char*>(data) + before, (bytes - before) / page * page);
    }
}

} // namespace

void UseHugePages([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) noexcept
{
#ifdef MADV_HUGEPAGE
    const size_t before = (0 - reinterpret_cast<uintptr_t>(data)) % HugePageBytes;
    if (bytes >= before + HugePageBytes)
    {
        madvise(static_cast<char*>(data) + before, (bytes - before) / HugePageBytes * HugePageBytes, MADV_HUGEPAGE);
    }
#endif
}

void Populate([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) noexcept
{
#ifdef MADV_POPULATE_WRITE
    constexpr size_t MinPages = 16; // fewer are not worth a call of the system
    OfWholePages(data, bytes, MinPages, [](void* pages, size_t count) { madvise(pages, count, MADV_POPULATE_WRITE); });
#endif
}

void Discard(void* data, size_t bytes) noexcept
{
    OfWholePages(data, bytes, 1,
                 [](void* pages, size_t count)
                 {
#ifdef MADV_NOHUGEPAGE
                     madvise(pages, count, MADV_NOHUGEPAGE); // else they might become part of one again
#endif
#ifdef __linux__
                     madvise(pages, count, MADV_DONTNEED);
#else
                     madvise(pages, count, MADV_FREE); // other systems keep what is in them for MADV_DONTNEED
#endif
                 });
}

} // namespace tenon
