// SPDX-License-Identifier: Apache-2.0
// Enumerators by name, both ways. The names are those of dumps (Names.hpp).
#pragma once

#include "common/Names.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon
{

/// Index i is nameOf(i), or empty where that is the text for a value that is no enumerator.
std::vector<std::string> CollectNames(std::string (*nameOf)(int number));

/// The index of a name, which is not empty.
std::optional<size_t> FindName(const std::vector<std::string>& names, std::string_view name);

/// Whether a number has a name.
bool HasName(const std::vector<std::string>& names, size_t number);

/// Throws InvalidArgumentException for a number that has no name.
const std::string& NameAt(const std::vector<std::string>& names, size_t number);

/// Index i is the name of the enumerator with number i; empty where there is none.
template <typename Enum>
const std::vector<std::string>& EnumeratorNames()
{
    static const std::vector<std::string> names =
        CollectNames([](int number) { return FieldToString(static_cast<Enum>(number)); });
    return names;
}

template <typename Enum>
std::optional<Enum> FindEnumerator(std::string_view name)
{
    const std::optional<size_t> found = FindName(EnumeratorNames<Enum>(), name);
    return found ? std::optional(static_cast<Enum>(*found)) : std::nullopt;
}

/// Throws InvalidArgumentException for a value that is none of the enumeration.
template <typename Enum>
const std::string& EnumeratorName(Enum value)
{
    return NameAt(EnumeratorNames<Enum>(), static_cast<size_t>(value));
}

} // namespace tenon
