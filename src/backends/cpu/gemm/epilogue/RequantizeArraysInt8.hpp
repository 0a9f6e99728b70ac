// SPDX-License-Identifier: Apache-2.0
// RequantizeArraysInt8: per-channel bias, multiplier and shifts (or doubles, or floats), laid out as the requantization
// loops read them. Part of packed weights.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "common/AlignedMemory.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tenon::cpu
{

/// Rounding of requantization.
enum class RoundingInt8 : uint8_t
{
    FixedPoint, ///< by a 31-bit multiplier, then a rounding shift: convolutions
    Double,     ///< in double precision, rounded once: FullyConnected
    Float,      ///< by a float factor, half to even: RequantizationMode::FloatHalfEven
    None        ///< no requantization: the output is float (hybrid), or the sums themselves
};

/// The rounding that a layer's mode asks for; `fixed` is that of FixedPoint.
inline RoundingInt8 GetRounding(RequantizationMode mode, RoundingInt8 fixed)
{
    return mode == RequantizationMode::FloatHalfEven ? RoundingInt8::Float : fixed;
}
/// The same, and None with float data.
RoundingInt8 GetRounding(const LayerView& layer, RoundingInt8 fixed = RoundingInt8::FixedPoint);

/// The scales of sums of products for a rounding other than None: one for each scale of the weights.
std::vector<double> GetScales(const TensorInfo& data, const TensorInfo& weights, const TensorInfo& output,
                              RoundingInt8 rounding);
std::vector<double> GetScales(const LayerView& layer, RoundingInt8 rounding);

/// RequantizeColumns::FitsRegisters for columns of these scales.
bool FitsRegisters(const std::vector<double>& scales, RoundingInt8 rounding);

class RequantizeArraysInt8
{
public:
    /// Arrays of `places` entries, which give 0 at first.
    RequantizeArraysInt8(size_t places, RoundingInt8 rounding, int32_t zeroPoint)
        : m_NumPaddedColumns(places), m_Rounding(rounding), m_ZeroPoint(zeroPoint),
          m_Memory(places * 4 * sizeof(int32_t))
    {
        if (places != 0)
        {
            std::memset(m_Memory.Data(), 0, m_Memory.Bytes());
        }
        std::fill_n(Ints(2), places, rounding == RoundingInt8::FixedPoint ? 1 : 0);
    }

    /// Whether no step of the requantization overflows for sums of this magnitude. (Zero-point corrections may
    /// overflow: they cancel out.)
    static bool IsExactFor(int64_t maxSum) { return maxSum < int64_t{1} << 30; }

    /// `maxSum`: upper bound of |sum| with its own bias. `bias`: that bias with zero-point corrections. `scale` is a
    /// number of Float32 with RoundingInt8::Float.
    void Set(size_t place, int64_t maxSum, int64_t bias, double scale)
    {
        m_IsExact = m_IsExact && IsExactFor(maxSum);
        Ints(0)[place] = static_cast<int32_t>(bias);
        if (m_Rounding == RoundingInt8::Float)
        {
            const auto factor = static_cast<float>(scale);
            std::memcpy(Ints(2) + place, &factor, sizeof(factor));
            return;
        }
        if (m_Rounding != RoundingInt8::FixedPoint)
        {
            std::memcpy(Ints(2) + 2 * place, &scale, sizeof(scale));
            return;
        }
        const backends::QuantizedMultiplier multiplier = backends::QuantizeMultiplier(scale);
        m_HasOnlyRightShifts = m_HasOnlyRightShifts && RequantizeColumns::IsShifted(multiplier.m_Shift);
        Ints(1)[place] = multiplier.m_Multiplier;
        Ints(2)[place] = std::max(0, -multiplier.m_Shift);
        Ints(3)[place] = std::max(0, multiplier.m_Shift);
    }

    /// Sets all columns, with an int32 bias of the layer. `correction`: column correction, from the sum of a column's
    /// weights less their zero point. Returns false where the number of scales does not match the columns; the
    /// reference kernel reports the error.
    bool SetColumns(const LayerView& layer, const ColumnSumsInt8& sums, const WeightFormatInt8& weights,
                    FunctionRef<int64_t(int64_t)> correction);

    /// Whether MicrokernelsInt8::m_Requantize gives the results of the reference kernel.
    bool IsExact() const { return m_IsExact; }

    /// Initial accumulators, from this index on.
    const int32_t* GetBias(size_t place) const { return Ints(0) + place; }
    /// The arrays from this index on. The caller sets the range of the output.
    RequantizeColumns From(size_t place) const
    {
        RequantizeColumns columns;
        if (m_Rounding == RoundingInt8::Float)
        {
            columns.m_FloatScale = reinterpret_cast<const float*>(Ints(2)) + place;
        }
        else if (m_Rounding != RoundingInt8::FixedPoint)
        {
            columns.m_Scale = reinterpret_cast<const double*>(Ints(2)) + place;
        }
        else
        {
            columns.m_Multiplier = Ints(1) + place;
            columns.m_Right = Ints(2) + place;
            columns.m_Left = Ints(3) + place;
            columns.m_HasOnlyRightShifts = m_HasOnlyRightShifts;
        }
        columns.m_ZeroPoint = m_ZeroPoint;
        return columns;
    }

private:
    int32_t* Ints(size_t array) const
    {
        return reinterpret_cast<int32_t*>(m_Memory.Data()) + array * m_NumPaddedColumns;
    }

    size_t m_NumPaddedColumns;
    RoundingInt8 m_Rounding;
    int32_t m_ZeroPoint;    ///< of the output
    AlignedMemory m_Memory; ///< bias, multiplier, right and left shifts; or bias, nothing, doubles or floats
    bool m_IsExact = true;
    bool m_HasOnlyRightShifts = true;
};

} // namespace tenon::cpu
