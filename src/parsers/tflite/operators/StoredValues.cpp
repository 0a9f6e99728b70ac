// SPDX-License-Identifier: Apache-2.0
// See StoredValues.hpp.
#include "parsers/tflite/operators/StoredValues.hpp"

#include "parsers/tflite/NetworkBuilder.hpp"

namespace tenon::tflite
{

namespace
{

/// As TFLite compares it: several scales count as none.
struct OneQuantization
{
    explicit OneQuantization(const TensorInfo& info)
    {
        if (!info.HasMultipleQuantizationScales())
        {
            m_Scale = info.GetQuantizationScale();
            m_ZeroPoint = info.GetQuantizationOffset();
        }
    }

    bool operator==(const OneQuantization&) const = default;
    std::string Describe() const
    {
        return m_Scale == 0.0f ? "no scale of its own"
                               : fmt::format("scale {} and zero point {}", m_Scale, m_ZeroPoint);
    }

    float m_Scale = 0.0f;
    int32_t m_ZeroPoint = 0;
};

} // namespace

void CheckSameQuantization(const OperatorView& op, size_t input, size_t output)
{
    const TensorView& from = op.Input(input);
    const TensorView& to = op.Output(output);
    const OneQuantization given(from.m_Info);
    const OneQuantization wanted(to.m_Info);
    const bool isQuantized = from.m_Info.IsQuantized() || to.m_Info.IsQuantized();
    if (isQuantized && !(given == wanted))
    {
        op.Fail(
            fmt::format("input {} {} has {}, but output {} {} has {}: the operator moves values as they are stored, "
                        "so both need the same; let QUANTIZE convert them before or behind it",
                        input, from.Label(), given.Describe(), output, to.Label(), wanted.Describe()));
    }
}

void CheckSameQuantization(const OperatorView& op)
{
    for (size_t output = 0; output < op.NumOutputs(); ++output)
    {
        for (size_t input = 0; input < op.NumInputs(); ++input)
        {
            CheckSameQuantization(op, input, output);
        }
    }
}

} // namespace tenon::tflite
