// SPDX-License-Identifier: Apache-2.0
// AttributeView: see AttributeView.hpp.
#include "parsers/common/AttributeView.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tenon::parsers
{

/// Null where it is not set.
const Attribute* AttributeView::Find(std::string_view name) const
{
    if (!m_Attributes.m_Error.empty())
    {
        Fail(m_Attributes.m_Error);
    }
    for (const Attribute& attribute : m_Attributes.m_Attributes)
    {
        if (attribute.m_Name == name)
        {
            return &attribute;
        }
    }
    if (m_Attributes.m_IsComplete)
    {
        throw UnknownOptionException(fmt::format("{} has no {} {}", m_Name, m_Kind, name));
    }
    return nullptr;
}

void AttributeView::FailKind(std::string_view name) const
{
    if (m_Attributes.m_IsComplete)
    {
        throw UnknownOptionException(fmt::format("{} {} of {} is of another kind", m_Kind, name, m_Name));
    }
    Fail(fmt::format("{} {} is of a kind that does not fit", m_Kind, name));
}

/// Null where it is not set.
template <typename T>
const T* AttributeView::Get(std::string_view name) const
{
    const Attribute* attribute = Find(name);
    if (attribute == nullptr)
    {
        return nullptr;
    }
    const T* value = std::get_if<T>(&attribute->m_Value);
    if (value == nullptr)
    {
        FailKind(name);
    }
    return attribute->m_IsSet ? value : nullptr;
}

bool AttributeView::Has(std::string_view name) const
{
    const Attribute* attribute = Find(name);
    return attribute != nullptr && attribute->m_IsSet;
}

bool AttributeView::Bool(std::string_view name, bool fallback) const
{
    if (IsInteger(name))
    {
        return *Get<int64_t>(name) != 0;
    }
    const bool* value = Get<bool>(name);
    return value != nullptr ? *value : fallback;
}

int64_t AttributeView::Int64(std::string_view name, int64_t fallback) const
{
    const int64_t* value = Get<int64_t>(name);
    return value != nullptr ? *value : fallback;
}

int32_t AttributeView::Int(std::string_view name, int32_t fallback) const
{
    return ToInt(name, Int64(name, fallback));
}

uint32_t AttributeView::Unsigned(std::string_view name, int32_t fallback, int32_t min) const
{
    const int32_t value = Int(name, fallback);
    if (value < min)
    {
        Fail(fmt::format("{} {} is {}, should be at least {}", m_Kind, name, value, min));
    }
    return static_cast<uint32_t>(value);
}

float AttributeView::Float(std::string_view name, float fallback) const
{
    if (IsInteger(name))
    {
        return static_cast<float>(*Get<int64_t>(name));
    }
    const double* value = Get<double>(name);
    return value != nullptr ? ToFloat(name, *value) : fallback;
}

std::string AttributeView::Text(std::string_view name) const
{
    const std::string* value = Get<std::string>(name);
    return value != nullptr ? *value : std::string();
}

std::vector<int64_t> AttributeView::Int64s(std::string_view name) const
{
    const std::vector<int64_t>* values = Get<std::vector<int64_t>>(name);
    return values != nullptr ? *values : std::vector<int64_t>();
}

std::vector<std::string> AttributeView::Texts(std::string_view name) const
{
    const std::vector<std::string>* values = Get<std::vector<std::string>>(name);
    return values != nullptr ? *values : std::vector<std::string>();
}

std::vector<int32_t> AttributeView::Ints(std::string_view name) const
{
    std::vector<int32_t> values;
    if (const std::vector<int64_t>* wide = Get<std::vector<int64_t>>(name))
    {
        values.reserve(wide->size());
        for (const int64_t value : *wide)
        {
            values.push_back(ToInt(name, value));
        }
    }
    return values;
}

std::vector<float> AttributeView::Floats(std::string_view name) const
{
    std::vector<float> values;
    if (const std::vector<double>* wide = Get<std::vector<double>>(name))
    {
        values.reserve(wide->size());
        for (const double value : *wide)
        {
            values.push_back(ToFloat(name, value));
        }
    }
    return values;
}

int32_t AttributeView::ToInt(std::string_view name, int64_t value) const
{
    if (value < INT32_MIN || value > INT32_MAX)
    {
        Fail(fmt::format("{} {} is {}, too large for an INT32", m_Kind, name, value));
    }
    return static_cast<int32_t>(value);
}

float AttributeView::ToFloat(std::string_view name, double value) const
{
    if (std::isfinite(value) && std::abs(value) > double{std::numeric_limits<float>::max()})
    {
        Fail(fmt::format("{} {} is {}, too large for a FLOAT32", m_Kind, name, value));
    }
    return static_cast<float>(value);
}

/// Whether an attribute that is not known beforehand is an integer, where a row wants something that an integer can
/// stand for.
bool AttributeView::IsInteger(std::string_view name) const
{
    const Attribute* attribute = m_Attributes.m_IsComplete ? nullptr : Find(name);
    return attribute != nullptr && std::holds_alternative<int64_t>(attribute->m_Value);
}

void AttributeView::Fail(const std::string& message) const
{
    throw ParseException(message);
}

} // namespace tenon::parsers
