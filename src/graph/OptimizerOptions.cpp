// SPDX-License-Identifier: Apache-2.0
// OptimizerOptionsOpaque and OptimizerOptions: constructors and text.
#include <tenon/IOptimizedNetwork.hpp>

#include <fmt/format.h>

namespace tenon
{

OptimizerOptions::OptimizerOptions(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16, bool importEnabled,
                                   ModelOptions modelOptions, bool exportEnabled, bool debugToFile)
    : OptimizerOptions(reduceFp32ToFp16, debug, reduceFp32ToBf16, ShapeInferenceMethod::ValidateOnly, importEnabled,
                       std::move(modelOptions), exportEnabled, debugToFile)
{
}

OptimizerOptions::OptimizerOptions(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16,
                                   ShapeInferenceMethod shapeInferenceMethod, bool importEnabled,
                                   ModelOptions modelOptions, bool exportEnabled, bool debugToFile,
                                   bool allowExpandedDims)
    : m_ReduceFp32ToFp16(reduceFp32ToFp16), m_Debug(debug), m_DebugToFile(debugToFile),
      m_ReduceFp32ToBf16(reduceFp32ToBf16), m_shapeInferenceMethod(shapeInferenceMethod),
      m_ImportEnabled(importEnabled), m_ModelOptions(std::move(modelOptions)), m_ExportEnabled(exportEnabled),
      m_AllowExpandedDims(allowExpandedDims)
{
}

std::string OptimizerOptions::ToString() const
{
    return OptimizerOptionsOpaque(*this).ToString();
}

OptimizerOptionsOpaque::OptimizerOptionsOpaque(const OptimizerOptions& options)
    : OptimizerOptionsOpaque(options.m_ReduceFp32ToFp16, options.m_Debug, options.m_ReduceFp32ToBf16,
                             options.m_shapeInferenceMethod, options.m_ImportEnabled, options.m_ModelOptions,
                             options.m_ExportEnabled, options.m_DebugToFile, options.m_AllowExpandedDims)
{
    m_ProfilingEnabled = options.m_ProfilingEnabled;
}

OptimizerOptionsOpaque::OptimizerOptionsOpaque(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16,
                                               bool importEnabled, ModelOptions modelOptions, bool exportEnabled,
                                               bool debugToFile)
    : OptimizerOptionsOpaque(reduceFp32ToFp16, debug, reduceFp32ToBf16, ShapeInferenceMethod::ValidateOnly,
                             importEnabled, std::move(modelOptions), exportEnabled, debugToFile)
{
}

OptimizerOptionsOpaque::OptimizerOptionsOpaque(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16,
                                               ShapeInferenceMethod shapeInferenceMethod, bool importEnabled,
                                               ModelOptions modelOptions, bool exportEnabled, bool debugToFile,
                                               bool allowExpandedDims)
    : m_ReduceFp32ToFp16(reduceFp32ToFp16), m_ReduceFp32ToBf16(reduceFp32ToBf16), m_Debug(debug),
      m_DebugToFile(debugToFile), m_ShapeInferenceMethod(shapeInferenceMethod), m_ImportEnabled(importEnabled),
      m_ExportEnabled(exportEnabled), m_AllowExpandedDims(allowExpandedDims), m_ModelOptions(std::move(modelOptions))
{
}

void OptimizerOptionsOpaque::SetPartitionOptions(const BackendId& backend, const PartitionOptions& options)
{
    for (auto& [id, present] : m_PartitionOptions)
    {
        if (id == backend)
        {
            present = options;
            return;
        }
    }
    m_PartitionOptions.emplace_back(backend, options);
}

PartitionOptions OptimizerOptionsOpaque::GetPartitionOptions(const BackendId& backend) const
{
    for (const auto& [id, present] : m_PartitionOptions)
    {
        if (id == backend)
        {
            return present;
        }
    }
    return {};
}

std::string OptimizerOptionsOpaque::ToString() const
{
    std::string text = fmt::format(
        "ReduceFp32ToFp16: {}\nReduceFp32ToBf16: {}\nDebug: {}\nDebugToFile: {}\nDebugFolder: "
        "{}\nShapeInferenceMethod: {}\n"
        "ImportEnabled: {}\nExportEnabled: {}\nProfilingEnabled: {}\nAllowExpandedDims: {}\nModelOptions:\n",
        m_ReduceFp32ToFp16, m_ReduceFp32ToBf16, m_Debug, m_DebugToFile, m_DebugFolder,
        m_ShapeInferenceMethod == ShapeInferenceMethod::ValidateOnly ? "ValidateOnly" : "InferAndValidate",
        m_ImportEnabled, m_ExportEnabled, m_ProfilingEnabled, m_AllowExpandedDims);
    for (const BackendOptions& options : m_ModelOptions)
    {
        for (size_t i = 0; i < options.GetOptionCount(); ++i)
        {
            text += fmt::format("  {}.{}: {}\n", options.GetBackendId().Get(), options.GetOption(i).GetName(),
                                options.GetOption(i).GetValue().ToString());
        }
    }
    for (const auto& [backend, options] : m_PartitionOptions)
    {
        text += fmt::format("PartitionOptions of {}: MaxPartitions {}, MinLayersPerPartition {}, AllOrNothing {}\n",
                            backend.Get(), options.m_MaxPartitions, options.m_MinLayersPerPartition,
                            options.m_AllOrNothing);
    }
    return text;
}

} // namespace tenon
