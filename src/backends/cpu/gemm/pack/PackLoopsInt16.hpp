// SPDX-License-Identifier: Apache-2.0
// What packing of weights of products of 16-bit data (PackedWeightsInt16.hpp) spends its time in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct PackLoops16
{
    /// The sum of the magnitudes of `count` values, each less `zeroPoint`.
    int64_t (*m_SumMagnitudes)(const int8_t* values, size_t count, int8_t zeroPoint) = nullptr;
    /// packed[g][p] = the pair 2g, 2g + 1 of row p, each less `zeroPoint`, for as many rows as some vectors have lanes
    /// of int32. Behind an odd depth there is a 0. As int8, which needs a zero point of 0, and as int16.
    void (*m_PackBytes)(const int8_t* const* rows, size_t places, size_t depth, int8_t zeroPoint,
                        std::byte* packed) = nullptr;
    void (*m_PackShorts)(const int8_t* const* rows, size_t places, size_t depth, int8_t zeroPoint,
                         std::byte* packed) = nullptr;
    /// Of `groups` packed groups of pairs, how many there are before the first one with which the magnitudes of a place
    /// add up to more than RequantizeArrays16::MostMagnitude.
    size_t (*m_CountFittingBytes)(const std::byte* packed, size_t groups, size_t vectors) = nullptr;
    size_t (*m_CountFittingShorts)(const std::byte* packed, size_t groups, size_t vectors) = nullptr;
};

/// Precondition: the processor has vectors, see CpuFeatures.
const PackLoops16& GetPackLoops16();

} // namespace tenon::cpu
