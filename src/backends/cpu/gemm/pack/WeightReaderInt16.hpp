// SPDX-License-Identifier: Apache-2.0
// WeightReaderInt16: the constant weights (int8 or int4), bias and scales of a layer of int16 data, as packing reads
// them.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

struct WeightReaderInt16
{
    /// Input 1 of a layer whose bias is input 2 or missing. `sumsOf32Bits`: see Convolution2dDescriptor.
    WeightReaderInt16(const LayerView& layer, size_t columns, bool isDouble, bool sumsOf32Bits = false);
    /// The constant matrix of a BatchMatMul, with one scale for all columns.
    WeightReaderInt16(const int8_t* values, double scale);

    WeightReaderInt16(const WeightReaderInt16&) = delete;
    WeightReaderInt16& operator=(const WeightReaderInt16&) = delete;

    int32_t GetValue(size_t index) const { return m_Values[index] - m_ZeroPoint; }
    /// Clamps the sums of magnitudes of columns to their possible range, so that computations with them cannot
    /// overflow, whatever the file contains.
    std::vector<int64_t> ClampMagnitudes(const int64_t* sums, size_t columns, size_t depth) const;
    int64_t GetBias(size_t column) const;
    double GetScale(size_t column) const { return m_Scales[m_Scales.size() == 1 ? 0 : column]; }

    const int8_t* m_Values = nullptr; ///< as stored, one byte each
    int8_t m_ZeroPoint = 0;           ///< kernels refuse weights with one beyond their type
    RoundingInt16 m_Rounding = RoundingInt16::HalfUp;
    std::vector<double> m_Scales; ///< one for all columns, or one for each

private:
    const void* m_Bias = nullptr;
    bool m_IsBias64 = false;
    std::vector<int8_t> m_Unpacked; ///< weights of 4 bits, unpacked
};

} // namespace tenon::cpu
