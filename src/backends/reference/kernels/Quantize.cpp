// SPDX-License-Identifier: Apache-2.0
// Quantize: conversion of real to stored numbers, per tensor or per channel, and of stored numbers to another
// quantization: bit for bit as in TFLite's reference kernels, or as ONNX Runtime's QuantizeLinear
// (RequantizationMode::FloatHalfEven).
#include "backends/common/KernelTable.hpp"
#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/ChannelQuantization.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/FourBits.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tenon::ref
{

namespace
{

using backends::MultiplySaturating;
using backends::PerTensor;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizedRange;
using backends::QuantizedTypes;
using backends::Scales;
using backends::SingleFloatTypes;
using backends::Types;
using backends::WithScales;

constexpr backends::TypeRow QuantizeTypes[] = {
    WithScales(Types({SingleFloatTypes}, QuantizedTypes | DataType::QSymmS4), {Scales::Any}, Scales::AnyZero),
    PerTensor(Types({QuantizedTypes | DataType::Signed32}, QuantizedTypes | DataType::Signed32)),
};

/// round(x / scale) + zeroPoint, saturated to the type. A number of steps that does not fit 32 bits, or NaN, counts as
/// -2^31, and the sum wraps. TFLite's reference kernel does this on x86-64; the conversion to an integer is undefined
/// in C++.
template <typename Out>
Out QuantizeReal(float x, float scale, int32_t zeroPoint, QuantizedRange range)
{
    constexpr float Limit = 0x1p31f;
    const float steps = std::round(x / scale);
    const int32_t whole = std::abs(steps) < Limit ? static_cast<int32_t>(steps) : std::numeric_limits<int32_t>::min();
    return static_cast<Out>(std::clamp(WrappingAdd(whole, zeroPoint), range.m_Min, range.m_Max));
}

bool IsHalfEven(const QuantizeDescriptor& descriptor)
{
    return descriptor.m_Requantization == RequantizationMode::FloatHalfEven;
}

SupportResult CheckQuantize(const LayerView& layer)
{
    if (IsHalfEven(layer.GetDescriptor<QuantizeDescriptor>()) && layer.GetOutput(0).GetDataType() == DataType::Signed32)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 "RequantizationMode::FloatHalfEven has outputs of at most 16 bits");
    }
    return SupportResult::Yes();
}

template <typename In, typename Out>
void QuantizeAll(const ChannelQuantization& quantization, QuantizedRange range, bool isHalfEven, const In* in, Out* out)
{
    quantization.ForEachRun(
        [&](size_t first, size_t count, float scale, int32_t zeroPoint)
        {
            for (size_t i = first; i < first + count; ++i)
            {
                const auto x = static_cast<float>(in[i]);
                out[i] = isHalfEven ? ToStoredHalfEven<Out>(x, {scale, zeroPoint}, range)
                                    : QuantizeReal<Out>(x, scale, zeroPoint, range);
            }
        });
}

template <typename In>
Prepared MakeQuantize(const ReshapeArgs& args)
{
    const bool isHalfEven = IsHalfEven(args.GetDescriptor<QuantizeDescriptor>());
    const TensorInfo& output = args.GetOutput(0);
    const ChannelQuantization quantization(output);
    const QuantizedRange range = backends::GetTypeRange(output.GetDataType());
    if (output.GetDataType() == DataType::QSymmS4)
    {
        const size_t count = output.GetNumElements();
        return {[quantization, range, isHalfEven, count](const ExecuteArgs& run)
                {
                    auto* bytes = static_cast<int8_t*>(run.m_Scratch);
                    QuantizeAll(quantization, range, isHalfEven, run.GetInput<In>(0), bytes);
                    PackFourBits(static_cast<const std::byte*>(run.m_Scratch), count, run.GetOutput<std::byte>(0));
                },
                count};
    }
    return DispatchType<int8_t, uint8_t, int16_t>(output.GetDataType(),
                                                  [&](auto tag) -> Prepared
                                                  {
                                                      using Out = typename decltype(tag)::Type;
                                                      return [quantization, range, isHalfEven](const ExecuteArgs& run) {
                                                          QuantizeAll(quantization, range, isHalfEven,
                                                                      run.GetInput<In>(0), run.GetOutput<Out>(0));
                                                      };
                                                  });
}

template <typename In, typename Out>
Prepared MakeRequantize(const ReshapeArgs& args)
{
    const TensorQuantization input = GetTensorQuantization(args.GetInput(0));
    const TensorQuantization output = GetTensorQuantization(args.GetOutput(0));
    if (IsHalfEven(args.GetDescriptor<QuantizeDescriptor>()))
    {
        const QuantizedRange range = {std::numeric_limits<Out>::min(), std::numeric_limits<Out>::max()};
        return [=, count = args.GetInput(0).GetNumElements()](const ExecuteArgs& run)
        {
            const In* in = run.GetInput<In>(0);
            Out* out = run.GetOutput<Out>(0);
            for (size_t i = 0; i < count; ++i)
            {
                out[i] = ToStoredHalfEven<Out>(ToReal(in[i], input), output, range);
            }
        };
    }
    const QuantizedMultiplier multiplier =
        backends::QuantizeMultiplier(static_cast<double>(input.m_Scale) / static_cast<double>(output.m_Scale));
    return [=, count = args.GetInput(0).GetNumElements()](const ExecuteArgs& run)
    {
        const In* in = run.GetInput<In>(0);
        Out* out = run.GetOutput<Out>(0);
        for (size_t i = 0; i < count; ++i)
        {
            const int64_t value = int64_t{in[i]} - input.m_ZeroPoint;
            const int32_t scaled = backends::MultiplySumSaturating(value, multiplier);
            const int32_t stored = backends::SaturatingAdd(scaled, output.m_ZeroPoint);
            out[i] = static_cast<Out>(
                std::clamp<int32_t>(stored, std::numeric_limits<Out>::min(), std::numeric_limits<Out>::max()));
        }
    };
}

Prepared PrepareQuantize(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const DataType type = args.GetInput(0).GetDataType();
    if (SingleFloatTypes.Has(type))
    {
        return DispatchType<float, Half, BFloat16>(type, [&](auto tag)
                                                   { return MakeQuantize<typename decltype(tag)::Type>(args); });
    }
    return DispatchType<int8_t, uint8_t, int16_t, int32_t>(
        type,
        [&](auto in)
        {
            return DispatchType<int8_t, uint8_t, int16_t, int32_t>(
                args.GetOutput(0).GetDataType(), [&](auto out)
                { return MakeRequantize<typename decltype(in)::Type, typename decltype(out)::Type>(args); });
        });
}

} // namespace

extern const backends::Kernel RefQuantizeKernel = {.m_Name = "RefQuantize",
                                                   .m_Types = QuantizeTypes,
                                                   .m_Prepare = PrepareQuantize,
                                                   .m_Check = CheckQuantize,
                                                   .m_RoundsHalfToEven = true};

} // namespace tenon::ref
