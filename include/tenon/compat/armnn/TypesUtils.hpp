// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: names of types, and quantization of single values. Names of element and layer types
// (GetDataTypeName, GetLayerTypeAsCString) come with <tenon/Tensor.hpp>.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <armnn/Namespace.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

namespace tenon
{

constexpr const char* GetStatusAsCString(Status status)
{
    return status == Status::Success ? "Status::Success" : "Status::Failure";
}

constexpr const char* GetDataLayoutName(DataLayout layout)
{
    switch (layout)
    {
    case DataLayout::NCHW: return "NCHW";
    case DataLayout::NHWC: return "NHWC";
    case DataLayout::NDHWC: return "NDHWC";
    case DataLayout::NCDHW: return "NCDHW";
    }
    return "Unknown";
}

constexpr bool IsQuantized8BitType(DataType type)
{
    return type == DataType::QAsymmU8 || type == DataType::QAsymmS8 || type == DataType::QSymmS8;
}

inline std::ostream& operator<<(std::ostream& os, Status status)
{
    return os << GetStatusAsCString(status);
}
inline std::ostream& operator<<(std::ostream& os, const TensorShape& shape)
{
    return os << shape.ToString();
}

/// round(value / scale) + offset, halves away from zero, held within the type's range.
/// Throws InvalidArgumentException when the value is not a number or the scale is not above zero.
template <typename QuantizedType>
QuantizedType Quantize(float value, float scale, int32_t offset)
{
    static_assert(std::is_integral<QuantizedType>::value && sizeof(QuantizedType) <= sizeof(int32_t),
                  "a quantized type is an integer of at most 32 bits");
    if (std::isnan(value) || !(scale > 0.0f))
    {
        throw InvalidArgumentException("Quantize: the value is not a number or the scale is not above zero");
    }
    const double quantized = std::round(static_cast<double>(value / scale)) + offset;
    const double lowest = std::numeric_limits<QuantizedType>::lowest();
    const double highest = std::numeric_limits<QuantizedType>::max();
    return static_cast<QuantizedType>(quantized < lowest ? lowest : quantized > highest ? highest : quantized);
}

/// (value - offset) * scale
template <typename QuantizedType>
float Dequantize(QuantizedType value, float scale, int32_t offset)
{
    return static_cast<float>(static_cast<int64_t>(value) - offset) * scale;
}

/// Throws InvalidArgumentException unless the info has this type.
inline void VerifyTensorInfoDataType(const TensorInfo& info, DataType type)
{
    if (info.GetDataType() != type)
    {
        throw InvalidArgumentException("a tensor is " + info.ToString() + "; expected type " + GetDataTypeName(type));
    }
}

} // namespace tenon
