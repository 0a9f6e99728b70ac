// SPDX-License-Identifier: Apache-2.0
// What permuting of weights (PermutedWeights8.hpp) spends its time in: for each column of a vector, an order of a few
// weights such that the products of those that share a sum of 16 bits fit it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct PermuteLoops8
{
    /// Numbers of the depth that a step takes of each column.
    static constexpr size_t StepDepth = 8;
    /// Bytes of a step for each column: an index for each of the eight numbers, of four bits, and the weights.
    static constexpr size_t StepBytes = 12;

    /// Orders weights of two vectors of columns, [depth][2 * lanes] int8, for the numbers from `firstIndex` on of the
    /// sixteen that a step chooses from. Writes [vector][depth / StepDepth] steps, aligned, those that can be coupled
    /// first, and how many of each vector's can be; -1: the products of two do not fit a sum of 16 bits either.
    using ArrangeFunction = void (*)(const std::byte* weights, uint32_t firstIndex, std::byte* steps,
                                     int (&numCoupled)[2]);

    ArrangeFunction m_ArrangeEight = nullptr;
    ArrangeFunction m_ArrangeSixteen = nullptr;
};

/// Precondition: the engine has tiles of permuted weights.
const PermuteLoops8& GetPermuteLoops8();

} // namespace tenon::cpu
