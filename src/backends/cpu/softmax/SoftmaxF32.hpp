// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax of floats: y = exp(beta * (x - max)) / sum, or beta * (x - max) - log(sum), along rows
// (elements side by side) or columns (elements `step` apart). Rows of at most MaxTransposedDepth elements go a vector
// of rows at a time, a row in each lane; longer ones in blocks of rows (reduce/RowBlocks.hpp). Softmax calls it.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Softmax or LogSoftmax of rows of `depth` floats (1 or more). beta > 0.
using SoftmaxFunction = void (*)(const float* in, size_t rows, size_t depth, float beta, float* out);

/// The same for `columns` neighbouring columns, whose elements lie `step` floats apart.
using SoftmaxColumnsFunction = void (*)(const float* in, size_t columns, size_t depth, size_t step, float beta,
                                        float* out);

struct SoftmaxFunctions
{
    static constexpr size_t MaxTransposedDepth = 24; ///< longest rows that are computed a vector of rows at a time

    SoftmaxFunction m_Softmax = nullptr;
    SoftmaxFunction m_LogSoftmax = nullptr;
    SoftmaxColumnsFunction m_SoftmaxColumns = nullptr;
    SoftmaxColumnsFunction m_LogSoftmaxColumns = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const SoftmaxFunctions& GetSoftmaxFunctions();

} // namespace tenon::cpu
