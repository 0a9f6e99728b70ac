// SPDX-License-Identifier: Apache-2.0
// See PackedSlabs.hpp.
#include "backends/common/PackedSlabs.hpp"

#include "common/Populate.hpp"

#include <algorithm>

namespace tenon::backends
{

namespace
{

constexpr size_t LeastBytes = size_t{1} << 20; ///< fewer of all blocks together are not worth a slab
/// What is not used yet is only address space. The end of a slab that has room for no more blocks keeps up to a huge
/// page resident: large slabs have few ends.
constexpr size_t SlabBytes = size_t{sizeof(void*) >= 8 ? 64 : 16} << 20;

} // namespace

PackedBlock PackedSlabs::MakeBlock(size_t bytes, FunctionRef<void(std::byte*)> fill)
{
    std::unique_lock lock(m_Mutex);
    if (bytes == 0 || (m_Slab == nullptr && m_Before + bytes < LeastBytes))
    {
        m_Before += bytes;
        lock.unlock();
        return backends::MakeBlock(bytes, fill);
    }
    const size_t needed = (bytes + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment;
    if (m_Slab == nullptr || m_Slab->Bytes() - m_Used < needed)
    {
        m_Slab = std::make_shared<const AlignedMemory>(std::max(needed, SlabBytes), nullptr, HugePageBytes);
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

} // namespace tenon::backends
