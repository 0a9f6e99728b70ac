// SPDX-License-Identifier: Apache-2.0
// Loops of unary functions of 16-bit quantized elements, with the results of TFLite's integer arithmetic: scaling with
// a clamp, and interpolation in tables.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/reference/kernels/SigmoidTable.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Multipliers and clamp; the zero points of both sides are 0.
struct UnaryScaleInt16
{
    backends::QuantizedMultiplier m_Positive;
    backends::QuantizedMultiplier m_Negative; ///< for elements below 0; not negative itself
    bool m_NegatesPositive = false;           ///< elements from 0 on are negated before scaling
    bool m_NegatesNegative = false;           ///< elements below 0 are negated before scaling
    bool m_NegatesScaled = false;             ///< the results of elements below 0 are negated after scaling
    int16_t m_Min = INT16_MIN;
    int16_t m_Max = INT16_MAX;
};

/// The loops of a target. `out` may be `in` in each of them.
struct UnaryLoopsInt16
{
    /// Clamps to [m_Min, m_Max] without scaling.
    void (*m_Clamp)(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count);
    /// Scales all elements by m_Positive; nothing is negated after scaling.
    void (*m_Scale)(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count);
    /// Scales by one multiplier for each sign; nothing is negated before scaling.
    void (*m_ScaleSigns)(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count);
    /// ref::Interpolate in a table of ref::InterpolatedTableEntries.
    void (*m_Interpolate)(const int16_t* entries, const int16_t* in, int16_t* out, size_t count);
    /// The functions of SigmoidTable. Precondition: HasSigmoidInt16.
    void (*m_Sigmoid)(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count);
    void (*m_TanH)(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count);
};

/// The loops of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const UnaryLoopsInt16& GetUnaryLoopsInt16();

/// True if inputs times the table's multiplier fit 32 bits.
bool HasSigmoidInt16(const ref::SigmoidTable& table);

} // namespace tenon::cpu
