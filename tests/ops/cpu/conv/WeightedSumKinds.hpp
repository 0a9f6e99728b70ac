// SPDX-License-Identifier: Apache-2.0
// The types that CpuAcc's convolutions have kernels for, as random data, weights and biases, for tests that compare
// these kernels with CpuRef.
#pragma once

#include "ops/cpu/CompareWithReference.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test
{

struct SumKind
{
    const char* m_Name;
    const char* m_Kernel; ///< suffix of the kernel's name
    DataType m_Data;
    DataType m_Weights;
    DataType m_Bias;
    bool m_HasScales;       ///< one scale for each output channel
    int32_t m_WeightsPoint; ///< zero point
    double m_OfLargest;     ///< tolerance, see ExpectAsReference
    RequantizationMode m_Mode = RequantizationMode::FixedPoint;
};

inline constexpr SumKind SumKinds[] = {
    {"floats", "F32", DataType::Float32, DataType::Float32, DataType::Float32, false, 0, 1e-5},
    {"int8, scales", "Int8", DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed32, true, 0, 0},
    {"int8, zero point", "Int8", DataType::QAsymmS8, DataType::QAsymmS8, DataType::Signed32, false, -7, 0},
    {"int8 by int4", "Int8", DataType::QAsymmS8, DataType::QSymmS4, DataType::Signed32, false, 0, 0},
    {"int8 by int4, scales", "Int8", DataType::QAsymmS8, DataType::QSymmS4, DataType::Signed32, true, 0, 0},
    {"int8 by int4, zero point", "Int8", DataType::QAsymmS8, DataType::QSymmS4, DataType::Signed32, false, -3, 0},
    {"uint8", "Int8", DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32, false, 131, 0},
    {"floats by int8", "Hybrid", DataType::Float32, DataType::QSymmS8, DataType::Float32, false, 0, 0},
    {"floats by int8, scales", "Hybrid", DataType::Float32, DataType::QSymmS8, DataType::Float32, true, 0, 0},
    {"floats by int4", "Hybrid", DataType::Float32, DataType::QSymmS4, DataType::Float32, false, 0, 0},
    {"int16 by int8", "Int16", DataType::QSymmS16, DataType::QSymmS8, DataType::Signed64, true, 0, 0},
    {"int16 by int4, bias of 32 bits", "Int16", DataType::QSymmS16, DataType::QSymmS4, DataType::Signed32, false, 0, 0},
    {"int8, scales, half to even", "Int8", DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed32, true, 0, 0,
     RequantizationMode::FloatHalfEven},
    {"int8, zero point, half to even", "Int8", DataType::QAsymmS8, DataType::QAsymmS8, DataType::Signed32, false, -7, 0,
     RequantizationMode::FloatHalfEven},
    {"int8 by int4, scales, half to even", "Int8", DataType::QAsymmS8, DataType::QSymmS4, DataType::Signed32, true, 0,
     0, RequantizationMode::FloatHalfEven},
    {"uint8, half to even", "Int8", DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32, false, 131, 0,
     RequantizationMode::FloatHalfEven},
};

inline TestTensor MakeWeights(const TensorInfo& info, uint32_t seed)
{
    if (info.GetDataType() != DataType::QSymmS4)
    {
        return Random(info, seed);
    }
    const auto bytes = static_cast<unsigned int>(info.GetNumBytes());
    return {info, Random(TensorInfo(TensorShape({bytes}), DataType::QAsymmS8, 1.0f, 0), seed).m_Bytes};
}

/// A layer of this kind. `weights`: [outputs, height, width, depth], output channels in front.
template <typename D>
OpCase MakeSumCase(const std::string& name, const SumKind& kind, LayerType type, D descriptor, const TensorShape& data,
                   const TensorShape& weights, const TensorShape& output, uint32_t seed)
{
    const bool isFloat = kind.m_Data == DataType::Float32;
    const float dataScale = kind.m_Data == DataType::QSymmS16 ? 1.0f / 4096 : 0.05f;
    const int32_t point = kind.m_Data == DataType::QAsymmU8 ? 125 : kind.m_Data == DataType::QAsymmS8 ? 3 : 0;
    const float largest = kind.m_Weights == DataType::QSymmS4 ? 16 : 1; // int4 weights cover the range of int8
    // Factors that are powers of two make ties of many sums.
    const bool isHalfEven = kind.m_Mode == RequantizationMode::FloatHalfEven;
    if constexpr (requires { descriptor.m_Requantization; })
    {
        descriptor.m_Requantization = kind.m_Mode;
    }
    std::vector<float> scales;
    for (unsigned int c = 0; c < (kind.m_HasScales ? weights[0] : 1); ++c)
    {
        const float scale = isHalfEven ? std::exp2(-5.0f - static_cast<float>(c % 3)) // to 1/128
                                       : 0.02f + 0.003f * static_cast<float>(c % 5);
        scales.push_back(largest * scale);
    }
    TensorInfo weightsInfo(weights, kind.m_Weights, scales.front(), kind.m_WeightsPoint);
    if (kind.m_HasScales)
    {
        weightsInfo = TensorInfo(weights, kind.m_Weights, scales, 0);
    }
    const float depth = std::sqrt(static_cast<float>(weights.GetNumElements() / weights[0]));
    const float steps = 2.5f * depth; // sums cover most of the range, and some saturate
    const float step = dataScale * (isHalfEven ? std::exp2(std::floor(std::log2(steps))) : steps);
    const TensorInfo dataInfo =
        isFloat ? TensorInfo(data, kind.m_Data) : TensorInfo(data, kind.m_Data, dataScale, point);
    const TensorInfo outputInfo =
        isFloat ? TensorInfo(output, kind.m_Data) : TensorInfo(output, kind.m_Data, step, point == 0 ? 0 : point - 9);
    const TensorInfo bias = isFloat ? TensorInfo(TensorShape({weights[0]}), kind.m_Bias)
                                    : TensorInfo(TensorShape({weights[0]}), kind.m_Bias, dataScale * scales.front(), 0);
    return ReferenceCase(
        name + ", " + kind.m_Name, type, descriptor,
        {Random(dataInfo, seed), Constant(MakeWeights(weightsInfo, seed + 1)), Constant(Random(bias, seed + 2, -2, 2))},
        outputInfo);
}

} // namespace tenon::test
