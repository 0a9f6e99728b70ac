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
inline size_t GetNumGroupsInt8(const MicrokernelSetInt8& tiles, size_t depth)
{
    return DivideUp(DivideUp(depth, tiles.GetGroupDepth()), tiles.m_GroupUnit) * tiles.m_GroupUnit;
}

struct ZeroPointCorrectionInt8
{
    /// XOR mask of the weight bytes: 0x80 turns int8 into uint8 (biased by 128) or back, so that they match the
    /// signedness of the instruction. Applied when weights are packed, or on load for weights used in place.
    uint8_t m_SignXor = 0;
    int32_t m_RowSumFactor = 0; ///< row correction = this factor * sum of the row's data; 0: rows need no correction
    int32_t m_DataBias = 0;     ///< 128 or -128 where the kernel reads biased data, else 0
    bool m_IsRowSumOfBiased = false; ///< row sums are taken over the biased bytes, not over the stored ones

    ZeroPointCorrectionInt8() = default;
    ZeroPointCorrectionInt8(const MicrokernelSetInt8& tiles, bool isWeightSigned, int32_t zeroPoint)
        : m_DataBias(!tiles.m_IsDataBiased ? 0
                     : tiles.m_Signs == OperandSignsInt8::BothSigned || tiles.m_Signs == OperandSignsInt8::DataSigned
                         ? -128
                         : 128),
          m_IsRowSumOfBiased(tiles.m_IsPackedDataBiased)
    {
        if (tiles.m_Layout == WeightLayoutInt8::Int4x8)
        {
            m_RowSumFactor = -(zeroPoint + MicrokernelsInt8::ZeroPointInt4);
        }
        else if (tiles.m_Layout == WeightLayoutInt8::Int8x4 || tiles.IsUnpacked())
        {
            const bool takesUnsigned =
                tiles.m_Signs == OperandSignsInt8::DataSigned || tiles.m_Signs == OperandSignsInt8::BothUnsigned;
            m_SignXor = takesUnsigned == isWeightSigned ? 0x80 : 0;
            m_RowSumFactor = -(zeroPoint + (m_SignXor == 0 ? 0 : isWeightSigned ? 128 : -128));
        }
    }

    /// Column correction, for microkernels whose data are not int16. `sum`: the column's sum of weights less their zero
    /// point.
    int64_t GetCorrection(int64_t sum, size_t depth, int32_t dataZeroPoint) const
    {
        // Difference of the row sums of biased and of stored data.
        const int64_t lacking = m_IsRowSumOfBiased ? 0 : m_DataBias * static_cast<int64_t>(depth);
        return -(dataZeroPoint + m_DataBias) * sum + m_RowSumFactor * lacking;
    }
};

} // namespace tenon::cpu
