// SPDX-License-Identifier: Apache-2.0
// Attributes: see Attributes.hpp.
#include "common/Attributes.hpp"

#include "common/Enumerators.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace tenon
{

namespace
{

template <typename T>
struct IsVector : std::false_type
{
};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type
{
};

template <typename T>
constexpr bool IsEnumeratorList = false;
template <typename T>
constexpr bool IsEnumeratorList<std::vector<T>> = std::is_enum_v<T>;

template <typename T>
constexpr bool IsNumber = std::is_integral_v<T> || std::is_enum_v<T>;
template <typename T>
constexpr bool IsNested = requires
{
    T::Visit([](const char*, auto) {});
};
using Pair = std::pair<unsigned int, unsigned int>;

template <typename T>
AttributeValue ToValue(const T& field)
{
    if constexpr (std::is_same_v<T, bool>)
    {
        return field;
    }
    else if constexpr (IsNumber<T>)
    {
        return std::vector<int64_t>{static_cast<int64_t>(field)};
    }
    else if constexpr (std::is_floating_point_v<T>)
    {
        return std::vector<double>{static_cast<double>(field)};
    }
    else if constexpr (std::is_same_v<T, std::vector<float>>)
    {
        return std::vector<double>(field.begin(), field.end());
    }
    else if constexpr (IsEnumeratorList<T>)
    {
        std::vector<int64_t> numbers;
        std::transform(field.begin(), field.end(), std::back_inserter(numbers),
                       [](auto enumerator) { return static_cast<int64_t>(enumerator); });
        return numbers;
    }
    else if constexpr (std::is_same_v<T, std::vector<Pair>>)
    {
        std::vector<int64_t> flat;
        for (const Pair& pair : field)
        {
            flat.insert(flat.end(), {pair.first, pair.second});
        }
        return flat;
    }
    else if constexpr (std::is_same_v<T, std::vector<uint8_t>> || std::is_same_v<T, std::string> ||
                       std::is_same_v<T, TensorShape>)
    {
        return field;
    }
    else
    {
        static_assert(IsVector<T>::value || std::is_same_v<T, PermutationVector>);
        return std::vector<int64_t>(field.begin(), field.end());
    }
}

template <typename D>
void Collect(const D& descriptor, const std::string& prefix, std::vector<Attribute>& attributes)
{
    D::Visit(
        [&](const char* name, auto member)
        {
            const auto& field = descriptor.*member;
            if constexpr (IsNested<std::decay_t<decltype(field)>>)
            {
                Collect(field, prefix + name + '.', attributes);
            }
            else
            {
                attributes.push_back({prefix + name, ToValue(field)});
            }
        });
}

/// The attributes by name; each is taken once.
class Source
{
public:
    explicit Source(const std::vector<Attribute>& attributes)
    {
        for (const Attribute& attribute : attributes)
        {
            if (!m_Attributes.emplace(attribute.m_Name, &attribute).second)
            {
                throw InvalidArgumentException(fmt::format("attribute '{}' is given twice", attribute.m_Name));
            }
        }
    }

    const Attribute* Take(const std::string& name)
    {
        const auto found = m_Attributes.find(name);
        if (found == m_Attributes.end())
        {
            return nullptr;
        }
        const Attribute* attribute = found->second;
        m_Attributes.erase(found);
        return attribute;
    }

    void CheckAllTaken() const
    {
        if (!m_Attributes.empty())
        {
            throw InvalidArgumentException(
                fmt::format("there is no attribute '{}' in this layer type", m_Attributes.begin()->first));
        }
    }

private:
    std::unordered_map<std::string, const Attribute*> m_Attributes;
};

template <typename T>
const T& As(const Attribute& attribute, const char* kind)
{
    if (const T* value = std::get_if<T>(&attribute.m_Value))
    {
        return *value;
    }
    throw InvalidArgumentException(fmt::format("attribute '{}' must hold {}", attribute.m_Name, kind));
}

template <typename T>
T Checked(int64_t value, const Attribute& attribute)
{
    if constexpr (std::is_enum_v<T>)
    {
        return static_cast<T>(Checked<std::underlying_type_t<T>>(value, attribute));
    }
    else
    {
        if (!std::in_range<T>(value))
        {
            throw InvalidArgumentException(
                fmt::format("attribute '{}': {} is out of its range", attribute.m_Name, value));
        }
        return static_cast<T>(value);
    }
}

/// Numbers may be given as integers.
std::vector<double> NumbersOf(const Attribute& attribute)
{
    if (const auto* integers = std::get_if<std::vector<int64_t>>(&attribute.m_Value))
    {
        return {integers->begin(), integers->end()};
    }
    return As<std::vector<double>>(attribute, "numbers");
}

template <typename T>
void CheckSize(const T& values, size_t multiple, size_t exactly, const Attribute& attribute)
{
    if ((exactly != 0 && values.size() != exactly) || values.size() % multiple != 0)
    {
        throw InvalidArgumentException(fmt::format("attribute '{}' has {} values, which is not the number it must have",
                                                   attribute.m_Name, values.size()));
    }
}

[[noreturn]] void ThrowNoEnumerator(const Attribute& attribute, const std::string& given,
                                    const std::vector<std::string>& names)
{
    std::string known;
    for (const std::string& name : names)
    {
        known += name.empty() ? "" : (known.empty() ? "" : ", ") + name;
    }
    throw InvalidArgumentException(
        fmt::format("attribute '{}' cannot be {}; its values are {}", attribute.m_Name, given, known));
}

/// Throws for a number that none of the enumeration has. Index i of `names` is the name of number i.
void CheckEnumerator(const Attribute& attribute, int64_t number, const std::vector<std::string>& names)
{
    if (!std::in_range<size_t>(number) || !HasName(names, static_cast<size_t>(number)))
    {
        ThrowNoEnumerator(attribute, std::to_string(number), names);
    }
}

int64_t EnumeratorOf(const Attribute& attribute, std::string_view name, const std::vector<std::string>& names)
{
    const std::optional<size_t> found = FindName(names, name);
    if (!found)
    {
        ThrowNoEnumerator(attribute, fmt::format("'{}'", name), names);
    }
    return static_cast<int64_t>(*found);
}

/// The number of an enumerator, which is given by its name or number.
int64_t EnumeratorOf(const Attribute& attribute, const std::vector<std::string>& names)
{
    if (const auto* const name = std::get_if<std::string>(&attribute.m_Value))
    {
        return EnumeratorOf(attribute, *name, names);
    }
    const auto& values = As<std::vector<int64_t>>(attribute, "an enumerator's name or number");
    CheckSize(values, 1, 1, attribute);
    CheckEnumerator(attribute, values[0], names);
    return values[0];
}

/// The numbers of a list of them, which are given by their names, with commas between them, or numbers.
std::vector<int64_t> EnumeratorsOf(const Attribute& attribute, const std::vector<std::string>& names)
{
    std::vector<int64_t> numbers;
    if (const auto* const text = std::get_if<std::string>(&attribute.m_Value))
    {
        for (size_t first = 0; first < text->size();)
        {
            const size_t end = std::min(text->find(',', first), text->size());
            numbers.push_back(EnumeratorOf(attribute, std::string_view(*text).substr(first, end - first), names));
            first = end + 1;
        }
        return numbers;
    }
    numbers = As<std::vector<int64_t>>(attribute, "enumerators' names or numbers");
    for (const int64_t number : numbers)
    {
        CheckEnumerator(attribute, number, names);
    }
    return numbers;
}

template <typename T>
void FromValue(const Attribute& attribute, T& field)
{
    constexpr const char* integers = "integers";
    if constexpr (std::is_same_v<T, bool>)
    {
        field = As<bool>(attribute, "a truth value");
    }
    else if constexpr (std::is_enum_v<T>)
    {
        field = Checked<T>(EnumeratorOf(attribute, EnumeratorNames<T>()), attribute);
    }
    else if constexpr (std::is_integral_v<T>)
    {
        const auto& values = As<std::vector<int64_t>>(attribute, integers);
        CheckSize(values, 1, 1, attribute);
        field = Checked<T>(values[0], attribute);
    }
    else if constexpr (std::is_floating_point_v<T>)
    {
        const std::vector<double> values = NumbersOf(attribute);
        CheckSize(values, 1, 1, attribute);
        field = static_cast<T>(values[0]);
    }
    else if constexpr (std::is_same_v<T, std::vector<float>>)
    {
        const std::vector<double> values = NumbersOf(attribute);
        field.clear();
        std::transform(values.begin(), values.end(), std::back_inserter(field),
                       [](double value) { return static_cast<float>(value); });
    }
    else if constexpr (IsEnumeratorList<T>)
    {
        field.clear();
        for (const int64_t number : EnumeratorsOf(attribute, EnumeratorNames<typename T::value_type>()))
        {
            field.push_back(Checked<typename T::value_type>(number, attribute));
        }
    }
    else if constexpr (std::is_same_v<T, std::vector<Pair>>)
    {
        const auto& values = As<std::vector<int64_t>>(attribute, integers);
        CheckSize(values, 2, 0, attribute);
        field.clear();
        for (size_t i = 0; i < values.size(); i += 2)
        {
            field.emplace_back(Checked<unsigned int>(values[i], attribute),
                               Checked<unsigned int>(values[i + 1], attribute));
        }
    }
    else if constexpr (std::is_same_v<T, std::vector<uint8_t>>)
    {
        field = As<T>(attribute, "bytes");
    }
    else if constexpr (std::is_same_v<T, std::string>)
    {
        field = As<T>(attribute, "a text");
    }
    else if constexpr (std::is_same_v<T, TensorShape>)
    {
        field = As<T>(attribute, "a shape");
    }
    else
    {
        using Element = std::conditional_t<std::is_same_v<T, PermutationVector>, std::vector<unsigned int>, T>;
        Element elements;
        for (const int64_t value : As<std::vector<int64_t>>(attribute, integers))
        {
            elements.push_back(Checked<typename Element::value_type>(value, attribute));
        }
        if constexpr (std::is_same_v<T, PermutationVector>)
        {
            field = PermutationVector(elements.data(), static_cast<unsigned int>(elements.size()));
        }
        else
        {
            field = std::move(elements);
        }
    }
}

template <typename D>
void Fill(D& descriptor, const std::string& prefix, Source& source)
{
    D::Visit(
        [&](const char* name, auto member)
        {
            auto& field = descriptor.*member;
            if constexpr (IsNested<std::decay_t<decltype(field)>>)
            {
                Fill(field, prefix + name + '.', source);
            }
            else if (const Attribute* attribute = source.Take(prefix + name))
            {
                FromValue(*attribute, field);
            }
        });
}

struct Row
{
    void (*m_Collect)(const BaseDescriptor&, std::vector<Attribute>&);
    std::unique_ptr<BaseDescriptor> (*m_Make)(Source&);
};

template <typename D>
constexpr Row MakeRow()
{
    return {[](const BaseDescriptor& descriptor, std::vector<Attribute>& attributes)
            { Collect(static_cast<const D&>(descriptor), "", attributes); },
            [](Source& source) -> std::unique_ptr<BaseDescriptor>
            {
                auto descriptor = std::make_unique<D>();
                Fill(*descriptor, "", source);
                return descriptor;
            }};
}

const Row& RowOf(LayerType type)
{
    static constexpr Row rows[] = {
#define TENON_OP(name, descriptor, ...) MakeRow<descriptor>(),
#include <tenon/ops.def>
    };
    const auto index = static_cast<size_t>(type);
    if (index >= std::size(rows))
    {
        throw InvalidArgumentException(fmt::format("layer type {} has no descriptor", index));
    }
    return rows[index];
}

} // namespace

std::vector<Attribute> ToAttributes(LayerType type, const BaseDescriptor& descriptor)
{
    std::vector<Attribute> attributes;
    RowOf(type).m_Collect(descriptor, attributes);
    return attributes;
}

std::unique_ptr<BaseDescriptor> FromAttributes(LayerType type, const std::vector<Attribute>& attributes)
{
    Source source(attributes);
    auto descriptor = RowOf(type).m_Make(source);
    source.CheckAllTaken();
    return descriptor;
}

} // namespace tenon
