// SPDX-License-Identifier: Apache-2.0
// Quantization of float data while running. Float and double intermediate results, and the rounding of ties, follow the
// measured behaviour of TFLite's kernels: otherwise a value near a tie would differ by a whole step.
#include "backends/reference/kernels/HybridInput.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::ref
{

namespace
{

/// Rounds half away from zero, adding the half in float.
float RoundSteps(float steps)
{
    return std::trunc(steps + std::copysign(0.5f, steps));
}

/// The result of std::round for numbers that fit, without its call, because each row of a matrix has a zero point.
int32_t RoundBounded(double number)
{
    const auto whole = static_cast<int32_t>(number);
    const double rest = number - whole;
    return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

/// A NaN, which no range excludes, becomes `lowest`, because its conversion would be undefined.
int8_t Saturate(float rounded, float lowest)
{
    return static_cast<int8_t>(rounded > lowest ? std::min(rounded, 127.0f) : lowest);
}

} // namespace

float QuantizeSymmetric(const float* values, size_t count, int8_t* quantized)
{
    float range = 0.0f;
    for (size_t i = 0; i < count; ++i)
    {
        range = std::max(range, std::abs(values[i]));
    }
    if (range == 0.0f)
    {
        std::fill_n(quantized, count, int8_t{0});
        return 1.0f;
    }
    const float inverse = 127.0f / range;
    for (size_t i = 0; i < count; ++i)
    {
        quantized[i] = Saturate(RoundSteps(values[i] * inverse), -127.0f);
    }
    return range / 127.0f;
}

AsymmetricScale FindAsymmetricScale(float min, float max)
{
    constexpr double Lowest = -128.0;
    constexpr double Highest = 127.0;
    const double scale = static_cast<double>(max - min) / (Highest - Lowest);
    const double lowSteps = static_cast<double>(min) / scale;
    const double highSteps = static_cast<double>(max) / scale;
    // The end of the range with the smaller rounding error fixes the zero point.
    const bool fromLow = -Lowest + std::abs(lowSteps) < Highest + std::abs(highSteps);
    const double exact = fromLow ? Lowest - lowSteps : Highest - highSteps;
    AsymmetricScale result;
    result.m_Scale = static_cast<float>(scale);
    result.m_ZeroPoint = exact > Lowest ? RoundBounded(std::min(exact, Highest)) : -128;
    return result;
}

AsymmetricScale QuantizeAsymmetric(const float* values, size_t count, int8_t* quantized)
{
    float min = 0.0f;
    float max = 0.0f;
    for (size_t i = 0; i < count; ++i)
    {
        min = std::min(min, values[i]);
        max = std::max(max, values[i]);
    }
    if (min == max)
    {
        std::fill_n(quantized, count, int8_t{0});
        return {};
    }
    const AsymmetricScale result = FindAsymmetricScale(min, max);
    const float inverse = 1.0f / result.m_Scale;
    for (size_t i = 0; i < count; ++i)
    {
        quantized[i] = Saturate(RoundSteps(values[i] * inverse) + static_cast<float>(result.m_ZeroPoint), -128.0f);
    }
    return result;
}

bool IsHybrid(const ReshapeArgs& args)
{
    return args.GetInput(0).GetDataType() == DataType::Float32 && args.GetInput(1).GetDataType() != DataType::Float32;
}

HybridInput::HybridInput(const ReshapeArgs& args, size_t batches, size_t batchElements, size_t outputChannels,
                         bool asymmetric, backends::Scratch& scratch)
    : m_Batches(batches), m_BatchElements(batchElements), m_WeightScales(args.GetInput(1).GetQuantizationScales()),
      m_WeightStride(m_WeightScales.size() == 1 ? 0 : 1), m_Asymmetric(asymmetric)
{
    if (m_WeightScales.empty() || (m_WeightScales.size() != 1 && m_WeightScales.size() != outputChannels))
    {
        throw LayerValidationException("the weights have " + std::to_string(m_WeightScales.size()) + " scales for " +
                                       std::to_string(outputChannels) + " output channels; give one, or one each");
    }
    m_Values = scratch.Add<int8_t>(args.GetInput(0).GetNumBytes() / sizeof(float));
    m_Scales = scratch.Add<AsymmetricScale>(batches);
}

void HybridInput::Quantize(const ExecuteArgs& args) const
{
    const float* values = args.GetInput<float>(0);
    int8_t* quantized = backends::Scratch::At<int8_t>(args.m_Scratch, m_Values);
    AsymmetricScale* scales = Scales(args.m_Scratch);
    for (size_t batch = 0; batch < m_Batches; ++batch, values += m_BatchElements, quantized += m_BatchElements)
    {
        scales[batch] = m_Asymmetric ? QuantizeAsymmetric(values, m_BatchElements, quantized)
                                     : AsymmetricScale{QuantizeSymmetric(values, m_BatchElements, quantized), 0};
    }
}

} // namespace tenon::ref
