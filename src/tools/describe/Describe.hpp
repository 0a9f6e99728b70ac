// SPDX-License-Identifier: Apache-2.0
// Descriptions of models: --describe and --can-run of ExecuteNetwork, which calls this.
#pragma once

#include "tools/common/Model.hpp"

#include <tenon/BackendId.hpp>
#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/Limits.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tenon::tools
{

struct DescribeSettings
{
    const char* m_Option = ""; ///< "--describe" or "--can-run", for messages
    std::string m_Path;        ///< a model, or a folder of models
    std::string m_Format;      ///< a name of a format, or empty
    ModelChoice m_Choice;      ///< for a single model
    /// New shapes of a single model's inputs by name; may be empty.
    std::function<std::map<std::string, TensorShape>(const std::vector<Binding>& inputs)> m_GetShapes;
    std::vector<std::string> m_Compute; ///< backends in order of preference
    std::string m_DynamicBackendsPath;
    std::function<OptimizerOptionsOpaque(const std::vector<BackendId>& backends)> m_MakeOptimizerOptions;
    unsigned int m_NumberOfThreads = 0;
    Limits m_Limits;
    std::string m_ReportFile; ///< for JSON; may be empty
    bool m_PrintsAside = false;
};

/// Prints a description of the model, or a table of the models in the folder and in those within, in any format. Models
/// are read and optimized, but not run. Writes the same as JSON. Throws UsageError for a folder that cannot be read or
/// has no model, UnimplementedException at the end if a model needs features that the backends lack, and InputError if
/// no model does, but a model cannot be read.
void Describe(const DescribeSettings& settings);

/// The same for a folder, with a shorter table: whether each model can run.
void CanRun(const DescribeSettings& settings);

} // namespace tenon::tools
