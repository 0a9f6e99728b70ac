// SPDX-License-Identifier: Apache-2.0
// Loops over 16-bit quantized elements that compute each from its own, the numbers of TFLite's integer arithmetic: what
// is scaled and clamped, and what is interpolated in tables.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/reference/kernels/SigmoidTable.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Both zero points are 0.
struct ShortScale
{
    backends::QuantizedMultiplier m_Positive;
    backends::QuantizedMultiplier m_Negative; ///< of elements below 0; not negative itself
    bool m_FlipsPositive = false;             ///< elements are negated before they are scaled
    bool m_FlipsNegative = false;             ///< likewise those below 0
    bool m_FlipsScaled = false;               ///< what elements below 0 are scaled to is negated
    int16_t m_Min = INT16_MIN;
    int16_t m_Max = INT16_MAX;
};

/// For all: `out` may be `in`.
struct ShortLoops
{
    /// Elements between m_Min and m_Max, not scaled.
    void (*m_Clamp)(const ShortScale& scale, const int16_t* in, int16_t* out, size_t count);
    /// By m_Positive, whatever the sign; nothing is flipped behind the scaling.
    void (*m_Scale)(const ShortScale& scale, const int16_t* in, int16_t* out, size_t count);
    /// By one multiplier for each sign; nothing is flipped before the scaling.
    void (*m_ScaleSigns)(const ShortScale& scale, const int16_t* in, int16_t* out, size_t count);
    /// As ref::Interpolate in a table of ref::InterpolatedTableEntries.
    void (*m_Interpolate)(const int16_t* entries, const int16_t* in, int16_t* out, size_t count);
    /// As the table's functions. Precondition: HasShortSigmoid.
    void (*m_Sigmoid)(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count);
    void (*m_TanH)(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count);
};

/// Those of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const ShortLoops& GetShortLoops();

/// Whether inputs times the table's multiplier fit 32 bits.
bool HasShortSigmoid(const ref::SigmoidTable& table);

} // namespace tenon::cpu
