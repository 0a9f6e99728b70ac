// SPDX-License-Identifier: Apache-2.0
// Quantized sums by tables: what each byte of either input adds to the output, in whole steps and a rank that stands
// for the rest of a step.
//
// A sum f(a) + g(b), rounded, has the whole steps of both, and one more where what is left of f(a) and g(b) comes to a
// step. Of what is left only the order counts, among 256 numbers of f and as many of g: a byte can hold the rank. Where
// tables of 256 bytes fit into registers, that takes little more than half of the instructions that floats do.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// By the bytes as they are stored. The output as uint8, saturated: m_StepsB[b], one more where
/// m_RanksA[a] > m_RanksB[b], then m_StepsA[a] more, or less for the first m_Negative values of a.
struct ByteSumTables
{
    static constexpr size_t Values = 256;
    using Table = std::array<uint8_t, Values>;

    alignas(64) Table m_StepsA;
    alignas(64) Table m_RanksA;
    alignas(64) Table m_StepsB; ///< at most 254
    alignas(64) Table m_RanksB;
    uint8_t m_Negative = 0;
    bool m_Swaps = false; ///< a is the second input
};

/// Fills the tables for a sum of what each value adds to the output, in steps of it; `b` with the half that rounds.
/// Values are in order, those of signed types from -128 on; `flip`: see ByteBinary. `a` does not fall from one value to
/// the next. False if ranks don't fit into bytes. Sums are wrong where those of b go through more than 255 steps.
bool FillByteSumTables(const std::array<double, ByteSumTables::Values>& a,
                       const std::array<double, ByteSumTables::Values>& b, uint8_t flip, ByteSumTables& tables);

/// The loop over ByteBinary::m_Tables, for two inputs that move; null where the processor is no good at it.
/// Precondition: it has vectors, see CpuFeatures.
ByteBinary::Loop GetByteSumLoop(bool isSigned);

} // namespace tenon::cpu
