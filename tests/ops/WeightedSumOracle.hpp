// SPDX-License-Identifier: Apache-2.0
// What the tests of Convolution2d, DepthwiseConvolution2d and FullyConnected share: the combinations of types, sums
// over windows in double precision, and the exact results that TFLite's reference kernels and
// RequantizationMode::FloatHalfEven define.
#pragma once

#include "backends/common/Quantization.hpp"
#include "harness/OpTest.hpp"
#include "ops/HalfEvenOracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace tenon::test
{

/// A combination of types, with scales that make good use of an output's range.
struct SumTypes
{
    std::string m_Name;
    DataType m_Data;
    DataType m_Weights;
    DataType m_Bias;
    DataType m_Output;
    bool m_PerAxis = false;
    int32_t m_DataZeroPoint = 0;
    int32_t m_WeightsZeroPoint = 0;
    int32_t m_OutputZeroPoint = 0;
};

inline const std::vector<SumTypes>& GetSumTypes()
{
    using D = DataType;
    static const std::vector<SumTypes> types = {
        {"float", D::Float32, D::Float32, D::Float32, D::Float32},
        {"uint8", D::QAsymmU8, D::QAsymmU8, D::Signed32, D::QAsymmU8, false, 17, 201, 93},
        {"int8 per tensor", D::QAsymmS8, D::QAsymmS8, D::Signed32, D::QAsymmS8, false, -128, 0, -7},
        {"int8 symmetric weights", D::QAsymmS8, D::QSymmS8, D::Signed32, D::QAsymmS8, false, 127, 0, 60},
        {"int8 per axis", D::QAsymmS8, D::QSymmS8, D::Signed32, D::QAsymmS8, true, 5, 0, -20},
        {"int16, 64-bit bias", D::QSymmS16, D::QSymmS8, D::Signed64, D::QSymmS16, true},
        {"int16, 32-bit bias", D::QSymmS16, D::QAsymmS8, D::Signed32, D::QSymmS16},
        // Weights less their zero point up to 255, and down to -255.
        {"uint8, zero point 0", D::QAsymmU8, D::QAsymmU8, D::Signed32, D::QAsymmU8, false, 0, 0, 128},
        {"int8, zero point -128", D::QAsymmS8, D::QAsymmS8, D::Signed32, D::QAsymmS8, false, 3, -128, 4},
        {"int8, zero point 127", D::QAsymmS8, D::QAsymmS8, D::Signed32, D::QAsymmS8, false, -9, 127, 0},
        {"double", D::Float64, D::Float64, D::Float64, D::Float64},
    };
    return types;
}

/// The quantized ones, and those that RequantizationMode::FloatHalfEven has beyond TFLite's.
inline std::vector<SumTypes> GetHalfEvenSumTypes()
{
    using D = DataType;
    std::vector<SumTypes> types;
    std::copy_if(GetSumTypes().begin(), GetSumTypes().end(), std::back_inserter(types),
                 [](const SumTypes& t) { return IsQuantizedType(t.m_Data); });
    types.push_back({"uint8, int8 weights", D::QAsymmU8, D::QAsymmS8, D::Signed32, D::QAsymmU8, false, 130, -7, 99});
    types.push_back({"uint8, int8 weights per axis", D::QAsymmU8, D::QSymmS8, D::Signed32, D::QAsymmU8, true, 3, 0, 0});
    types.push_back({"uint8, zero point 255", D::QAsymmU8, D::QAsymmS8, D::Signed32, D::QAsymmU8, false, 255, 127, 50});
    return types;
}

/// The infos of one layer: data, weights, bias, output. `axis`: dimension of the output channels in the weights;
/// `depth`: products in a sum.
struct SumInfos
{
    TensorInfo m_Data;
    TensorInfo m_Weights;
    TensorInfo m_Bias;
    TensorInfo m_Output;
};

inline SumInfos MakeSumInfos(const SumTypes& types, const TensorShape& data, const TensorShape& weights,
                             unsigned int axis, const TensorShape& output, double depth)
{
    const unsigned int channels = weights[axis];
    SumInfos infos{TensorInfo(data, types.m_Data), TensorInfo(weights, types.m_Weights),
                   TensorInfo(TensorShape({channels}), types.m_Bias), TensorInfo(output, types.m_Output)};
    if (!IsQuantizedType(types.m_Data))
    {
        return infos;
    }
    const float dataScale = types.m_Data == DataType::QSymmS16 ? 0.0003f : 0.0371f;
    std::vector<float> scales;
    std::vector<float> biasScales;
    for (unsigned int c = 0; c < (types.m_PerAxis ? std::max(channels, 1U) : 1U); ++c)
    {
        scales.push_back(0.0113f + 0.0021f * static_cast<float>(c % 5));
        biasScales.push_back(dataScale * scales.back());
    }
    infos.m_Data.SetQuantizationScale(dataScale);
    infos.m_Data.SetQuantizationOffset(types.m_DataZeroPoint);
    infos.m_Weights.SetQuantizationScales(scales);
    infos.m_Bias.SetQuantizationScales(biasScales);
    if (types.m_PerAxis)
    {
        infos.m_Weights.SetQuantizationDim(axis);
        infos.m_Bias.SetQuantizationDim(0U);
    }
    else
    {
        infos.m_Weights.SetQuantizationOffset(types.m_WeightsZeroPoint);
    }
    const double steps = types.m_Data == DataType::QSymmS16 ? 1.5 : 75.0; // typical sum of products in output steps
    infos.m_Output.SetQuantizationScale(static_cast<float>(dataScale * scales[0] * std::sqrt(depth) * steps));
    infos.m_Output.SetQuantizationOffset(types.m_OutputZeroPoint);
    return infos;
}

/// Data, weights and bias over all their types hold; weights and bias constant.
inline std::vector<TestTensor> MakeSumInputs(const SumInfos& infos, uint32_t seed)
{
    TestTensor bias = Random(infos.m_Bias, seed + 2);
    if (IsQuantizedType(infos.m_Data.GetDataType()))
    {
        constexpr double MaxSteps = 2000; // of products: some of an output's steps
        const double most = MaxSteps * static_cast<double>(infos.m_Bias.GetQuantizationScales()[0]);
        bias = Random(infos.m_Bias, seed + 2, -most, most);
    }
    TestTensor weights = Random(infos.m_Weights, seed + 1);
    if (weights.m_Bytes.size() >= 2 && GetDataTypeBits(infos.m_Weights.GetDataType()) == 8)
    {
        const bool isSigned = infos.m_Weights.GetDataType() != DataType::QAsymmU8;
        weights.m_Bytes.front() = std::byte{isSigned ? uint8_t{0x80} : uint8_t{0}};
        weights.m_Bytes.back() = std::byte{isSigned ? uint8_t{0x7F} : uint8_t{0xFF}};
    }
    return {Random(infos.m_Data, seed), Constant(std::move(weights)), Constant(std::move(bias))};
}

/// The case with the bounds of its type: doubles are as near as double precision allows.
inline OpCase WithBounds(OpCase op)
{
    if (op.m_Output.GetDataType() == DataType::Float64)
    {
        op.m_Relative = op.m_Absolute = 1e-13;
    }
    return op;
}

/// Sums over windows of NHWC data. Weights [O, H, W, I], or [1, H, W, O] when depthwise.
struct WindowSum
{
    int64_t m_StrideY = 1;
    int64_t m_StrideX = 1;
    int64_t m_DilationY = 1;
    int64_t m_DilationX = 1;
    int64_t m_PadTop = 0;
    int64_t m_PadLeft = 0;
    bool m_Depthwise = false;
    TensorShape m_Output;

    std::vector<double> operator()(const std::vector<RealTensor>& in) const
    {
        const RealTensor& data = in[0];
        const RealTensor& weights = in[1];
        const int64_t groupInputs = m_Depthwise ? 1 : weights.Dim(3);
        const int64_t groups = groupInputs == 0 ? 1 : data.Dim(3) / groupInputs;
        std::vector<double> sums;
        for (int64_t n = 0; n < m_Output[0]; ++n)
        {
            for (int64_t y = 0; y < m_Output[1]; ++y)
            {
                for (int64_t x = 0; x < m_Output[2]; ++x)
                {
                    for (int64_t o = 0; o < m_Output[3]; ++o)
                    {
                        const int64_t first = o / (m_Output[3] / groups) * groupInputs;
                        sums.push_back(in.size() > 2 ? in[2].m_Values[static_cast<size_t>(o)] : 0.0);
                        AddWindow(data, weights, n, y, x, o, first, groupInputs, sums.back());
                    }
                }
            }
        }
        return sums;
    }

private:
    void AddWindow(const RealTensor& data, const RealTensor& weights, int64_t n, int64_t y, int64_t x, int64_t o,
                   int64_t first, int64_t groupInputs, double& sum) const
    {
        for (int64_t ky = 0; ky < weights.Dim(1); ++ky)
        {
            for (int64_t kx = 0; kx < weights.Dim(2); ++kx)
            {
                const int64_t iy = y * m_StrideY - m_PadTop + ky * m_DilationY;
                const int64_t ix = x * m_StrideX - m_PadLeft + kx * m_DilationX;
                if (iy < 0 || iy >= data.Dim(1) || ix < 0 || ix >= data.Dim(2))
                {
                    continue;
                }
                for (int64_t i = 0; i < groupInputs; ++i)
                {
                    sum += data.At(n, iy, ix, first + i) *
                           (m_Depthwise ? weights.At(0, ky, kx, o) : weights.At(o, ky, kx, i));
                }
            }
        }
    }
};

/// round(a / 2^shift), halves up; |a| < 2^62, shift at most 62.
inline int64_t DivideHalfUp(int64_t a, int shift)
{
    return shift <= 0 ? a << -shift : (a + (int64_t{1} << (shift - 1))) >> shift;
}

/// The stored values of sums of products, as real values for the harness. `sum` gives the sums from integers (stored
/// values less zero points); rescale(sum, scale of the weights, whether there is a bias) the steps of the output.
template <typename Sum, typename Rescale>
Oracle StepsOracle(const SumInfos& infos, Sum sum, Rescale rescale)
{
    return [infos, sum, rescale](const std::vector<RealTensor>& real)
    {
        // The harness hands over real values: divided by their scales they are integers again.
        std::vector<RealTensor> integers = real;
        const std::vector<float> scales = infos.m_Weights.GetQuantizationScales();
        const TensorInfo* inputs[] = {&infos.m_Data, &infos.m_Weights, &infos.m_Bias};
        for (size_t i = 0; i < integers.size(); ++i)
        {
            integers[i].m_Values = GetSteps(Values(*inputs[i], real[i].m_Values)).m_Values;
        }
        std::vector<double> sums = sum(integers);
        const double zeroPoint = infos.m_Output.GetQuantizationOffset();
        const backends::QuantizedRange range = backends::GetTypeRange(infos.m_Output.GetDataType());
        const size_t channels = infos.m_Output.GetShape()[infos.m_Output.GetNumDimensions() - 1];
        for (size_t i = 0; i < sums.size(); ++i)
        {
            const float weightScale = scales[scales.size() == 1 ? 0 : i % channels];
            const double steps = rescale(static_cast<int64_t>(sums[i]), weightScale, integers.size() > 2);
            const double stored = std::clamp<double>(steps + zeroPoint, range.m_Min, range.m_Max);
            sums[i] = (stored - zeroPoint) * static_cast<double>(infos.m_Output.GetQuantizationScale());
        }
        return sums;
    };
}

/// As TFLite's reference kernels define it: in fixed point as against double precision.
template <typename Sum>
Oracle ExactOracle(const SumInfos& infos, Sum sum, bool fixedPoint)
{
    const auto rescale = [infos, fixedPoint](int64_t acc, float weightScale, bool hasBias)
    {
        const bool wide = infos.m_Data.GetDataType() == DataType::QSymmS16 &&
                          (!hasBias || infos.m_Bias.GetDataType() == DataType::Signed64);
        const float dataScale = infos.m_Data.GetQuantizationScale();
        const bool floatProduct = fixedPoint && infos.m_Weights.GetDataType() == DataType::QAsymmU8;
        const double product = floatProduct ? static_cast<double>(dataScale * weightScale)
                                            : static_cast<double>(dataScale) * static_cast<double>(weightScale);
        const double ratio = product / static_cast<double>(infos.m_Output.GetQuantizationScale());
        const backends::QuantizedMultiplier m = backends::QuantizeMultiplier(ratio);
        if (fixedPoint && wide)
        {
            return static_cast<double>(DivideHalfUp(acc * ((m.m_Multiplier + 32768) >> 16), 15 - m.m_Shift));
        }
        if (fixedPoint)
        {
            const int64_t high = DivideHalfUp((acc << std::max(m.m_Shift, 0)) * m.m_Multiplier, 31);
            return std::round(std::ldexp(static_cast<double>(high), std::min(m.m_Shift, 0)));
        }
        return std::round(static_cast<double>(acc) * ratio);
    };
    return StepsOracle(infos, sum, rescale);
}

/// The case by RequantizationMode::FloatHalfEven, exactly. D: its descriptor, Sum: its oracle.
template <typename D, typename Sum>
OpCase WithHalvesToEven(OpCase op)
{
    D descriptor = static_cast<const D&>(*op.m_Descriptor);
    descriptor.m_Requantization = RequantizationMode::FloatHalfEven;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Name += ", halves to even";
    const SumInfos infos{op.m_Inputs[0].m_Info, op.m_Inputs[1].m_Info, op.m_Inputs[2].m_Info, op.m_Output};
    const auto rescale = [infos](int64_t acc, float weightScale, bool)
    {
        const float factor =
            FactorOfSums(infos.m_Data.GetQuantizationScale(), weightScale, infos.m_Output.GetQuantizationScale());
        return RoundHalfEven(double{MultiplyF32(static_cast<float>(acc), factor)});
    };
    op.m_Oracle = StepsOracle(infos, *op.m_Oracle.target<Sum>(), rescale);
    op.m_Steps = 0;
    return op;
}

/// Checks all cases with all types of FloatHalfEven.
template <typename D, typename Sum, typename Cases, typename Make>
void CheckHalvesToEven(const Cases& cases, Make makeOp)
{
    for (const auto& c : cases)
    {
        for (const SumTypes& types : GetHalfEvenSumTypes())
        {
            if (c.m_Output.GetNumElements() != 0)
            {
                CheckOp(WithHalvesToEven<D, Sum>(makeOp(c, types)));
            }
        }
    }
}

} // namespace tenon::test
