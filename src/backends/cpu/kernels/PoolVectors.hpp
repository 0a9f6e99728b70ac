// SPDX-License-Identifier: Apache-2.0
// The windows of pools, vectorized over channels. Used by Pooling2d.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The part of a window that lies inside the image.
struct PoolWindow
{
    const void* m_First = nullptr;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_RowStride = 0;   ///< elements
    size_t m_PixelStride = 0; ///< elements
    int32_t m_Padding = 0;    ///< the sum to start from
    size_t m_Divisor = 1;
};

/// Pools `channels` channels of a window that is not empty.
using PoolFunction = void (*)(const PoolWindow& window, size_t channels, void* out);

struct PoolFunctions
{
    PoolFunction m_Float[3] = {}; ///< by PoolingAlgorithm
    PoolFunction m_Signed[2] = {};
    PoolFunction m_Unsigned[2] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const PoolFunctions& GetPoolFunctions();

} // namespace tenon::cpu
