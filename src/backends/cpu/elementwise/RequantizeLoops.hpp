// SPDX-License-Identifier: Apache-2.0
// Loops that convert stored numbers of one quantization to another, with the reference kernels' results:
//   out = clamp(zo + M * (q - zi))            M: rounding fixed-point multiplier of scale_i / scale_o
// Called by Conversions.cpp.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

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
