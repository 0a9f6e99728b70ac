// SPDX-License-Identifier: Apache-2.0
// L2 normalization of bytes, vectorized. Used by Normalizations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Rows divided by their norms, in steps of 1/128, bit for bit as TFLite's reference kernels: those of uint8 and of
/// int8 shift at different steps.
struct L2NormBytes
{
    bool m_IsSigned = false;
    uint8_t m_Zero = 0; ///< the input's zero point, 128 more where it is signed

    /// Rows of `depth` bytes, 1 at least.
    void operator()(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;
};

} // namespace tenon::cpu
