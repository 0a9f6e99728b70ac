// SPDX-License-Identifier: Apache-2.0
// Joins tensors chunk by chunk: an output chunk is the concatenation of the inputs' chunks. Used by Concat and Stack.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::ref
{

/// Copies `count` elements to another quantization: real values stay.
using RequantizeFunction = void (*)(const std::byte* from, size_t count, float scale, float bias, int32_t zeroPoint,
                                    std::byte* to);

/// One input as the run sees it.
struct JoinInput
{
    size_t m_ChunkElements = 0;
    RequantizeFunction m_Requantize = nullptr; ///< null: plain copy; never with 4-bit elements
    float m_Scale = 1.0f;
    float m_Bias = 0.0f;
    int32_t m_ZeroPoint = 0;
};

/// Part i is input i; all inputs and the output, which is not empty, consist of `chunks` chunks.
backends::Prepared PrepareJoin(std::vector<JoinInput> parts, size_t chunks, const TensorInfo& output);

} // namespace tenon::ref
