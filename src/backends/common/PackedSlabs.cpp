// SPDX-License-Identifier: Apache-2.0
// See PackedSlabs.hpp.
#include "backends/common/PackedSlabs.hpp"

#include "common/Populate.hpp"

#include <algorithm>

namespace tenon::backends
{

namespace
{

constexpr size_t MinBytes = size_t{1} << 20; ///< fewer of all blocks together are not worth a slab

/// Bytes of a slab after blocks of `before`. Where the system commits memory when it is written, the unused part is
/// only address space; where it commits all that is mapped (mlockall, strict overcommit), the unused part is at most a
/// few times the used one.
size_t GetSlabBytes(size_t before)
{
    constexpr size_t min = size_t{4} << 20;
    constexpr size_t max = size_t{sizeof(void*) >= 8 ? 64 : 16} << 20;
    return std::clamp(4 * std::min(before, max), min, max);
}

} // namespace

PackedBlock PackedSlabs::MakeBlock(size_t bytes, FunctionRef<void(std::byte*)> fill)
{
    std::unique_lock lock(m_Mutex);
    if (bytes == 0 || (m_Slab == nullptr && m_Before + bytes < MinBytes))
    {
        m_Before += bytes;
        lock.unlock();
        return backends::MakeBlock(bytes, fill);
    }
    m_Before += bytes;
    const size_t needed = (bytes + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment;
    if (m_Slab == nullptr || m_Slab->Bytes() - m_Used < needed)
    {
        TrimSlab();
        m_Slab =
            std::make_shared<const AlignedMemory>(std::max(needed, GetSlabBytes(m_Before)), nullptr, HugePageBytes);
        UseHugePages(m_Slab->Data(), m_Slab->Bytes());
        m_Used = 0;
    }
    std::byte* const data = m_Slab->Data() + m_Used;
    m_Used += needed;
    const std::shared_ptr<const std::byte> block(m_Slab, data);
    lock.unlock();
    Populate(data, bytes);
    fill(data);
    return {block, bytes};
}

void PackedSlabs::Trim()
{
    const std::lock_guard lock(m_Mutex);
    TrimSlab();
}

/// Precondition: the lock is held.
void PackedSlabs::TrimSlab()
{
    if (m_Slab != nullptr)
    {
        Discard(m_Slab->Data() + m_Used, m_Slab->Bytes() - m_Used);
    }
}

} // namespace tenon::backends
