// SPDX-License-Identifier: Apache-2.0
// Loops that permute weights (PermutedWeightsInt8.hpp): for each column of a vector, an order and signs of eight
// weights such that four products that share an int16 sum fit it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct PermuteLoopsInt8
{
    /// Values of the depth in a step, for each column.
    static constexpr size_t StepDepth = 8;
    /// Bytes of a step for each column: a 4-bit index for each of the eight values, and the weights.
    static constexpr size_t StepBytes = 12;

    /// Maximum number of a column's eight weights that may be -128, which cannot be negated.
    static constexpr size_t MaxMinWeights = 2;

    /// Orders the weights of two vectors of columns, [StepDepth][2 * lanes] int8. Writes [2] steps and whether each one
    /// is paired; adds to mirrored[2 * lanes] the weights that multiply complements. Steps and sums are aligned.
    void (*m_Arrange)(const std::byte* weights, std::byte* steps, int32_t* complemented,
                      bool (&isStepPaired)[2]) = nullptr;
};

/// Precondition: the processor has microkernels for permuted weights.
const PermuteLoopsInt8& GetPermuteLoopsInt8();

} // namespace tenon::cpu
