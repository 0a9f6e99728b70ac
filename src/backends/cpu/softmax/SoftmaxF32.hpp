// SPDX-License-Identifier: Apache-2.0
// Rows of softmaxes of floats, vectorized. Used by Softmax.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Rows of `depth` floats, at least one: exp(beta * (x - max)) / sum, or the logarithm of that. beta > 0.
using SoftmaxFunction = void (*)(const float* in, size_t rows, size_t depth, float beta, float* out);

/// The same along an axis whose elements lie `step` floats apart, for `columns` rows that begin side by side.
using SoftmaxColumnsFunction = void (*)(const float* in, size_t columns, size_t depth, size_t step, float beta,
                                        float* out);

struct SoftmaxFunctions
{
    static constexpr size_t LongestShort = 24; ///< elements of rows that are computed many at a time

    SoftmaxFunction m_Softmax = nullptr;
    SoftmaxFunction m_LogSoftmax = nullptr;
    SoftmaxColumnsFunction m_SoftmaxColumns = nullptr;
    SoftmaxColumnsFunction m_LogSoftmaxColumns = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const SoftmaxFunctions& GetSoftmaxFunctions();

} // namespace tenon::cpu
