// SPDX-License-Identifier: Apache-2.0
// The windows of pools, vectorized over channels. Used by Pooling2d.
#pragma once

#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Where a window lies in one direction.
struct PoolSpan
{
    size_t m_First = 0;
    size_t m_Count = 0;   ///< inside the image
    size_t m_Divisor = 0; ///< what an average counts
};

/// A row of windows.
struct PoolRow
{
    const void* m_In = nullptr; ///< the first row of the image that the windows see
    size_t m_RowStride = 0;     ///< elements
    size_t m_PixelStride = 0;   ///< elements
    PoolSpan m_Y;               ///< rows; m_First does not count
    const PoolSpan* m_X = nullptr;
    size_t m_Windows = 0;
    Part m_Even;             ///< of the windows: those alike, each as far from the one before; may be empty
    size_t m_EvenStride = 0; ///< columns from one to the next
    size_t m_Channels = 0;   ///< to pool, of each pixel
    int32_t m_ZeroPoint = 0;
    void* m_Out = nullptr;
    size_t m_OutPixelStride = 0; ///< elements
};

using PoolFunction = void (*)(const PoolRow& row);

/// By PoolingAlgorithm; null where there is none.
struct PoolFunctions
{
    PoolFunction m_Float[3] = {};
    PoolFunction m_BFloat16[3] = {};
    PoolFunction m_Float16[3] = {};
    PoolFunction m_Signed[2] = {};
    PoolFunction m_Unsigned[2] = {};
    PoolFunction m_Short[2] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const PoolFunctions& GetPoolFunctions();

/// The function for elements of a type, null where there is none: then halves become floats.
PoolFunction ChoosePool(DataType type, PoolingAlgorithm algorithm);

} // namespace tenon::cpu
