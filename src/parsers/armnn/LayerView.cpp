// SPDX-License-Identifier: Apache-2.0
// LayerView: see LayerView.hpp.
#include "parsers/armnn/LayerView.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon::arm_nn
{

uint32_t LayerView::Number(std::string_view name, uint32_t fallback) const
{
    return static_cast<uint32_t>(Int64(name, fallback)); // as the schema has it: of 32 bits
}

std::vector<uint32_t> LayerView::Numbers(std::string_view name) const
{
    std::vector<uint32_t> numbers;
    for (const int64_t number : Int64s(name))
    {
        numbers.push_back(static_cast<uint32_t>(number));
    }
    return numbers;
}

std::vector<std::pair<uint32_t, uint32_t>> LayerView::Pairs(std::string_view name) const
{
    const std::vector<uint32_t> numbers = Numbers(name);
    if (numbers.size() % 2 != 0)
    {
        Fail(fmt::format("field {} has {} numbers, which are not in pairs", name, numbers.size()));
    }
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (size_t i = 0; i < numbers.size(); i += 2)
    {
        pairs.emplace_back(numbers[i], numbers[i + 1]);
    }
    return pairs;
}

void LayerView::FailValue(std::string_view name) const
{
    Fail(fmt::format("field {} is {}, which is none of Arm NN 23.08", name, Text(name)));
}

const parsers::TensorView* LayerView::FindConstant(std::string_view name) const
{
    const auto found = std::find_if(m_Parts.m_Constants.begin(), m_Parts.m_Constants.end(),
                                    [&](const ConstantField& field) { return field.m_Name == name; });
    if (found == m_Parts.m_Constants.end())
    {
        throw parsers::UnknownOptionException(fmt::format("{} has no constant {}", Name(), name));
    }
    return found->m_Tensor ? &*found->m_Tensor : nullptr;
}

const parsers::TensorView& LayerView::Constant(std::string_view name) const
{
    const parsers::TensorView* const constant = FindConstant(name);
    if (constant == nullptr)
    {
        Fail(fmt::format("has no {}, but needs it", name));
    }
    return *constant;
}

void LayerView::CheckCount(const char* kind, uint64_t count, std::string_view field, uint64_t wanted) const
{
    if (count != wanted)
    {
        Fail(fmt::format("has {} {}, but field {} asks for {}", count, kind, field, wanted));
    }
}

void LayerView::CheckNumInputs(std::string_view field, uint64_t wanted) const
{
    CheckCount("inputs", NumInputs(), field, wanted);
}

void LayerView::CheckNumOutputs(std::string_view field, uint64_t wanted) const
{
    CheckCount("outputs", NumOutputs(), field, wanted);
}

} // namespace tenon::arm_nn
