// SPDX-License-Identifier: Apache-2.0
// Functions of a byte that are a line on either side of its zero point, clamped: changes of quantization, ReLU and its
// leaky kind, negation. Where a processor has no fast lookup of 256 bytes, products of 16 bits take a third to half of
// the time that a lookup does. Slopes of 15 bits round all bytes of two thirds of such functions as they are to be.
#pragma once

#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tenon::cpu
{

/// Bytes count as unsigned: those of signed types are 128 more.
struct ByteLines
{
    /// A factor: m_Whole + m_Rest / 2^15.
    struct Slope
    {
        int16_t m_Whole = 0;
        int16_t m_Rest = 0;
    };

    uint8_t m_FlipInput = 0; ///< 0x80 for signed types
    uint8_t m_FlipOutput = 0;
    int16_t m_Knee = 0;   ///< the input's zero point
    int16_t m_Offset = 0; ///< the output's
    Slope m_Above;        ///< from the knee on
    Slope m_Below;
    uint8_t m_Min = 0;
    uint8_t m_Max = 255;

    bool IsStraight() const { return m_Above.m_Whole == m_Below.m_Whole && m_Above.m_Rest == m_Below.m_Rest; }
    /// Of stored bytes.
    uint8_t operator()(uint8_t stored) const;
};

/// Lines that give the very bytes of the table, whose input and output have these types and zero points; none if there
/// are no such.
std::optional<ByteLines> FindByteLines(const ByteTable& table, const TensorInfo& input, const TensorInfo& output);

/// out[i] = lines(in[i]); `out` may be `in`. Precondition: the processor has vectors, see CpuFeatures.
void RunByteLines(const ByteLines& lines, const uint8_t* in, uint8_t* out, size_t count);

} // namespace tenon::cpu
