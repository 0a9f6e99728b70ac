// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: names of types, and quantization of single values. Names of element and layer types
// (GetDataTypeName, GetLayerTypeAsCString) come with <tenon/Tensor.hpp>. The texts are Arm NN's, slips included: those
// of PaddingMode::Constant and ResizeMethod::NearestNeighbor are not the enumerators' names.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <armnn/BackendId.hpp>
#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/Types.hpp>
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

constexpr const char* GetActivationFunctionAsCString(ActivationFunction value)
{
    switch (value)
    {
    case ActivationFunction::Sigmoid: return "Sigmoid";
    case ActivationFunction::TanH: return "TanH";
    case ActivationFunction::Linear: return "Linear";
    case ActivationFunction::ReLu: return "ReLu";
    case ActivationFunction::BoundedReLu: return "BoundedReLu";
    case ActivationFunction::SoftReLu: return "SoftReLu";
    case ActivationFunction::LeakyReLu: return "LeakyReLu";
    case ActivationFunction::Abs: return "Abs";
    case ActivationFunction::Sqrt: return "Sqrt";
    case ActivationFunction::Square: return "Square";
    case ActivationFunction::Elu: return "Elu";
    case ActivationFunction::HardSwish: return "HardSwish";
    case ActivationFunction::Gelu: return "Gelu";
    case ActivationFunction::Swish: return "Swish";
    case ActivationFunction::Mish: return "Mish";
    }
    return "Unknown";
}

constexpr const char* GetArgMinMaxFunctionAsCString(ArgMinMaxFunction value)
{
    switch (value)
    {
    case ArgMinMaxFunction::Min: return "Min";
    case ArgMinMaxFunction::Max: return "Max";
    }
    return "Unknown";
}

constexpr const char* GetBinaryOperationAsCString(BinaryOperation value)
{
    switch (value)
    {
    case BinaryOperation::Add: return "Add";
    case BinaryOperation::Div: return "Div";
    case BinaryOperation::Maximum: return "Maximum";
    case BinaryOperation::Minimum: return "Minimum";
    case BinaryOperation::Mul: return "Mul";
    case BinaryOperation::Sub: return "Sub";
    case BinaryOperation::SqDiff: return "SqDiff";
    case BinaryOperation::Power: return "Power";
    case BinaryOperation::FloorDiv: return "FloorDiv";
    case BinaryOperation::FloorMod: return "FloorMod";
    case BinaryOperation::Atan2: return "Atan2";
    case BinaryOperation::BitwiseAnd: return "BitwiseAnd";
    case BinaryOperation::BitwiseOr: return "BitwiseOr";
    case BinaryOperation::BitwiseXor: return "BitwiseXor";
    case BinaryOperation::ShiftLeft: return "ShiftLeft";
    case BinaryOperation::ShiftRight: return "ShiftRight";
    case BinaryOperation::Remainder: return "Remainder";
    }
    return "Unknown";
}

constexpr const char* GetComparisonOperationAsCString(ComparisonOperation value)
{
    switch (value)
    {
    case ComparisonOperation::Equal: return "Equal";
    case ComparisonOperation::Greater: return "Greater";
    case ComparisonOperation::GreaterOrEqual: return "GreaterOrEqual";
    case ComparisonOperation::Less: return "Less";
    case ComparisonOperation::LessOrEqual: return "LessOrEqual";
    case ComparisonOperation::NotEqual: return "NotEqual";
    }
    return "Unknown";
}

constexpr const char* GetLogicalBinaryOperationAsCString(LogicalBinaryOperation value)
{
    switch (value)
    {
    case LogicalBinaryOperation::LogicalAnd: return "LogicalAnd";
    case LogicalBinaryOperation::LogicalOr: return "LogicalOr";
    }
    return "Unknown";
}

constexpr const char* GetMemBlockStrategyTypeName(MemBlockStrategyType value)
{
    switch (value)
    {
    case MemBlockStrategyType::SingleAxisPacking: return "SingleAxisPacking";
    case MemBlockStrategyType::MultiAxisPacking: return "MultiAxisPacking";
    }
    return "Unknown";
}

constexpr const char* GetNormalizationAlgorithmChannelAsCString(NormalizationAlgorithmChannel value)
{
    switch (value)
    {
    case NormalizationAlgorithmChannel::Across: return "Across";
    case NormalizationAlgorithmChannel::Within: return "Within";
    }
    return "Unknown";
}

constexpr const char* GetNormalizationAlgorithmMethodAsCString(NormalizationAlgorithmMethod value)
{
    switch (value)
    {
    case NormalizationAlgorithmMethod::LocalBrightness: return "LocalBrightness";
    case NormalizationAlgorithmMethod::LocalContrast: return "LocalContrast";
    }
    return "Unknown";
}

