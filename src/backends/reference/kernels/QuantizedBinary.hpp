// SPDX-License-Identifier: Apache-2.0
// The quantized half of ElementwiseBinary, and the arithmetic that CpuAcc's kernel for 16-bit tensors shares with it.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <optional>

namespace tenon::ref
{

/// Whether the operation is supported for inputs of the quantized type `input` and outputs of type `output`.
SupportResult CheckQuantizedBinary(BinaryOperation operation, const LayerView& layer);

/// Throws InvalidArgumentException for quantization parameters that make no sense.
backends::Prepared PrepareQuantizedBinary(const ReshapeArgs& args, BinaryOperation operation);

/// Right shifts, one of them 0 and none above 31.
struct PotShifts
{
    int m_A = 0;
    int m_B = 0;
};

/// The shifts that bring the inputs of a 16-bit Add or Sub to the output's scale, if all scales are powers of two:
/// TFLite then uses another formula.
std::optional<PotShifts> FindPotShifts(const TensorInfo& a, const TensorInfo& b, const TensorInfo& output);

} // namespace tenon::ref
