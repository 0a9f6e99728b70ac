// SPDX-License-Identifier: Apache-2.0
// One overload of Encode and Decode for each type that a field of a descriptor may have. Used by Attributes.cpp alone.
#pragma once

#include "common/Enumerators.hpp"
#include "serializer/FileReader.hpp"
#include "serializer/FileWriter.hpp"
#include "serializer/TensorInfos.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon::serializer
{

/// A value in a file: its kind and its offset.
using EncodedValue = std::pair<schema::Value, flatbuffers::Offset<void>>;
using Pairs = std::vector<std::pair<unsigned int, unsigned int>>;

template <typename T>
concept Enumeration = std::is_enum_v<T>;
template <typename T>
concept FieldInteger = std::same_as<T, int32_t> || std::same_as<T, uint32_t> || std::same_as<T, int64_t>;
template <typename T>
concept ShortInteger = std::same_as<T, int32_t> || std::same_as<T, uint32_t>;

inline EncodedValue Encode(FileWriter& file, bool value)
{
    return {schema::Value::Boolean, schema::CreateBoolean(file.Builder(), value).Union()};
}

template <FieldInteger T>
EncodedValue Encode(FileWriter& file, T value)
{
    return {schema::Value::Integer, schema::CreateInteger(file.Builder(), int64_t{value}).Union()};
}

inline EncodedValue Encode(FileWriter& file, float value)
{
    return {schema::Value::Real, schema::CreateReal(file.Builder(), value).Union()};
}

inline EncodedValue Encode(FileWriter& file, const std::string& value)
{
    return {schema::Value::Text, schema::CreateText(file.Builder(), file.AddText(value)).Union()};
}

template <Enumeration T>
EncodedValue Encode(FileWriter& file, T value)
{
    return Encode(file, EnumeratorName(value));
}

/// The names of the enumerators, separated by commas.
template <Enumeration T>
EncodedValue Encode(FileWriter& file, const std::vector<T>& values)
{
    std::string names;
    for (const T value : values)
    {
        names += (names.empty() ? "" : ",") + EnumeratorName(value);
    }
    return Encode(file, names);
}

inline EncodedValue EncodeIntegers(FileWriter& file, const std::vector<int64_t>& values)
{
    return {schema::Value::Integers, schema::CreateIntegersDirect(file.Builder(), &values).Union()};
}

template <ShortInteger T>
EncodedValue Encode(FileWriter& file, const std::vector<T>& value)
{
    return EncodeIntegers(file, {value.begin(), value.end()});
}

inline EncodedValue Encode(FileWriter& file, const PermutationVector& value)
{
    return EncodeIntegers(file, {value.begin(), value.end()});
}

inline EncodedValue Encode(FileWriter& file, const Pairs& value)
{
    std::vector<int64_t> flat;
    for (const auto& [first, second] : value)
    {
        flat.insert(flat.end(), {int64_t{first}, int64_t{second}});
    }
    return EncodeIntegers(file, flat);
}

inline EncodedValue Encode(FileWriter& file, const std::vector<float>& value)
{
    return {schema::Value::Reals, schema::CreateRealsDirect(file.Builder(), &value).Union()};
}

inline EncodedValue Encode(FileWriter& file, const std::vector<uint8_t>& value)
{
    return {schema::Value::Bytes,
            schema::CreateBytes(file.Builder(), file.AddBuffer(value.data(), value.size())).Union()};
}

inline EncodedValue Encode(FileWriter& file, const TensorShape& value)
{
    return {schema::Value::Shape, WriteShape(file, value).Union()};
}

/// The attribute's value as a T. Throws ParseException if it is of another kind.
template <typename T>
const T& ValueAs(const FileReader& file, const schema::Attribute& attribute)
{
    const T* value = attribute.value_as<T>();
    if (value == nullptr)
    {
        const schema::Value kind = attribute.value_type();
        const std::string name = schema::EnumNameValue(kind);
        throw ParseException(name.empty() ? fmt::format("its value is of kind {}, which is not known {}",
                                                        static_cast<int>(kind), file.VersionText())
                                          : fmt::format("its value is of kind {} in place of {}", name,
                                                        schema::EnumNameValue(schema::ValueTraits<T>::enum_value)));
    }
    return *value;
}

template <std::integral T>
T InRange(int64_t value)
{
    if (value < int64_t{std::numeric_limits<T>::min()} || value > int64_t{std::numeric_limits<T>::max()})
    {
        throw ParseException(fmt::format("the value {} is out of range", value));
    }
    return static_cast<T>(value);
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, bool& value)
{
    value = ValueAs<schema::Boolean>(file, attribute).value();
}

template <FieldInteger T>
void Decode(FileReader& file, const schema::Attribute& attribute, T& value)
{
    value = InRange<T>(ValueAs<schema::Integer>(file, attribute).value());
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, float& value)
{
    value = ValueAs<schema::Real>(file, attribute).value();
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, std::string& value)
{
    value = file.Text(ValueAs<schema::Text>(file, attribute).value());
}

template <Enumeration T>
T EnumeratorOf(const FileReader& file, std::string_view name)
{
    const auto found = FindEnumerator<T>(name);
    if (!found)
    {
        throw ParseException(fmt::format("there is no '{}' {}", name, file.VersionText()));
    }
    return *found;
}

template <Enumeration T>
void Decode(FileReader& file, const schema::Attribute& attribute, T& value)
{
    value = EnumeratorOf<T>(file, ValueAs<schema::Text>(file, attribute).value()->string_view());
}

template <Enumeration T>
void Decode(FileReader& file, const schema::Attribute& attribute, std::vector<T>& value)
{
    value.clear();
    const std::string_view names = ValueAs<schema::Text>(file, attribute).value()->string_view();
    for (size_t first = 0; first < names.size();)
    {
        const size_t end = std::min(names.find(',', first), names.size());
        file.Charge(1, sizeof(T));
        value.push_back(EnumeratorOf<T>(file, names.substr(first, end - first)));
        first = end + 1;
    }
}

/// The list of integers, which counts as read.
inline const flatbuffers::Vector<int64_t>& DecodeIntegers(FileReader& file, const schema::Attribute& attribute)
{
    const flatbuffers::Vector<int64_t>& values =
        FileReader::Aligned(*ValueAs<schema::Integers>(file, attribute).value());
    file.Charge(values.size(), sizeof(int64_t));
    return values;
}

template <ShortInteger T>
void Decode(FileReader& file, const schema::Attribute& attribute, std::vector<T>& value)
{
    value.clear();
    for (const int64_t element : DecodeIntegers(file, attribute))
    {
        value.push_back(InRange<T>(element));
    }
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, PermutationVector& value)
{
    std::vector<uint32_t> mappings;
    Decode(file, attribute, mappings);
    value = PermutationVector(mappings.data(), InRange<uint32_t>(static_cast<int64_t>(mappings.size())));
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, Pairs& value)
{
    std::vector<uint32_t> flat;
    Decode(file, attribute, flat);
    if (flat.size() % 2 != 0)
    {
        throw ParseException(fmt::format("{} integers are no pairs", flat.size()));
    }
    value.clear();
    for (size_t i = 0; i < flat.size(); i += 2)
    {
        value.emplace_back(flat[i], flat[i + 1]);
    }
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, std::vector<float>& value)
{
    const flatbuffers::Vector<float>& values = *ValueAs<schema::Reals>(file, attribute).value();
    file.Charge(values.size(), sizeof(float));
    value.assign(values.begin(), values.end());
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, std::vector<uint8_t>& value)
{
    const Span<const uint8_t> bytes = file.Buffer(ValueAs<schema::Bytes>(file, attribute).buffer());
    file.Charge(bytes.size(), 1);
    value.assign(bytes.begin(), bytes.end());
}

inline void Decode(FileReader& file, const schema::Attribute& attribute, TensorShape& value)
{
    value = ReadShape(file, ValueAs<schema::Shape>(file, attribute));
}

/// Whether a field has its default value bit by bit: 0 and -0 are equal, but their bits differ.
template <typename T>
bool IsSame(const T& a, const T& b)
{
    return a == b;
}
inline bool IsSame(float a, float b)
{
    return std::memcmp(&a, &b, sizeof(float)) == 0;
}
inline bool IsSame(const std::vector<float>& a, const std::vector<float>& b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

} // namespace tenon::serializer
