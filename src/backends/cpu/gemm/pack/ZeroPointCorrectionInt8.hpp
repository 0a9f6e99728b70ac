// SPDX-License-Identifier: Apache-2.0
// How the weights of a product of bytes have to be stored for the tiles, and what that adds to sums. See
// PackedWeightsInt8.cpp for the formula.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Groups of the depth as the tiles read them, with what fills up the last unit.
inline size_t GetNumGroups8(const TileSet8& tiles, size_t depth)
{
    return DivideUp(DivideUp(depth, tiles.GetGroupDepth()), tiles.m_GroupUnit) * tiles.m_GroupUnit;
}

struct Form8
{
    /// Of the weights' bytes, which makes them of the sign that the dot product takes: when they are packed, or when
    /// they are read from where they are.
    uint8_t m_Flip = 0;
    int32_t m_RowFactor = 0; ///< what the sum of a row's data is to be multiplied by and added to its sums
    int32_t m_DataShift = 0; ///< what the product reads of data is so much more than what is stored
    bool m_SumsRead = false; ///< the sum of a row's data is that of what is read; else of what is stored

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

    /// To add to a column's sums, for tiles that are not wide. `sum`: of its weights less their zero point.
    int64_t GetCorrection(int64_t sum, size_t depth, int32_t dataZeroPoint) const
    {
        const int64_t lacking = m_SumsRead ? 0 : m_DataShift * static_cast<int64_t>(depth); // in the sums of rows
        return -(dataZeroPoint + m_DataShift) * sum + m_RowFactor * lacking;
    }
};

} // namespace tenon::cpu
