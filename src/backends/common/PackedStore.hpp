// SPDX-License-Identifier: Apache-2.0
// PackedStore: the source of memory for packing. A kernel says how large a block is and how it is filled; a block that
// a file has already (PackedArchive.hpp) is not filled again.
#pragma once

#include "common/AlignedMemory.hpp"
#include "common/FunctionRef.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace tenon::backends
{

/// A part of a kernel's packed weights. It is immutable and aligned to ArenaAlignment. Copies share the memory.
class PackedBlock
{
public:
    PackedBlock() = default;
    /// `data` keeps the memory of the bytes alive.
    PackedBlock(std::shared_ptr<const std::byte> data, size_t bytes) : m_Data(std::move(data)), m_Bytes(bytes) {}

    const std::byte* Data() const { return m_Data.get(); }
    size_t Bytes() const { return m_Bytes; }
    template <typename T>
    const T* As() const
    {
        return reinterpret_cast<const T*>(m_Data.get());
    }

private:
    std::shared_ptr<const std::byte> m_Data;
    size_t m_Bytes = 0;
};

/// The store of one layer: its kernel asks for the same blocks, in the same order, each time it packs the same layer.
class PackedStore
{
public:
    virtual ~PackedStore() = default;
    /// `fill` writes all of the block, and is the one place that reads the values of large constants: where the block
    /// is there already it is not called. An empty block has no bytes.
    virtual PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) = 0;
};

/// Allocates and fills.
inline PackedBlock MakeBlock(size_t bytes, FunctionRef<void(std::byte*)> fill)
{
    const auto memory = std::make_shared<const AlignedMemory>(bytes);
    if (bytes != 0)
    {
        fill(memory->Data());
    }
    return {std::shared_ptr<const std::byte>(memory, memory->Data()), bytes};
}

/// Fills each block that is asked for.
class FillingStore final : public PackedStore
{
public:
    PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) override { return MakeBlock(bytes, fill); }
};

} // namespace tenon::backends
