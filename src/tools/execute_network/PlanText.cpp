// SPDX-License-Identifier: Apache-2.0
// See PlanText.hpp.
#include "tools/execute_network/PlanText.hpp"

#include "reports/Reports.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Utils.hpp>

#include <fmt/format.h>

#include <vector>

namespace tenon::tools
{
namespace
{

std::string NameOf(const PlannedLayer& layer)
{
    return layer.m_Name.empty() ? "(" + layer.m_Type + ")" : NameCell(layer.m_Name);
}

bool HasBytes(const TensorInfo& info)
{
    return info.GetShape().AreAllDimensionsSpecified();
}

std::string DescribeMemory(const PlannedTensor& tensor)
{
    std::string text = tensor.m_Memory;
    if (text != "its own" && HasBytes(tensor.m_Info))
    {
        text += fmt::format(" {}+{}", tensor.m_Offset, tensor.m_Info.GetNumBytes());
    }
    return text + (tensor.m_IsTiled ? " in tiles" : "");
}

/// The applied fusion that a layer is a part of; of several the first one. Empty: none.
std::string FindFusion(const NetworkPlan& plan, size_t layer)
{
    for (const FusionReport& fusion : plan.m_Fusions)
    {
        // Between a layer and the addition of a residual there may be others.
        const bool isPart = fusion.m_Fusion == "ResidualAdd" ? layer == fusion.m_First || layer == fusion.m_Last
                                                             : layer >= fusion.m_First && layer <= fusion.m_Last;
        if (isPart && fusion.m_WhyNot.empty())
        {
            const size_t other = layer == fusion.m_First ? fusion.m_Last : fusion.m_First;
            return other == layer ? fusion.m_Fusion
                                  : fmt::format("{} with {}", fusion.m_Fusion, NameOf(plan.m_Layers[other]));
        }
    }
    return "";
}

std::string FormatPlan(const NetworkPlan& plan, const std::string& indent)
{
    std::string text = plan.m_MaxThreads == 0
                           ? indent + "plan: none yet, since shapes of inputs are not known before the first run\n"
                           : fmt::format("{}plan: at most {} threads, arena of {} bytes\n", indent, plan.m_MaxThreads,
                                         plan.m_ArenaBytes);
    TextRows rows = {{"layer", "type", "backend", "kernel", "output", "memory (offset+bytes)", "scratch", "runs in",
                      "instead of", "variant"}};
    std::string bodies;
    for (size_t i = 0; i < plan.m_Layers.size(); ++i)
    {
        const PlannedLayer& layer = plan.m_Layers[i];
        rows.push_back({NameOf(layer), layer.m_Type, layer.m_Backend.empty() ? "-" : layer.m_Backend, layer.m_Kernel,
                        "-", "-", layer.m_IsPlanned ? std::to_string(layer.m_ScratchBytes) : "?", FindFusion(plan, i),
                        OneLine(layer.m_Declined), OneLine(layer.m_Variant)});
        for (size_t k = 0; k < layer.m_Outputs.size(); ++k)
        {
            if (k > 0)
            {
                rows.push_back(std::vector<std::string>(rows.front().size()));
            }
            const PlannedTensor& output = layer.m_Outputs[k];
            rows.back()[4] =
                fmt::format("{} {}", GetDataTypeName(output.m_Info.GetDataType()), output.m_Info.GetShape().ToString());
            rows.back()[5] = DescribeMemory(output);
        }
        for (size_t b = 0; b < layer.m_Bodies.size(); ++b)
        {
            bodies += fmt::format("{}network {} of {}:\n", indent, b, NameOf(layer)) +
                      FormatPlan(layer.m_Bodies[b], indent + "  ");
        }
    }
    text += FormatRows(rows, indent);
    if (!plan.m_Fusions.empty())
    {
        TextRows fusions = {{"fusion", "from", "to", "applied"}};
        for (const FusionReport& fusion : plan.m_Fusions)
        {
            fusions.push_back({fusion.m_Fusion, NameOf(plan.m_Layers[fusion.m_First]),
                               NameOf(plan.m_Layers[fusion.m_Last]),
                               fusion.m_WhyNot.empty() ? "yes" : "no: " + fusion.m_WhyNot});
        }
        text += FormatRows(fusions, indent);
    }
    return text + bodies;
}

} // namespace

std::string FormatPlan(const NetworkPlan& plan)
{
    return FormatPlan(plan, "");
}

std::string FormatPlanJson(const NetworkPlan& plan)
{
    JsonWriter json;
    WritePlan(json, plan);
    return json.Text() + "\n";
}

} // namespace tenon::tools
