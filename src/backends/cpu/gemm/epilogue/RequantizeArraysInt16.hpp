// SPDX-License-Identifier: Apache-2.0
// RequantizeArraysInt16: per-column constants of requantization (bias, scale or multiplier and shifts) in the order in
// which the epilogue reads them, part of the packed weights of int16 data; and the epilogue's loops.
#pragma once

#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class RequantizeArraysInt16
{
public:
    /// Bytes for each padded column.
    static constexpr size_t PaddedColumnBytes = 2 * sizeof(double);
    /// Limit on the sum of a column's weight magnitudes: no sum of int16 data then overflows int32.
    static constexpr int64_t MaxMagnitude = 65535;

    /// For `paddedColumns` columns, which give 0 until they are set.
    RequantizeArraysInt16(size_t paddedColumns, RoundingInt16 rounding);

    /// `magnitude`: the sum of magnitudes of the column's weights.
    void Set(size_t paddedColumn, int64_t magnitude, int64_t bias, double scale);

    RoundingInt16 GetRounding() const { return m_Rounding; }
    /// Whether MicrokernelsInt16::m_Requantize gives the exact results of the reference kernel.
    bool IsExact() const { return m_IsExact; }

    /// The arrays from `paddedColumn` on. The caller sets the range of the output.
    RequantizeColumnsInt16 From(size_t paddedColumn) const;

private:
    double* Doubles(size_t array) const
    {
        return reinterpret_cast<double*>(m_Memory.Data()) + array * m_NumPaddedColumns;
    }
    int32_t* Ints(size_t array) const
    {
        return reinterpret_cast<int32_t*>(m_Memory.Data()) + array * m_NumPaddedColumns;
    }

    size_t m_NumPaddedColumns;
    RoundingInt16 m_Rounding;
    AlignedMemory m_Memory; ///< bias and scale; or bias, multiplier, right and left shifts
    bool m_IsExact = true;
};

/// Sets m_Accumulate and m_Requantize of a set of microkernels to the loops for this processor.
void SetRequantization(MicrokernelsInt16& microkernels);

} // namespace tenon::cpu
