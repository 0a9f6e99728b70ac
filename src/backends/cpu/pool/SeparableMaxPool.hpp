// SPDX-License-Identifier: Apache-2.0
// Maxima of rows, and of gathered columns by a table of offsets [taps][count]: the two passes of a separable maximum
// pool. PoolingNd calls them.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The functions of one element type. NaN is passed over; the maximum of no elements is the lowest value.
struct SeparableMaxFunctions
{
    /// out[i] is the largest of rows[k][i] over k in [0, taps).
    void (*m_MaxRows)(const void* const* rows, size_t taps, size_t count, void* out) = nullptr;
    /// out[i] is the largest of in[places[k * count + i]] over k in [0, taps).
    void (*m_MaxColumns)(const void* in, const int32_t* offsets, size_t taps, size_t count, void* out) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
struct SeparableMaxTable
{
    SeparableMaxFunctions m_F32;
    SeparableMaxFunctions m_Int8;  ///< int8
    SeparableMaxFunctions m_Uint8; ///< uint8
};
const SeparableMaxTable& GetSeparableMaxTable();

} // namespace tenon::cpu
