// SPDX-License-Identifier: Apache-2.0
// PackedCache: layers that are equal in all that packing may look at share their packed weights, so that a small model
// which uses one constant in many layers does not need many times its memory. Used by the workload factory of a table.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedArchive.hpp"
#include "backends/common/PackedSlabs.hpp"

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tenon::backends
{

class PackedCache
{
public:
    using Result = std::shared_ptr<const PackedWeights>;

    /// `archive` is the archive of packed weights; may be null.
    explicit PackedCache(std::shared_ptr<PackedArchive> archive);
    ~PackedCache();

    /// The packed weights that kernel.m_Pack gives for the layer or gave for an equal one; null where it gives null.
    /// Precondition: kernel.m_Pack is not null. Thread-safe: several layers are packed side by side.
    Result Pack(const Kernel& kernel, const LayerView& layer);
    /// All layers of the network have been packed.
    void Finish();

private:
    struct Entry;
    using Key = std::pair<const Kernel*, const void*>; ///< of a kernel and its first constant

    using Future = std::shared_future<Result>;

    Result PackAnew(const Kernel& kernel, const LayerView& layer);
    /// The future of an equal layer; where there is none, an invalid future: the caller packs, and keeps the promise.
    Future FindOrPromise(const Kernel& kernel, const void* constant, const LayerView& layer,
                         std::promise<Result>& promise);

    const std::shared_ptr<PackedArchive> m_Archive;
    std::mutex m_Mutex; ///< of the entries
    PackedSlabs m_Slabs;
    std::map<Key, std::vector<Entry>> m_Entries;
};

} // namespace tenon::backends
