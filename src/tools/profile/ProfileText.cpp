// SPDX-License-Identifier: Apache-2.0
// See Profile.hpp: the tables for terminals.
#include "tools/common/Strings.hpp"
#include "tools/profile/Profile.hpp"

#include <fmt/format.h>

namespace tenon::tools
{
namespace
{

/// 10^6 per second are 10^3 per millisecond.
constexpr double GigaPerMs = 1e-6;

/// Right-aligned under a title of at most `width` characters.
std::string Cell(const std::string& text, size_t width)
{
    return fmt::format("{:>{}}", text, width);
}

std::string Number(double value, int digits, size_t width)
{
    return Cell(fmt::format("{:.{}f}", value, digits), width);
}

/// Networks of microseconds get their digits, too.
std::string Milliseconds(double ms, const Profile& profile, size_t width)
{
    return Number(ms, profile.GetLayersMs() < 1.0 ? 6 : 3, width);
}

std::string Percent(double part, double whole, size_t width)
{
    return Cell(whole > 0.0 ? fmt::format("{:.3f}%", part / whole * 100.0) : "-", width);
}

/// Three digits or so, since rates reach from thousandths to thousands.
std::string Rate(double perMs, size_t width)
{
    const double giga = perMs * GigaPerMs;
    return Number(giga, giga < 10.0 ? 2 : giga < 100.0 ? 1 : 0, width);
}

std::string RateOf(const std::optional<uint64_t>& count, double ms, size_t width)
{
    return count && ms > 0.0 ? Rate(static_cast<double>(*count) / ms, width) : Cell("-", width);
}

/// Titles with the widths of their columns.
constexpr size_t MsWidth = 9;
constexpr size_t PercentWidth = 8;
constexpr size_t RateWidth = 7;

std::vector<std::string> FigureTitles(bool hasMedians)
{
    return {Cell(hasMedians ? "[med ms]" : "[avg ms]", MsWidth), Cell(hasMedians ? "[med %]" : "[avg %]", PercentWidth),
            Cell("[cdf %]", PercentWidth), Cell("[GOP/s]", RateWidth), Cell("[GB/s]", RateWidth)};
}

std::string RooflineTitle()
{
    return Cell("[% of roofline]", 15);
}

std::string Roofline(double rooflineMs, double ms)
{
    return Cell(rooflineMs > 0.0 && ms > 0.0 ? fmt::format("{:.1f}%", rooflineMs / ms * 100.0) : "-", 15);
}

std::string NameOf(const ProfiledLayer& layer)
{
    const std::string& name = layer.m_Planned.m_Name;
    return NameCell(layer.m_Network.empty() ? name : layer.m_Network + "/" + name);
}

std::string FormatLayers(const Profile& profile, bool hasMedians)
{
    TextRows rows = {FigureTitles(hasMedians)};
    if (profile.m_Peaks)
    {
        rows[0].push_back(RooflineTitle());
    }
    rows[0].insert(rows[0].end(), {"[node type]", "[name]", "[backend]", "[kernel]"});
    const double all = profile.GetLayersMs();
    double sum = 0.0;
    for (const ProfiledLayer& layer : profile.m_Layers)
    {
        if (!layer.m_Ms)
        {
            continue; // a part of another layer, or nothing to do
        }
        const double ms = layer.m_Ms->m_Mean;
        sum += ms;
        std::vector<std::string>& row = rows.emplace_back();
        row = {Milliseconds(ms, profile, MsWidth), Percent(ms, all, PercentWidth), Percent(sum, all, PercentWidth),
               RateOf(layer.m_Work.CountOperations(), ms, RateWidth), RateOf(layer.m_Work.CountBytes(), ms, RateWidth)};
        if (profile.m_Peaks)
        {
            row.push_back(Roofline(layer.m_RooflineMs.value_or(0.0), ms));
        }
        const std::string& backend = layer.m_Planned.m_Backend;
        row.insert(row.end(), {layer.m_Planned.m_Type, NameOf(layer), backend.empty() ? "-" : backend,
                               OneLine(layer.m_Planned.m_Kernel)});
    }
    return FormatRows(rows);
}

std::string FormatTypes(const Profile& profile, bool hasMedians)
{
    std::vector<std::string> titles = {"[node type]", Cell("[count]", 7)};
    const std::vector<std::string> figures = FigureTitles(hasMedians);
    titles.insert(titles.end(), figures.begin(), figures.end());
    if (profile.m_Peaks)
    {
        titles.push_back(RooflineTitle());
    }
    titles.emplace_back("[backends]");
    TextRows rows = {titles};
    const double all = profile.GetLayersMs();
    double sum = 0.0;
    for (const ProfiledType& type : profile.m_Types)
    {
        sum += type.m_Ms;
        const auto rate = [](double count, double ms)
        { return ms > 0.0 ? Rate(count / ms, RateWidth) : Cell("-", RateWidth); };
        std::vector<std::string>& row = rows.emplace_back();
        row = {type.m_Type,
               Cell(std::to_string(type.m_Count), 7),
               Milliseconds(type.m_Ms, profile, MsWidth),
               Percent(type.m_Ms, all, PercentWidth),
               Percent(sum, all, PercentWidth),
               rate(type.m_Operations, type.m_OperationsMs),
               rate(type.m_Bytes, type.m_BytesMs)};
        if (profile.m_Peaks)
        {
            row.push_back(Roofline(type.m_RooflineMs, type.m_RooflineOfMs));
        }
        row.push_back(fmt::format("{}", fmt::join(type.m_Backends, ", ")));
    }
    return FormatRows(rows);
}

std::string FormatPeaks(const MachinePeaks& peaks)
{
    constexpr double giga = 1e9;
    std::string text =
        fmt::format("Peaks of {} threads: float32 {:.0f} GOP/s", peaks.m_Threads, 2 * peaks.m_Float32 / giga);
    for (const auto& [name, rate] :
         {std::pair("bfloat16", peaks.m_BFloat16), std::pair("int16", peaks.m_Int16), std::pair("int8", peaks.m_Int8)})
    {
        text += rate ? fmt::format(", {} {:.0f}", name, 2 * *rate / giga) : "";
    }
    return text + fmt::format("; copies {:.0f} GB/s in caches, {:.1f} in memory\n",
                              peaks.m_BytesBySize.front().second / giga, peaks.m_BytesBySize.back().second / giga);
}

/// The profile with medians for means.
Profile TakeMedians(Profile profile)
{
    profile.m_InferenceMs->m_Mean = profile.m_InferenceMs->m_Median;
    for (ProfiledLayer& layer : profile.m_Layers)
    {
        if (layer.m_Ms)
        {
            layer.m_Ms->m_Mean = layer.m_Ms->m_Median;
        }
    }
    profile.m_Types = SumTypes(profile.m_Layers);
    return profile;
}

} // namespace

std::string FormatProfile(const Profile& measured)
{
    if (!measured.m_InferenceMs)
    {
        return "Profile: no inference has ended\n";
    }
    const Profile medians = TakeMedians(measured);
    constexpr double maxDisturbance = 1.25; // as on the page
    const bool isDisturbed =
        medians.GetLayersMs() > 0.0 && measured.GetLayersMs() > maxDisturbance * medians.GetLayersMs();
    const Profile& profile = isDisturbed ? medians : measured;
    const double inference = profile.m_InferenceMs->m_Mean;
    const std::string runs = profile.m_IsFirst ? "the first inference, which also plans memory (more of them: -I N)"
                                               : fmt::format("{} inference{} after the first", profile.m_NumInferences,
                                                             profile.m_NumInferences == 1 ? "" : "s");
    std::string text = fmt::format("\nProfile of {}: {:.3f} ms, of which {:.3f} ms in layers, {} threads\n", runs,
                                   inference, profile.GetLayersMs(), profile.m_Threads);
    if (profile.m_NumDropped > 0)
    {
        text += fmt::format("{} later events found no room in the profile\n", profile.m_NumDropped);
    }
    if (isDisturbed)
    {
        text +=
            fmt::format("Other load of the machine disturbed it: the means of layers are {:.1f} times their medians, "
                        "which follow\n",
                        measured.GetLayersMs() / medians.GetLayersMs());
    }
    text += profile.m_Peaks ? FormatPeaks(*profile.m_Peaks) : "";
    return text + "\nRun order:\n" + FormatLayers(profile, isDisturbed) + "\nSummary by node type:\n" +
           FormatTypes(profile, isDisturbed);
}

} // namespace tenon::tools
