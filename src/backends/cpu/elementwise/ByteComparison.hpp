// SPDX-License-Identifier: Apache-2.0
// Comparisons of quantized bytes, which are brought to a scale of 32 bits that both have in common, as TFLite's
// reference kernels do it.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/cpu/elementwise/Broadcast.hpp"

#include <tenon/Descriptors.hpp>

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
    void Run(const void* a, const void* b, uint8_t* out, size_t count) const { m_Loop(*this, a, b, out, count); }

    /// What becomes of a stored number: (x - zero point) * 2^8 * multiplier.
    struct Rescale
    {
        static constexpr int MoreBits = 8;
        int32_t m_ZeroPoint = 0;
        backends::QuantizedMultiplier m_Multiplier;
    };
    const Rescale& GetA() const { return m_A; }
    const Rescale& GetB() const { return m_B; }
    bool IsNegated() const { return m_IsNegated; }

    using Loop = void (*)(const ByteComparison&, const void* a, const void* b, uint8_t* out, size_t count);
    /// What the loops tell; the other operations are these negated.
    enum class Relation
    {
        Equal,
        Less,
        Greater
    };

private:
    Rescale m_A;
    Rescale m_B;
    bool m_IsNegated;
    Loop m_Loop;
};

} // namespace tenon::cpu
