// SPDX-License-Identifier: Apache-2.0
// See OptionValues.hpp.
#include "tools/common/OptionValues.hpp"

#include "text/OptionWords.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <set>
#include <system_error>
#include <utility>

namespace tenon::tools
{

std::vector<std::string> SplitList(const std::vector<std::string>& lists, const char* option, Repeated repeated)
{
    std::vector<std::string> entries;
    std::set<std::string> seen;
    for (const std::string& list : lists)
    {
        for (std::string& entry : SplitEscaped(list, ','))
        {
            if (entry.empty())
            {
                continue;
            }
            const bool isNew = seen.insert(entry).second;
            if (!isNew && repeated == Repeated::Refused)
            {
                throw UsageError(fmt::format("{}: '{}' is given twice", option, OneLine(entry)));
            }
            if (isNew || repeated == Repeated::Kept)
            {
                entries.push_back(std::move(entry));
            }
        }
    }
    if (entries.empty() && !lists.empty())
    {
        throw UsageError(fmt::format("{}: nothing is given", option));
    }
    return entries;
}

std::vector<unsigned int> ParseShape(const std::string& text, const std::string& whole)
{
    std::vector<unsigned int> shape;
    for (const std::string& part : text::Split(text, ','))
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

std::map<std::string, unsigned int> ParseDimensions(const std::vector<std::string>& texts)
{
    std::map<std::string, unsigned int> dimensions;
    for (const std::string& text : texts)
    {
        const size_t equals = text.rfind('=');
        unsigned int size = 0;
        const char* const end = text.data() + text.size();
        const char* const digits = equals == std::string::npos ? end : text.data() + equals + 1;
        const auto [last, error] = std::from_chars(digits, end, size);
        if (equals == 0 || digits == end || error != std::errc() || last != end)
        {
            throw UsageError(
                fmt::format("--dim: '{}' is no name with a size; expected is NAME=SIZE, e.g. batch=4", OneLine(text)));
        }
        const std::string name = text.substr(0, equals);
        if (!dimensions.emplace(name, size).second)
        {
            throw UsageError(fmt::format("--dim: {} is given twice", OneLine(name)));
        }
    }
    return dimensions;
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

} // namespace tenon::tools
