// SPDX-License-Identifier: Apache-2.0
// See LimitOption.hpp.
#include "tools/common/LimitOption.hpp"

#include "text/Nearest.hpp"
#include "text/OptionWords.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

namespace tenon::tools
{
namespace
{

constexpr uint64_t NoLimit = std::numeric_limits<uint64_t>::max();
/// Networks within networks are read and run by functions that call themselves.
constexpr uint64_t MaxNesting = 256;
/// What a message quotes of a word, in characters.
constexpr size_t MaxQuotedLimit = 40;

struct NamedLimit
{
    std::string m_Name;
    std::string m_Field; ///< of tenon::Limits, as the library's messages have it
    uint64_t m_Max;
    std::function<uint64_t(const Limits&)> m_Get;
    std::function<void(Limits&, uint64_t)> m_Set;
};

template <typename T>
NamedLimit MakeLimit(const char* name, const char* field, T Limits::*member, uint64_t max)
{
    return {name, std::string("Limits::") + field, max, [member](const Limits& limits) { return limits.*member; },
            [member](Limits& limits, uint64_t value) { limits.*member = static_cast<T>(value); }};
}

const std::vector<NamedLimit>& AllLimits()
{
    static const std::vector<NamedLimit> all = {
        MakeLimit("tensor-bytes", "m_MaxTensorBytes", &Limits::m_MaxTensorBytes, NoLimit),
        MakeLimit("total-bytes", "m_MaxTotalBytes", &Limits::m_MaxTotalBytes, NoLimit),
        MakeLimit("file-bytes", "m_MaxFileBytes", &Limits::m_MaxFileBytes, NoLimit),
        MakeLimit("layers", "m_MaxLayers", &Limits::m_MaxLayers, NoLimit),
        MakeLimit("rank", "m_MaxRank", &Limits::m_MaxRank, MaxNumOfTensorDimensions),
        MakeLimit("nesting", "m_MaxNesting", &Limits::m_MaxNesting, MaxNesting),
        MakeLimit("loop-iterations", "m_MaxLoopIterations", &Limits::m_MaxLoopIterations, NoLimit),
    };
    return all;
}

const NamedLimit& FindLimit(const std::string& name)
{
    const auto found = std::find_if(AllLimits().begin(), AllLimits().end(),
                                    [&](const NamedLimit& limit) { return limit.m_Name == name; });
    if (found == AllLimits().end())
    {
        std::vector<std::string> names;
        for (const NamedLimit& limit : AllLimits())
        {
            names.push_back(limit.m_Name);
        }
        const std::optional<std::string> nearest = text::FindNearest(name, names);
        throw UsageError(fmt::format("--limit: there is no limit '{}'{}; there are {}", Printable(name, MaxQuotedLimit),
                                     nearest ? fmt::format(" (nearest: {})", *nearest) : "", fmt::join(names, ", ")));
    }
    return *found;
}

/// 1 without a unit; 0 for what is none.
uint64_t ParseUnit(std::string_view unit)
{
    constexpr std::string_view letters = "KMGT";
    if (unit.empty())
    {
        return 1;
    }
    const size_t power = letters.find(static_cast<char>(unit[0] >= 'a' ? unit[0] - 'a' + 'A' : unit[0]));
    const bool isUnit = power != std::string_view::npos && (unit.size() == 1 || unit.substr(1) == "iB");
    return isUnit ? uint64_t{1024} << (10 * power) : 0;
}

uint64_t ParseValue(const NamedLimit& limit, std::string_view text)
{
    if (text == "none" && limit.m_Max == NoLimit)
    {
        return NoLimit;
    }
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const uint64_t unit = ParseUnit(text.substr(static_cast<size_t>(end - text.data())));
    if (error != std::errc() || unit == 0 || number > limit.m_Max / unit)
    {
        throw UsageError(fmt::format(
            "--limit: '{}' is no value for {}; expected is {}", Printable(text, MaxQuotedLimit), limit.m_Name,
            limit.m_Max == NoLimit ? "a whole number below 2^64, also with K, M, G or T behind it for a power of "
                                     "1024, as 8G, or 'none'"
                                   : fmt::format("a whole number in 0..{}", limit.m_Max)));
    }
    return number * unit;
}

} // namespace

Limits ParseLimits(const std::vector<std::string>& changes)
{
    Limits limits;
    std::set<std::string> seen;
    for (const std::string& change : changes)
    {
        const size_t equals = change.find('=');
        const std::string name(text::Trim(std::string_view(change).substr(0, equals)));
        const NamedLimit& limit = FindLimit(name);
        if (equals == std::string::npos)
        {
            throw UsageError(
                fmt::format("--limit: {} has no value; give it as {}={}", name, name, limit.m_Get(limits)));
        }
        if (!seen.insert(name).second)
        {
            throw UsageError(fmt::format("--limit: {} is given twice", name));
        }
        limit.m_Set(limits, ParseValue(limit, text::Trim(std::string_view(change).substr(equals + 1))));
    }
    return limits;
}

std::string DescribeLimits()
{
    std::string text;
    for (const NamedLimit& limit : AllLimits())
    {
        uint64_t value = limit.m_Get({});
        const bool isGibibytes = value >= uint64_t{1} << 30 && value % (uint64_t{1} << 30) == 0;
        text += fmt::format("{}{}={}{}", text.empty() ? "" : ", ", limit.m_Name, isGibibytes ? value >> 30 : value,
                            isGibibytes ? "G" : "");
    }
    return text;
}

std::string NameLimitOptions(std::string message)
{
    for (const NamedLimit& limit : AllLimits())
    {
        for (size_t at = 0; (at = message.find(limit.m_Field, at)) != std::string::npos;)
        {
            const std::string option = "--limit " + limit.m_Name;
            message.replace(at, limit.m_Field.size(), option);
            at += option.size();
        }
    }
    return message;
}

} // namespace tenon::tools
