// SPDX-License-Identifier: Apache-2.0
// See Populate.hpp.
#include "common/Populate.hpp"

#include "common/SystemPages.hpp"

#include <cstdint>

namespace tenon
{

void UseHugePages(void*, size_t) noexcept
{
    // Large pages take a privilege that few users have.
}

void Populate(void*, size_t) noexcept
{
    // The system has no call that makes new pages resident.
}

void Discard(void* data, size_t bytes) noexcept
{
    const size_t page = GetPageBytes();
    const size_t before = (0 - reinterpret_cast<uintptr_t>(data)) % page;
    if (bytes >= before + page)
    {
        OfferPages(static_cast<char*>(data) + before, (bytes - before) / page * page);
    }
}

} // namespace tenon
