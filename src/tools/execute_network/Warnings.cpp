// SPDX-License-Identifier: Apache-2.0
// See Warnings.hpp.
#include "tools/execute_network/Warnings.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Labels.hpp"
#include "tools/common/Quantize.hpp"

#include <algorithm>

namespace tenon::tools
{

void WarnOfQuantization(const Options& options, const Report& report)
{
    const auto standsForReals = [](const Binding& binding) { return StandsForReals(binding.m_Info); };
    const auto hasSome = [&](const std::vector<Binding>& bindings)
    { return std::any_of(bindings.begin(), bindings.end(), standsForReals); };
    if (options.m_QuantizeInputs && !hasSome(report.m_Inputs))
    {
        PrintWarning("--quantize-input: the model has no quantized input, so there is nothing to quantize");
    }
    if (options.m_DequantizeOutputs && !hasSome(report.m_Outputs))
    {
        PrintWarning("--dequantize-output: no output is quantized, so there is nothing to dequantize");
    }
}

void WarnOfStates(const Options& options, const Report& report)
{
    const auto isState = [](const LayerAssignment& layer) { return layer.m_Type == LayerType::ReadState; };
    if (options.m_KeepStates && std::none_of(report.m_Assignment.begin(), report.m_Assignment.end(), isState))
    {
        PrintWarning("--keep-states: the model has no states, so each iteration is the same without it");
    }
}

void WarnOfCachedNetwork(const Options& options, bool isUsed)
{
    if (!isUsed && !options.m_CachedNetworkFile.empty())
    {
        PrintWarning("--cached-network-filepath: CpuAcc alone packs weights and runs no layer of this network, so the "
                     "file is neither read nor written");
    }
}

void WarnOfLabels(const Options& options, const Report& report, const OutputStore& outputs,
                  const std::vector<std::string>& labels)
{
    const auto warn = [](const std::string& start, const std::string& remark)
    {
        if (!remark.empty())
        {
            PrintWarning(start + remark);
        }
    };
    std::vector<NamedOutput> named;
    for (const Binding& output : report.m_Outputs)
    {
        named.push_back({output.m_Name, &outputs.Get(output.m_Id)});
        const bool asksForLabels = options.m_TopK.has_value() && options.m_LabelsFile.empty();
        warn("--top-k: ", asksForLabels ? DescribeUnusedLabels(named.back(), output.m_Labels) : "");
    }
    warn("--labels: ", options.m_LabelsFile.empty() ? "" : DescribeOtherCount(named, labels));
}

} // namespace tenon::tools
