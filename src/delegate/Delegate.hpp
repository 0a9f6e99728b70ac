// SPDX-License-Identifier: Apache-2.0
// Delegate: chooses the nodes of an interpreter that Tenon runs, loads the networks of their partitions, and hands the
// interpreter a kernel for each. Made by CreateTfLiteDelegate; used by Kernel's registration.
#pragma once

#include "delegate/Kernel.hpp"
#include "delegate/PartitionLoader.hpp"
#include "delegate/TfLiteInterface.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tenon::delegate
{

class Delegate
{
public:
    explicit Delegate(const TfLiteDelegateOptions& options);

    TfLiteDelegate* Get() { return &m_Public; }
    static Delegate& From(const TfLiteDelegate& delegate) { return *static_cast<Delegate*>(delegate.data_); }

    /// Replaces the nodes of one graph that Tenon runs; the other nodes stay. Throws InvalidArgumentException if
    /// the runtime does not let delegates replace nodes or does not give its nodes, and if nodes stay although the
    /// options disable the fallback.
    void Prepare(TfLiteContext& context);
    /// The kernel of a partition. Its network was loaded by Prepare.
    std::unique_ptr<Kernel> MakeKernel(TfLiteContext& context, Partition partition);

private:
    class Selection;
    using Key = std::pair<const TfLiteContext*, std::vector<int32_t>>; ///< a graph and the nodes of a partition

    TfLiteDelegate m_Public{};
    const std::shared_ptr<const PartitionLoader> m_Loader;
    std::mutex m_Mutex;
    std::map<Key, LoadedPartitionPtr> m_Loaded; ///< until their kernels are made
};

} // namespace tenon::delegate
