// SPDX-License-Identifier: Apache-2.0
// L2 normalization of rows of int8 or uint8: y = 128 * (x - z) / sqrt(sum (x - z)^2), bit for bit as TFLite's reference
// kernels, which shift at different steps for uint8 and int8. Normalizations calls it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Divides rows by their norms, in steps of 1/128.
struct L2NormInt8
{
    bool m_IsSigned = false;
    uint8_t m_Zero = 0; ///< zero point of the input, plus 128 for int8

    /// Computes rows of `depth` elements (1 or more).
    void operator()(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;
};

} // namespace tenon::cpu
