// SPDX-License-Identifier: Apache-2.0
// What permuting of weights (PermutedWeightsInt8.hpp) spends its time in: for each column of a vector, an order and
// signs of eight weights such that the products of four that share a sum of 16 bits fit it.
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

    /// So many of a column's eight weights may be -128, which has no other sign.
    static constexpr size_t MostLeast = 2;

    /// Orders weights of two vectors of columns, [StepDepth][2 * lanes] int8. Writes [2] steps and whether each one is
    /// coupled; adds to mirrored[2 * lanes] the weights of those numbers that are taken as mirrored. Steps and sums are
    /// aligned.
    void (*m_Arrange)(const std::byte* weights, std::byte* steps, int32_t* mirrored, bool (&areCoupled)[2]) = nullptr;
};

/// Precondition: the engine has tiles of permuted weights.
const PermuteLoops8& GetPermuteLoops8();

} // namespace tenon::cpu
