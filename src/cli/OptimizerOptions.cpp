// SPDX-License-Identifier: Apache-2.0
// See OptimizerOptions.hpp.
#include "cli/OptimizerOptions.hpp"

namespace tenon::cli
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

} // namespace tenon::cli
