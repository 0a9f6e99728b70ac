// SPDX-License-Identifier: Apache-2.0
// Seeded random values as inputs, where no files are given.
#pragma once

#include "tools/common/InputPlace.hpp"
#include "tools/common/Inputs.hpp"

#include <tenon/Limits.hpp>

#include <cstdint>
#include <vector>

namespace tenon::tools
{

/// Inputs without memory; open dimensions become 1. Throws InputError above the limits, and UsageError for open
/// dimensions of an ONNX model.
std::vector<InputData> PlanRandomInputs(const std::vector<Binding>& bindings, const std::vector<WantedInput>& wanted,
                                        const Limits& limits);

enum class Distribution
{
    Uniform,
    /// Around the middle of the range, with a third of its width as standard deviation, as TensorFlow Lite's
    /// inference_diff has it; values outside of the range are drawn again.
    Gaussian
};

/// Gives memory and values to inputs of PlanRandomInputs, seeded by their index and by the number of the set. Floats
/// and complex numbers in [-1, 1); all values of quantized types; 0 or 1 for plain integers, which tend to be indices,
/// and for Booleans, with equal odds whatever the distribution. Throws RunError if memory is exhausted.
void FillRandomInputs(const std::vector<Binding>& bindings, std::vector<InputData>& inputs,
                      Distribution distribution = Distribution::Uniform, uint64_t set = 0);

} // namespace tenon::tools
