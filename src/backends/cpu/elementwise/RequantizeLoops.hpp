// SPDX-License-Identifier: Apache-2.0
// Loops that turn stored numbers of one quantization into those of another: the reference kernels' results.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// What a difference from one zero point is multiplied by, and where the other zero is stored.
struct RequantizeNumbers
{
    int32_t m_InputZeroPoint = 0;
    int32_t m_OutputZeroPoint = 0;
    backends::QuantizedMultiplier m_Multiplier;
};

/// out[i] of in[i].
using RequantizeLoop = void (*)(const void* in, void* out, size_t count, const RequantizeNumbers& numbers);

/// Between QAsymmU8, QAsymmS8, QSymmS8 and QSymmS16; else null. Precondition: the processor has vectors.
RequantizeLoop FindRequantize(DataType from, DataType to);

} // namespace tenon::cpu
