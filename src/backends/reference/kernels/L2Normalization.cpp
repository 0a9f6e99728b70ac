// SPDX-License-Identifier: Apache-2.0
// L2Normalization: each pixel's channels (the last dimension) divided by their norm, or by eps if that is larger. 8-bit
// tensors are computed as in TFLite's reference kernels; their norm is at least one step.
#include "backends/common/FixedPoint.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"

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

using backends::FloatTypes;
using backends::PerTensor;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::SameType;
using backends::TypeSet;

constexpr backends::TypeRow L2NormalizationTypes[] = {
    PerTensor(SameType(FloatTypes | TypeSet{DataType::QAsymmU8, DataType::QAsymmS8}))};

constexpr int OutputFractionBits = 7; // a step of a quantized output is 1/128

struct Pixels
{
    size_t m_Count = 0;
    size_t m_Channels = 0;
};

template <typename T>
Prepared MakeFloat(const Pixels& pixels, float epsilon)
{
    return [pixels, epsilon](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        for (size_t pixel = 0; pixel < pixels.m_Count; ++pixel, in += pixels.m_Channels, out += pixels.m_Channels)
        {
            double squares = 0;
            for (size_t c = 0; c < pixels.m_Channels; ++c)
            {
                squares += static_cast<double>(in[c]) * static_cast<double>(in[c]);
            }
            const double norm = std::max(std::sqrt(squares), static_cast<double>(epsilon));
            for (size_t c = 0; c < pixels.m_Channels; ++c)
            {
                out[c] = FromAccumulator<T>(static_cast<double>(in[c]) / norm);
            }
        }
    };
}

/// 128 * value / norm.
template <typename T>
int32_t Divide(int32_t value, QuantizedMultiplier inverseNorm)
{
    // TFLite's kernel for uint8 multiplies first and shifts once; its kernel for int8 puts the 7 bits into the
    // multiplier.
    if constexpr (std::is_unsigned_v<T>)
    {
        return backends::MultiplySaturating(value * (1 << OutputFractionBits), inverseNorm);
    }
    else
    {
        inverseNorm.m_Shift += OutputFractionBits;
        return backends::MultiplySaturating(value, inverseNorm);
    }
}

template <typename T>
Prepared MakeBytes(const Pixels& pixels, int32_t zeroInput)
{
    return [pixels, zeroInput](const ExecuteArgs& run)
    {
        constexpr int32_t ZeroOutput = std::is_unsigned_v<T> ? 128 : 0;
        constexpr int32_t Low = std::numeric_limits<T>::min();
        constexpr int32_t High = std::numeric_limits<T>::max();
        const T* in = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        for (size_t pixel = 0; pixel < pixels.m_Count; ++pixel, in += pixels.m_Channels, out += pixels.m_Channels)
        {
            int64_t squares = 0;
            for (size_t c = 0; c < pixels.m_Channels; ++c)
            {
                squares += (in[c] - zeroInput) * (in[c] - zeroInput);
            }
            const QuantizedMultiplier inverseNorm = backends::GetInverseSquareRoot(
                static_cast<int32_t>(std::min<int64_t>(squares, std::numeric_limits<int32_t>::max())));
            for (size_t c = 0; c < pixels.m_Channels; ++c)
            {
                out[c] = static_cast<T>(std::clamp(Divide<T>(in[c] - zeroInput, inverseNorm) + ZeroOutput, Low, High));
            }
        }
    };
}

SupportResult CheckL2Normalization(const LayerView& layer)
{
    if (layer.GetDescriptor<L2NormalizationDescriptor>().m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NHWC; the optimizer turns NCHW layers into NHWC ones");
    }
    const TensorInfo& output = layer.GetOutput(0);
    const int32_t zeroPoint = output.GetDataType() == DataType::QAsymmU8 ? 128 : 0;
    if (output.IsQuantized() && (output.GetQuantizationScale() != 1.0f / static_cast<float>(1 << OutputFractionBits) ||
                                 output.GetQuantizationOffset() != zeroPoint))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "a quantized output needs scale 1/128 and zero point " + std::to_string(zeroPoint));
    }
    return SupportResult::Yes();
}

Prepared PrepareL2Normalization(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const unsigned int rank = input.GetNumDimensions();
    if (rank == 0)
    {
        throw LayerValidationException("the input is a scalar; it needs a dimension of channels");
    }
    const size_t channels = input.GetShape()[rank - 1];
    const Pixels pixels{channels == 0 ? 0 : input.GetNumElements() / channels, channels};
    if (FloatTypes.Has(input.GetDataType()))
    {
        const float epsilon = args.GetDescriptor<L2NormalizationDescriptor>().m_Eps;
        return DispatchType<float, double, Half, BFloat16>(
            input.GetDataType(), [&](auto tag) { return MakeFloat<typename decltype(tag)::Type>(pixels, epsilon); });
    }
    const int32_t zeroInput = GetTensorQuantization(input).m_ZeroPoint;
    return DispatchType<int8_t, uint8_t>(input.GetDataType(), [&](auto tag)
                                         { return MakeBytes<typename decltype(tag)::Type>(pixels, zeroInput); });
}

} // namespace

extern const backends::Kernel RefL2NormalizationKernel = {"RefL2Normalization", L2NormalizationTypes,
                                                          PrepareL2Normalization, CheckL2Normalization};

} // namespace tenon::ref
