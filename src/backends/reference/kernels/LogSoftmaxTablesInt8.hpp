// SPDX-License-Identifier: Apache-2.0
// The numbers of LogSoftmax of 8-bit tensors, in TFLite's fixed point. Used by LogSoftmax, here and in CpuAcc.
#pragma once

#include "backends/common/FixedPoint.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// Tables over all differences between an 8-bit number and the largest number of its row.
class LogSoftmaxTablesInt8
{
public:
    /// Tables for differences times beta * scale, beta > 0.
    LogSoftmaxTablesInt8(float beta, float scale);

    /// beta * scale * -difference by the difference, with InputIntegerBits.
    const std::array<int32_t, 256>& GetScaled() const { return m_Scaled; }
    /// exp of GetScaled(), from 0 to 2^19; 0 for differences that are too large.
    const std::array<int32_t, 256>& GetPowers() const { return m_Powers; }

    /// Values that follow from the sum of a row's powers.
    struct RowSum
    {
        int32_t m_LogSum = 0; ///< with InputIntegerBits
        uint32_t m_Reach = 0; ///< numbers with a difference of this or more become the lowest number
    };
    RowSum Finish(int64_t sum) const;

    /// The result in steps of the output, which are 1/16. Precondition: the difference is less than the row's reach.
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
