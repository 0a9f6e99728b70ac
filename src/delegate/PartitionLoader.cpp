// SPDX-License-Identifier: Apache-2.0
// PartitionLoader: see PartitionLoader.hpp.
#include "delegate/PartitionLoader.hpp"

#include "common/Log.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

namespace tenon::delegate
{

namespace
{

/// What the function throws, without what is said of every node; empty where it throws nothing.
template <typename Function>
std::string FindError(Function function)
{
    try
    {
        function();
        return {};
    }
    catch (const std::exception& error)
    {
        constexpr std::string_view prefix = "optimizing the network: ";
        const std::string_view text = error.what();
        return std::string(text.substr(text.starts_with(prefix) ? prefix.size() : 0));
    }
}

} // namespace

std::string PartitionLoader::JoinNames(const std::vector<BackendId>& backends)
{
    std::vector<std::string> names;
    for (const BackendId& backend : backends)
    {
        names.push_back(backend.Get());
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

PartitionLoader::PartitionLoader(const TfLiteDelegateOptions& options)
    : m_Options(options), m_Runtime(SharedRuntime::Get(options.m_RuntimeOptions))
{
    const BackendIdSet& there = m_Runtime->Runtime().GetDeviceSpec().GetSupportedBackends();
    std::vector<BackendId> absent;
    for (const BackendId& backend : options.m_Backends)
    {
        std::vector<BackendId>& list = there.count(backend) != 0 ? m_Backends : absent;
        if (std::find(list.begin(), list.end(), backend) == list.end())
        {
            list.push_back(backend);
        }
    }
    const std::string names = JoinNames({there.begin(), there.end()});
    if (m_Backends.empty())
    {
        throw InvalidArgumentException(
            absent.empty() ? fmt::format("no backends are given; there are {}", names)
                           : fmt::format("none of the backends {} is there; there are {}", JoinNames(absent), names));
    }
    if (!absent.empty())
    {
        LogWarning("TenonDelegate: backends that are not there are left out: {}; there are {}", JoinNames(absent),
                   names);
    }
    if (!m_Options.m_CachedNetworkFilePath.empty() && !m_Options.m_SaveCachedNetwork &&
        !std::ifstream(m_Options.m_CachedNetworkFilePath).is_open())
    {
        throw FileNotFoundException(fmt::format("the file of packed weights '{}' cannot be read; with "
                                                "save-cached-network it is written",
                                                m_Options.m_CachedNetworkFilePath));
    }
    m_Options.m_OptimizerOptions.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
    m_Options.m_OptimizerOptions.SetProfilingEnabled(options.m_ProfilingEnabled);
}

unsigned int PartitionLoader::CountThreads(int32_t recommended) const
{
    return m_Options.m_NumberOfThreads != 0 ? m_Options.m_NumberOfThreads
                                            : static_cast<unsigned int>(std::max(recommended, 1));
}

IOptimizedNetworkPtr PartitionLoader::Optimize(const INetwork& network) const
{
    std::vector<std::string> messages;
    IOptimizedNetworkPtr optimized = tenon::Optimize(network, m_Backends, m_Runtime->Runtime().GetDeviceSpec(),
                                                     m_Options.m_OptimizerOptions, messages);
    for (const std::string& message : messages)
    {
        LogDebug("TenonDelegate: {}", message);
    }
    return optimized;
}

LoadedPartitionPtr PartitionLoader::Load(const GraphView& graph, const Partition& partition) const
{
    try
    {
        // What the file says of sizes that depend on values need not be true, and the application may have resized
        // inputs.
        return LoadAnew(graph, partition);
    }
    catch (const Exception& error)
    {
        LogDebug("TenonDelegate: with the sizes that are declared, since: {}", error.what());
        return Load(graph, MakeNetwork(graph, partition, false, Limits()));
    }
}

LoadedPartitionPtr PartitionLoader::LoadAnew(const GraphView& graph, const Partition& partition) const
{
    return Load(graph, MakeNetwork(graph, partition, true, Limits()));
}

LoadedPartitionPtr PartitionLoader::Load(const GraphView& graph, PartitionNetwork network) const
{
    const unsigned int threads = CountThreads(graph.Context().recommended_num_threads);
    if (m_Options.m_DebugCallback)
    {
        return LoadAlone(network, threads);
    }
    // Delegates with other options have other networks.
    const std::string key =
        fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|", threads, DescribeBackends(), m_Options.m_OptimizerOptions.ToString(),
                    m_Options.m_CachedNetworkFilePath, m_Options.m_SaveCachedNetwork, m_Options.m_SerializeToDot,
                    m_Options.m_ProfilingEnabled, static_cast<int>(m_Options.m_ProfilingDetails));
    return m_Runtime->Share(key + network.m_Key, [&] { return LoadAlone(network, threads); });
}

LoadedPartitionPtr PartitionLoader::LoadAlone(PartitionNetwork& network, unsigned int threads) const
{
    std::unique_lock numbering(m_Numbering, std::defer_lock);
    std::shared_ptr<const unsigned int> number; // null: it has no files
    if (!m_Options.m_SerializeToDot.empty() || !m_Options.m_CachedNetworkFilePath.empty())
    {
        numbering.lock(); // one after another
        number = ReserveNumber();
    }
    IOptimizedNetworkPtr optimized = Optimize(*network.m_Network);
    if (!m_Options.m_SerializeToDot.empty())
    {
        WriteDot(*optimized, *number);
    }
    INetworkProperties properties;
    properties.m_NumberOfThreads = threads;
    properties.m_ProfilingEnabled = m_Options.m_ProfilingEnabled;
    properties.m_OutputNetworkDetailsMethod = m_Options.m_ProfilingDetails;
    properties.m_ModelOptions = m_Options.m_OptimizerOptions.GetModelOptions();
    NetworkId id = 0;
    std::string error;
    IRuntime& runtime = m_Runtime->Runtime();
    if (!m_Options.m_CachedNetworkFilePath.empty())
    {
        INetworkProperties withFile = properties;
        withFile.m_ModelOptions.push_back(
            BackendOptions("CpuAcc", {{"CachedNetworkFilePath", Numbered(m_Options.m_CachedNetworkFilePath, *number)},
                                      {"SaveCachedNetwork", m_Options.m_SaveCachedNetwork}}));
        if (runtime.LoadNetwork(id, std::move(optimized), error, withFile) != Status::Success)
        {
            LogWarning("TenonDelegate: a network is loaded without cached-network-filepath: {}", error);
            optimized = Optimize(*network.m_Network);
        }
    }
    if (optimized != nullptr && runtime.LoadNetwork(id, std::move(optimized), error, properties) != Status::Success)
    {
        throw RuntimeException(error);
    }
    // Its number is free again when it is unloaded, and not when nobody remembers it.
    const LoadedPartitionPtr loaded(
        new LoadedPartition(m_Runtime, id, std::move(network.m_Inputs), std::move(network.m_Outputs)),
        [number = std::move(number)](const LoadedPartition* unloaded) mutable
        {
            delete unloaded;
            number.reset();
        });
    if (m_Options.m_DebugCallback)
    {
        runtime.RegisterDebugCallback(id, m_Options.m_DebugCallback);
    }
    return loaded;
}

std::shared_ptr<const unsigned int> PartitionLoader::ReserveNumber() const
{
    const std::lock_guard lock(m_Numbers->m_Mutex);
    unsigned int number = 0;
    while (!m_Numbers->m_Used.insert(number).second)
    {
        ++number;
    }
    return {new unsigned int(number), [numbers = m_Numbers](const unsigned int* unused)
            {
                const std::lock_guard again(numbers->m_Mutex);
                numbers->m_Used.erase(*unused);
                delete unused;
            }};
}

std::string PartitionLoader::Numbered(const std::string& file, unsigned int number)
{
    return number == 0 ? file : fmt::format("{}.{}", file, number);
}

void PartitionLoader::WriteDot(const IOptimizedNetwork& network, unsigned int number) const
{
    const std::string file = Numbered(m_Options.m_SerializeToDot, number);
    std::ofstream stream(file);
    network.SerializeToDot(stream);
    stream.close();
    if (!stream)
    {
        LogWarning("TenonDelegate: serialize-to-dot: '{}' cannot be written", file);
    }
}

std::string PartitionLoader::FindObstacle(const GraphView& graph, const Node& node) const
{
    return FindError([&] { MakeNetwork(graph, MakePartition(graph, node), true, Limits()); });
}

std::string PartitionLoader::FindRefusal(const GraphView& graph, const Node& node) const
{
    return FindError([&] { Optimize(*MakeNetwork(graph, MakePartition(graph, node), true, Limits()).m_Network); });
}

} // namespace tenon::delegate
