// SPDX-License-Identifier: Apache-2.0
// PartitionLoader: see PartitionLoader.hpp.
#include "delegate/PartitionLoader.hpp"

#include "common/Log.hpp"
#include "delegate/NodeReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

namespace tenon::delegate
{

namespace
{

/// Why a node is refused, without what is said of every one.
std::string ReasonOf(const std::exception& error)
{
    constexpr std::string_view prefix = "optimizing the network: ";
    const std::string_view text = error.what();
    return std::string(text.substr(text.starts_with(prefix) ? prefix.size() : 0));
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
        return Load(graph, MakeNetwork(graph, partition, false, m_Options.m_RuntimeOptions.m_Limits));
    }
    catch (const Exception& error)
    {
        // Declared sizes of computed tensors are of no use where the application has resized inputs before.
        LogDebug("TenonDelegate: with sizes left to be inferred, since: {}", error.what());
        return LoadAnew(graph, partition);
    }
}

LoadedPartitionPtr PartitionLoader::LoadAnew(const GraphView& graph, const Partition& partition) const
{
    return Load(graph, MakeNetwork(graph, partition, true, m_Options.m_RuntimeOptions.m_Limits));
}

LoadedPartitionPtr PartitionLoader::Load(const GraphView& graph, PartitionNetwork network) const
{
    const unsigned int threads = CountThreads(graph.Context().recommended_num_threads);
    const auto load = [&]
    {
        IOptimizedNetworkPtr optimized = Optimize(*network.m_Network);
        const unsigned int number = m_NumLoaded++;
        WriteDot(*optimized, number);
        INetworkProperties properties;
        properties.m_NumberOfThreads = threads;
        properties.m_ProfilingEnabled = m_Options.m_ProfilingEnabled;
        properties.m_OutputNetworkDetailsMethod = m_Options.m_ProfilingDetails;
        properties.m_ModelOptions = m_Options.m_OptimizerOptions.GetModelOptions();
        if (!m_Options.m_CachedNetworkFilePath.empty())
        {
            const std::string file = Numbered(m_Options.m_CachedNetworkFilePath, number);
            properties.m_ModelOptions.push_back(BackendOptions(
                "CpuAcc", {{"CachedNetworkFilePath", file}, {"SaveCachedNetwork", m_Options.m_SaveCachedNetwork}}));
        }
        NetworkId id = 0;
        std::string error;
        if (m_Runtime->Runtime().LoadNetwork(id, std::move(optimized), error, properties) != Status::Success)
        {
            throw RuntimeException(error);
        }
        const auto loaded = std::make_shared<const LoadedPartition>(m_Runtime, id, std::move(network.m_Inputs),
                                                                    std::move(network.m_Outputs));
        if (m_Options.m_DebugCallback)
        {
            m_Runtime->Runtime().RegisterDebugCallback(id, m_Options.m_DebugCallback);
        }
        return loaded;
    };
    // Options differ from delegate to delegate: networks are shared by interpreters of one delegate, and by delegates
    // with equal options.
    const std::string key =
        fmt::format("{}|{}|{}|{}|{}|{}|", threads, DescribeBackends(), m_Options.m_OptimizerOptions.ToString(),
                    m_Options.m_CachedNetworkFilePath, m_Options.m_SerializeToDot, m_Options.m_ProfilingEnabled);
    return m_Options.m_DebugCallback ? load() : m_Runtime->Share(key + network.m_Key, load);
}

std::string PartitionLoader::Numbered(const std::string& file, unsigned int number)
{
    return number == 0 ? file : fmt::format("{}.{}", file, number);
}

void PartitionLoader::WriteDot(const IOptimizedNetwork& network, unsigned int number) const
{
    if (m_Options.m_SerializeToDot.empty())
    {
        return;
    }
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
    if (const char* reason = ReasonToLeave(*node.m_Registration))
    {
        return reason;
    }
    try
    {
        MakeNetwork(graph, MakePartition(graph, node), false, m_Options.m_RuntimeOptions.m_Limits);
        return {};
    }
    catch (const std::exception& error)
    {
        return ReasonOf(error);
    }
}

std::string PartitionLoader::FindRefusal(const GraphView& graph, const Node& node) const
{
    try
    {
        Optimize(*MakeNetwork(graph, MakePartition(graph, node), true, m_Options.m_RuntimeOptions.m_Limits).m_Network);
        return {};
    }
    catch (const std::exception& error)
    {
        return ReasonOf(error);
    }
}

} // namespace tenon::delegate
