// SPDX-License-Identifier: Apache-2.0
// See Profile.hpp: the page for browsers.
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/JsonReading.hpp"
#include "tools/common/PageData.hpp"
#include "tools/common/Strings.hpp"
#include "tools/profile/PageText.hpp"
#include "tools/profile/Profile.hpp"

#include <fmt/format.h>

namespace tenon::tools
{

std::string FormatProfilePage(const Profile& profile, std::string_view against)
{
    JsonWriter json;
    WriteProfile(json, profile);
    return FillPage(GetPageText(), {{"{{profile}}", json.Text()}, {"{{against}}", against}});
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
