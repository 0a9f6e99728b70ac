// SPDX-License-Identifier: Apache-2.0
// See Summary.hpp.
#include "tools/execute_network/Summary.hpp"

#include "tools/common/Labels.hpp"
#include "tools/common/Strings.hpp"
#include "tools/execute_network/ArmNNText.hpp"
#include "tools/execute_network/PlanText.hpp"

#include <fmt/format.h>

namespace tenon::tools
{
std::string FormatInputs(const Options& options, const Report& report, std::span<const InputData> inputs)
{
    std::string text;
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        // What is not a given file is said even where tensors are not printed: results would mislead.
        if (!options.m_DoNotPrintOutput || options.m_InputFiles.empty())
        {
            text += fmt::format("input '{}' {}\n  from {}\n", OneLine(report.m_Inputs[i].m_Name),
                                report.m_Inputs[i].m_Info.ToString(), inputs[i].m_Description);
        }
    }
    return text;
}

std::string FormatRun(const Options& options, const Report& report)
{
    std::string text;
    if (!options.m_ArmNNOutput)
    {
        text = fmt::format("{}\n{}, {} threads\n", SummarizeTimes(report), SummarizeAssignment(report.m_Assignment),
                           report.m_Threads);
    }
    if (options.m_PrintAssignment)
    {
        text += FormatAssignment(report.m_Assignment);
    }
    if (options.m_PrintProfileTables)
    {
        text += FormatProfile(*report.m_Profile);
    }
    if (options.m_PrintPlan)
    {
        text += FormatPlan(*report.m_Plan);
    }
    if (!options.m_ArmNNOutput && !options.m_DoNotPrintOutput && !report.m_Messages.empty())
    {
        text += fmt::format("{} remarks of the optimizer (--report-json has them)\n", report.m_Messages.size());
    }
    return text;
}

std::string FormatOutputs(const Options& options, const Report& report, const OutputStore& outputs,
                          const std::vector<std::string>& labels)
{
    std::string text;
    for (const Binding& output : report.m_Outputs)
    {
        const OutputData& data = outputs.Get(output.m_Id);
        if (!options.m_DoNotPrintOutput && options.m_ArmNNOutput)
        {
            text += FormatArmNNValues(output.m_Name, data);
        }
        else if (!options.m_DoNotPrintOutput)
        {
            text += fmt::format("output '{}' {}\n  {}\n", OneLine(output.m_Name), data.m_Info.ToString(),
                                FormatValues(data, MaxPrintedValues));
        }
        if (const std::optional<ShownClasses> shown = GetShownClasses(options, output, data, labels))
        {
            const bool isOfModel = shown->m_Labels == &output.m_Labels;
            text += isOfModel ? fmt::format("labels of '{}' by the model's metadata (another file: --labels)\n",
                                            OneLine(output.m_Name))
                              : "";
            text += FormatTopK(data, output.m_Name, *shown->m_Labels, shown->m_Count);
        }
    }
    return text;
}

std::optional<ShownClasses> GetShownClasses(const Options& options, const Binding& output, const OutputData& data,
                                            const std::vector<std::string>& labels)
{
    const bool hasOwnLabels = options.ShowsOwnLabels() && HasScoreForEach(data, output.m_Labels);
    if (!options.m_TopK && !hasOwnLabels)
    {
        return {};
    }
    return ShownClasses{hasOwnLabels ? &output.m_Labels : &labels, options.m_TopK.value_or(DefaultTopK)};
}

std::string FormatFileResult(const Options& options, const Report& report, const std::string& name,
                             const std::string& title, std::span<const InputData> inputs, const OutputStore& outputs,
                             const std::vector<std::string>& labels)
{
    std::string line;
    for (const Binding& output : report.m_Outputs)
    {
        const OutputData& data = outputs.Get(output.m_Id);
        if (const std::optional<ShownClasses> shown = GetShownClasses(options, output, data, labels))
        {
            line += line.empty() ? "" : "; ";
            line += report.m_Outputs.size() > 1 ? fmt::format("'{}': ", OneLine(output.m_Name)) : "";
            line += FormatTopKLine(data, *shown->m_Labels, shown->m_Count);
        }
    }
    if (!line.empty())
    {
        return fmt::format("{}: {}\n", OneLine(name), line);
    }
    const std::string text = FormatInputs(options, report, inputs) + FormatOutputs(options, report, outputs, labels);
    return text.empty() ? "" : title + ":\n" + text;
}

} // namespace tenon::tools
