// SPDX-License-Identifier: Apache-2.0
// Windows of a row of Pooling2d, with vectors along channels: max, average or root of the mean square of rows x columns
// pixels. Windows of one size and distance that overlap slide; others are computed one by one.
// Pooling2d and the half types call them.
#pragma once

#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The range of a window along one axis.
struct PoolSpan
{
    size_t m_First = 0;
    size_t m_Count = 0;   ///< taps inside the image
    size_t m_Divisor = 0; ///< taps that an average counts, with those in padding or without
};

/// One output row of windows.
struct PoolRow
{
    const void* m_In = nullptr; ///< first input row of the windows
    size_t m_RowStride = 0;     ///< elements
    size_t m_PixelStride = 0;   ///< elements
    PoolSpan m_Y;               ///< the range of rows; m_First is not read
    const PoolSpan* m_X = nullptr;
    size_t m_Windows = 0;
    IndexRange m_Uniform;            ///< the range of windows of equal size and distance; may be empty
    size_t m_UniformStride = 0;      ///< columns from one of these windows to the next
    size_t m_Channels = 0;           ///< channels to pool
    ref::TensorQuantization m_Input; ///< of quantized data
    ref::TensorQuantization m_Output;
    bool m_RoundsHalfToEven = false; ///< averages of quantized data: RequantizationMode::FloatHalfEven
    void* m_Out = nullptr;
    size_t m_OutPixelStride = 0; ///< elements
};

using PoolFunction = void (*)(const PoolRow& row);

/// Indexed by PoolingAlgorithm; null: not supported.
struct PoolFunctions
{
    PoolFunction m_F32[3] = {};
    PoolFunction m_Bf16[3] = {};
    PoolFunction m_F16[3] = {};
    PoolFunction m_Int8[2] = {};
    PoolFunction m_Uint8[2] = {};
    PoolFunction m_Int16[2] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const PoolFunctions& GetPoolFunctions();

/// The function for elements of a type; null: not supported, 16-bit floats are then converted to float32.
PoolFunction ChoosePool(DataType type, PoolingAlgorithm algorithm);

} // namespace tenon::cpu
