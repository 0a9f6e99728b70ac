// SPDX-License-Identifier: Apache-2.0
// What turns the sums of a product's columns into floats, for float data that are quantized while running.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>

namespace tenon::cpu
{

class FloatArrays8
{
public:
    /// For all columns, with the weights' scales and a float bias of the layer. `places`: see GetPlace8. False, and
    /// nothing is there, where scales are not those of so many columns, or sums may be too large: the reference kernel
    /// runs these.
    bool SetColumns(const LayerView& layer, const ColumnSums8& sums, const WeightBytes8& weights, size_t places);

    /// From this place on. The clamp is the caller's to set.
    FloatColumns From(size_t place) const
    {
        FloatColumns columns;
        columns.m_WeightSums = reinterpret_cast<const int32_t*>(m_Memory.Data()) + place;
        columns.m_Scales = Floats(1) + place;
        columns.m_Bias = Floats(2) + place;
        return columns;
    }

private:
    float* Floats(size_t array) const { return reinterpret_cast<float*>(m_Memory.Data()) + array * m_Places; }

    size_t m_Places = 0;
    AlignedMemory m_Memory; ///< sums of weights, scales, biases
};

} // namespace tenon::cpu
