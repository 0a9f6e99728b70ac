// SPDX-License-Identifier: Apache-2.0
// Rows of softmaxes, vectorized. Used by Softmax.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Rows of `depth` floats, at least one: exp(beta * (x - max)) / sum, or the logarithm of that. beta > 0.
using SoftmaxFunction = void (*)(const float* in, size_t rows, size_t depth, float beta, float* out);

/// What quantized softmaxes of 8-bit numbers look up, by the difference of an element to the largest one of its row.
struct SoftmaxTables
{
    alignas(64) uint32_t m_Powers[256] = {};   ///< exp as a fraction of 2^31
    alignas(64) uint32_t m_Summands[256] = {}; ///< the same as a fraction of 2^19, rounded
};

/// The smallest and the largest byte.
struct ByteRange
{
    uint8_t m_Min = 0;
    uint8_t m_Max = 0;
};

struct SoftmaxFunctions
{
    static constexpr size_t LongestShort = 24; ///< elements of rows that are computed many at a time

    SoftmaxFunction m_Softmax = nullptr;
    SoftmaxFunction m_LogSoftmax = nullptr;
    /// Of `depth` bytes, at least one, each with `flip` applied.
    ByteRange (*m_FindRange)(const uint8_t* in, size_t depth, uint8_t flip) = nullptr;
    /// bytes[i] = powers[i] * scale / 2^31, rounded, then / 2^shift, rounded, at most 255, with `flip` applied; for at
    /// least `count` of 256. shift in [1, 31].
    void (*m_ScalePowers)(const uint32_t* powers, size_t count, uint32_t scale, int shift, uint8_t flip,
                          uint8_t* bytes) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const SoftmaxFunctions& GetSoftmaxFunctions();

} // namespace tenon::cpu
