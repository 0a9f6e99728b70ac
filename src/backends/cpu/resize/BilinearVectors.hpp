// SPDX-License-Identifier: Apache-2.0
// Rows of bilinear resizing, vectorized over channels. Used by Resize.
#pragma once

#include "backends/reference/kernels/ResizeAxis.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Blends the columns of an input row: out has `count` columns of `channels` numbers.
template <typename W>
using BlendColumnsFunction = void (*)(const void* in, const ref::Blend<W>* columns, size_t count, size_t channels,
                                      W* out);

/// Columns are blended first, once for each input row, then rows with blended columns.
struct FloatResize
{
    BlendColumnsFunction<float> m_BlendColumns = nullptr;
    /// out[i] = lower[i] * y.m_LowerWeight + upper[i] * y.m_UpperWeight
    void (*m_BlendRows)(const float* lower, const float* upper, const ref::Blend<float>& y, size_t count,
                        void* out) = nullptr;
};

/// The same for uint8, of which TFLite rounds after each of other steps.
struct UnsignedResize
{
    BlendColumnsFunction<float> m_BlendColumns = nullptr;
    /// Rounded to whole numbers, halves up. Unsure are sums so close to a half that other steps might lead to the other
    /// side, of which there are none if `isExact`, as neither step rounds then; and all of a row that is shorter than
    /// vectors, which is not written at all. Their indices are written, some of them twice, and their number is
    /// returned. Room for `count` + MostUnsureTwice.
    size_t (*m_BlendRows)(const float* lower, const float* upper, const ref::Blend<float>& y, bool isExact,
                          size_t count, uint8_t* out, uint32_t* unsure) = nullptr;
    static constexpr size_t MostUnsureTwice = 64;
};

/// The same for int8, whose blended columns have 10 fraction bits.
struct SignedResize
{
    BlendColumnsFunction<int32_t> m_BlendColumns = nullptr;
    /// out[i] = lower[i] + (upper[i] - lower[i]) * upperWeight / 2^10, rounded half away from zero to whole numbers.
    void (*m_BlendRows)(const int32_t* lower, const int32_t* upper, int32_t upperWeight, size_t count,
                        int8_t* out) = nullptr;
};

/// An output row between two rows of an image of int16, whose blended columns would not fit int32.
struct BlendedShorts
{
    const void* m_Lower = nullptr; ///< the two input rows
    const void* m_Upper = nullptr;
    ref::Blend<int32_t> m_Y;                        ///< their weights
    const ref::Blend<int32_t>* m_Columns = nullptr; ///< for each output column
    size_t m_Count = 0;                             ///< 1 at least
    size_t m_Channels = 0;
    size_t m_InputElements = 0; ///< of an input row
    /// Scratch memory for as many.
    int32_t* m_WeighedLower = nullptr;
    int32_t* m_WeighedUpper = nullptr;
    void* m_Out = nullptr;
};

struct ResizeFunctions
{
    FloatResize m_Float;
    FloatResize m_BFloat16;
    UnsignedResize m_Unsigned;
    SignedResize m_Signed;
    void (*m_Short)(const BlendedShorts& row) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ResizeFunctions& GetResizeFunctions();

} // namespace tenon::cpu
