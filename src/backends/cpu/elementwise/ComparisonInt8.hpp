// SPDX-License-Identifier: Apache-2.0
// Comparisons of quantized bytes, which TFLite's reference kernels bring to a scale of 32 bits that both have in
// common.
//
// What a byte becomes there does not fall from one value to the next. So each value of one input, the key, stands for a
// range of the other one's: up to a bound, or, where values are to be equal, between two. A table of bounds is filled
// when a layer is prepared; loops look a key up and compare bytes.
#pragma once

#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class ByteComparison
{
public:
    /// `a`, `b`: of one type and each of one scale. Precondition: the processor has vectors.
    ByteComparison(ComparisonOperation operation, const TensorInfo& a, const TensorInfo& b, Motion motion);

    /// out[i], 0 or 1, of a[i] and b[i], one of which may stand still.
    void Run(const void* a, const void* b, uint8_t* out, size_t count) const
    {
        const void* const value = m_Swaps ? b : a;
        const void* const key = m_Swaps ? a : b;
        m_Loop(m_Bounds, static_cast<const uint8_t*>(value), static_cast<const uint8_t*>(key), out, count);
    }

    /// By keys as they are stored. Bounds are compared as int8, with values of which 128 has been subtracted if their
    /// type is unsigned.
    struct Bounds
    {
        alignas(64) ByteTable m_Most{};  ///< what is above is outside
        alignas(64) ByteTable m_Least{}; ///< what is below is outside; only where values are to be equal
        uint8_t m_Flip = 0;              ///< 0x80 for unsigned types: makes values, and keys, what bounds are
        uint8_t m_Outside = 0;           ///< the results
        uint8_t m_Inside = 0;
    };
    /// `key` may be one element, or `value`.
    using Loop = void (*)(const Bounds& bounds, const uint8_t* value, const uint8_t* key, uint8_t* out, size_t count);

private:
    Bounds m_Bounds;
    bool m_Swaps = false; ///< the key is a
    Loop m_Loop;
};

} // namespace tenon::cpu
