// SPDX-License-Identifier: Apache-2.0
// Real numbers as stored values of a quantized tensor, and back: --quantize-input and --dequantize-output.
#pragma once

#include "tools/common/Buffer.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>

namespace tenon::tools
{

/// Whether the elements stand for real numbers by scale and zero point, per tensor or per channel.
bool StandsForReals(const TensorInfo& info);

/// The info with Float32 in place of its type, without quantization.
TensorInfo AsFloat32(const TensorInfo& info);

/// The elements of `floats` (Float32, as many as `info` has) as stored values of `info`, for which StandsForReals()
/// holds: divided by the scale, rounded half away from zero, plus the zero point, and clamped to the type. Throws
/// InputError for NaN, which no stored value stands for.
Buffer QuantizeFloats(const Buffer& floats, const TensorInfo& info);

/// Writes the real values of the stored values of `info`, for which StandsForReals() holds: one Float32 for each
/// element.
void DequantizeToFloats(const std::byte* data, const TensorInfo& info, std::byte* floats);

} // namespace tenon::tools
