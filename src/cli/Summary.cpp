// SPDX-License-Identifier: Apache-2.0
// See Summary.hpp.
#include "cli/Summary.hpp"

#include "cli/ArmNNText.hpp"
#include "cli/Labels.hpp"
#include "cli/PlanText.hpp"
#include "cli/Strings.hpp"

#include <fmt/format.h>

namespace tenon::cli
{
namespace
{

/// Values of a tensor that are printed before the rest is only counted.
constexpr size_t MaxPrintedValues = 20;

} // namespace

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
        const bool hasOwnLabels = options.ShowsOwnLabels() && HasScoreForEach(data, output.m_Labels);
        if (options.m_TopK || hasOwnLabels)
        {
            text += FormatTopK(data, output.m_Name, hasOwnLabels ? output.m_Labels : labels,
                               options.m_TopK.value_or(DefaultTopK));
        }
    }
    return text;
}

} // namespace tenon::cli
