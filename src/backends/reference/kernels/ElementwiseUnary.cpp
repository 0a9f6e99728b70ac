// SPDX-License-Identifier: Apache-2.0
// ElementwiseUnary: out = OP in. Quantized tensors are computed as in TFLite's reference kernels: Abs, Neg and Rsqrt of
// int8 tensors in integers, Sqrt in float, all other operations by a table. Operations without a 16-bit kernel in
// TFLite are refused, and run through Float32 (QuantizedAsFloat.cpp).
#include "backends/common/FixedPoint.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/ElementwiseLoop.hpp"
#include "backends/reference/LookupTable.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/UnaryTablesInt16.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>

namespace tenon::ref
{

namespace
{

using backends::FloatTypes;
using backends::MultiplySaturating;
using backends::PerTensor;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizedTypes;
using backends::QuantizeMultiplier;
using backends::SameType;
using backends::SignedTypes;

constexpr backends::TypeRow UnaryTypes[] = {SameType(FloatTypes | SignedTypes | DataType::Boolean),
                                            PerTensor(SameType(QuantizedTypes))};

/// Whether TFLite has a kernel for 16-bit quantized tensors.
bool HasInt16Kernel(UnaryOperation operation)
{
    switch (operation)
    {
    case UnaryOperation::Abs:
    case UnaryOperation::Exp:
    case UnaryOperation::Sqrt:
    case UnaryOperation::Rsqrt:
    case UnaryOperation::Neg:
    case UnaryOperation::Log: return true;
    default: return false;
    }
}

SupportResult CheckUnary(const LayerView& layer)
{
    const UnaryOperation operation = layer.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation;
    const DataType type = layer.GetInput(0).GetDataType();
    if ((operation == UnaryOperation::LogicalNot) != (type == DataType::Boolean))
    {
        return SupportResult::No(SupportCode::UnsupportedType, "LogicalNot takes Boolean, and nothing else does");
    }
    if (SignedTypes.Has(type) && operation != UnaryOperation::Abs && operation != UnaryOperation::Neg &&
        operation != UnaryOperation::Sign)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "integers without a scale are there for Abs, Neg and Sign only");
    }
    if (type == DataType::QSymmS16 && !HasInt16Kernel(operation))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "there is no 16-bit kernel of the operation");
    }
    return backends::FirstRefusal({backends::CheckZeroPointInt16(layer.GetInput(0), "input 0"),
                                   backends::CheckZeroPointInt16(layer.GetOutput(0), "output 0")});
}

/// Calls visit with the operation as a function from C to C, a floating-point type.
template <typename C, typename Visitor>
auto DispatchUnary(UnaryOperation operation, const Visitor& visit)
{
    switch (operation)
    {
    case UnaryOperation::Abs: return visit([](C x) { return std::abs(x); });
    case UnaryOperation::Exp: return visit([](C x) { return std::exp(x); });
    case UnaryOperation::Sqrt: return visit([](C x) { return std::sqrt(x); });
    case UnaryOperation::Rsqrt: return visit([](C x) { return C{1} / std::sqrt(x); });
    case UnaryOperation::Neg: return visit([](C x) { return -x; });
    case UnaryOperation::Log: return visit([](C x) { return std::log(x); });
    case UnaryOperation::Sin: return visit([](C x) { return std::sin(x); });
    case UnaryOperation::Ceil: return visit([](C x) { return std::ceil(x); });
    case UnaryOperation::Cos: return visit([](C x) { return std::cos(x); });
    // Ties go to the even neighbour in the default rounding mode.
    case UnaryOperation::Round: return visit([](C x) { return std::nearbyint(x); });
    case UnaryOperation::Sign:
        return visit([](C x) { return x > 0 ? C{1} : x < 0 ? C{-1} : std::isnan(x) ? x : C{0}; });
    case UnaryOperation::Erf: return visit([](C x) { return std::erf(x); });
    case UnaryOperation::Tan: return visit([](C x) { return std::tan(x); });
    case UnaryOperation::Asin: return visit([](C x) { return std::asin(x); });
    case UnaryOperation::Acos: return visit([](C x) { return std::acos(x); });
    case UnaryOperation::Atan: return visit([](C x) { return std::atan(x); });
    case UnaryOperation::Sinh: return visit([](C x) { return std::sinh(x); });
    case UnaryOperation::Cosh: return visit([](C x) { return std::cosh(x); });
    case UnaryOperation::Asinh: return visit([](C x) { return std::asinh(x); });
    case UnaryOperation::Acosh: return visit([](C x) { return std::acosh(x); });
    case UnaryOperation::Atanh: return visit([](C x) { return std::atanh(x); });
    case UnaryOperation::LogicalNot: break;
    }
    throw UnimplementedException("LogicalNot is there for Boolean tensors only");
}

