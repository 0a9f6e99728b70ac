// SPDX-License-Identifier: Apache-2.0
// The mapping of element types to C++ types: the type that stores a DataType, the type in which half-precision numbers
// are computed, and a switch over the types for which a kernel has code. Used by the kernels that read values.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <Eigen/Core>

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace tenon::ref
{

using Half = Eigen::half;
using BFloat16 = Eigen::bfloat16;

/// Whether elements of `type` are stored as T. Quantized types are stored as the integer of their width. Boolean is
/// stored as a byte, which may hold any value until it has been checked; 4-bit types are stored as no T.
template <typename T>
constexpr bool IsStoredAs(DataType type)
{
    switch (type)
    {
    case DataType::Float16: return std::is_same_v<T, Half>;
    case DataType::Float32: return std::is_same_v<T, float>;
    case DataType::Float64: return std::is_same_v<T, double>;
    case DataType::BFloat16: return std::is_same_v<T, BFloat16>;
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: return std::is_same_v<T, int8_t>;
    case DataType::Boolean:
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return std::is_same_v<T, uint8_t>;
    case DataType::QSymmS16:
    case DataType::Signed16: return std::is_same_v<T, int16_t>;
    case DataType::Unsigned16: return std::is_same_v<T, uint16_t>;
    case DataType::Signed32: return std::is_same_v<T, int32_t>;
    case DataType::Unsigned32: return std::is_same_v<T, uint32_t>;
    case DataType::Signed64: return std::is_same_v<T, int64_t>;
    case DataType::Unsigned64: return std::is_same_v<T, uint64_t>;
    case DataType::Complex64: return std::is_same_v<T, std::complex<float>>;
    case DataType::Complex128: return std::is_same_v<T, std::complex<double>>;
    case DataType::QSymmS4: return false;
    }
    return false;
}

/// Names a type for a generic lambda.
template <typename T>
struct TypeTag
{
    using Type = T;
};

/// Calls f(TypeTag<T>()) with the T out of First, Rest... that stores `type`. Throws UnimplementedException if none
/// does; kernels list the same types in their table, so that this does not happen.
template <typename First, typename... Rest, typename F>
auto DispatchType(DataType type, const F& f)
{
    if (IsStoredAs<First>(type))
    {
        return f(TypeTag<First>());
    }
    if constexpr (sizeof...(Rest) > 0)
    {
        return DispatchType<Rest...>(type, f);
    }
    else
    {
        throw UnimplementedException(std::string("no code for element type ") + GetDataTypeName(type));
    }
}

/// Half-precision types are only for storage: values are computed in float.
template <typename T>
using ComputeType = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

} // namespace tenon::ref
