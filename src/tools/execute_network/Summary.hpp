// SPDX-License-Identifier: Apache-2.0
// The text that a run prints for people: inputs, times, backends of the layers, outputs and best classes. Run.cpp calls
// it.
#pragma once

#include "tools/common/Inputs.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/execute_network/Options.hpp"
#include "tools/execute_network/Report.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::tools
{

/// Values of a tensor that are printed before the rest is only counted.
constexpr size_t MaxPrintedValues = 20;

// Inputs are in the order of the report.

std::string FormatInputs(const Options& options, const Report& report, std::span<const InputData> inputs);

/// Times, backends of the layers, and the number of the optimizer's remarks; with --armnn-output only the tables that
/// other options request.
std::string FormatRun(const Options& options, const Report& report);

/// Values and best classes; with --armnn-output all values of each output in a line.
std::string FormatOutputs(const Options& options, const Report& report, const OutputStore& outputs,
                          const std::vector<std::string>& labels);

/// The classes to show of an output: labels, and how many of the best; nothing if none are to be shown.
struct ShownClasses
{
    const std::vector<std::string>* m_Labels;
    unsigned int m_Count;
};
std::optional<ShownClasses> GetShownClasses(const Options& options, const Binding& output, const OutputData& data,
                                            const std::vector<std::string>& labels);

/// The results of one of several files: a line with the best classes if they are to be shown, or else a block with
/// inputs and values that begins with `title`. `name` is that of the file.
std::string FormatFileResult(const Options& options, const Report& report, const std::string& name,
                             const std::string& title, std::span<const InputData> inputs, const OutputStore& outputs,
                             const std::vector<std::string>& labels);

} // namespace tenon::tools
