// SPDX-License-Identifier: Apache-2.0
// Loops that convert elements of one type to another: quantize, dequantize, requantize, and casts between number types.
//   quantize:   out = clamp(round(x / scale) + zero)      half away from zero, or to even (RequantizationMode)
//   dequantize: out = scale * (q - zero)
//   requantize: out = clamp(zo + M * (q - zi))            M: rounding fixed-point multiplier of scale_i / scale_o
// Results are the reference kernels' in all cases. Called by Conversions.cpp, half/ and gemm/ (weights of other types).
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Scale and zero point of the quantized side.
struct QuantizeParameters
{
    float m_Scale = 1.0f;
    int32_t m_ZeroPoint = 0;
};

/// Converts `count` elements. Only loops to and from quantized types read the parameters.
using ConversionLoop = void (*)(const void* in, void* out, size_t count, const QuantizeParameters& numbers);

/// From Float32 to QAsymmU8, QAsymmS8, QSymmS8 or QSymmS16; null for other types.
ConversionLoop FindQuantize(DataType to, RequantizationMode mode);

/// From these types to Float32; null for other types.
ConversionLoop FindDequantize(DataType from);

/// Casts between types without a scale: Float32 from and to Float16, BFloat16, Signed32 and 8-bit integers; 8-bit
/// integers to Signed32; Signed32 from and to Signed64; Booleans from and to Float32, Signed32, 8-bit integers and
/// Booleans. Null for others. Quantized bytes are cast as the integers that they store.
ConversionLoop FindCast(DataType from, DataType to);

/// Zero points of both sides, and the fixed-point multiplier scale_input / scale_output.
struct RequantizeParameters
{
    int32_t m_InputZeroPoint = 0;
    int32_t m_OutputZeroPoint = 0;
    backends::QuantizedMultiplier m_Multiplier;
};

/// Converts `count` elements.
using RequantizeLoop = void (*)(const void* in, void* out, size_t count, const RequantizeParameters& numbers);

/// Between QAsymmU8, QAsymmS8, QSymmS8 and QSymmS16; null for other types. Precondition: the processor has vectors.
RequantizeLoop FindRequantize(DataType from, DataType to);

} // namespace tenon::cpu
