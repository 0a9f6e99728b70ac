// SPDX-License-Identifier: Apache-2.0
// The parts of the quantized arithmetic that run once per layer.
#include "backends/common/Quantization.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::backends
{

namespace
{
// Shifts that the 32-bit arithmetic can do.
constexpr int MaxLeftShift = 30;
constexpr int MaxRightShift = 31;

int32_t QuantizeBound(float bound, float scale, int32_t zeroPoint, RequantizationMode mode)
{
    const float real = bound / scale;
    const float steps = mode == RequantizationMode::FloatHalfEven ? std::nearbyint(real) : std::round(real);
    // The largest float below 2^31 is 2^31 - 128, so that the comparison is exact.
    if (!(steps >= -2147483648.0f && steps < 2147483648.0f))
    {
        throw InvalidArgumentException("activation bound " + std::to_string(bound) + " does not fit 32 bits at scale " +
                                       std::to_string(scale) + "; the tensor's scale is too small for it");
    }
    const int64_t stored = static_cast<int64_t>(zeroPoint) + static_cast<int64_t>(steps);
    return static_cast<int32_t>(
        std::clamp<int64_t>(stored, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}
} // namespace

QuantizedMultiplier QuantizeMultiplier(double real)
{
    if (std::isnan(real))
    {
        throw InvalidArgumentException("a quantization multiplier is no number: check the scales of the layer's "
                                       "inputs, weights and outputs for zero, infinity and NaN");
    }
    real = std::clamp(real, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
    if (real == 0.0)
    {
        return {};
    }
    int shift = 0;
    const double fraction = std::frexp(real, &shift);
    auto fixed = static_cast<int64_t>(std::round(fraction * static_cast<double>(int64_t{1} << 31)));
    if (fixed == (int64_t{1} << 31))
    {
        fixed /= 2;
        ++shift;
    }
    if (shift < -MaxRightShift)
    {
        return {};
    }
    if (shift > MaxLeftShift)
    {
        const int32_t largest = std::numeric_limits<int32_t>::max();
        return {real > 0.0 ? largest : -largest, MaxLeftShift};
    }
    return {static_cast<int32_t>(fixed), shift};
}

QuantizedRange GetTypeRange(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return {0, 255};
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: return {-128, 127};
    case DataType::QSymmS16:
    case DataType::Signed16: return {-32768, 32767};
    case DataType::Unsigned16: return {0, 65535};
    case DataType::QSymmS4: return {-8, 7};
    case DataType::Signed32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default: break;
    }
    throw InvalidArgumentException(std::string("no quantized range for type ") + GetDataTypeName(type));
}

QuantizedRange CalculateActivationRange(DataType type, float scale, int32_t zeroPoint, float lower, float upper,
                                        RequantizationMode mode)
{
    if (!(scale > 0.0f) || !std::isfinite(scale))
    {
        throw InvalidArgumentException("the scale of a quantized output must be positive and finite, got " +
                                       std::to_string(scale));
    }
    QuantizedRange range = GetTypeRange(type);
    if (!std::isinf(lower))
    {
        range.m_Min = std::max(range.m_Min, QuantizeBound(lower, scale, zeroPoint, mode));
    }
    if (!std::isinf(upper))
    {
        range.m_Max = std::min(range.m_Max, QuantizeBound(upper, scale, zeroPoint, mode));
    }
    return range;
}

QuantizedRange GetClampRange(DataType type, float scale, int32_t zeroPoint, float lower, float upper,
                             RequantizationMode mode)
{
    if (std::isnan(lower) || std::isnan(upper))
    {
        throw LayerValidationException("the bounds of a BoundedReLu must be numbers");
    }
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    constexpr float FarSteps = 1e9f;
    const float far = FarSteps * scale;
    QuantizedRange range =
        CalculateActivationRange(type, scale, zeroPoint, lower < -far ? -Infinity : std::min(lower, far),
                                 upper > far ? Infinity : std::max(upper, -far), mode);
    // An interval that lies outside of the type becomes the nearest value of the type.
    range.m_Min = std::min(range.m_Min, GetTypeRange(type).m_Max);
    range.m_Max = std::max(range.m_Max, GetTypeRange(type).m_Min);
    return range;
}

} // namespace tenon::backends
