// SPDX-License-Identifier: Apache-2.0
// SharedRuntime: see SharedRuntime.hpp.
#include "delegate/SharedRuntime.hpp"

#include "common/Log.hpp"

#include <fmt/format.h>

#include <iostream>

namespace tenon::delegate
{

namespace
{

bool HasObjects(const IRuntime::CreationOptions& options)
{
    return options.m_GpuAccTunedParameters != nullptr || !options.m_CustomAllocatorMap.empty() ||
           !options.m_MemoryOptimizerStrategyMap.empty() || !options.m_Backends.empty() ||
           !options.m_BackendOptions.empty();
}

/// All of the options that are no objects. The structured bindings name every member, so that a new one is not left
/// out.
std::string Describe(const IRuntime::CreationOptions& options)
{
    const auto& [tuned, gpuProfiling, dynamicBackends, isProtected, profiling, backendOptions, limits, allocators,
                 strategies, backends] = options;
    const auto& [isProfiling, hasTimeline, outgoing, incoming, isFileOnly, period, format] = profiling;
    const auto& [tensorBytes, totalBytes, layers, rank, fileBytes, iterations, nesting] = limits;
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", gpuProfiling, dynamicBackends, isProtected,
                       isProfiling, hasTimeline, outgoing, incoming, isFileOnly, period, format, tensorBytes,
                       totalBytes, layers, rank, fileBytes, iterations, nesting);
}

} // namespace

LoadedPartition::LoadedPartition(std::shared_ptr<SharedRuntime> runtime, NetworkId network, Bindings inputs,
                                 Bindings outputs)
    : m_Runtime(std::move(runtime)), m_Network(network), m_Inputs(std::move(inputs)), m_Outputs(std::move(outputs))
{
}

IRuntime& LoadedPartition::Runtime() const
{
    return m_Runtime->Runtime();
}

LoadedPartition::~LoadedPartition()
{
    try
    {
        const std::shared_ptr<IProfiler> profiler = Runtime().GetProfiler(m_Network);
        if (profiler != nullptr && profiler->IsProfilingEnabled())
        {
            profiler->Print(std::cout);
        }
        Runtime().UnloadNetwork(m_Network);
    }
    catch (const std::exception& error)
    {
        LogWarning("TenonDelegate: unloading a network: {}", error.what());
    }
}

std::shared_ptr<SharedRuntime> SharedRuntime::Get(const IRuntime::CreationOptions& options)
{
    if (HasObjects(options))
    {
        return std::make_shared<SharedRuntime>(options);
    }
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<SharedRuntime>> runtimes;
    const std::lock_guard lock(mutex);
    std::weak_ptr<SharedRuntime>& known = runtimes[Describe(options)];
    std::shared_ptr<SharedRuntime> runtime = known.lock();
    if (runtime == nullptr)
    {
        runtime = std::make_shared<SharedRuntime>(options);
        known = runtime;
    }
    return runtime;
}

LoadedPartitionPtr SharedRuntime::Share(const std::string& key, const std::function<LoadedPartitionPtr()>& load)
{
    {
        const std::lock_guard lock(m_Mutex);
        const auto found = m_Loaded.find(key);
        if (LoadedPartitionPtr loaded = found != m_Loaded.end() ? found->second.lock() : nullptr)
        {
            return loaded;
        }
    }
    LoadedPartitionPtr loaded = load(); // without the lock: other networks are loaded meanwhile
    const std::lock_guard lock(m_Mutex);
    if (m_Loaded.size() >= m_NumLoadedToClean) // not each time: a graph may have thousands of partitions
    {
        for (auto entry = m_Loaded.begin(); entry != m_Loaded.end();)
        {
            entry = entry->second.expired() ? m_Loaded.erase(entry) : std::next(entry);
        }
        m_NumLoadedToClean = 2 * m_Loaded.size() + 1;
    }
    m_Loaded[key] = loaded;
    return loaded;
}

} // namespace tenon::delegate