template <typename T>
Prepared MakeFloat(const ReshapeArgs& args, UnaryOperation operation)
{
    using C = ComputeType<T>;
    return DispatchUnary<C>(
        operation,
        [&](auto f) { return MakeElementwise<T>(args, [f](T x) { return static_cast<T>(f(static_cast<C>(x))); }); });
}

template <typename T>
T ClampTo(int32_t value)
{
    return static_cast<T>(std::clamp<int32_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Sign, Abs and Neg; Abs and Neg of the smallest integer are the integer itself.
template <typename T>
Prepared MakeInteger(const ReshapeArgs& args, UnaryOperation operation)
{
    if (operation == UnaryOperation::Sign)
    {
        return MakeElementwise<T>(args, [](T x) { return static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0)); });
    }
    const bool keepsPositive = operation == UnaryOperation::Abs;
    return MakeElementwise<T>(args,
                              [keepsPositive](T x)
                              {
                                  using U = std::make_unsigned_t<T>;
                                  return keepsPositive && x >= 0 ? x : static_cast<T>(U{0} - static_cast<U>(x));
                              });
}

/// Abs and Neg of stored values.
template <typename T>
Prepared MakeQuantizedSign(const ReshapeArgs& args, UnaryOperation operation, const TensorQuantization& input,
                           const TensorQuantization& output)
{
    const bool isAbs = operation == UnaryOperation::Abs;
    const bool rescales = input.m_Scale != output.m_Scale;
    const QuantizedMultiplier multiplier = QuantizeMultiplier(static_cast<double>(input.m_Scale / output.m_Scale));
    return MakeElementwise<T>(args,
                              [=](T x)
                              {
                                  const int32_t value = x - input.m_ZeroPoint;
                                  const int32_t result = isAbs ? std::abs(value) : -value;
                                  const int32_t scaled = rescales ? MultiplySaturating(result, multiplier) : result;
                                  return ClampTo<T>(backends::SaturatingAdd(scaled, output.m_ZeroPoint));
                              });
}

/// Sqrt and Rsqrt: refuses numbers below zero, then computes out[i] = f(in[i]).
template <typename T, typename F>
Prepared MakeQuantizedRoot(const ReshapeArgs& args, int32_t zeroPoint, const F& f)
{
    return [count = args.GetInput(0).GetNumElements(), zeroPoint, f](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        const T* negative = std::find_if(in, in + count, [zeroPoint](T x) { return x < zeroPoint; });
        if (negative != in + count)
        {
            throw RuntimeException("square root of a negative number: element " + std::to_string(negative - in) +
                                   " of input 0 lies below its zero point");
        }
        T* out = run.GetOutput<T>(0);
        for (size_t i = 0; i < count; ++i)
        {
            out[i] = f(in[i]);
        }
    };
}

/// Computes through float. TFLite truncates results; it has no kernel for uint8, whose results are rounded here.
template <typename T>
Prepared MakeQuantizedSqrt(const ReshapeArgs& args, const TensorQuantization& input, const TensorQuantization& output)
{
    return MakeQuantizedRoot<T>(args, input.m_ZeroPoint,
                                [=](T x)
                                {
                                    const float root =
                                        std::sqrt(input.m_Scale * static_cast<float>(x - input.m_ZeroPoint));
                                    constexpr float Bound = 1e9f; // outside every type, inside int32
                                    const float real = std::min(root / output.m_Scale, Bound);
                                    const auto steps =
                                        static_cast<int32_t>(std::is_unsigned_v<T> ? std::round(real) : real);
                                    return ClampTo<T>(steps + output.m_ZeroPoint);
                                });
}

/// Rsqrt of int8 tensors. 0 gives the largest value.
Prepared MakeByteRsqrt(const ReshapeArgs& args, const TensorQuantization& input, const TensorQuantization& output)
{
    using T = int8_t;
    const QuantizedMultiplier multiplier =
        QuantizeMultiplier(1.0 / static_cast<double>(std::sqrt(input.m_Scale) * output.m_Scale));
    const auto table = ByteTable<T>::FromStored(
        [&](int32_t x)
        {
            constexpr int32_t Max = std::numeric_limits<T>::max();
            constexpr int FractionBits = 20; // fraction bits between the two multiplications
            const int32_t value = x - input.m_ZeroPoint;
            if (value <= 0)
            {
                return Max;
            }
            QuantizedMultiplier root = backends::GetInverseSquareRoot(value);
            root.m_Shift += FractionBits;
            const int32_t fraction = MultiplySaturating(1, root);
            const QuantizedMultiplier scale{multiplier.m_Multiplier,
                                            std::clamp(multiplier.m_Shift - FractionBits, -31, 30)};
            return int32_t{
                ClampTo<T>(backends::SaturatingAdd(MultiplySaturating(fraction, scale), output.m_ZeroPoint))};
        });
    return MakeQuantizedRoot<T>(args, input.m_ZeroPoint, [table](T x) { return table[x]; });
}

