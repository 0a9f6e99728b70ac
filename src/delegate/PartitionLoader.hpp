// SPDX-License-Identifier: Apache-2.0
// PartitionLoader: from nodes of an interpreter to a network that is loaded, with the options of a delegate. Used by
// Delegate, and by Kernel, which may outlive the delegate.
#pragma once

#include "delegate/PartitionNetwork.hpp"
#include "delegate/SharedRuntime.hpp"

#include <tenon/delegate/Delegate.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tenon::delegate
{

class PartitionLoader : public std::enable_shared_from_this<PartitionLoader>
{
public:
    /// Throws InvalidArgumentException where none of the backends is there, and what IRuntime::Create does.
    explicit PartitionLoader(const TfLiteDelegateOptions& options);

    const TfLiteDelegateOptions& Options() const { return m_Options; }
    /// "CpuAcc, CpuRef"
    std::string DescribeBackends() const { return JoinNames(m_Backends); }
    /// Of a run, for what an interpreter recommends.
    unsigned int CountThreads(int32_t recommended) const;

    /// Throws tenon::Exception where the nodes make no network that the backends run.
    LoadedPartitionPtr Load(const GraphView& graph, const Partition& partition) const;
    /// The same with sizes of computed tensors inferred from those that inputs have now.
    LoadedPartitionPtr LoadAnew(const GraphView& graph, const Partition& partition) const;
    /// Why a row of the parser refuses a node; empty where none does.
    std::string FindObstacle(const GraphView& graph, const Node& node) const;
    /// Why the optimizer or the backends refuse it; empty where they do not.
    std::string FindRefusal(const GraphView& graph, const Node& node) const;

private:
    const tenon::Limits& Limits() const { return m_Options.m_RuntimeOptions.m_Limits; }
    static std::string JoinNames(const std::vector<BackendId>& backends);
    LoadedPartitionPtr Load(const GraphView& graph, PartitionNetwork network) const;
    IOptimizedNetworkPtr Optimize(const INetwork& network) const;
    /// Not shared with others. Takes what it needs out of the network.
    LoadedPartitionPtr LoadAlone(PartitionNetwork& network, unsigned int threads) const;
    /// "FILE" for the first of the delegate's networks, "FILE.1" for the next one.
    std::string Numbered(const std::string& file) const;
    void WriteDot(const IOptimizedNetwork& network) const;

    TfLiteDelegateOptions m_Options;
    std::shared_ptr<SharedRuntime> m_Runtime;
    std::vector<BackendId> m_Backends;
    mutable std::mutex m_Numbering; ///< of files
    mutable std::atomic<unsigned int> m_NumLoaded{0};
};

} // namespace tenon::delegate
