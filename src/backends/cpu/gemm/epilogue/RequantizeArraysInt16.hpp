// SPDX-License-Identifier: Apache-2.0
// What turns sums of products of 16-bit data into 16-bit numbers, column by column, as the inner loops read it. Part of
// packed weights.
#pragma once

#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class RequantizeArrays16
{
public:
    /// Bytes for each place.
    static constexpr size_t PlaceBytes = 2 * sizeof(double);
    /// What the weights' magnitudes of a column may add up to, so that no sum of 16-bit data overflows 32 bits.
    static constexpr int64_t MostMagnitude = 65535;

    /// For so many places, all of which give 0 at first.
    RequantizeArrays16(size_t places, Rounding16 rounding);

    /// `magnitude`: of all of the column's weights, added up.
    void Set(size_t place, int64_t magnitude, int64_t bias, double scale);

    Rounding16 GetRounding() const { return m_Rounding; }
    /// Whether Engine16::m_Requantize gives the numbers of the reference kernel.
    bool IsExact() const { return m_IsExact; }

    /// From this place on. The range of the output is the caller's to set.
    Columns16 From(size_t place) const;

private:
    double* Doubles(size_t array) const { return reinterpret_cast<double*>(m_Memory.Data()) + array * m_Places; }
    int32_t* Ints(size_t array) const { return reinterpret_cast<int32_t*>(m_Memory.Data()) + array * m_Places; }

    size_t m_Places;
    Rounding16 m_Rounding;
    AlignedMemory m_Memory; ///< bias and scale; or bias, multiplier, shifts to the right and left
    bool m_IsExact = true;
};

} // namespace tenon::cpu
