// SPDX-License-Identifier: Apache-2.0
// sums[r] = bias[r] + sum over k of data[r][k] * weights[r][k], of int16, wrapping in 32 bits. Called by Svdf.cpp for
// its time filters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct RowDotsInt16
{
    /// Rows of weights are padded with zeros to a multiple of this; as many elements beyond the data may be read.
    static constexpr size_t Unit = 8;

    const int16_t* m_Data = nullptr;    ///< [rows][depth]
    const int16_t* m_Weights = nullptr; ///< [rows][depth rounded up to Unit]
    const int32_t* m_Bias = nullptr;    ///< [rows]
    size_t m_Rows = 0;
    size_t m_Depth = 0;
    int32_t* m_Sums = nullptr; ///< [rows]; sums wrap on overflow
};

/// Precondition: the processor has vectors, see CpuFeatures.
void RunRowDotsInt16(const RowDotsInt16& dots);

} // namespace tenon::cpu
