// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: quantization of many values, which leaves floating point types alone.
#pragma once

#include <armnn/TypesUtils.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <armnn/utility/NumericCast.hpp>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <vector>

namespace armnnUtils
{

/// Quantizes to T and back as armnn::Quantize and armnn::Dequantize do.
template <typename T, bool DoQuantize = true>
struct SelectiveQuantizer
{
    static T Quantize(float value, float scale, int32_t offset) { return armnn::Quantize<T>(value, scale, offset); }
    static float Dequantize(T value, float scale, int32_t offset) { return armnn::Dequantize(value, scale, offset); }
};

/// Converts to T and back; scale and offset do not count.
template <typename T>
struct SelectiveQuantizer<T, false>
{
    static T Quantize(float value, float, int32_t) { return static_cast<T>(value); }
    static float Dequantize(T value, float, int32_t) { return static_cast<float>(value); }
};

/// Quantize integers, and convert other types.
template <typename T>
T SelectiveQuantize(float value, float scale, int32_t offset)
{
    return SelectiveQuantizer<T, armnn::IsQuantizedType<T>()>::Quantize(value, scale, offset);
}
template <typename T>
float SelectiveDequantize(T value, float scale, int32_t offset)
{
    return SelectiveQuantizer<T, armnn::IsQuantizedType<T>()>::Dequantize(value, scale, offset);
}

template <typename ItType>
struct IsFloatingPointIterator : std::is_floating_point<typename std::iterator_traits<ItType>::value_type>
{
};

/// SelectiveQuantize of each value.
template <typename T, typename FloatIt, typename std::enable_if<IsFloatingPointIterator<FloatIt>::value, int>::type = 0>
std::vector<T> QuantizedVector(FloatIt first, FloatIt last, float qScale, int32_t qOffset)
{
    std::vector<T> quantized;
    for (FloatIt it = first; it != last; ++it)
    {
        quantized.push_back(SelectiveQuantize<T>(static_cast<float>(*it), qScale, qOffset));
    }
    return quantized;
}
template <typename T>
std::vector<T> QuantizedVector(const std::vector<float>& array, float qScale = 1.0f, int32_t qOffset = 0)
{
    return QuantizedVector<T>(array.begin(), array.end(), qScale, qOffset);
}
template <typename T>
std::vector<T> QuantizedVector(std::initializer_list<float> array, float qScale = 1.0f, int32_t qOffset = 0)
{
    return QuantizedVector<T>(array.begin(), array.end(), qScale, qOffset);
}

} // namespace armnnUtils
