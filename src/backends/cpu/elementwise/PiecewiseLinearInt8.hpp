// SPDX-License-Identifier: Apache-2.0
// Functions of a byte that are two lines which meet at the input's zero point, the knee, clamped: requantization, ReLU,
// leaky ReLU and negation.
//   x = (in ^ m_InputSignXor) - m_Knee
//   out = clamp(m_Offset + x * whole + round(x * rest / 2^15), m_Min, m_Max) ^ m_OutputSignXor
// The slope whole + rest / 2^15 has one value above the knee and another one below. On processors without a fast lookup
// of 256 bytes 16-bit products take a third to half of the time of a lookup. The slopes are fitted to a table and
// verified for all 256 bytes; slopes with 15 fraction bits reproduce two thirds of such functions exactly. Called by
// UnaryInt8 (LookupTableInt8.cpp).
#pragma once

#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tenon::cpu
{

/// The function. Bytes of signed types are biased by 128 (XOR 0x80).
struct PiecewiseLinearInt8
{
    /// The slope m_Whole + m_Rest / 2^15.
    struct Slope
    {
        int16_t m_Whole = 0;
        int16_t m_Rest = 0;
    };

    uint8_t m_InputSignXor = 0; ///< 0x80 for signed types
    uint8_t m_OutputSignXor = 0;
    int16_t m_Knee = 0;   ///< the input's zero point
    int16_t m_Offset = 0; ///< the output's zero point
    Slope m_Above;        ///< the slope from the knee on
    Slope m_Below;
    uint8_t m_Min = 0;
    uint8_t m_Max = 255;

    bool IsStraight() const { return m_Above.m_Whole == m_Below.m_Whole && m_Above.m_Rest == m_Below.m_Rest; }
    /// The result for a stored byte.
    uint8_t operator()(uint8_t stored) const;
};

/// The function that gives exactly the table's bytes, for these types and zero points of input and output; none if
/// there is no such function.
std::optional<PiecewiseLinearInt8> FindPiecewiseLinearInt8(const LookupTableInt8& table, const TensorInfo& input,
                                                           const TensorInfo& output);

/// Applies the function to `count` bytes; `out` may be `in`. Precondition: the processor has vectors, see CpuFeatures.
void RunPiecewiseLinearInt8(const PiecewiseLinearInt8& lines, const uint8_t* in, uint8_t* out, size_t count);

} // namespace tenon::cpu
