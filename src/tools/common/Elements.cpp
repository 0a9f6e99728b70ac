// SPDX-License-Identifier: Apache-2.0
// See Elements.hpp.
#include "tools/common/Elements.hpp"

#include "tools/common/Float16.hpp"
#include "tools/common/Storage.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

namespace tenon::tools
{

namespace
{

/// Nearest value of T; 0 for NaN. The bounds of 64-bit types are no doubles, so the comparison is against the powers of
/// two.
template <typename T>
T Saturate(double value)
{
    const double rounded = std::nearbyint(value);
    const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double low = std::is_signed_v<T> ? -high : 0.0;
    if (std::isnan(rounded))
    {
        return T{0};
    }
    if (rounded >= high)
    {
        return std::numeric_limits<T>::max();
    }
    return rounded <= low ? std::numeric_limits<T>::lowest() : static_cast<T>(rounded);
}

struct TypeNames
{
    DataType m_Type;
    const char* m_Npy;
    const char* m_NumPy;
};

constexpr TypeNames NamesOfTypes[] = {
    {DataType::Float16, "<f2", "float16"},
    {DataType::Float32, "<f4", "float32"},
    {DataType::Float64, "<f8", "float64"},
    {DataType::BFloat16, "<u2", "bfloat16 as uint16 bit patterns"},
    {DataType::Boolean, "|b1", "bool"},
    {DataType::QAsymmU8, "|u1", "uint8"},
    {DataType::Unsigned8, "|u1", "uint8"},
    {DataType::QAsymmS8, "|i1", "int8"},
    {DataType::QSymmS8, "|i1", "int8"},
    {DataType::Signed8, "|i1", "int8"},
    {DataType::QSymmS4, "|i1", "4-bit values as int8"},
    {DataType::QSymmS16, "<i2", "int16"},
    {DataType::Signed16, "<i2", "int16"},
    {DataType::Signed32, "<i4", "int32"},
    {DataType::Signed64, "<i8", "int64"},
    {DataType::Unsigned16, "<u2", "uint16"},
    {DataType::Unsigned32, "<u4", "uint32"},
    {DataType::Unsigned64, "<u8", "uint64"},
    {DataType::Complex64, "<c8", "complex64"},
    {DataType::Complex128, "<c16", "complex128"},
};

const TypeNames& FindNames(DataType type)
{
    for (const TypeNames& names : NamesOfTypes)
    {
        if (names.m_Type == type)
        {
            return names;
        }
    }
    throw UnimplementedException(fmt::format("data type {} is not known to ExecuteNetwork", static_cast<int>(type)));
}

} // namespace

double GetElement(DataType type, const std::byte* data, size_t i)
{
    return VisitStorage(type,
                        [&](auto storage) -> double
                        {
                            using T = decltype(storage);
                            if constexpr (std::is_same_v<T, Half>)
                            {
                                return HalfToFloat(Load<uint16_t>(data, i));
                            }
                            else if constexpr (std::is_same_v<T, BFloat>)
                            {
                                return BFloat16ToFloat(Load<uint16_t>(data, i));
                            }
                            else if constexpr (std::is_same_v<T, Int4>)
                            {
                                return LoadInt4(data, i);
                            }
                            else if constexpr (std::is_same_v<T, bool>)
                            {
                                return Load<uint8_t>(data, i) != 0 ? 1.0 : 0.0;
                            }
                            else if constexpr (IsComplex<T>)
                            {
                                return Load<T>(data, i).real();
                            }
                            else
                            {
                                return static_cast<double>(Load<T>(data, i));
                            }
                        });
}

void SetElement(DataType type, std::byte* data, size_t i, double value)
{
    VisitStorage(type,
                 [&](auto storage)
                 {
                     using T = decltype(storage);
                     if constexpr (std::is_same_v<T, Half>)
                     {
                         Store(data, i, FloatToHalf(static_cast<float>(value)));
                     }
                     else if constexpr (std::is_same_v<T, BFloat>)
                     {
                         Store(data, i, FloatToBFloat16(static_cast<float>(value)));
                     }
                     else if constexpr (std::is_same_v<T, Int4>)
                     {
                         StoreInt4(data, i, std::clamp<int>(Saturate<int8_t>(value), -8, 7));
                     }
                     else if constexpr (std::is_same_v<T, bool>)
                     {
                         Store(data, i, static_cast<uint8_t>(value != 0.0 ? 1 : 0));
                     }
                     else if constexpr (std::is_integral_v<T>)
                     {
                         Store(data, i, Saturate<T>(value));
                     }
                     else if constexpr (IsComplex<T>)
                     {
                         Store(data, i, T(static_cast<typename T::value_type>(value)));
                     }
                     else
                     {
                         Store(data, i, static_cast<T>(value));
                     }
                 });
}

bool IsIntegerType(DataType type)
{
    return VisitStorage(type,
                        [](auto storage)
                        {
                            using T = decltype(storage);
                            return std::is_same_v<T, Int4> || (std::is_integral_v<T> && !std::is_same_v<T, bool>);
                        });
}

bool IsFloatType(DataType type)
{
    return type == DataType::Float16 || type == DataType::BFloat16 || type == DataType::Float32 ||
           type == DataType::Float64;
}

std::optional<DataType> FindDataType(std::string_view name)
{
    for (const TypeNames& names : NamesOfTypes)
    {
        if (GetDataTypeName(names.m_Type) == name)
        {
            return names.m_Type;
        }
    }
    return {};
}

const char* GetNpyType(DataType type)
{
    return FindNames(type).m_Npy;
}

const char* GetNumPyName(DataType type)
{
    return FindNames(type).m_NumPy;
}

} // namespace tenon::tools
