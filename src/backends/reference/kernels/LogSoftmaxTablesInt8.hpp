// SPDX-License-Identifier: Apache-2.0
// The numbers of LogSoftmax of 8-bit tensors, in TFLite's fixed point. Used by LogSoftmax, and by that of CpuAcc.
#pragma once

#include "backends/common/FixedPoint.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// Differences of 8-bit numbers to the largest one of their row, all of which are in tables.
class LogSoftmaxTablesInt8
{
public:
    /// Of differences times beta * scale, beta > 0.
    LogSoftmaxTablesInt8(float beta, float scale);

    /// beta * scale * -difference by the difference, with InputIntegerBits.
    const std::array<int32_t, 256>& GetScaled() const { return m_Scaled; }
    /// exp of that, from 0 to 2^19; 0 for differences that are too large.
    const std::array<int32_t, 256>& GetPowers() const { return m_Powers; }

    /// What becomes of the sum of a row's powers.
    struct RowSum
    {
        int32_t m_LogSum = 0; ///< with InputIntegerBits
        uint32_t m_Reach = 0; ///< what differs by so much or more becomes the lowest number
    };
    RowSum Finish(int64_t sum) const;

    /// The result in steps of the output, of 1/16. Precondition: the difference is less than the row's reach.
    int32_t GetSteps(size_t difference, int32_t logSum) const
    {
        return backends::RoundingDivideByPot(WrappingSubtract(m_Scaled[difference], logSum), BitsOfStep);
    }

    static constexpr int InputIntegerBits = 5;
    static constexpr int OutputIntegerBits = 4;
    static constexpr int BitsOfStep = 31 - InputIntegerBits - OutputIntegerBits;

private:
    static constexpr int SumIntegerBits = 12;

    std::array<int32_t, 256> m_Scaled{};
    std::array<int32_t, 256> m_Powers{};
    int32_t m_MinDifference = 0;
    backends::QuantizedMultiplier m_Back; ///< from a number with InputIntegerBits to steps of the input
};

} // namespace tenon::ref
