// SPDX-License-Identifier: Apache-2.0
// See Profile.hpp: the page for browsers.
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/JsonReading.hpp"
#include "tools/common/Strings.hpp"
#include "tools/profile/PageText.hpp"
#include "tools/profile/Profile.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace tenon::tools
{
namespace
{

/// JSON that no text within can end the script element of: '<' occurs in strings alone.
std::string ForScript(std::string_view json)
{
    std::string text;
    for (const char c : json)
    {
        if (c == '<')
        {
            text += "\\u003c";
        }
        else if (c != '\n' || !text.ends_with('\n'))
        {
            text += c;
        }
    }
    return text;
}

} // namespace

std::string FormatProfilePage(const Profile& profile, std::string_view against)
{
    JsonWriter json;
    WriteProfile(json, profile);
    const std::array<std::pair<std::string_view, std::string_view>, 2> places = {
        {{"{{profile}}", json.Text()}, {"{{against}}", against}}};
    std::string page;
    std::string_view rest = GetPageText();
    for (const auto& [mark, text] : places)
    {
        const size_t at = rest.find(mark);
        page += rest.substr(0, at);
        page += ForScript(text);
        rest.remove_prefix(at + mark.size());
    }
    return page + std::string(rest);
}

std::string ReadEarlierProfile(const std::string& path, const Limits& limits)
{
    try
    {
        const nlohmann::json report = ReadJson(InputSource(path, limits.m_MaxFileBytes).ReadAll(), "profile");
        const auto profile = report.find("profile");
        if (profile == report.end() || !profile->contains("layers") || !profile->contains("types"))
        {
            throw InputError("it is no report with a profile");
        }
        return profile->dump();
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("--profile-against '{}': {}; write one with --profile --report-json FILE",
                                     OneLine(path), error.what()));
    }
}

} // namespace tenon::tools
