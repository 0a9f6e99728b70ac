// SPDX-License-Identifier: Apache-2.0
// OperatorView: see OperatorView.hpp.
#include "parsers/tflite/OperatorView.hpp"

#include <cmath>
#include <limits>

namespace tenon::tflite
{

std::string TensorView::Label() const
{
    return m_Name.empty() ? std::to_string(m_Index) : fmt::format("'{}'", m_Name);
}

const TensorView& OperatorView::Input(size_t i) const
{
    if (!HasInput(i))
    {
        Fail(fmt::format("input {} is absent, but the operator needs it", i));
    }
    return *m_Inputs[i];
}

const TensorView& OperatorView::Output(size_t i) const
{
    if (!HasOutput(i))
    {
        Fail(fmt::format("output {} is absent, but the operator gives it", i));
    }
    return *m_Outputs[i];
}

const TensorView& OperatorView::Intermediate(size_t i) const
{
    if (i >= m_Intermediates.size() || m_Intermediates[i] == nullptr)
    {
        Fail(fmt::format("intermediate tensor {} is absent, but the operator needs it", i));
    }
    return *m_Intermediates[i];
}

void OperatorView::CheckCount(const char* kind, size_t count, std::string_view option, int64_t wanted) const
{
    if (static_cast<int64_t>(count) != wanted)
    {
        Fail(fmt::format("has {} {}, but option {} asks for {}", count, kind, option, wanted));
    }
}

void OperatorView::CheckNumInputs(std::string_view option, int64_t wanted) const
{
    CheckCount("inputs", NumInputs(), option, wanted);
}

void OperatorView::CheckNumOutputs(std::string_view option, int64_t wanted) const
{
    CheckCount("outputs", NumOutputs(), option, wanted);
}

std::optional<uint32_t> OperatorView::InputRank(size_t i) const
{
    const TensorView& input = Input(i);
    for (const TensorShape* shape : {&input.m_Info.GetShape(), &input.m_DeclaredShape})
    {
        if (shape->GetDimensionality() != Dimensionality::NotSpecified)
        {
            return shape->GetNumDimensions();
        }
    }
    return std::nullopt;
}

/// Null where it is not set.
const Attribute* OperatorView::Find(std::string_view option) const
{
    if (!m_Attributes.m_Error.empty())
    {
        Fail(m_Attributes.m_Error);
    }
    for (const Attribute& attribute : m_Attributes.m_Attributes)
    {
        if (attribute.m_Name == option)
        {
            return &attribute;
        }
    }
    if (m_Attributes.m_IsComplete)
    {
        throw UnknownOptionException(fmt::format("{} has no option {}", m_Name, option));
    }
    return nullptr;
}

void OperatorView::FailKind(std::string_view option) const
{
    if (m_Attributes.m_IsComplete)
    {
        throw UnknownOptionException(fmt::format("option {} of {} is of another kind", option, m_Name));
    }
    Fail(fmt::format("option {} is of a kind that does not fit", option));
}

/// Null where it is not set.
template <typename T>
const T* OperatorView::Get(std::string_view option) const
{
    const Attribute* attribute = Find(option);
    if (attribute == nullptr)
    {
        return nullptr;
    }
    const T* value = std::get_if<T>(&attribute->m_Value);
    if (value == nullptr)
    {
        FailKind(option);
    }
    return attribute->m_IsSet ? value : nullptr;
}

bool OperatorView::Has(std::string_view option) const
{
    const Attribute* attribute = Find(option);
    return attribute != nullptr && attribute->m_IsSet;
}

bool OperatorView::Bool(std::string_view option, bool fallback) const
{
    if (IsInteger(option))
    {
        return *Get<int64_t>(option) != 0;
    }
    const bool* value = Get<bool>(option);
    return value != nullptr ? *value : fallback;
}

int64_t OperatorView::Int64(std::string_view option, int64_t fallback) const
{
    const int64_t* value = Get<int64_t>(option);
    return value != nullptr ? *value : fallback;
}

int32_t OperatorView::Int(std::string_view option, int32_t fallback) const
{
    return ToInt(option, Int64(option, fallback));
}

uint32_t OperatorView::Unsigned(std::string_view option, int32_t fallback, int32_t least) const
{
    const int32_t value = Int(option, fallback);
    if (value < least)
    {
        Fail(fmt::format("option {} is {}, should be at least {}", option, value, least));
    }
    return static_cast<uint32_t>(value);
}

float OperatorView::Float(std::string_view option, float fallback) const
{
    if (IsInteger(option))
    {
        return static_cast<float>(*Get<int64_t>(option));
    }
    const double* value = Get<double>(option);
    return value != nullptr ? ToFloat(option, *value) : fallback;
}

std::string OperatorView::Text(std::string_view option) const
{
    const std::string* value = Get<std::string>(option);
    return value != nullptr ? *value : std::string();
}

std::vector<int64_t> OperatorView::Int64s(std::string_view option) const
{
    const std::vector<int64_t>* values = Get<std::vector<int64_t>>(option);
    return values != nullptr ? *values : std::vector<int64_t>();
}

std::vector<int32_t> OperatorView::Ints(std::string_view option) const
{
    std::vector<int32_t> values;
    if (const std::vector<int64_t>* wide = Get<std::vector<int64_t>>(option))
    {
        values.reserve(wide->size());
        for (const int64_t value : *wide)
        {
            values.push_back(ToInt(option, value));
        }
    }
    return values;
}

std::vector<float> OperatorView::Floats(std::string_view option) const
{
    std::vector<float> values;
    if (const std::vector<double>* wide = Get<std::vector<double>>(option))
    {
        values.reserve(wide->size());
        for (const double value : *wide)
        {
            values.push_back(ToFloat(option, value));
        }
    }
    return values;
}

int32_t OperatorView::ToInt(std::string_view option, int64_t value) const
{
    if (value < INT32_MIN || value > INT32_MAX)
    {
        Fail(fmt::format("option {} is {}, too large for an INT32", option, value));
    }
    return static_cast<int32_t>(value);
}

float OperatorView::ToFloat(std::string_view option, double value) const
{
    if (std::isfinite(value) && std::abs(value) > double{std::numeric_limits<float>::max()})
    {
        Fail(fmt::format("option {} is {}, too large for a FLOAT32", option, value));
    }
    return static_cast<float>(value);
}

/// Whether an option of a custom operator is an integer where a row wants something that an integer can stand for.
bool OperatorView::IsInteger(std::string_view option) const
{
    const Attribute* attribute = m_Attributes.m_IsComplete ? nullptr : Find(option);
    return attribute != nullptr && std::holds_alternative<int64_t>(attribute->m_Value);
}

void OperatorView::Fail(const std::string& message) const
{
    throw ParseException(message);
}

} // namespace tenon::tflite
