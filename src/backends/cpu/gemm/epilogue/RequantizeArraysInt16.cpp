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

RequantizeArrays16::RequantizeArrays16(size_t places, Rounding16 rounding)
    : m_Places(places), m_Rounding(rounding), m_Memory(places * PlaceBytes)
{
    if (places != 0)
    {
        std::memset(m_Memory.Data(), 0, m_Memory.Bytes());
    }
}

void RequantizeArrays16::Set(size_t place, int64_t magnitude, int64_t bias, double scale)
{
    if (m_Rounding == Rounding16::FixedPoint)
    {
        // Sums of several slices get their bias in double.
        const bool isOneSlice = magnitude <= MostMagnitude;
        m_IsExact = m_IsExact && (!isOneSlice || magnitude * 32768 + std::abs(bias) <= INT32_MAX);
        const backends::QuantizedMultiplier multiplier = backends::QuantizeMultiplier(scale);
        Ints(0)[place] = static_cast<int32_t>(bias);
        Ints(1)[place] = multiplier.m_Multiplier;
        Ints(2)[place] = std::max(0, -multiplier.m_Shift);
        Ints(3)[place] = std::max(0, multiplier.m_Shift);
        return;
    }
    const bool isHalfUp = m_Rounding == Rounding16::HalfUp;
    const double factor = isHalfUp ? GetShortScale(backends::QuantizeMultiplier(scale)) : scale;
    const double mostSum = static_cast<double>(magnitude) * 32768.0 + std::abs(static_cast<double>(bias));
    const double mostExact = std::ldexp(1.0, isHalfUp ? 37 : 52);
    constexpr double MostResult = 2147483646.0; // the reference kernel's results wrap beyond this
    m_IsExact = m_IsExact && mostSum <= mostExact && mostSum * factor <= MostResult;
    Doubles(0)[place] = isHalfUp ? static_cast<double>(bias) * factor + 0.5 : static_cast<double>(bias);
    Doubles(1)[place] = factor;
}

Columns16 RequantizeArrays16::From(size_t place) const
{
    Columns16 columns;
    columns.m_Rounding = m_Rounding;
    if (m_Rounding == Rounding16::FixedPoint)
    {
        columns.m_IntBias = Ints(0) + place;
        columns.m_Multiplier = Ints(1) + place;
        columns.m_Right = Ints(2) + place;
        columns.m_Left = Ints(3) + place;
    }
    else
    {
        columns.m_Bias = Doubles(0) + place;
        columns.m_Scale = Doubles(1) + place;
    }
    return columns;
}

} // namespace tenon::cpu
