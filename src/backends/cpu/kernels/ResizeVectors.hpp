// SPDX-License-Identifier: Apache-2.0
// Rows of bilinear resizing, vectorized over channels. Used by Resize.
#pragma once

#include "backends/reference/kernels/ResizeAxis.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// An output row between two rows of an image. W is the type of the weights: float for float and uint8 elements, int
/// for int16.
template <typename W>
struct BlendedRow
{
    const void* m_Lower = nullptr; ///< the two input rows
    const void* m_Upper = nullptr;
    ref::Blend<W> m_Y;                        ///< their weights
    const ref::Blend<W>* m_Columns = nullptr; ///< for each output column
    size_t m_Count = 0;                       ///< 1 at least
    size_t m_Channels = 0;
    size_t m_InputElements = 0; ///< of an input row
    /// Scratch memory for as many, the upper one right behind the lower one and with one element more: of pixels of
    /// three channels a fourth is read.
    W* m_WeighedLower = nullptr;
    W* m_WeighedUpper = nullptr;
    void* m_Out = nullptr;
};

struct ResizeFunctions
{
    void (*m_Float)(const BlendedRow<float>& row) = nullptr;
    void (*m_BFloat16)(const BlendedRow<float>& row) = nullptr;
    void (*m_Unsigned)(const BlendedRow<float>& row) = nullptr;
    void (*m_Short)(const BlendedRow<int32_t>& row) = nullptr;

    /// int8 elements need no order of steps, so that columns are blended first, once for each input row: out[i] has
    /// `count` columns, of `channels` numbers with 10 fraction bits.
    void (*m_BlendColumns)(const int8_t* in, const ref::Blend<int32_t>* columns, size_t count, size_t channels,
                           int32_t* out) = nullptr;
    /// out[i] = lower[i] + (upper[i] - lower[i]) * upperWeight / 2^10, rounded half away from zero to whole numbers.
    void (*m_BlendRows)(const int32_t* lower, const int32_t* upper, int32_t upperWeight, size_t count,
                        int8_t* out) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ResizeFunctions& GetResizeFunctions();

} // namespace tenon::cpu
