// SPDX-License-Identifier: Apache-2.0
// The largest elements of rows and columns. Used by PoolingNd.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Of one element type. NaN is passed over; the largest element of none is the lowest one.
struct WindowFunctions
{
    /// out[i] is the largest of rows[k][i] over k in [0, taps).
    void (*m_MaxRows)(const void* const* rows, size_t taps, size_t count, void* out) = nullptr;
    /// out[i] is the largest of in[places[k * count + i]] over k in [0, taps).
    void (*m_MaxColumns)(const void* in, const int32_t* places, size_t taps, size_t count, void* out) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
struct WindowTable
{
    WindowFunctions m_Float;
    WindowFunctions m_Signed;   ///< int8
    WindowFunctions m_Unsigned; ///< uint8
};
const WindowTable& GetWindowTable();

} // namespace tenon::cpu
