// SPDX-License-Identifier: Apache-2.0
// See CommandLine.hpp.
#include "tools/common/CommandLine.hpp"

#include "text/OptionWords.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/LimitOption.hpp"
#include "tools/common/OptionValues.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/UnknownWords.hpp"

#include <tenon/Utils.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace tenon::tools
{
namespace
{

bool IsFile(const std::string& path)
{
    std::error_code none;
    return std::filesystem::is_regular_file(path, none);
}

void RefuseUnknownWords(const CLI::App& app, const std::vector<std::string>& given, const std::string& patternOption)
{
    std::vector<std::string> unknown = app.remaining();
    unknown.erase(std::remove(unknown.begin(), unknown.end(), "--"), unknown.end());
    std::vector<std::string> names;
    std::vector<std::string> withValue;
    for (const CLI::Option* option : app.get_options())
    {
        const size_t first = names.size();
        for (const std::string& name : option->get_lnames())
        {
            names.push_back("--" + name);
        }
        for (const std::string& name : option->get_snames())
        {
            names.push_back("-" + name);
        }
        if (option->get_items_expected_min() > 0)
        {
            withValue.insert(withValue.end(), names.begin() + static_cast<std::ptrdiff_t>(first), names.end());
        }
    }
    const std::string oneDash = DescribeOneDash(given, names, withValue);
    if (!oneDash.empty())
    {
        throw UsageError(oneDash + " (see --help)");
    }
    if (!unknown.empty())
    {
        // The shell makes several words of a pattern, of which one is enough.
        const auto firstFile = std::find_if(unknown.begin(), unknown.end(), IsFile);
        const bool isExpanded = app.count(patternOption) > 0 && firstFile != unknown.end();
        if (isExpanded)
        {
            unknown.erase(std::remove_if(std::next(firstFile), unknown.end(), IsFile), unknown.end());
        }
        throw UsageError(DescribeUnknownWords(unknown, given, names) +
                         (isExpanded ? "; put patterns of files in quotes, as in -d '*.jpg'" : "") + " (see --help)");
    }
}

/// CLI11 counts the values that are missing ("--labels: 1 required TEXT missing"), and those of an option that is given
/// again ("--labels: At Most 1 required but received 2").
std::string DescribeParseError(const CLI::Error& error, const std::map<std::string, std::string>& adviceIfRepeated)
{
    const std::string message = error.what();
    const std::string option = message.substr(0, message.find(": "));
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr)
    {
        return OneLine(message);
    }
    if (message.ends_with(" missing"))
    {
        return option + ": it needs a value";
    }
    const auto advice = adviceIfRepeated.find(option);
    return option + ": " +
           (advice != adviceIfRepeated.end() ? advice->second : "it is given more than once; leave all but one out");
}

} // namespace

void AddNumber(CLI::App& app, const char* names, unsigned int& target, unsigned int min, unsigned int max,
               const char* description, const std::string& option)
{
    const char* const comma = std::strrchr(names, ',');
    const std::string last = comma != nullptr ? comma + 1 : names;
    const auto parse = [&target, min, max, name = option.empty() ? last : option](const std::string& text)
    { target = ParseNumber(text, name.c_str(), min, max); };
    app.add_option_function<std::string>(names, parse, description)->type_name("N");
}

void AddNumbers(CLI::App& app, const char* option, std::vector<float>& target, bool mayBeZero, const char* description)
{
    const auto parse = [&target, mayBeZero, option](const std::string& text)
    {
        for (const std::string& number : text::Split(text, ','))
        {
            target.push_back(ParseFinite(number, option, mayBeZero));
        }
    };
    app.add_option_function<std::string>(option, parse, description)->type_name("FLOAT,...");
}

void AddList(CLI::App& app, const char* names, std::vector<std::string>& target, const char* type,
             const std::string& description)
{
    app.add_option(names, target, description)->allow_extra_args(false)->type_name(type);
}

void DeclareGeneral(CLI::App& app, const std::string& program, std::string& helpTopic, std::vector<std::string>& limits)
{
    app.set_help_flag(); // CLI11's own
    app.add_option("-h,--help", helpTopic,
                   "Print this overview. With a group its options, with 'all' those of every group")
        ->expected(0, 1)
        ->type_name("[GROUP]");
    app.set_version_flag(
        "--version", [program] { return program + " (Tenon) " + GetVersion(); }, "Print the version");
    AddList(app, "--limit", limits, "NAME=VALUE",
            "Raise or lower a bound on what a model may ask for, e.g. tensor-bytes=8G (K, M, G, T: powers of 1024; "
            "none: no bound). May be given several times. Defaults: " +
                DescribeLimits());
}

std::optional<std::string> ParseWords(CLI::App& app, const std::vector<std::string>& words, const ParseRules& rules)
{
    try
    {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    }
    catch (const CLI::CallForVersion& version)
    {
        return std::string(version.what()) + "\n";
    }
    catch (const CLI::Error& error)
    {
        RefuseUnknownWords(app, words, rules.m_PatternOption);
        throw UsageError(DescribeParseError(error, rules.m_AdviceIfRepeated) + " (see --help)");
    }
    catch (const UsageError&)
    {
        RefuseUnknownWords(app, words, rules.m_PatternOption);
        throw;
    }
    if (app.count("--help") > 0)
    {
        return rules.m_FormatHelp();
    }
    RefuseUnknownWords(app, words, rules.m_PatternOption);
    return {};
}

} // namespace tenon::tools
