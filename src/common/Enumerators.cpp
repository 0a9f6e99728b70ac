// SPDX-License-Identifier: Apache-2.0
// Enumerators by name: see Enumerators.hpp.
#include "common/Enumerators.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon
{

std::vector<std::string> CollectNames(std::string (*nameOf)(int number))
{
    constexpr int end = 64; // above the number of every enumerator
    std::vector<std::string> found;
    for (int i = 0; i < end; ++i)
    {
        std::string name = nameOf(i);
        const bool isNone = name == std::to_string(i) || name == "Unknown";
        found.push_back(isNone ? std::string() : std::move(name));
    }
    return found;
}

std::optional<size_t> FindName(const std::vector<std::string>& names, std::string_view name)
{
    const auto found = std::find(names.begin(), names.end(), name);
    return name.empty() || found == names.end() ? std::nullopt
                                                : std::optional(static_cast<size_t>(found - names.begin()));
}

bool HasName(const std::vector<std::string>& names, size_t number)
{
    return number < names.size() && !names[number].empty();
}

const std::string& NameAt(const std::vector<std::string>& names, size_t number)
{
    if (!HasName(names, number))
    {
        throw InvalidArgumentException(
            fmt::format("the value {} is none of its enumeration and cannot be written", static_cast<int>(number)));
    }
    return names[number];
}

} // namespace tenon
