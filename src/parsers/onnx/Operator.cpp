// SPDX-License-Identifier: Apache-2.0
// Operator: see Operator.hpp.
#include "parsers/onnx/Operator.hpp"

#include "parsers/onnx/GraphReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon::onnx
{

const Value& Operator::Input(size_t i) const
{
    if (!HasInput(i))
    {
        throw ParseException(fmt::format("input {} is missing", i));
    }
    if (!m_Inputs[i].IsTensor())
    {
        Refuse(fmt::format("input {} is a sequence or an optional value", i));
    }
    return m_Inputs[i];
}

Value Operator::FindInput(size_t i) const
{
    return HasInput(i) ? Input(i) : Value();
}

std::vector<int64_t> Operator::ConstantInts(size_t i, const char* what) const
{
    const auto ints = Input(i).FindInts();
    if (!ints.has_value())
    {
        Refuse(Input(i).IsFloat() ? fmt::format("the {} are no integers", what)
                                  : fmt::format("the {} are computed at the run", what));
    }
    return *ints;
}

std::vector<double> Operator::ConstantReals(size_t i, const char* what) const
{
    const auto reals = Input(i).FindReals();
    if (!reals.has_value())
    {
        Refuse(fmt::format("the {} are computed at the run", what));
    }
    return *reals;
}

int64_t Operator::ConstantInt(size_t i, const char* what) const
{
    const std::vector<int64_t> ints = ConstantInts(i, what);
    if (ints.size() != 1)
    {
        throw ParseException(fmt::format("input {} ({}) has {} elements in place of one", i, what, ints.size()));
    }
    return ints.front();
}

double Operator::ConstantReal(size_t i, const char* what) const
{
    const std::vector<double> reals = ConstantReals(i, what);
    if (reals.size() != 1)
    {
        throw ParseException(fmt::format("input {} ({}) has {} elements in place of one", i, what, reals.size()));
    }
    return reals.front();
}

unsigned int Operator::Axis(int64_t axis, unsigned int rank) const
{
    if (axis < -int64_t{rank} || axis >= int64_t{rank})
    {
        throw ParseException(fmt::format("axis {} is outside of {} dimensions", axis, rank));
    }
    return static_cast<unsigned int>(axis < 0 ? axis + rank : axis);
}

std::vector<unsigned int> Operator::Axes(const std::vector<int64_t>& axes, unsigned int rank) const
{
    std::vector<unsigned int> result;
    for (const int64_t axis : axes)
    {
        const unsigned int canonical = Axis(axis, rank);
        if (std::find(result.begin(), result.end(), canonical) != result.end())
        {
            throw ParseException(fmt::format("axis {} is listed twice", axis));
        }
        result.push_back(canonical);
    }
    return result;
}

unsigned int Operator::AxisAttribute(int64_t fallback, unsigned int rank) const
{
    return Axis(Int64("axis", fallback), rank);
}

const AttributeMessage* Operator::FindMessage(std::string_view name) const
{
    const auto found = m_Attributes.find(name);
    return found != m_Attributes.end() ? found->second : nullptr;
}

Value Operator::Tensor(std::string_view name) const
{
    const AttributeMessage* const message = FindMessage(name);
    if (message == nullptr)
    {
        return {};
    }
    if (message->m_Tensor == nullptr)
    {
        throw ParseException(fmt::format("attribute '{}' is no tensor", name));
    }
    return m_Reader.Reading().Tensors().Read(*message->m_Tensor);
}

const GraphMessage* Operator::Graph(std::string_view name) const
{
    const AttributeMessage* const message = FindMessage(name);
    if (message != nullptr && message->m_Graph == nullptr)
    {
        throw ParseException(fmt::format("attribute '{}' is no graph", name));
    }
    return message != nullptr ? message->m_Graph.get() : nullptr;
}

void Operator::FailChoice(const char* attribute, const std::string& text, const std::vector<std::string>& names) const
{
    std::string choices;
    for (size_t i = 0; i < names.size(); ++i)
    {
        choices += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
    }
    Fail(fmt::format("attribute '{}' is '{}'; it must be {}", attribute, text, choices));
}

void Operator::Refuse(const std::string& reason) const
{
    throw UnimplementedException(reason);
}

void Operator::RefuseOpen(const std::string& reason) const
{
    throw OpenSizeException(reason + "; give the shapes of the model's inputs");
}

} // namespace tenon::onnx
