// SPDX-License-Identifier: Apache-2.0
// Loops of normalizations of floats. Rows: (x - mean) / sqrt(var + eps) * scale + bias, and x / max(norm, eps). Columns
// of an NHWC image: likewise with one gamma and beta. Affine: (x - mean) * factor + beta by channel. Normalizations
// calls them.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// A parameter of a row: one value per element, one for all (m_Step 0), or none.
struct NormParameter
{
    const float* m_Values = nullptr;
    size_t m_Step = 0;
};

struct NormFunctions
{
    /// Brings each row to mean 0 and variance 1, or without `subtractsMean` to a mean square of 1, times scale plus
    /// bias; the output may overwrite an input.
    void (*m_LayerRows)(const float* in, size_t rows, size_t depth, bool subtractsMean, float epsilon,
                        const NormParameter& scale, const NormParameter& bias, float* out) = nullptr;
    /// Divides each row by its norm, or by `epsilon` if that is larger.
    void (*m_L2Rows)(const float* in, size_t rows, size_t depth, float epsilon, float* out) = nullptr;
    /// Brings each of `channels` columns of `pixels` rows, `stride` apart, to mean 0 and variance 1, times gamma plus
    /// beta.
    void (*m_Columns)(const float* in, size_t pixels, size_t stride, size_t channels, float epsilon, float gamma,
                      float beta, float* out) = nullptr;
    /// out = (in - mean) * factor + beta, with one of each a channel, for `pixels` rows.
    void (*m_Affine)(const float* in, size_t pixels, size_t channels, const float* mean, const float* factor,
                     const float* beta, float* out) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const NormFunctions& GetNormFunctions();

} // namespace tenon::cpu
