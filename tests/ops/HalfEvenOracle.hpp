// SPDX-License-Identifier: Apache-2.0
// The arithmetic of RequantizationMode::FloatHalfEven, written out in double precision. Float32 operations are done in
// double precision, which has enough digits that the second rounding changes nothing.
#pragma once

#include "backends/common/Quantization.hpp"
#include "harness/OpTest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::test
{

inline float AddF32(float a, float b)
{
    return static_cast<float>(double{a} + double{b});
}

inline float MultiplyF32(float a, float b)
{
    return static_cast<float>(double{a} * double{b});
}

inline float DivideF32(float a, float b)
{
    return static_cast<float>(double{a} / double{b});
}

/// The nearest whole number, the even one where there are two.
inline double RoundHalfEven(double x)
{
    const double below = std::floor(x);
    const double rest = x - below;
    const bool isOdd = std::fmod(below, 2.0) != 0.0;
    return rest > 0.5 || (rest == 0.5 && isOdd) ? below + 1.0 : below;
}

/// The stored value of a number of steps.
inline double StoreHalfEven(float steps, const TensorInfo& output)
{
    const backends::QuantizedRange range = backends::GetTypeRange(output.GetDataType());
    return std::isnan(steps) ? range.m_Min
                             : std::clamp<double>(RoundHalfEven(double{steps}) + output.GetQuantizationOffset(),
                                                  range.m_Min, range.m_Max);
}

/// The stored value of an exact sum.
inline double RescaleHalfEven(int64_t sum, float factor, const TensorInfo& output)
{
    return StoreHalfEven(MultiplyF32(static_cast<float>(sum), factor), output);
}

/// (scale of the data * scale of the weights) / scale of the output.
inline float FactorOfSums(float data, float weights, float output)
{
    return DivideF32(MultiplyF32(data, weights), output);
}

/// Scale of the input / (scale of the output * number of elements).
inline float FactorOfMeans(const TensorInfo& input, const TensorInfo& output, size_t count)
{
    return DivideF32(input.GetQuantizationScale(),
                     MultiplyF32(output.GetQuantizationScale(), static_cast<float>(count)));
}

/// The real number of a stored value.
inline float ToRealF32(double stored, const TensorInfo& info)
{
    return MultiplyF32(info.GetQuantizationScale(), static_cast<float>(stored - info.GetQuantizationOffset()));
}

/// The integers that a quantized tensor's values are: stored values less their zero point.
inline RealTensor GetSteps(const TestTensor& tensor)
{
    RealTensor steps{tensor.m_Info.GetShape(), GetStored(tensor.m_Info, tensor.m_Bytes.data())};
    const std::vector<int32_t> zeroPoints = tensor.m_Info.GetQuantizationOffsets();
    for (double& value : steps.m_Values)
    {
        value -= zeroPoints.empty() ? 0 : zeroPoints[0];
    }
    return steps;
}

} // namespace tenon::test
