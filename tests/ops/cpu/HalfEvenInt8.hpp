// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes with RequantizationMode::FloatHalfEven: the stored values that its definition gives, computed
// window by window, and inputs that show it.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::test
{

/// The stored value of an exact sum.
inline double StoreHalfEven(int64_t sum, const TensorInfo& data, float weightScale, const TensorInfo& output,
                            const backends::QuantizedRange& range)
{
    const float factor = std::min((data.GetQuantizationScale() * weightScale) / output.GetQuantizationScale(),
                                  std::numeric_limits<float>::max());
    const double steps = std::nearbyint(static_cast<float>(static_cast<int32_t>(sum)) * factor);
    return std::clamp<double>(steps + output.GetQuantizationOffset(), range.m_Min, range.m_Max);
}

/// The stored values of a Convolution2d or DepthwiseConvolution2d of NHWC bytes.
template <typename Descriptor>
std::vector<double> ConvolveHalfEven(const OpCase& op, const Descriptor& d)
{
    constexpr bool IsDepthwise = std::is_same_v<Descriptor, DepthwiseConvolution2dDescriptor>;
    std::vector<std::vector<double>> stored;
    for (const TestTensor& input : op.m_Inputs)
    {
        stored.push_back(GetStored(input.m_Info, input.m_Bytes.data()));
    }
    const TensorInfo& data = op.m_Inputs[0].m_Info;
    const TensorInfo& weights = op.m_Inputs[1].m_Info;
    const TensorShape& in = data.GetShape();
    const TensorShape& window = weights.GetShape();
    const TensorShape& out = op.m_Output.GetShape();
    const backends::QuantizedRange range = backends::GetFusedRange(op.m_Output, op.m_FusedActivation);
    const std::vector<float> scales = weights.GetQuantizationScales();
    const int32_t weightZero = scales.size() == 1 ? weights.GetQuantizationOffset() : 0;
    const unsigned int multiplier = IsDepthwise ? out[3] / in[3] : 1;
    const unsigned int depth = IsDepthwise ? 1 : window[3];
    const unsigned int ofGroup = IsDepthwise ? multiplier : out[3] / (in[3] / depth); // outputs of a group of channels
    const auto sumWindow = [&](unsigned int batch, unsigned int y, unsigned int x, unsigned int c)
    {
        int64_t sum = d.m_BiasEnabled ? static_cast<int64_t>(stored[2][c]) : 0;
        for (unsigned int i = 0; i < window[1]; ++i)
        {
            for (unsigned int j = 0; j < window[2]; ++j)
            {
                // Positions in the padding above and to the left wrap around to large numbers.
                const unsigned int row = y * d.m_StrideY + i * d.m_DilationY - d.m_PadTop;
                const unsigned int column = x * d.m_StrideX + j * d.m_DilationX - d.m_PadLeft;
                for (unsigned int k = 0; k < depth && row < in[1] && column < in[2]; ++k)
                {
                    const unsigned int channel = c / ofGroup * depth + k;
                    const size_t from = ((size_t{batch} * in[1] + row) * in[2] + column) * in[3] + channel;
                    const size_t at = IsDepthwise ? (size_t{i} * window[2] + j) * out[3] + c
                                                  : ((size_t{c} * window[1] + i) * window[2] + j) * depth + k;
                    sum += (static_cast<int64_t>(stored[0][from]) - data.GetQuantizationOffset()) *
                           (static_cast<int64_t>(stored[1][at]) - weightZero);
                }
            }
        }
        return sum;
    };
    std::vector<double> values;
    for (size_t i = 0; i < op.m_Output.GetNumElements(); ++i)
    {
        const auto c = static_cast<unsigned int>(i % out[3]);
        const auto pixel = static_cast<unsigned int>(i / out[3]);
        const int64_t sum = sumWindow(pixel / out[2] / out[1], pixel / out[2] % out[1], pixel % out[2], c);
        values.push_back(StoreHalfEven(sum, data, scales[scales.size() == 1 ? 0 : c], op.m_Output, range));
    }
    return values;
}

/// Sums whose float or whose product is a tie, or just above or below one, and the largest biases that all of CpuAcc's
/// kernels take. `factor`: a power of two.
inline std::vector<double> GetTies(double factor)
{
    constexpr double Largest = 1 << 29;
    std::vector<double> sums = {0, Largest, -Largest};
    for (const double steps : {0.5, 1.5, 2.5, 64.5, 65.5, 100.5, 126.5, 127.5, 128.5, 255.5})
    {
        for (const double more : {-1.0, 0.0, 1.0, 2.0})
        {
            const double sum = std::min(std::floor(steps / factor) + more, Largest);
            sums.insert(sums.end(), {sum, -sum});
        }
    }
    return sums;
}

/// Weights of bytes whose factors are powers of two: `unit` is the scale whose factor is 1. Every third output
/// channel has no weights but the zero point. `axis`: the output channels', the first or the last. `isPerAxis`: int8
/// with a factor of each channel's own, else of 2^exponent.
inline TestTensor MakeTieWeights(const TensorShape& shape, unsigned int axis, bool isSigned, bool isPerAxis, float unit,
                                 int exponent)
{
    TensorInfo info = InfoInt8(shape, isSigned, std::ldexp(unit, exponent), isSigned ? -3 : 119);
    if (isPerAxis)
    {
        constexpr int Exponents[] = {0, -11, 6, -2, 8, -13, -1}; // from `exponent` on
        std::vector<float> scales;
        for (unsigned int c = 0; c < shape[axis]; ++c)
        {
            scales.push_back(std::ldexp(unit, exponent + Exponents[c % std::size(Exponents)]));
        }
        info = TensorInfo(shape, DataType::QSymmS8);
        info.SetQuantizationScales(scales);
        info.SetQuantizationDim(axis);
    }
    std::vector<double> stored = GetStored(info, Random(info, shape[axis]).m_Bytes.data());
    for (size_t i = 0; i < stored.size(); ++i)
    {
        const size_t channel = axis == 0 ? i / (stored.size() / shape[0]) : i % shape[axis];
        stored[i] = channel % 3 != 0 ? stored[i] : isPerAxis ? 0 : info.GetQuantizationOffset();
    }
    return Stored(info, stored);
}

/// A bias for MakeTieWeights: a tie (GetTies) in channels without weights, else a few steps.
inline TestTensor MakeTieBias(const TensorInfo& weights, unsigned int axis, float unit)
{
    const std::vector<float> scales = weights.GetQuantizationScales();
    std::vector<double> bias;
    for (unsigned int c = 0; c < weights.GetShape()[axis]; ++c)
    {
        const std::vector<double> ties = GetTies(static_cast<double>(scales[scales.size() == 1 ? 0 : c] / unit));
        bias.push_back(c % 3 == 0 ? ties[c / 3 * 7 % ties.size()] : c % 19 - 9.0);
    }
    return Stored(TensorInfo(TensorShape({weights.GetShape()[axis]}), DataType::Signed32), bias);
}

/// CpuRef gives the bytes of the definition, and CpuAcc with this kernel those of CpuRef.
template <typename Descriptor>
void ExpectHalfEven(const OpCase& op, const Descriptor& d, const std::string& kernel)
{
    SCOPED_TRACE(op.m_Name);
    const std::vector<std::byte> bytes = RunOp(FindTestBackend(Compute::CpuRef), op, {});
    ASSERT_EQ(GetStored(op.m_Output, bytes.data()), ConvolveHalfEven(op, d));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, kernel));
}

} // namespace tenon::test
