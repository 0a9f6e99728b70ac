// SPDX-License-Identifier: Apache-2.0
// Zero-point correction of an integer GEMM (the identity that gemmlowp uses):
//
//   sum (a - za)(w - zw) = sum a w' - z' sum a - za sum (w - zw)
//
// with w' = w XOR 0x80 (biased by 128) or w, and z' = zw moved likewise. Where the kernel reads biased data, a and za
// are 128 more; row sums over the stored bytes then lack 128 * depth, which the column correction adds times -z'.
//
//   column correction: a number per output channel, added to its bias when weights are packed
//   row correction:    -z' * sum_k a[r][k], computed per row at run time; 0 where z' = 0 (int8 weights, zero point 0)
//
// Split weights are w' = w - zw, z' = 0.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Groups of the depth, padded to the kernel's group unit.
inline size_t GetNumGroups8(const TileSet8& tiles, size_t depth)
{
    return DivideUp(DivideUp(depth, tiles.GetGroupDepth()), tiles.m_GroupUnit) * tiles.m_GroupUnit;
}

struct Form8
{
    /// XOR mask of the weight bytes: 0x80 turns int8 into uint8 (biased by 128) or back, so that they match the
    /// signedness of the instruction. Applied when weights are packed, or on load for weights used in place.
    uint8_t m_Flip = 0;
    int32_t m_RowFactor = 0; ///< row correction = this factor * sum of the row's data; 0: rows need no correction
    int32_t m_DataShift = 0; ///< 128 or -128 where the kernel reads biased data, else 0
    bool m_SumsRead = false; ///< row sums are taken over the biased bytes, not over the stored ones

    Form8() = default;
    Form8(const TileSet8& tiles, bool areWeightsSigned, int32_t zeroPoint)
        : m_DataShift(!tiles.m_FlipsData                                                           ? 0
                      : tiles.m_Signs == Signs8::BothSigned || tiles.m_Signs == Signs8::DataSigned ? -128
                                                                                                   : 128),
          m_SumsRead(tiles.m_FlipsRows)
    {
        if (tiles.m_Layout == Layout8::Nibbles)
        {
            m_RowFactor = -(zeroPoint + Engine8::NibbleZero);
        }
        else if (tiles.m_Layout == Layout8::Dots || tiles.AreStored())
        {
            const bool takesUnsigned = tiles.m_Signs == Signs8::DataSigned || tiles.m_Signs == Signs8::BothUnsigned;
            m_Flip = takesUnsigned == areWeightsSigned ? 0x80 : 0;
            m_RowFactor = -(zeroPoint + (m_Flip == 0 ? 0 : areWeightsSigned ? 128 : -128));
        }
    }

    /// Column correction, for microkernels whose data are not int16. `sum`: the column's sum of weights less their zero
    /// point.
    int64_t GetCorrection(int64_t sum, size_t depth, int32_t dataZeroPoint) const
    {
        // Difference of the row sums of biased and of stored data.
        const int64_t lacking = m_SumsRead ? 0 : m_DataShift * static_cast<int64_t>(depth);
        return -(dataZeroPoint + m_DataShift) * sum + m_RowFactor * lacking;
    }
};

} // namespace tenon::cpu
