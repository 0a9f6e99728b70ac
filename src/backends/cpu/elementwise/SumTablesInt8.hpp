// SPDX-License-Identifier: Apache-2.0
// Quantized sums by four tables of 256 bytes, for processors that hold such tables in registers (AVX-512 VBMI).
//
// A rounded sum round(f(a) + g(b)) is floor(f(a)) + floor(g(b)), plus one where the two fractions (g with the half that
// rounds) add up to one. Only the order of the 512 fractions matters, and a byte holds the rank:
//   out = StepsB[b] + (RanksA[a] > RanksB[b] ? 1 : 0) +/- StepsA[a]
// The arithmetic is saturating uint8; the steps of the first m_Negative values of a are subtracted. That takes little
// more than half of the instructions that floats take. Called by BinaryInt8.cpp.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Tables by stored byte. The output, as saturated uint8, is m_StepsB[b], plus one if m_RanksA[a] > m_RanksB[b], plus
/// m_StepsA[a] (minus for the first m_Negative values of a).
struct SumTablesInt8
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

/// Fills the tables for round(a + b), where `a` and `b` hold the contribution of each value in steps of the output, and
/// `b` also the half for rounding. Values are in ascending order, from -128 for signed types; `signXor` as in
/// BinaryInt8. `a` must not decrease. False if the ranks do not fit bytes. The contributions of b must not span more
/// than 255 steps.
bool FillSumTablesInt8(const std::array<double, SumTablesInt8::Values>& a,
                       const std::array<double, SumTablesInt8::Values>& b, uint8_t signXor, SumTablesInt8& tables);

/// The loop over BinaryInt8::m_Tables, for two vectors; null if the processor has no fast lookup. Precondition: it has
/// vectors, see CpuFeatures.
BinaryInt8::Loop GetSumTableLoopInt8(bool isSigned);

} // namespace tenon::cpu