constexpr const char* GetOutputShapeRoundingAsCString(OutputShapeRounding value)
{
    switch (value)
    {
    case OutputShapeRounding::Floor: return "Floor";
    case OutputShapeRounding::Ceiling: return "Ceiling";
    }
    return "Unknown";
}

constexpr const char* GetPaddingMethodAsCString(PaddingMethod value)
{
    switch (value)
    {
    case PaddingMethod::IgnoreValue: return "IgnoreValue";
    case PaddingMethod::Exclude: return "Exclude";
    }
    return "Unknown";
}

constexpr const char* GetPaddingModeAsCString(PaddingMode value)
{
    switch (value)
    {
    case PaddingMode::Constant: return "Exclude";
    case PaddingMode::Reflect: return "Reflect";
    case PaddingMode::Symmetric: return "Symmetric";
    case PaddingMode::Edge: return "Edge";
    case PaddingMode::Wrap: return "Wrap";
    }
    return "Unknown";
}

constexpr const char* GetPoolingAlgorithmAsCString(PoolingAlgorithm value)
{
    switch (value)
    {
    case PoolingAlgorithm::Max: return "Max";
    case PoolingAlgorithm::Average: return "Average";
    case PoolingAlgorithm::L2: return "L2";
    }
    return "Unknown";
}

constexpr const char* GetReduceOperationAsCString(ReduceOperation value)
{
    switch (value)
    {
    case ReduceOperation::Sum: return "Sum";
    case ReduceOperation::Max: return "Max";
    case ReduceOperation::Mean: return "Mean";
    case ReduceOperation::Min: return "Min";
    case ReduceOperation::Prod: return "Prod";
    case ReduceOperation::All: return "All";
    case ReduceOperation::Any: return "Any";
    }
    return "Unknown";
}

constexpr const char* GetResizeMethodAsCString(ResizeMethod value)
{
    switch (value)
    {
    case ResizeMethod::Bilinear: return "Bilinear";
    case ResizeMethod::NearestNeighbor: return "NearestNeighbour";
    }
    return "Unknown";
}

constexpr const char* GetUnaryOperationAsCString(UnaryOperation value)
{
    switch (value)
    {
    case UnaryOperation::Abs: return "Abs";
    case UnaryOperation::Exp: return "Exp";
    case UnaryOperation::Sqrt: return "Sqrt";
    case UnaryOperation::Rsqrt: return "Rsqrt";
    case UnaryOperation::Neg: return "Neg";
    case UnaryOperation::LogicalNot: return "LogicalNot";
    case UnaryOperation::Log: return "Log";
    case UnaryOperation::Sin: return "Sin";
    case UnaryOperation::Ceil: return "Ceil";
    case UnaryOperation::Cos: return "Cos";
    case UnaryOperation::Round: return "Round";
    case UnaryOperation::Sign: return "Sign";
    case UnaryOperation::Erf: return "Erf";
    case UnaryOperation::Tan: return "Tan";
    case UnaryOperation::Asin: return "Asin";
    case UnaryOperation::Acos: return "Acos";
    case UnaryOperation::Atan: return "Atan";
    case UnaryOperation::Sinh: return "Sinh";
    case UnaryOperation::Cosh: return "Cosh";
    case UnaryOperation::Asinh: return "Asinh";
    case UnaryOperation::Acosh: return "Acosh";
    case UnaryOperation::Atanh: return "Atanh";
    }
    return "Unknown";
}

template <unsigned N>
constexpr bool StrEqual(const char* strA, const char (&strB)[N])
{
    for (unsigned i = 0; i < N; ++i)
    {
        if (strA[i] != strB[i])
        {
            return false;
        }
    }
    return true;
}

/// The backend of this name; Compute::Undefined for another one.
constexpr Compute ParseComputeDevice(const char* str)
{
    return StrEqual(str, "CpuAcc")   ? Compute::CpuAcc
           : StrEqual(str, "CpuRef") ? Compute::CpuRef
           : StrEqual(str, "GpuAcc") ? Compute::GpuAcc
                                     : Compute::Undefined;
}

/// Whether T is a floating point type of two bytes.
template <typename T>
struct IsHalfType : std::integral_constant<bool, std::is_floating_point<T>::value && sizeof(T) == 2>
{
};

/// Whether quantized values may be of type T: an integer.
template <typename T>
constexpr bool IsQuantizedType()
{
    return std::is_integral<T>::value;
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
    const bool hasRank = shape.GetDimensionality() != Dimensionality::NotSpecified;
    return os << (hasRank ? shape.ToString() : "[Dimensionality Not Specified]");
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
