// SPDX-License-Identifier: Apache-2.0
// LogSoftmax along one axis: beta * (x - max) - log(sum of exp(beta * (x - max))). 8-bit tensors are computed as in
// TFLite's reference kernels, in fixed point.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/AxisRows.hpp"
#include "backends/reference/kernels/LogSoftmaxTablesInt8.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::Fixed;
using backends::FloatTypes;
using backends::MultiplySaturating;
using backends::PerTensor;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;
using backends::SameType;
using backends::TypeSet;

constexpr backends::TypeRow LogSoftmaxTypes[] = {
    PerTensor(SameType(FloatTypes | TypeSet{DataType::QAsymmU8, DataType::QAsymmS8}))};

template <typename T>
Prepared MakeFloat(const AxisRows& rows, float beta)
{
    using C = ComputeType<T>;
    return [rows, beta](const ExecuteArgs& run)
    {
        rows.ForEach<T, T>(run,
                           [&](const T* in, T* out)
                           {
                               const auto max = static_cast<C>(rows.FindMax(in));
                               const auto scaled = [&](size_t i)
                               { return (static_cast<C>(in[i * rows.m_Step]) - max) * static_cast<C>(beta); };
                               double sum = 0;
                               for (size_t i = 0; i < rows.m_Depth; ++i)
                               {
                                   sum += static_cast<double>(std::exp(scaled(i)));
                               }
                               const double logSum = std::log(sum);
                               for (size_t i = 0; i < rows.m_Depth; ++i)
                               {
                                   out[i * rows.m_Step] = FromAccumulator<T>(static_cast<double>(scaled(i)) - logSum);
                               }
                           });
    };
}

template <typename T>
void RunByteRow(const LogSoftmaxTablesInt8& softmax, const T* in, T* out, const AxisRows& rows)
{
    const int32_t max = rows.FindMax(in);
    int64_t sum = 0;
    for (size_t i = 0; i < rows.m_Depth; ++i)
    {
        sum += softmax.GetPowers()[static_cast<size_t>(max - in[i * rows.m_Step])];
    }
    const LogSoftmaxTablesInt8::RowSum rowSum = softmax.Finish(sum);
    for (size_t i = 0; i < rows.m_Depth; ++i)
    {
        const auto difference = static_cast<size_t>(max - in[i * rows.m_Step]);
        constexpr int32_t Low = std::numeric_limits<T>::min();
        constexpr int32_t High = std::numeric_limits<T>::max(); // the output's zero point
        const int32_t stored = difference < rowSum.m_Reach ? softmax.GetSteps(difference, rowSum.m_LogSum) + High : Low;
        out[i * rows.m_Step] = static_cast<T>(std::clamp(stored, Low, High));
    }
}

SupportResult CheckLogSoftmax(const LayerView& layer)
{
    const TensorInfo& output = layer.GetOutput(0);
    const int32_t zeroPoint = output.GetDataType() == DataType::QAsymmU8 ? 255 : 127;
    if (output.IsQuantized() &&
        (output.GetQuantizationScale() != 1.0f / 16.0f || output.GetQuantizationOffset() != zeroPoint))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "a quantized output needs scale 1/16 and zero point " + std::to_string(zeroPoint));
    }
    return CheckBeta(layer, layer.GetDescriptor<LogSoftmaxDescriptor>().m_Beta);
}

Prepared PrepareLogSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<LogSoftmaxDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (FloatTypes.Has(input.GetDataType()))
    {
        return DispatchType<float, double, Half, BFloat16>(
            input.GetDataType(),
            [&](auto tag) { return MakeFloat<typename decltype(tag)::Type>(rows, descriptor.m_Beta); });
    }
    const float scale = GetTensorQuantization(input).m_Scale;
    return DispatchType<int8_t, uint8_t>(
        input.GetDataType(),
        [&](auto tag) -> Prepared
        {
            using T = typename decltype(tag)::Type;
            return [rows, softmax = LogSoftmaxTablesInt8(descriptor.m_Beta, scale)](const ExecuteArgs& run)
            { rows.ForEach<T, T>(run, [&](const T* in, T* out) { RunByteRow(softmax, in, out, rows); }); };
        });
}

} // namespace

LogSoftmaxTablesInt8::LogSoftmaxTablesInt8(float beta, float scale)
{
    const double multiplier = std::min(static_cast<double>(beta) * static_cast<double>(scale) *
                                           static_cast<double>(1 << (31 - InputIntegerBits)),
                                       2147483647.0);
    const QuantizedMultiplier quantized = QuantizeMultiplier(multiplier);
    m_Back = QuantizeMultiplier(std::ldexp(1.0, 31 - quantized.m_Shift) /
                                static_cast<double>(std::max(quantized.m_Multiplier, 1)));
    const double radius = std::floor(
        std::ldexp(static_cast<double>((1 << InputIntegerBits) - 1), 31 - InputIntegerBits - quantized.m_Shift));
    // Two bytes cannot differ by more.
    m_MinDifference = -static_cast<int32_t>(std::min(radius, 256.0));
    for (int32_t difference = 0; difference < 256; ++difference)
    {
        if (-difference >= m_MinDifference)
        {
            const auto i = static_cast<size_t>(difference);
            m_Scaled[i] = MultiplySaturating(-difference, quantized);
            m_Powers[i] =
                backends::Rescale<SumIntegerBits>(backends::ExpOfNonPositive(Fixed<InputIntegerBits>{m_Scaled[i]}))
                    .m_Raw;
        }
    }
}

LogSoftmaxTablesInt8::RowSum LogSoftmaxTablesInt8::Finish(int64_t sum) const
{
    const Fixed<SumIntegerBits> clamped{
        static_cast<int32_t>(std::min<int64_t>(sum, std::numeric_limits<int32_t>::max()))};
    const int32_t logSum = backends::LogOfAtLeastOne<InputIntegerBits>(clamped).m_Raw;
    // The result would exceed InputIntegerBits at this difference and below.
    const int32_t lowest = WrappingAdd(logSum, std::numeric_limits<int32_t>::min());
    const int32_t min = std::max(m_MinDifference - 1, MultiplySaturating(lowest, m_Back));
    return {logSum, static_cast<uint32_t>(std::max(-min, 0))};
}

extern const backends::Kernel RefLogSoftmaxKernel = {"RefLogSoftmax", LogSoftmaxTypes, PrepareLogSoftmax,
                                                     CheckLogSoftmax};

} // namespace tenon::ref
