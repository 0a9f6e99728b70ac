// SPDX-License-Identifier: Apache-2.0
// Normalizations of floats, vectorized. Used by Normalizations.
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
    /// Rows brought to mean 0 and variance 1 each, or to a mean square of 1 alone, times scale plus bias; the output
    /// may be where an input is.
    void (*m_LayerRows)(const float* in, size_t rows, size_t depth, bool subtractsMean, float epsilon,
                        const NormParameter& scale, const NormParameter& bias, float* out) = nullptr;
    /// Rows divided by their norms, which count as `epsilon` at least.
    void (*m_L2Rows)(const float* in, size_t rows, size_t depth, float epsilon, float* out) = nullptr;
    /// Each of `channels` columns of `pixels` rows, `stride` apart, brought to mean 0 and variance 1, times gamma plus
    /// beta.
    void (*m_Columns)(const float* in, size_t pixels, size_t stride, size_t channels, float epsilon, float gamma,
                      float beta, float* out) = nullptr;
    /// (in - mean) * factor + beta, one of each per channel, for `pixels` rows.
    void (*m_Affine)(const float* in, size_t pixels, size_t channels, const float* mean, const float* factor,
                     const float* beta, float* out) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const NormFunctions& GetNormFunctions();

} // namespace tenon::cpu
