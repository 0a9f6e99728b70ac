// SPDX-License-Identifier: Apache-2.0
// Softmax along one axis: exp(beta * (x - max)) / sum. Quantized tensors are computed as in TFLite's reference kernels:
// 8-bit inputs in fixed point, 16-bit inputs by interpolated tables.
#include "backends/common/FixedPoint.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/AxisRows.hpp"
#include "backends/reference/kernels/SoftmaxPowers.hpp"
#include "backends/reference/kernels/SoftmaxTablesInt16.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tenon::ref
{

namespace
{

using backends::Fixed;
using backends::MultiplySaturating;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;
using backends::SameType;
using backends::Scales;
using backends::SingleFloatTypes;
using backends::Types;
using backends::WithScales;

constexpr backends::TypeRow SoftmaxTypes[] = {
    SameType(SingleFloatTypes),
    WithScales(SameType({DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16}), {Scales::PerTensor},
               Scales::Any),
    WithScales(Types({{DataType::QAsymmU8, DataType::QAsymmS8}}, DataType::QSymmS16), {Scales::PerTensor}, Scales::Any),
};

SupportResult CheckSoftmax(const LayerView& layer)
{
    return CheckBeta(layer, layer.GetDescriptor<SoftmaxDescriptor>().m_Beta);
}

template <typename T>
Prepared MakeFloat(const AxisRows& rows, float beta)
{
    return [rows, beta](const ExecuteArgs& run)
    {
        rows.ForEach<T, T>(run,
                           [&](const T* in, T* out)
                           {
                               const auto max = static_cast<float>(rows.FindMax(in));
                               const auto power = [&](size_t i)
                               { return std::exp((static_cast<float>(in[i * rows.m_Step]) - max) * beta); };
                               double sum = 0.0;
                               for (size_t i = 0; i < rows.m_Depth; ++i)
                               {
                                   const float value = power(i);
                                   sum += static_cast<double>(value);
                                   if constexpr (std::is_same_v<T, float>)
                                   {
                                       out[i * rows.m_Step] = value;
                                   }
                               }
                               for (size_t i = 0; i < rows.m_Depth; ++i)
                               {
                                   if constexpr (std::is_same_v<T, float>)
                                   {
                                       float& value = out[i * rows.m_Step];
                                       value = static_cast<float>(static_cast<double>(value) / sum);
                                   }
                                   else // narrower types would lose digits of the power
                                   {
                                       out[i * rows.m_Step] = FromAccumulator<T>(static_cast<double>(power(i)) / sum);
                                   }
                               }
                           });
    };
}

/// Softmax of 8-bit inputs. The output is a fraction of the whole range of Out, independent of its quantization.
template <typename In, typename Out>
Prepared MakeByte(const AxisRows& rows, const std::array<Fixed<0>, 256>& powers)
{
    return [rows, powers](const ExecuteArgs& run)
    {
        constexpr int SumIntegerBits = 12;
        rows.ForEach<In, Out>(
            run,
            [&](const In* in, Out* out)
            {
                const int32_t max = rows.FindMax(in);
                int64_t sum = 0;
                for (size_t i = 0; i < rows.m_Depth; ++i)
                {
                    const Fixed<0> power = powers[static_cast<size_t>(max - in[i * rows.m_Step])];
                    sum += backends::Rescale<SumIntegerBits>(power).m_Raw;
                }
                const auto sumRaw = static_cast<int32_t>(std::min<int64_t>(sum, std::numeric_limits<int32_t>::max()));
                const backends::FixedReciprocal reciprocal = backends::GetReciprocal(sumRaw, SumIntegerBits);
                const int shift = reciprocal.m_BitsOverUnit + 31 - static_cast<int>(sizeof(Out)) * 8;
                for (size_t i = 0; i < rows.m_Depth; ++i)
                {
                    const Fixed<0> power = powers[static_cast<size_t>(max - in[i * rows.m_Step])];
                    // A shift of more than 31 bits gives 0.
                    const int32_t fraction =
                        shift > 31 ? 0 : backends::RoundingDivideByPot((reciprocal.m_Scale * power).m_Raw, shift);
                    constexpr int32_t Low = std::numeric_limits<Out>::min();
                    constexpr int32_t High = std::numeric_limits<Out>::max();
                    out[i * rows.m_Step] = static_cast<Out>(std::clamp(fraction + Low, Low, High));
                }
            });
    };
}

void RunRowInt16(const SoftmaxTablesInt16& softmax, const int16_t* in, int16_t* out, const AxisRows& rows)
{
    const int32_t max = rows.FindMax(in);
    int64_t total = 0;
    for (size_t i = 0; i < rows.m_Depth; ++i)
    {
        const int16_t power = softmax.GetPower(in[i * rows.m_Step] - max);
        out[i * rows.m_Step] = power;
        total += power;
    }
    const SoftmaxTablesInt16::Factor factor = softmax.GetFactor(total);
    const int64_t rounding = factor.m_Shift > 0 ? int64_t{1} << (factor.m_Shift - 1) : 0;
    for (size_t i = 0; i < rows.m_Depth; ++i)
    {
        const int64_t product = static_cast<int64_t>(out[i * rows.m_Step]) * factor.m_Scale;
        out[i * rows.m_Step] = static_cast<int16_t>(
            std::clamp<int64_t>((product + rounding) >> factor.m_Shift, 0, std::numeric_limits<int16_t>::max()));
    }
}

Prepared MakeInt16(const AxisRows& rows, float beta, float inputScale)
{
    return [rows, softmax = SoftmaxTablesInt16(beta, inputScale)](const ExecuteArgs& run) {
        rows.ForEach<int16_t, int16_t>(run,
                                       [&](const int16_t* in, int16_t* out) { RunRowInt16(softmax, in, out, rows); });
    };
}

Prepared PrepareSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SoftmaxDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (SingleFloatTypes.Has(input.GetDataType()))
    {
        return DispatchType<float, Half, BFloat16>(
            input.GetDataType(),
            [&](auto tag) { return MakeFloat<typename decltype(tag)::Type>(rows, descriptor.m_Beta); });
    }
    const float scale = GetTensorQuantization(input).m_Scale;
    if (input.GetDataType() == DataType::QSymmS16)
    {
        return MakeInt16(rows, descriptor.m_Beta, scale);
    }
    const std::array<Fixed<0>, 256> powers = MakeSoftmaxPowers(descriptor.m_Beta, scale);
    return DispatchType<int8_t, uint8_t>(input.GetDataType(),
                                         [&](auto in)
                                         {
                                             using In = typename decltype(in)::Type;
                                             return args.GetOutput(0).GetDataType() == DataType::QSymmS16
                                                        ? MakeByte<In, int16_t>(rows, powers)
                                                        : MakeByte<In, In>(rows, powers);
                                         });
}

} // namespace

std::array<Fixed<0>, 256> MakeSoftmaxPowers(float beta, float scale)
{
    constexpr int IntegerBits = 5;
    const double multiplier =
        std::min(static_cast<double>(beta) * static_cast<double>(scale) * static_cast<double>(1 << (31 - IntegerBits)),
                 2147483647.0);
    const QuantizedMultiplier quantized = QuantizeMultiplier(multiplier);
    // The scaled difference would overflow beyond this difference, whose power counts as 0.
    const double radius =
        std::floor(std::ldexp(static_cast<double>((1 << IntegerBits) - 1), 31 - IntegerBits - quantized.m_Shift));
    std::array<Fixed<0>, 256> powers{};
    for (int difference = 0; difference < 256; ++difference)
    {
        if (difference <= radius)
        {
            const Fixed<IntegerBits> scaled{MultiplySaturating(int32_t{-difference}, quantized)};
            powers[static_cast<size_t>(difference)] = backends::ExpOfNonPositive(scaled);
        }
    }
    return powers;
}

extern const backends::Kernel RefSoftmaxKernel = {"RefSoftmax", SoftmaxTypes, PrepareSoftmax, CheckSoftmax};

} // namespace tenon::ref
