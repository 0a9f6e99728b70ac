// SPDX-License-Identifier: Apache-2.0
// Parameters of unary functions of 16-bit tensors.
#include "backends/cpu/elementwise/UnaryInt16.hpp"

#include "backends/cpu/elementwise/Map.hpp"
#include "backends/cpu/elementwise/UnaryLoopsInt16.hpp"
#include "backends/reference/kernels/UnaryTablesInt16.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <cstdlib>
#include <limits>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

/// Runs one of the loops that take a UnaryScaleInt16.
template <typename Function>
Prepared MakeScale(const ReshapeArgs& args, Function function, const UnaryScaleInt16& scale)
{
    return MakeMap<int16_t, int16_t>(args, [function, scale](const int16_t* in, int16_t* out, size_t count)
                                     { function(scale, in, out, count); });
}

Prepared MakeInterpolation(const ReshapeArgs& args, const ref::InterpolatedTable& table)
{
    return MakeMap<int16_t, int16_t>(
        args, [table, function = GetUnaryLoopsInt16().m_Interpolate](const int16_t* in, int16_t* out, size_t count)
        { function(table.GetEntries().data(), in, out, count); });
}

Prepared MakeRelu(const ReshapeArgs& args, float lower, float upper)
{
    const float inputScale = args.GetInput(0).GetQuantizationScale();
    const float outputScale = args.GetOutput(0).GetQuantizationScale();
    const backends::QuantizedRange range = backends::GetClampRange(DataType::QSymmS16, outputScale, 0, lower, upper);
    UnaryScaleInt16 scale;
    scale.m_Positive = QuantizeMultiplier(static_cast<double>(inputScale / outputScale));
    scale.m_Min = static_cast<int16_t>(range.m_Min);
    scale.m_Max = static_cast<int16_t>(range.m_Max);
    return MakeScale(args, inputScale == outputScale ? GetUnaryLoopsInt16().m_Clamp : GetUnaryLoopsInt16().m_Scale,
                     scale);
}

Prepared MakeLeakyRelu(const ReshapeArgs& args, float alpha)
{
    const float inputScale = args.GetInput(0).GetQuantizationScale();
    const float outputScale = args.GetOutput(0).GetQuantizationScale();
    const QuantizedMultiplier negative = QuantizeMultiplier(static_cast<double>(inputScale * alpha / outputScale));
    UnaryScaleInt16 scale;
    scale.m_Positive = QuantizeMultiplier(static_cast<double>(inputScale / outputScale));
    // By magnitude, so that both signs are rounded alike.
    scale.m_Negative = {std::abs(negative.m_Multiplier), negative.m_Shift};
    scale.m_NegatesScaled = negative.m_Multiplier < 0;
    return MakeScale(args, GetUnaryLoopsInt16().m_ScaleSigns, scale);
}

} // namespace

Prepared MakeActivationInt16(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<ActivationDescriptor>();
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    switch (descriptor.m_Function)
    {
    case ActivationFunction::ReLu: return MakeRelu(args, 0.0f, Infinity);
    case ActivationFunction::BoundedReLu: return MakeRelu(args, descriptor.m_B, descriptor.m_A);
    case ActivationFunction::LeakyReLu: return MakeLeakyRelu(args, descriptor.m_A);
    default: break;
    }
    if (descriptor.m_Function == ActivationFunction::Gelu)
    {
        return MakeInterpolation(args, ref::MakeGeluTableInt16(args));
    }
    const bool isTanH = descriptor.m_Function == ActivationFunction::TanH;
    const ref::SigmoidTable table(args.GetInput(0).GetQuantizationScale(), isTanH);
    if (!HasSigmoidInt16(table))
    {
        return Prepared::Declined("the vectors have no table for the scale of its input");
    }
    return MakeMap<int16_t, int16_t>(
        args, [table, function = isTanH ? GetUnaryLoopsInt16().m_TanH : GetUnaryLoopsInt16().m_Sigmoid](
                  const int16_t* in, int16_t* out, size_t count) { function(table, in, out, count); });
}

Prepared MakeUnaryInt16(const ReshapeArgs& args)
{
    const UnaryOperation operation = args.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation;
    if (operation != UnaryOperation::Abs && operation != UnaryOperation::Neg)
    {
        return MakeInterpolation(args, ref::MakeUnaryTableInt16(args));
    }
    const float inputScale = args.GetInput(0).GetQuantizationScale();
    const float outputScale = args.GetOutput(0).GetQuantizationScale();
    UnaryScaleInt16 scale;
    // 1 if the scales are equal; a float quotient may differ.
    scale.m_Positive =
        QuantizeMultiplier(inputScale == outputScale ? 1.0 : static_cast<double>(inputScale / outputScale));
    scale.m_NegatesPositive = operation == UnaryOperation::Neg;
    scale.m_NegatesNegative = true;
    return MakeScale(args, GetUnaryLoopsInt16().m_Scale, scale);
}

} // namespace tenon::cpu
