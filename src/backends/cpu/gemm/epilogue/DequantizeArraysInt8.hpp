// SPDX-License-Identifier: Apache-2.0
// DequantizeArraysInt8: per-channel column sums, weight scales and float bias for hybrid layers.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>

namespace tenon::cpu
{

class DequantizeArraysInt8
{
public:
    /// Sets all columns, with the weights' scales and a float bias of the layer. `places`: length of the arrays, see
    /// GetPaddedColumnInt8. Returns false, with nothing set, where the number of scales does not match the columns, or
    /// sums may overflow: the reference kernel runs these.
    bool SetColumns(const LayerView& layer, const ColumnSumsInt8& sums, const WeightFormatInt8& weights, size_t places);

    /// The arrays from this index on. The caller sets the clamp.
    DequantizeColumns From(size_t place) const
    {
        DequantizeColumns columns;
        columns.m_ColumnSums = reinterpret_cast<const int32_t*>(m_Memory.Data()) + place;
        columns.m_Scales = Floats(1) + place;
        columns.m_Bias = Floats(2) + place;
        return columns;
    }

private:
    float* Floats(size_t array) const { return reinterpret_cast<float*>(m_Memory.Data()) + array * m_NumPaddedColumns; }

    size_t m_NumPaddedColumns = 0;
    AlignedMemory m_Memory; ///< column sums, scales, biases
};

} // namespace tenon::cpu
