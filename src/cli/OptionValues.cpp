// SPDX-License-Identifier: Apache-2.0
// See OptionValues.hpp.
#include "cli/OptionValues.hpp"

#include "cli/Elements.hpp"
#include "cli/Errors.hpp"
#include "cli/Strings.hpp"

#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <set>
#include <system_error>
#include <utility>

namespace tenon::cli
{

std::vector<std::string> SplitFiles(const std::string& list, const char* option)
{
    std::vector<std::string> files = SplitEscaped(list, ',');
    for (const std::string& file : files)
    {
        if (file.empty())
        {
            throw UsageError(fmt::format("{}: a file name in '{}' is empty", option, OneLine(list)));
        }
    }
    return files;
}

std::vector<std::string> SplitNames(const std::vector<std::string>& lists, const char* option)
{
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const std::string& list : lists)
    {
        for (std::string& name : SplitEscaped(list, ','))
        {
            if (name.empty() || !seen.insert(name).second)
            {
                throw UsageError(fmt::format("{}: a name in '{}' is empty or given twice", option, OneLine(list)));
            }
            names.push_back(std::move(name));
        }
    }
    return names;
}

std::vector<std::string> SplitBackends(const std::vector<std::string>& lists, const char* option)
{
    std::vector<std::string> names;
    for (const std::string& list : lists)
    {
        for (std::string& name : SplitEscaped(list, ','))
        {
            if (name.empty())
            {
                throw UsageError(fmt::format("{}: a backend in '{}' has no name", option, OneLine(list)));
            }
            if (std::find(names.begin(), names.end(), name) == names.end())
            {
                names.push_back(std::move(name));
            }
        }
    }
    return names;
}

std::vector<unsigned int> ParseShape(const std::string& text, const std::string& whole)
{
    std::vector<unsigned int> shape;
    for (const std::string& part : Split(text, ','))
    {
        unsigned int size = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
        if (part.empty() || error != std::errc() || end != part.data() + part.size())
        {
            throw UsageError(
                fmt::format("--input-tensor-shape: '{}' in '{}' is no dimension; expected sizes with commas "
                            "between them and a colon between inputs, e.g. 1,224,224,3:1,10",
                            OneLine(part), OneLine(whole)));
        }
        shape.push_back(size);
    }
    if (shape.size() > MaxNumOfTensorDimensions)
    {
        throw UsageError(fmt::format("--input-tensor-shape: '{}' has {} dimensions; at most {} are possible",
                                     OneLine(text), shape.size(), MaxNumOfTensorDimensions));
    }
    return shape;
}

unsigned int ParseNumber(const std::string& text, const char* option, unsigned int min, unsigned int max)
{
    unsigned int number = 0;
    const bool isNumber = ParseElement(DataType::Unsigned32, text, reinterpret_cast<std::byte*>(&number), 0);
    if (!isNumber || number < min || number > max)
    {
        throw UsageError(fmt::format("{}: '{}' is no whole number in {}..{}", option, OneLine(text), min, max));
    }
    return number;
}

float ParseFinite(const std::string& text, const char* option, bool mayBeZero)
{
    float number = 0.0f;
    const bool isNumber = ParseElement(DataType::Float32, text, reinterpret_cast<std::byte*>(&number), 0);
    if (!isNumber || !std::isfinite(number) || (number == 0.0f && !mayBeZero))
    {
        throw UsageError(fmt::format("{}: '{}' is no finite number of 32 bits{}", option, OneLine(text),
                                     mayBeZero ? "" : " other than 0"));
    }
    return number;
}

} // namespace tenon::cli
