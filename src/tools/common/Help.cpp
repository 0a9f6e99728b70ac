// SPDX-License-Identifier: Apache-2.0
// See Help.hpp.
#include "tools/common/Help.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tenon::tools
{
namespace
{

/// Narrower lines than these would be single words.
constexpr size_t MinWidth = 50;
/// The column of descriptions.
constexpr size_t DescriptionColumn = 26;
/// The column of a group's summary in the overview.
constexpr size_t SummaryColumn = 13;
constexpr std::string_view All = "all";

std::string ToLower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return text;
}

/// The words of `text` behind `start`, in lines of at most `width`; further lines begin at column `indent`.
std::string Wrap(std::string start, std::string_view text, size_t indent, size_t width)
{
    std::string wrapped;
    std::string line = std::move(start);
    line.resize(std::max(line.size(), indent), ' ');
    bool isEmpty = true;
    while (!text.empty())
    {
        const size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!isEmpty && line.size() + 1 + word.size() > width)
        {
            wrapped += line + "\n";
            line.assign(indent, ' ');
            isEmpty = true;
        }
        line += isEmpty ? "" : " ";
        line += word;
        isEmpty = false;
    }
    return wrapped + line + "\n";
}

/// "-m,--model-path FILE" with its description.
std::string FormatOption(const CLI::Option& option, std::string_view description, size_t width)
{
    const std::string type = option.get_type_name();
    std::string name = fmt::format("  {}{}{}", option.get_name(false, true), type.empty() ? "" : " ", type);
    std::string start;
    if (name.size() + 2 > DescriptionColumn)
    {
        start = name + "\n";
        name.clear();
    }
    return start + Wrap(std::move(name), description, DescriptionColumn, width);
}

/// Without the sentences that follow.
std::string_view FirstSentence(std::string_view text)
{
    for (size_t at = 0; (at = text.find(". ", at)) != std::string_view::npos; ++at)
    {
        if (at + 2 < text.size() && std::isupper(static_cast<unsigned char>(text[at + 2])) != 0)
        {
            return text.substr(0, at);
        }
    }
    return text;
}

class HelpPage
{
public:
    HelpPage(const CLI::App& app, const HelpText& text, size_t width)
        : m_App(app), m_Text(text), m_Width(std::max(width, MinWidth))
    {
        std::copy_if(text.m_Groups.begin(), text.m_Groups.end(), std::back_inserter(m_Groups),
                     [&](const HelpGroup& group) { return !OptionsOf(group).empty(); });
    }

    std::string Overview() const
    {
        std::string page = Start();
        for (const std::string& name : m_Text.m_CommonOptions)
        {
            const CLI::Option& option = *m_App.get_option(name);
            page += FormatOption(option, FirstSentence(option.get_description()), m_Width);
        }
        page += "\nMore options, in groups: --help GROUP prints one, --help all all of them.\n";
        for (const HelpGroup& group : m_Groups)
        {
            page += Wrap("  " + ToLower(group.m_Name), group.m_Summary, SummaryColumn, m_Width);
        }
        page += "\nExamples:\n";
        for (const std::string& example : m_Text.m_Examples)
        {
            page += "  " + example + "\n";
        }
        return page + "\n" + Wrap("", m_Text.m_End, 0, m_Width);
    }

    std::string Whole() const
    {
        std::string page = Start();
        for (const HelpGroup& group : m_Groups)
        {
            page += FormatGroup(group, false) + "\n";
        }
        return page + Wrap("", m_Text.m_End, 0, m_Width);
    }

    std::string OfTopic(const std::string& topic) const
    {
        const auto found =
            std::find_if(m_Groups.begin(), m_Groups.end(),
                         [&](const HelpGroup& group) { return ToLower(group.m_Name) == ToLower(topic); });
        if (found == m_Groups.end())
        {
            std::string names;
            for (const HelpGroup& group : m_Groups)
            {
                names += ToLower(group.m_Name) + ", ";
            }
            throw UsageError(fmt::format("--help: there is no group of options '{}'; there are {}and {}",
                                         OneLine(topic), names, All));
        }
        return FormatGroup(*found, true);
    }

private:
    std::string Start() const
    {
        return Wrap("", m_Text.m_Description, 0, m_Width) + "\nUsage: " + m_Text.m_Usage + "\n\n";
    }

    std::vector<const CLI::Option*> OptionsOf(const HelpGroup& group) const
    {
        return m_App.get_options([&](const CLI::Option* option) { return option->get_group() == group.m_Name; });
    }

    bool IsBrief(const CLI::Option& option) const
    {
        const std::vector<std::string>& brief = m_Text.m_BriefOptions;
        return std::any_of(brief.begin(), brief.end(),
                           [&](const std::string& name) { return option.check_name(name); });
    }

    std::string FormatGroup(const HelpGroup& group, bool isBrief) const
    {
        std::string page = Wrap(group.m_Name + ":", group.m_Summary, group.m_Name.size() + 2, m_Width) + "\n";
        std::string briefNames;
        std::string briefOptions;
        for (const CLI::Option* option : OptionsOf(group))
        {
            const std::string entry = FormatOption(*option, option->get_description(), m_Width);
            const bool isEntryBrief = IsBrief(*option);
            (isEntryBrief ? briefOptions : page) += entry;
            briefNames += isEntryBrief ? " " + option->get_name(false, true) : "";
        }
        if (!briefNames.empty())
        {
            page += "\n" + Wrap("", m_Text.m_BriefTitle, 0, m_Width);
            page += isBrief ? Wrap("", briefNames.substr(1), 2, m_Width) : briefOptions;
        }
        if (!group.m_Notes.empty())
        {
            page += "\n" + Wrap("", group.m_Notes, 0, m_Width);
        }
        return page;
    }

    const CLI::App& m_App;
    const HelpText& m_Text;
    size_t m_Width;
    std::vector<HelpGroup> m_Groups; ///< those with options
};

} // namespace

std::string FormatHelp(const CLI::App& app, const HelpText& text, const std::string& topic, size_t width)
{
    const HelpPage page(app, text, width);
    return topic.empty() ? page.Overview() : ToLower(topic) == All ? page.Whole() : page.OfTopic(topic);
}

} // namespace tenon::tools
