// SPDX-License-Identifier: Apache-2.0
// SharedRuntime: the runtime of all delegates of the process, with its threads, and the networks that it has loaded:
// interpreters of one model at the same address share a network and its packed weights. Used by PartitionLoader and
// Kernel.
#pragma once

#include <tenon/IRuntime.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tenon::delegate
{

class SharedRuntime;

/// The network of a partition, loaded. Unloaded when its last user goes.
class LoadedPartition
{
public:
    /// Tensors of the interpreter, and their ids in the network.
    using Bindings = std::vector<std::pair<int32_t, LayerBindingId>>;

    LoadedPartition(std::shared_ptr<SharedRuntime> runtime, NetworkId network, Bindings inputs, Bindings outputs);
    ~LoadedPartition();
    LoadedPartition(const LoadedPartition&) = delete;
    LoadedPartition& operator=(const LoadedPartition&) = delete;

    IRuntime& Runtime() const;
    NetworkId Network() const { return m_Network; }
    const Bindings& Inputs() const { return m_Inputs; }
    /// The partition's outputs, followed by the variable tensors, which get their new values.
    const Bindings& Outputs() const { return m_Outputs; }

private:
    const std::shared_ptr<SharedRuntime> m_Runtime;
    const NetworkId m_Network;
    const Bindings m_Inputs;
    const Bindings m_Outputs;
};

using LoadedPartitionPtr = std::shared_ptr<const LoadedPartition>;

class SharedRuntime
{
public:
    /// The process's runtime for these options. If the options have objects (backends, allocators, strategies), it is
    /// not shared. Throws the exceptions of IRuntime::Create.
    static std::shared_ptr<SharedRuntime> Get(const IRuntime::CreationOptions& options);

    explicit SharedRuntime(const IRuntime::CreationOptions& options) : m_Runtime(IRuntime::Create(options)) {}

    IRuntime& Runtime() const { return *m_Runtime; }
    /// The network of this key, if one is in use, else a new one. `key` contains everything in which networks may
    /// differ, including addresses of constants: while a network is in use, its interpreter keeps the model in memory.
    LoadedPartitionPtr Share(const std::string& key, const std::function<LoadedPartitionPtr()>& load);

private:
    const IRuntimePtr m_Runtime;
    std::mutex m_Mutex;
    std::map<std::string, std::weak_ptr<const LoadedPartition>> m_Loaded;
    size_t m_NumLoadedToClean = 1; ///< number of entries at which entries of destroyed partitions are removed
};

} // namespace tenon::delegate
