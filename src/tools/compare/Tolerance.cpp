// SPDX-License-Identifier: Apache-2.0
// See Tolerance.hpp.
#include "tools/compare/Tolerance.hpp"

#include "text/OptionWords.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace tenon::tools
{
namespace
{

constexpr const char* Option = "--tolerance";

double ParseBound(const std::string& text)
{
    double bound = 0.0;
    const bool isNumber = ParseElement(DataType::Float64, text, reinterpret_cast<std::byte*>(&bound), 0);
    if (!isNumber || !std::isfinite(bound) || bound < 0.0)
    {
        throw UsageError(fmt::format("{}: '{}' is no finite number of 0 or more", Option, OneLine(text)));
    }
    return bound;
}

uint64_t ParseUnits(const std::string& text)
{
    uint64_t units = 0;
    if (!ParseElement(DataType::Unsigned64, text, reinterpret_cast<std::byte*>(&units), 0))
    {
        throw UsageError(fmt::format("{}: '{}' is no whole number of 0 or more", Option, OneLine(text)));
    }
    return units;
}

template <typename T>
void SetBound(std::optional<T>& bound, T value, const std::string& name)
{
    if (bound)
    {
        throw UsageError(fmt::format("{}: {} is given twice", Option, name));
    }
    bound = value;
}

} // namespace

Tolerance ParseTolerance(const std::string& text)
{
    Tolerance tolerance;
    const std::vector<std::string> parts = text::Split(text, ',');
    if (parts.empty())
    {
        throw UsageError(fmt::format("{}: nothing is given", Option));
    }
    for (const std::string& part : parts)
    {
        const size_t equals = part.find('=');
        const std::string name = equals == std::string::npos ? "abs" : part.substr(0, equals);
        const std::string value = equals == std::string::npos ? part : part.substr(equals + 1);
        if (name == "abs")
        {
            SetBound(tolerance.m_Absolute, ParseBound(value), name);
        }
        else if (name == "rel")
        {
            SetBound(tolerance.m_Relative, ParseBound(value), name);
        }
        else if (name == "ulp")
        {
            SetBound(tolerance.m_Ulp, ParseUnits(value), name);
        }
        else if (name == "steps")
        {
            SetBound(tolerance.m_Steps, ParseUnits(value), name);
        }
        else
        {
            throw UsageError(fmt::format("{}: there is no bound '{}'; there are abs, rel, ulp and steps, e.g. "
                                         "rel=1e-3,abs=1e-6",
                                         Option, OneLine(name)));
        }
    }
    return tolerance;
}

std::string DescribeTolerance(const Tolerance& tolerance)
{
    std::vector<std::string> bounds;
    const auto add = [&](const char* name, const auto& bound)
    {
        if (bound)
        {
            bounds.push_back(fmt::format("{}={}", name, *bound));
        }
    };
    add("abs", tolerance.m_Absolute);
    add("rel", tolerance.m_Relative);
    add("ulp", tolerance.m_Ulp);
    add("steps", tolerance.m_Steps);
    return fmt::format("{}", fmt::join(bounds, ", "));
}

bool HasBoundFor(const Tolerance& tolerance, Measure measure)
{
    return measure == Measure::Exact || tolerance.m_Absolute || tolerance.m_Relative ||
           (measure == Measure::Floats && tolerance.m_Ulp) || (measure == Measure::Steps && tolerance.m_Steps);
}

bool IsWithin(const Tolerance& tolerance, Measure measure, double error, uint64_t units, double reference)
{
    return error == 0.0 || (tolerance.m_Absolute && error <= *tolerance.m_Absolute) ||
           (tolerance.m_Relative && error <= *tolerance.m_Relative * std::fabs(reference)) ||
           (measure == Measure::Floats && tolerance.m_Ulp && units <= *tolerance.m_Ulp) ||
           (measure == Measure::Steps && tolerance.m_Steps && units <= *tolerance.m_Steps);
}

} // namespace tenon::tools
