// SPDX-License-Identifier: Apache-2.0
// Rows of bilinear resizing, with vectors along channels or elements. Each input row is resized along columns once,
// then pairs of such rows are blended: out = lower * wl + upper * wu. int16 blends rows first. ResizeBilinear calls
// them.
#pragma once

#include "backends/reference/kernels/ResizeAxis.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Resizes an input row along columns: out has `count` columns of `channels` numbers.
template <typename W>
using BlendColumnsFunction = void (*)(const void* in, const ref::Blend<W>* columns, size_t count, size_t channels,
                                      W* out);

/// Float32 and BFloat16. Columns are blended first, once for each input row, then pairs of such rows.
struct BilinearFunctionsFloat
{
    BlendColumnsFunction<float> m_BlendColumns = nullptr;
    /// out[i] = lower[i] * y.m_LowerWeight + upper[i] * y.m_UpperWeight
    void (*m_BlendRows)(const float* lower, const float* upper, const ref::Blend<float>& y, size_t count,
                        void* out) = nullptr;
};

/// uint8, whose reference (TFLite) rounds floats after other steps than these.
struct BilinearFunctionsUint8
{
    BlendColumnsFunction<float> m_BlendColumns = nullptr;
    /// Rounds to whole numbers, half up. Writes the indices of unsure sums to `unsure` and returns their number: sums
    /// so close to a half that the other order of steps could round differently, none if `isExact`, as then no step
    /// rounds; and all elements of a row shorter than a vector, which it does not write. An index may come twice:
    /// `unsure` has room for count + MaxRepeatedUnsure.
    size_t (*m_BlendRows)(const float* lower, const float* upper, const ref::Blend<float>& y, bool isExact,
                          size_t count, uint8_t* out, uint32_t* unsure) = nullptr;
    static constexpr size_t MaxRepeatedUnsure = 64;
};

/// int8, whose blended columns have 10 fraction bits.
struct BilinearFunctionsInt8
{
    BlendColumnsFunction<int32_t> m_BlendColumns = nullptr;
    /// out[i] = lower[i] + (upper[i] - lower[i]) * upperWeight / 2^10, rounded half away from zero to whole numbers.
    void (*m_BlendRows)(const int32_t* lower, const int32_t* upper, int32_t upperWeight, size_t count,
                        int8_t* out) = nullptr;
};

/// An output row between two input rows of int16, whose blended columns would not fit into int32.
struct BlendedRowInt16
{
    const void* m_Lower = nullptr; ///< the two input rows
    const void* m_Upper = nullptr;
    ref::Blend<int32_t> m_Y;                        ///< weights of the two rows
    const ref::Blend<int32_t>* m_Columns = nullptr; ///< for each output column
    size_t m_Count = 0;                             ///< 1 or more
    size_t m_Channels = 0;
    size_t m_InputElements = 0; ///< elements of an input row
    /// Scratch memory for m_InputElements each.
    int32_t* m_HighBits = nullptr;
    int32_t* m_LowBits = nullptr;
    void* m_Out = nullptr;
};

struct ResizeFunctions
{
    BilinearFunctionsFloat m_F32;
    BilinearFunctionsFloat m_Bf16;
    BilinearFunctionsUint8 m_Uint8;
    BilinearFunctionsInt8 m_Int8;
    void (*m_Int16)(const BlendedRowInt16& row) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ResizeFunctions& GetResizeFunctions();

} // namespace tenon::cpu
