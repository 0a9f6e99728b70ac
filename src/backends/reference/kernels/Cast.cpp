// SPDX-License-Identifier: Apache-2.0
// Cast: conversion of numbers to another type; and the optimizer's ConvertFp16ToFp32 and ConvertFp32ToFp16, which are
// casts between two given types. Quantized types are processed as the stored integers, as in TFLite. Every conversion
// is defined: floats saturate on their way to integers (NaN becomes the largest one, as in TFLite), integers wrap, a
// complex number loses its imaginary part, and nonzero values become true.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/FourBits.hpp"
#include "common/HalfFloat.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow CastTypes[] = {backends::Types({backends::AnyType}, backends::AnyType)};
constexpr backends::TypeRow WideningTypes[] = {backends::Types({DataType::Float16}, DataType::Float32)};
constexpr backends::TypeRow NarrowingTypes[] = {backends::Types({DataType::Float32}, DataType::Float16)};

template <typename T>
constexpr bool IsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <typename To, typename From>
To Saturate(From value)
{
    // The first value above the range, and the lowest value, are powers of two, which every floating-point type
    // represents exactly.
    const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    const auto lowest = static_cast<From>(std::numeric_limits<To>::min());
    if (value < above) // false for NaN
    {
        return value > lowest ? static_cast<To>(value) : std::numeric_limits<To>::min();
    }
    return std::numeric_limits<To>::max();
}

template <typename To, typename From>
To Convert(From value)
{
    if constexpr (!std::is_same_v<ComputeType<From>, From>)
    {
        return Convert<To>(static_cast<float>(value));
    }
    else if constexpr (!std::is_same_v<ComputeType<To>, To>)
    {
        return static_cast<To>(Convert<float>(value));
    }
    else if constexpr (IsComplex<From> && IsComplex<To>)
    {
        return static_cast<To>(value);
    }
    else if constexpr (IsComplex<From>)
    {
        return Convert<To>(value.real());
    }
    else if constexpr (IsComplex<To>)
    {
        return {Convert<typename To::value_type>(value), 0};
    }
    else if constexpr (std::is_same_v<To, bool>)
    {
        return value != 0;
    }
    else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    {
        return Saturate<To>(value);
    }
    else
    {
        return static_cast<To>(value);
    }
}

/// A byte of a Boolean tensor may hold more than 0 and 1, which a bool must not.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/// DispatchType over all types with whole bytes, with bool for Boolean.
template <typename F>
auto DispatchAny(DataType type, const F& f)
{
    if (type == DataType::Boolean)
    {
        return f(TypeTag<bool>());
    }
    return DispatchType<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                        uint64_t, std::complex<float>, std::complex<double>>(type, f);
}

using CastFunction = void (*)(const void* in, void* out, size_t count);

template <typename From, typename To>
void CastAll(const void* in, void* out, size_t count)
{
    [[maybe_unused]] const auto* from = static_cast<const Stored<From>*>(in);
    auto* to = static_cast<Stored<To>*>(out);
    if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>)
    {
        HalvesToFloats(static_cast<const uint16_t*>(in), count, to); // the common case: weights that a model stores as
                                                                     // Float16
    }
    else
    {
        const auto convert = [](Stored<From> value)
        {
            if constexpr (std::is_same_v<From, bool>)
            {
                return static_cast<Stored<To>>(Convert<To>(value != 0));
            }
            else
            {
                return static_cast<Stored<To>>(Convert<To>(value));
            }
        };
        std::transform(from, from + count, to, convert);
    }
}

/// Numbers clamped to -8..7, one byte each.
template <typename From>
void CastToInt4(const void* in, void* out, size_t count)
{
    const auto* from = static_cast<const Stored<From>*>(in);
    auto* to = static_cast<int8_t*>(out);
    for (size_t i = 0; i < count; ++i)
    {
        if constexpr (std::is_same_v<From, bool>)
        {
            to[i] = from[i] != 0 ? 1 : 0;
        }
        else if constexpr (std::is_unsigned_v<From>)
        {
            to[i] = static_cast<int8_t>(std::min<From>(from[i], 7)); // through int64_t the largest would wrap
        }
        else
        {
            to[i] = static_cast<int8_t>(std::clamp<int64_t>(Convert<int64_t>(from[i]), -8, 7));
        }
    }
}

/// 4-bit numbers take a byte each while they are cast: their type is then int8_t.
CastFunction FindCast(DataType from, DataType to)
{
    return DispatchAny(from == DataType::QSymmS4 ? DataType::Signed8 : from,
                       [to](auto fromTag) -> CastFunction
                       {
                           using From = typename decltype(fromTag)::Type;
                           if (to == DataType::QSymmS4)
                           {
                               return CastToInt4<From>;
                           }
                           return DispatchAny(to,
                                              [](auto toTag) -> CastFunction
                                              { return CastAll<From, typename decltype(toTag)::Type>; });
                       });
}

Prepared PrepareCast(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const DataType from = args.GetInput(0).GetDataType();
    const DataType to = args.GetOutput(0).GetDataType();
    const size_t count = args.GetInput(0).GetNumElements();
    if (from == to && from != DataType::QSymmS4 && from != DataType::Boolean) // Boolean, whose results are 0 or 1
    {
        return PrepareCopy(args.GetInput(0));
    }
    const CastFunction cast = FindCast(from, to);
    const bool unpacks = from == DataType::QSymmS4;
    const bool packs = to == DataType::QSymmS4;
    return {[=](const ExecuteArgs& run)
            {
                auto* unpacked = static_cast<std::byte*>(run.m_Scratch);
                auto* unpackedResult = unpacked + (unpacks ? count : 0);
                if (unpacks)
                {
                    UnpackFourBits(run.GetInput<std::byte>(0), count, true, unpacked);
                }
                cast(unpacks ? unpacked : run.m_Inputs[0], packs ? unpackedResult : run.m_Outputs[0], count);
                if (packs)
                {
                    PackFourBits(unpackedResult, count, run.GetOutput<std::byte>(0));
                }
            },
            (unpacks ? count : 0) + (packs ? count : 0)};
}

} // namespace

extern const backends::Kernel RefCastKernel = {"RefCast", CastTypes, PrepareCast};
extern const backends::Kernel RefConvertFp16ToFp32Kernel = {"RefConvertFp16ToFp32", WideningTypes, PrepareCast};
extern const backends::Kernel RefConvertFp32ToFp16Kernel = {"RefConvertFp32ToFp16", NarrowingTypes, PrepareCast};

} // namespace tenon::ref
