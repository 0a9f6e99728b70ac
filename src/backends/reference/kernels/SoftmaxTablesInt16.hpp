// SPDX-License-Identifier: Apache-2.0
// Softmax of 16-bit quantized tensors, bit for bit as TFLite's reference kernel computes it: powers and the reciprocal
// of their sum come from tables over [-10, 0] and [0, 1]. Used by Softmax, here and in CpuAcc.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/LookupTable.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tenon::ref
{

class SoftmaxTablesInt16
{
public:
    /// The reciprocal of the sum of a row: powers are multiplied by m_Scale, and shifted to the right with rounding.
    struct Factor
    {
        int16_t m_Scale = 0;
        int m_Shift = 0; ///< within [0, 30]
    };

    SoftmaxTablesInt16(float beta, float inputScale)
        : m_Multiplier(backends::QuantizeMultiplier(static_cast<double>(inputScale * beta) / (10.0 / Range))),
          m_Exp(InterpolatedTable::Make<double>(10.0 / Range, std::numeric_limits<int16_t>::max(), 2.0 / Range,
                                                [](double x) { return std::exp(x); })),
          m_Reciprocal(InterpolatedTable::Make<double>(1.0 / Range, std::numeric_limits<int16_t>::min(), 2.0 / Range,
                                                       [](double x) { return 1.0 / (1.0 + x); }))
    {
    }

    /// The power of an element minus the largest element of its row.
    int16_t GetPower(int32_t difference) const
    {
        const int32_t scaled = backends::MultiplySaturating(difference, m_Multiplier);
        return m_Exp[Saturate(backends::SaturatingAdd(scaled, std::numeric_limits<int16_t>::max()))];
    }

    /// The factor for the sum of all powers.
    Factor GetFactor(int64_t total) const
    {
        // The sum, which has 15 fraction bits, as 2^n * (1 + x): the second table has 1 / (1 + x).
        const auto sum = static_cast<uint32_t>(std::clamp<int64_t>(total, 1, std::numeric_limits<int32_t>::max()));
        const int headroom = std::countl_zero(sum);
        const auto shifted = static_cast<int32_t>(((static_cast<int64_t>(sum) << (headroom - 1)) + (1 << 13)) >> 14);
        return {m_Reciprocal[Saturate(shifted - ((1 << 15) + (1 << 16)))], 31 - headroom};
    }

    backends::QuantizedMultiplier GetMultiplier() const { return m_Multiplier; }
    /// The table of the powers, which GetPower reads.
    const InterpolatedTable& GetTable() const { return m_Exp; }

private:
    static constexpr double Range = 65535.0;

    static int16_t Saturate(int32_t value)
    {
        return static_cast<int16_t>(
            std::clamp<int32_t>(value, std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()));
    }

    backends::QuantizedMultiplier m_Multiplier;
    InterpolatedTable m_Exp;
    InterpolatedTable m_Reciprocal;
};

} // namespace tenon::ref
