// SPDX-License-Identifier: Apache-2.0
// See OptimizerOptions.hpp.
#include "tools/execute_network/OptimizerOptions.hpp"

#include <algorithm>

namespace tenon::tools
{

OptimizerOptionsOpaque MakeOptimizerOptions(const Options& options, const std::vector<BackendId>& backends,
                                            const Limits& limits)
{
    OptimizerOptionsOpaque optimizerOptions;
    optimizerOptions.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
    optimizerOptions.SetLimits(limits);
    optimizerOptions.SetProfilingEnabled(options.IsProfiling());
    optimizerOptions.SetReduceFp32ToFp16(options.m_Fp16);
    optimizerOptions.SetReduceFp32ToBf16(options.m_Bf16);
    if (options.m_FastMath)
    {
        optimizerOptions.AddModelOption(BackendOptions(Compute::CpuAcc, {{"FastMathEnabled", true}}));
    }
    optimizerOptions.SetDebugEnabled(options.m_PrintLayers);
    optimizerOptions.SetDebugToFileEnabled(options.m_WriteLayers);
    if (!options.m_LayersFolder.empty())
    {
        optimizerOptions.SetDebugFolder(options.m_LayersFolder);
    }
    PartitionOptions partitions;
    partitions.m_MaxPartitions = options.m_MaxPartitions;
    partitions.m_MinLayersPerPartition = options.m_MinLayersPerPartition;
    partitions.m_AllOrNothing = options.m_AllOrNothing;
    for (size_t i = 0; i + 1 < backends.size(); ++i)
    {
        optimizerOptions.SetPartitionOptions(backends[i], partitions);
    }
    return optimizerOptions;
}

bool UsesCachedNetwork(const Options& options, const std::vector<LayerAssignment>& assignment)
{
    const auto isOnCpuAcc = [](const LayerAssignment& layer) { return layer.m_Backend == Compute::CpuAcc; };
    return !options.m_CachedNetworkFile.empty() && std::any_of(assignment.begin(), assignment.end(), isOnCpuAcc);
}

INetworkProperties MakeNetworkProperties(const Options& options, unsigned int threads, bool usesCachedNetwork)
{
    INetworkProperties properties;
    properties.m_NumberOfThreads = threads;
    properties.m_ProfilingEnabled = options.IsProfiling();
    properties.m_OutputNetworkDetailsMethod = options.m_Details;
    properties.m_DisabledFusions = options.m_DisabledFusions;
    if (usesCachedNetwork)
    {
        properties.m_ModelOptions.emplace_back(
            Compute::CpuAcc,
            std::vector<BackendOptions::BackendOption>{{"SaveCachedNetwork", options.m_SaveCachedNetwork},
                                                       {"CachedNetworkFilePath", options.m_CachedNetworkFile}});
    }
    return properties;
}

} // namespace tenon::tools
