// SPDX-License-Identifier: Apache-2.0
// PackLoopsInt16: the vector loops of PackedWeightsInt16: sums of magnitudes, transposing, and limits of slices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct PackLoopsInt16
{
    /// The sum of |value - zeroPoint| of `count` values.
    int64_t (*m_SumMagnitudes)(const int8_t* values, size_t count, int8_t zeroPoint) = nullptr;
    /// packed[g][p] = the pair (2g, 2g + 1) of row p, each less `zeroPoint`; the number of rows is a multiple of the
    /// int32 lanes of a vector. An odd depth is padded with a zero. Packs int8, which needs a zero point of 0, or
    /// int16.
    void (*m_PackInt8)(const int8_t* const* rows, size_t paddedColumns, size_t depth, int8_t zeroPoint,
                       std::byte* packed) = nullptr;
    void (*m_PackInt16)(const int8_t* const* rows, size_t paddedColumns, size_t depth, int8_t zeroPoint,
                        std::byte* packed) = nullptr;
    /// Number of leading groups, of `groups` packed groups of pairs, whose magnitudes add up to at most
    /// RequantizeArraysInt16::MaxMagnitude in each column.
    size_t (*m_CountFittingInt8)(const std::byte* packed, size_t groups, size_t vectors) = nullptr;
    size_t (*m_CountFittingInt16)(const std::byte* packed, size_t groups, size_t vectors) = nullptr;
};

/// Precondition: the processor has vectors, see CpuFeatures.
const PackLoopsInt16& GetPackLoopsInt16();

} // namespace tenon::cpu
