// SPDX-License-Identifier: Apache-2.0
// Products of short rows of int16, as units of Svdf have over time and rank.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct ShortDots
{
    /// What rows of weights are padded to with zeros, a multiple of it, and how many elements more of the data are read
    /// than there are.
    static constexpr size_t Unit = 8;

    const int16_t* m_Data = nullptr;    ///< [rows][depth]
    const int16_t* m_Weights = nullptr; ///< [rows][depth rounded up to Unit]
    const int32_t* m_Bias = nullptr;    ///< [rows]
    size_t m_Rows = 0;
    size_t m_Depth = 0;
    int32_t* m_Sums = nullptr; ///< [rows]; what overflows wraps
};

/// Precondition: the processor has vectors, see CpuFeatures.
void RunShortDots(const ShortDots& dots);

} // namespace tenon::cpu
