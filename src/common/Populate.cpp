// SPDX-License-Identifier: Apache-2.0
// See Populate.hpp.
#include "common/Populate.hpp"

#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tenon
{

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
    constexpr size_t PageBytes = 4096;       // where pages are larger the system refuses, and nothing is lost
    constexpr size_t Least = 16 * PageBytes; // fewer are not worth a call of the system
    const size_t before = (0 - reinterpret_cast<uintptr_t>(data)) % PageBytes;
    if (bytes >= before + Least)
    {
        madvise(static_cast<char*>(data) + before, (bytes - before) / PageBytes * PageBytes, MADV_POPULATE_WRITE);
    }
#endif
}

} // namespace tenon
