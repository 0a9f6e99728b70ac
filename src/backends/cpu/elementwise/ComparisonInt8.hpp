// SPDX-License-Identifier: Apache-2.0
// Comparisons of 8-bit quantized tensors. TFLite's reference kernels rescale both inputs to 32 bits and compare these.
//
// Rescaling is monotonic: for each byte of one input, the key, the bytes of the other input for which the comparison
// holds are a range. Tables of its bounds are filled when a layer is prepared; the loop looks up the key's bounds and
// compares int8:
//   out = value > m_Max[key] || value < m_Min[key] ? m_Outside : m_Inside      (m_Min for Equal and NotEqual only)
// Called by ElementwiseBinary.cpp.
#pragma once

#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class ComparisonInt8
{
public:
    /// `a`, `b`: both have the same type and one scale each. Precondition: the processor has vectors.
    ComparisonInt8(ComparisonOperation operation, const TensorInfo& a, const TensorInfo& b, OperandForms forms);

    /// out[i], 0 or 1, of a[i] and b[i]. One of the inputs may be one element, see OperandForms.
    void Run(const void* a, const void* b, uint8_t* out, size_t count) const
    {
        const void* const value = m_Swaps ? b : a;
        const void* const key = m_Swaps ? a : b;
        m_Loop(m_Bounds, static_cast<const uint8_t*>(value), static_cast<const uint8_t*>(key), out, count);
    }

    /// Bounds by stored key. Bounds are compared as int8; values of unsigned types have 128 subtracted for that (XOR
    /// 0x80).
    struct Bounds
    {
        alignas(64) LookupTableInt8 m_Max{}; ///< values above are outside
        alignas(64) LookupTableInt8 m_Min{}; ///< values below are outside; for Equal and NotEqual only
        uint8_t m_SignXor = 0;               ///< 0x80 for unsigned types: XOR with it makes int8 of values and keys
        uint8_t m_Outside = 0;               ///< the result for values outside; m_Inside: for all others
        uint8_t m_Inside = 0;
    };
    /// Either `key` or `value` may be one element.
    using Loop = void (*)(const Bounds& bounds, const uint8_t* value, const uint8_t* key, uint8_t* out, size_t count);

private:
    Bounds m_Bounds;
    bool m_Swaps = false; ///< the key is a
    Loop m_Loop;
};

} // namespace tenon::cpu
