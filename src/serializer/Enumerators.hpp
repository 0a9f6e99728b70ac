// SPDX-License-Identifier: Apache-2.0
// Enumerators by name, both ways, and layer types. The names are those of dumps (graph/Names.hpp); numbers of layer
// types would change their meaning when a row is put into ops.def.
#pragma once

#include "graph/Names.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tenon::serializer
{

/// Index i is the name of the enumerator with number i; empty where there is none.
template <typename Enum>
const std::vector<std::string>& EnumeratorNames()
{
    static const std::vector<std::string> names = []
    {
        constexpr int end = 64; // above the number of every enumerator
        std::vector<std::string> found;
        for (int i = 0; i < end; ++i)
        {
            std::string name = FieldToString(static_cast<Enum>(i));
            const bool isNone = name == std::to_string(i) || name == "Unknown";
            found.push_back(isNone ? std::string() : std::move(name));
        }
        return found;
    }();
    return names;
}

template <typename Enum>
std::optional<Enum> FindEnumerator(std::string_view name)
{
    const std::vector<std::string>& names = EnumeratorNames<Enum>();
    for (size_t i = 0; i < names.size(); ++i)
    {
        if (!names[i].empty() && names[i] == name)
        {
            return static_cast<Enum>(i);
        }
    }
    return std::nullopt;
}

/// Throws InvalidArgumentException for a value that is none of the enumeration.
template <typename Enum>
const std::string& EnumeratorName(Enum value)
{
    const std::vector<std::string>& names = EnumeratorNames<Enum>();
    const auto index = static_cast<size_t>(value);
    if (index >= names.size() || names[index].empty())
    {
        throw InvalidArgumentException(
            fmt::format("the value {} is none of its enumeration and cannot be written", static_cast<int>(value)));
    }
    return names[index];
}

} // namespace tenon::serializer
