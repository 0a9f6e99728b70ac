// SPDX-License-Identifier: Apache-2.0
// The help of a program whose options are in groups: an overview of one screen, and the options of each group.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace CLI
{
class App;
}

namespace tenon::tools
{

struct HelpGroup
{
    std::string m_Name; ///< the group of its options in CLI::App
    std::string m_Summary;
    std::string m_Notes = {}; ///< a paragraph behind the options; may be empty
};

struct HelpText
{
    std::string m_Description;
    std::string m_Usage;
    std::vector<std::string> m_CommonOptions; ///< the options of the overview, by long name, in their order there
    std::vector<HelpGroup> m_Groups;
    /// Options that a group lists by name alone, behind the others, under this title.
    std::vector<std::string> m_BriefOptions;
    std::string m_BriefTitle;
    std::vector<std::string> m_Examples;
    std::string m_End; ///< the last paragraph of the overview and of "all"
};

/// The overview for an empty topic, all options for "all", and those of one group for its name in any case. The
/// overview has the first sentence of each option's description, and the groups that have options. Lines are at most
/// `width` wide, except for single words and examples. Throws UsageError for another topic, with the groups that there
/// are.
std::string FormatHelp(const CLI::App& app, const HelpText& text, const std::string& topic, size_t width);

} // namespace tenon::tools
