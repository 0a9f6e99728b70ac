// SPDX-License-Identifier: Apache-2.0
// See RequantizeArraysInt16.hpp.
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"

#include "backends/common/Quantization.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenon::cpu
{

namespace
{

/// The multiplier of MultiplyReducedSaturating for int64 sums, as a double.
double GetShortScale(backends::QuantizedMultiplier m)
{
    const int32_t reduced = m.m_Multiplier < 0x7FFF0000 ? (m.m_Multiplier + (1 << 15)) >> 16 : 0x7FFF;
    return std::ldexp(static_cast<double>(reduced), m.m_Shift - 15);
}

} // namespace

RequantizeArraysInt16::RequantizeArraysInt16(size_t paddedColumns, RoundingInt16 rounding)
    : m_NumPaddedColumns(paddedColumns), m_Rounding(rounding), m_Memory(paddedColumns * PaddedColumnBytes)
{
    if (paddedColumns != 0)
    {
        std::memset(m_Memory.Data(), 0, m_Memory.Bytes());
    }
}

void RequantizeArraysInt16::Set(size_t paddedColumn, int64_t magnitude, int64_t bias, double scale)
{
    if (m_Rounding == RoundingInt16::FixedPoint)
    {
        // Sums of several slices get their bias in double.
        const bool isOneSlice = magnitude <= MaxMagnitude;
        m_IsExact = m_IsExact && (!isOneSlice || magnitude * 32768 + std::abs(bias) <= INT32_MAX);
        const backends::QuantizedMultiplier multiplier = backends::QuantizeMultiplier(scale);
        Ints(0)[paddedColumn] = static_cast<int32_t>(bias);
        Ints(1)[paddedColumn] = multiplier.m_Multiplier;
        Ints(2)[paddedColumn] = std::max(0, -multiplier.m_Shift);
        Ints(3)[paddedColumn] = std::max(0, multiplier.m_Shift);
        return;
    }
    const bool isHalfUp = m_Rounding == RoundingInt16::HalfUp;
    const double factor = isHalfUp ? GetShortScale(backends::QuantizeMultiplier(scale)) : scale;
    const double maxSum = static_cast<double>(magnitude) * 32768.0 + std::abs(static_cast<double>(bias));
    const double maxExact = std::ldexp(1.0, isHalfUp ? 37 : 52);
    constexpr double MaxResult = 2147483646.0; // the reference kernel's results wrap beyond this
    m_IsExact = m_IsExact && maxSum <= maxExact && maxSum * factor <= MaxResult;
    Doubles(0)[paddedColumn] = isHalfUp ? static_cast<double>(bias) * factor + 0.5 : static_cast<double>(bias);
    Doubles(1)[paddedColumn] = factor;
}

RequantizeColumnsInt16 RequantizeArraysInt16::From(size_t paddedColumn) const
{
    RequantizeColumnsInt16 columns;
    columns.m_Rounding = m_Rounding;
    if (m_Rounding == RoundingInt16::FixedPoint)
    {
        columns.m_IntBias = Ints(0) + paddedColumn;
        columns.m_Multiplier = Ints(1) + paddedColumn;
        columns.m_Right = Ints(2) + paddedColumn;
        columns.m_Left = Ints(3) + paddedColumn;
    }
    else
    {
        columns.m_Bias = Doubles(0) + paddedColumn;
        columns.m_Scale = Doubles(1) + paddedColumn;
    }
    return columns;
}

} // namespace tenon::cpu