/// Calls make(f) with the operation as a function from float to float that has a result for every input.
template <typename T, typename Make>
auto MakeOfReal(UnaryOperation operation, const TensorQuantization& output, const Make& make)
{
    const float largest = output.m_Scale * static_cast<float>(std::numeric_limits<T>::max() - output.m_ZeroPoint);
    const float smallest = output.m_Scale * static_cast<float>(std::numeric_limits<T>::min() - output.m_ZeroPoint);
    switch (operation)
    {
    case UnaryOperation::Rsqrt: return make([largest](float x) { return x <= 0.0f ? largest : 1.0f / std::sqrt(x); });
    // The logarithm of numbers that have none is the lowest value.
    case UnaryOperation::Log: return make([smallest](float x) { return x <= 0.0f ? smallest : std::log(x); });
    default: break;
    }
    if constexpr (sizeof(T) == 2)
    {
        return make([](float x) { return std::exp(x); }); // see HasInt16Kernel
    }
    else
    {
        return DispatchUnary<float>(operation, make);
    }
}

template <typename T>
auto MakeTable(const ReshapeArgs& args)
{
    const TensorQuantization input = GetTensorQuantization(args.GetInput(0));
    const TensorQuantization output = GetTensorQuantization(args.GetOutput(0));
    const auto make = [&](auto f)
    {
        if constexpr (sizeof(T) == 1)
        {
            return ByteTable<T>::FromReal(input, output, f);
        }
        else
        {
            return InterpolatedTable::Make<float>(input.m_Scale, input.m_ZeroPoint, output.m_Scale, f);
        }
    };
    return MakeOfReal<T>(args.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation, output, make);
}

template <typename T>
Prepared MakeQuantized(const ReshapeArgs& args, UnaryOperation operation)
{
    const TensorQuantization input = GetTensorQuantization(args.GetInput(0));
    const TensorQuantization output = GetTensorQuantization(args.GetOutput(0));
    switch (operation)
    {
    case UnaryOperation::Abs:
    case UnaryOperation::Neg: return MakeQuantizedSign<T>(args, operation, input, output);
    case UnaryOperation::Sqrt: return MakeQuantizedSqrt<T>(args, input, output);
    case UnaryOperation::Rsqrt:
        if constexpr (std::is_same_v<T, int8_t>)
        {
            return MakeByteRsqrt(args, input, output);
        }
        return MakeQuantizedRoot<T>(args, input.m_ZeroPoint, [table = MakeTable<T>(args)](T x) { return table[x]; });
    default: return MakeElementwise<T>(args, [table = MakeTable<T>(args)](T x) { return table[x]; });
    }
}

Prepared PrepareUnary(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const UnaryOperation operation = args.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation;
    const DataType type = args.GetInput(0).GetDataType();
    if (type == DataType::Boolean)
    {
        return MakeElementwise<uint8_t>(args, [](uint8_t x) { return static_cast<uint8_t>(x == 0 ? 1 : 0); });
    }
    if (QuantizedTypes.Has(type))
    {
        return DispatchType<int8_t, uint8_t, int16_t>(
            type, [&](auto tag) { return MakeQuantized<typename decltype(tag)::Type>(args, operation); });
    }
    if (FloatTypes.Has(type))
    {
        return DispatchType<float, double, Half, BFloat16>(
            type, [&](auto tag) { return MakeFloat<typename decltype(tag)::Type>(args, operation); });
    }
    return DispatchType<int32_t, int64_t, int16_t, int8_t>(
        type, [&](auto tag) { return MakeInteger<typename decltype(tag)::Type>(args, operation); });
}

} // namespace

InterpolatedTable MakeUnaryTableInt16(const ReshapeArgs& args)
{
    return MakeTable<int16_t>(args);
}

extern const backends::Kernel RefElementwiseUnaryKernel = {"RefElementwiseUnary", UnaryTypes, PrepareUnary, CheckUnary};

} // namespace tenon::ref
