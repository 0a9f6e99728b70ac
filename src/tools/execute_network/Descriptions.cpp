// SPDX-License-Identifier: Apache-2.0
// See Descriptions.hpp.
#include "tools/execute_network/Descriptions.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"
#include "tools/describe/Describe.hpp"
#include "tools/execute_network/FileChecks.hpp"
#include "tools/execute_network/InputShapes.hpp"
#include "tools/execute_network/OptimizerOptions.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace tenon::tools
{
namespace
{

/// The shapes of --input-tensor-shape by the names of the model's inputs.
std::map<std::string, TensorShape> GetShapes(const Options& options, const std::vector<Binding>& inputs)
{
    const std::vector<Binding> ordered = OrderInputs(inputs, options.m_InputNames);
    const std::vector<std::vector<unsigned int>> shapes = OrderShapes(options, ordered.size());
    std::map<std::string, TensorShape> byName;
    for (size_t i = 0; i < shapes.size(); ++i)
    {
        if (!shapes[i].empty())
        {
            byName.emplace(ordered[i].m_Name,
                           TensorShape(static_cast<unsigned int>(shapes[i].size()), shapes[i].data()));
        }
    }
    return byName;
}

void RefuseChoicesForFolder(const Options& options)
{
    for (const auto& [option, isGiven] : {std::pair{"--model-format", !options.m_ModelFormat.empty()},
                                          {"--entry", !options.m_Entry.empty()},
                                          {"--signature", !options.m_Signature.empty()},
                                          {options.m_SubgraphOption.c_str(), options.m_Subgraph != 0},
                                          {"--dim", !options.m_Dimensions.empty()},
                                          {"--input-name", !options.m_InputNames.empty()},
                                          {"--input-tensor-shape", !options.m_InputShapes.empty()}})
    {
        if (isGiven)
        {
            throw UsageError(fmt::format("{}: it is for a single model, but '{}' is a folder; leave it out, or name a "
                                         "model",
                                         option, OneLine(options.m_ModelPath)));
        }
    }
}

} // namespace

bool IsDescription(const Options& options)
{
    return options.m_Describes || !options.m_ModelFolder.empty();
}

void DescribeModels(const Options& options)
{
    CheckFiles(options);
    for (const std::string& remark : options.m_Remarks)
    {
        PrintWarning(remark);
    }
    DescribeSettings settings;
    settings.m_Option = options.m_Describes ? "--describe" : "--can-run";
    settings.m_Path = options.m_Describes ? options.m_ModelPath : options.m_ModelFolder;
    settings.m_Format = options.m_ModelFormat;
    settings.m_Choice = {options.m_Entry,          options.m_Subgraph,  options.m_Signature, {},
                         options.m_SubgraphOption, options.m_Dimensions};
    settings.m_GetShapes = [&](const std::vector<Binding>& inputs) { return GetShapes(options, inputs); };
    settings.m_Compute = options.m_Compute;
    settings.m_DynamicBackendsPath = options.m_DynamicBackendsPath;
    settings.m_MakeOptimizerOptions = [&](const std::vector<BackendId>& backends)
    { return MakeOptimizerOptions(options, backends, options.m_Limits); };
    settings.m_NumberOfThreads = options.m_NumberOfThreads;
    settings.m_Limits = options.m_Limits;
    settings.m_ReportFile = options.m_ReportFile;
    settings.m_PrintsAside = WritesToStandardOutput(options);
    if (!options.m_Describes)
    {
        CanRun(settings);
        return;
    }
    if (std::error_code none; std::filesystem::is_directory(settings.m_Path, none))
    {
        RefuseChoicesForFolder(options);
    }
    Describe(settings);
}

} // namespace tenon::tools
