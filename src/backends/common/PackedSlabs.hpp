// SPDX-License-Identifier: Apache-2.0
// PackedSlabs: memory for the packed blocks of a network. The blocks of a large network lie one behind the other, and
// the system is asked for the pages of a block at once: else writing it would be a page fault every few KiB.
#pragma once

#include "backends/common/PackedStore.hpp"

#include <cstddef>
#include <memory>
#include <mutex>

namespace tenon::backends
{

class PackedSlabs
{
public:
    /// A block of `bytes`, filled. A slab lives as long as a block in it. Thread-safe: blocks are filled side by side.
    PackedBlock MakeBlock(size_t bytes, FunctionRef<void(std::byte*)> fill);
    /// To be called after the last block: gives back the memory that huge pages have behind it. Another block may
    /// follow all the same. Thread-safe.
    void Trim();

private:
    void TrimSlab();

    std::mutex m_Mutex;
    std::shared_ptr<const AlignedMemory> m_Slab;
    size_t m_Used = 0;   ///< of the slab
    size_t m_Before = 0; ///< bytes of all blocks
};

/// Fills each block that is asked for, in slabs, which must outlive it.
class SlabStore final : public PackedStore
{
public:
    explicit SlabStore(PackedSlabs& slabs) : m_Slabs(slabs) {}
    PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) override
    {
        return m_Slabs.MakeBlock(bytes, fill);
    }

private:
    PackedSlabs& m_Slabs;
};

} // namespace tenon::backends
