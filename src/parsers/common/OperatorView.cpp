// SPDX-License-Identifier: Apache-2.0
// OperatorView: see OperatorView.hpp.
#include "parsers/common/OperatorView.hpp"

namespace tenon::parsers
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

} // namespace tenon::parsers
