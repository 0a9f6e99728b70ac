// SPDX-License-Identifier: Apache-2.0
// What turns sums of products of bytes into bytes, channel by channel, as the inner loops read it. Part of packed
// weights.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "common/AlignedMemory.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tenon::cpu
{

/// How sums become bytes.
enum class Rounding8 : uint8_t
{
    FixedPoint, ///< by a 31-bit multiplier, then a rounding shift: convolutions
    Double,     ///< in double precision, rounded once: FullyConnected
    None        ///< they become floats: float data, quantized while running
};

class RequantizeArrays
{
public:
    /// For so many places, all of which give 0 at first.
    RequantizeArrays(size_t places, Rounding8 rounding, int32_t zeroPoint)
        : m_Places(places), m_Rounding(rounding), m_ZeroPoint(zeroPoint), m_Memory(places * 4 * sizeof(int32_t))
    {
        if (places != 0)
        {
            std::memset(m_Memory.Data(), 0, m_Memory.Bytes());
        }
        std::fill_n(Ints(2), places, rounding == Rounding8::FixedPoint ? 1 : 0);
    }

    /// Whether none of the steps from sums up to this to a byte overflows. (Corrections for zero points may: they
    /// cancel out.)
    static bool IsExactFor(int64_t mostSum) { return mostSum < int64_t{1} << 30; }

    /// `mostSum`: what no sum with its own bias exceeds. `bias`: the same with corrections for zero points.
    void Set(size_t place, int64_t mostSum, int64_t bias, double scale)
    {
        m_IsExact = m_IsExact && IsExactFor(mostSum);
        Ints(0)[place] = static_cast<int32_t>(bias);
        if (m_Rounding != Rounding8::FixedPoint)
        {
            std::memcpy(Ints(2) + 2 * place, &scale, sizeof(scale));
            return;
        }
        const backends::QuantizedMultiplier multiplier = backends::QuantizeMultiplier(scale);
        m_AllShift = m_AllShift && RequantizeColumns::IsShifted(multiplier.m_Shift);
        Ints(1)[place] = multiplier.m_Multiplier;
        Ints(2)[place] = std::max(0, -multiplier.m_Shift);
        Ints(3)[place] = std::max(0, multiplier.m_Shift);
    }

    /// Sets the columns of a product, an int32 bias of the layer's included. `correction`: what sums of a column lack,
    /// from the sum of its weights less their zero point. False where the scales are not those of so many columns, of
    /// which the reference kernel says what is wrong.
    bool SetColumns(const LayerView& layer, const ColumnSums8& sums, const WeightBytes8& weights,
                    FunctionRef<int64_t(int64_t)> correction);

    /// Whether Engine8::m_Requantize gives the bytes of the reference kernel.
    bool IsExact() const { return m_IsExact; }

    /// What sums begin with, from this place on.
    const int32_t* GetBias(size_t place) const { return Ints(0) + place; }
    /// From this place on. The range of the output is the caller's to set.
    RequantizeColumns From(size_t place) const
    {
        RequantizeColumns columns;
        if (m_Rounding != Rounding8::FixedPoint)
        {
            columns.m_Scale = reinterpret_cast<const double*>(Ints(2)) + place;
        }
        else
        {
            columns.m_Multiplier = Ints(1) + place;
            columns.m_Right = Ints(2) + place;
            columns.m_Left = Ints(3) + place;
            columns.m_AllShift = m_AllShift;
        }
        columns.m_ZeroPoint = m_ZeroPoint;
        return columns;
    }

private:
    int32_t* Ints(size_t array) const { return reinterpret_cast<int32_t*>(m_Memory.Data()) + array * m_Places; }

    size_t m_Places;
    Rounding8 m_Rounding;
    int32_t m_ZeroPoint;    ///< of the output
    AlignedMemory m_Memory; ///< bias, multiplier, shifts to the right and left; or bias, nothing, doubles
    bool m_IsExact = true;
    bool m_AllShift = true;
};

} // namespace tenon::cpu
