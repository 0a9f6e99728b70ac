// SPDX-License-Identifier: Apache-2.0
// PartitionLoader: makes a loaded network from nodes of an interpreter, with the options of a delegate. Used by
// Delegate, and by Kernel, which may outlive the delegate.
#pragma once

#include "delegate/PartitionNetwork.hpp"
#include "delegate/SharedRuntime.hpp"

#include <tenon/delegate/Delegate.hpp>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tenon::delegate
{

class PartitionLoader : public std::enable_shared_from_this<PartitionLoader>
{
public:
    /// Throws InvalidArgumentException if none of the backends exists, and the exceptions of IRuntime::Create.
    explicit PartitionLoader(const TfLiteDelegateOptions& options);

    const TfLiteDelegateOptions& Options() const { return m_Options; }
    /// "CpuAcc, CpuRef"
    std::string DescribeBackends() const { return JoinNames(m_Backends); }
    /// The number of threads of a run, from the interpreter's recommendation.
    unsigned int CountThreads(int32_t recommended) const;

    /// Throws tenon::Exception if the backends cannot run the network of the nodes.
    LoadedPartitionPtr Load(const GraphView& graph, const Partition& partition) const;
    /// The same with sizes of computed tensors inferred from the present sizes of inputs.
    LoadedPartitionPtr LoadAnew(const GraphView& graph, const Partition& partition) const;
    /// The reason why a row of the parser refuses a node; empty if it does not.
    std::string FindObstacle(const GraphView& graph, const Node& node) const;
    /// The reason why the optimizer or the backends refuse it; empty if they do not.
    std::string FindRefusal(const GraphView& graph, const Node& node) const;

private:
    /// Numbers of the loaded networks, so that a model that is loaded again has the same files.
    struct Numbers
    {
        std::mutex m_Mutex;
        std::set<unsigned int> m_Used;
    };

    const tenon::Limits& Limits() const { return m_Options.m_RuntimeOptions.m_Limits; }
    static std::string JoinNames(const std::vector<BackendId>& backends);
    LoadedPartitionPtr Load(const GraphView& graph, PartitionNetwork network) const;
    IOptimizedNetworkPtr Optimize(const INetwork& network) const;
    /// Loads a network that is not shared. Moves data out of `network`.
    LoadedPartitionPtr LoadAlone(PartitionNetwork& network, unsigned int threads) const;
    /// Reserves the smallest number that no network of the delegate has, for as long as the pointer is kept.
    std::shared_ptr<const unsigned int> ReserveNumber() const;
    /// "FILE" for number 0, "FILE.1" for the next one.
    static std::string Numbered(const std::string& file, unsigned int number);
    void WriteDot(const IOptimizedNetwork& network, unsigned int number) const;

    TfLiteDelegateOptions m_Options;
    std::shared_ptr<SharedRuntime> m_Runtime;
    std::vector<BackendId> m_Backends;
    mutable std::mutex m_Numbering;                                         ///< guards the numbers of files
    const std::shared_ptr<Numbers> m_Numbers = std::make_shared<Numbers>(); ///< networks may outlive the loader
};

} // namespace tenon::delegate
