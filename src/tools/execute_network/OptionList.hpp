// SPDX-License-Identifier: Apache-2.0
// The options of ExecuteNetwork: names, groups and descriptions. Options.cpp parses them.
#pragma once

#include "tools/execute_network/ArmNNOptions.hpp"
#include "tools/execute_network/Options.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools
{

/// The options as the command line spells them, before lists are split and values are checked.
struct RawOptions
{
    std::string m_HelpTopic;
    std::vector<std::string> m_Compute;
    std::string m_InputFiles;
    std::string m_OutputFiles;
    std::vector<std::string> m_InputNames;
    std::vector<std::string> m_OutputNames;
    std::string m_InputShapes;
    std::vector<std::string> m_CompareBackends;
    std::string m_CompareFiles;
    std::string m_Graph; ///< the file, or the value of a flag
    unsigned int m_TopK = DefaultTopK;
    std::string m_Callers; ///< a number, or the value of a flag; may be empty
    bool m_Details = false;
    bool m_DetailsOnly = false;
    std::vector<std::string> m_Limits;
    std::vector<std::string> m_DisabledFusions;
    std::vector<std::string> m_Dimensions;
};

/// Adds all options to `app`, which must not outlive the others.
void DeclareOptions(CLI::App& app, Options& options, RawOptions& raw, ArmNNOptions& armNN);

/// The text of --help for an app with these options; see FormatHelp for the topic. Throws UsageError.
std::string FormatOptionHelp(const CLI::App& app, const std::string& topic, size_t width);

} // namespace tenon::tools
