// SPDX-License-Identifier: Apache-2.0
// Bounds on the demands of a model or caller; they are checked before anything is allocated.
#pragma once

#include <cstdint>

namespace tenon
{

/// Part of IRuntime::CreationOptions and of the parsers' options. Raise a limit where a trusted model needs more.
struct Limits
{
    /// Bytes of one tensor.
    uint64_t m_MaxTensorBytes = uint64_t{4} << 30;
    /// Bytes of one model's tensors together, as the memory plan adds them up.
    uint64_t m_MaxTotalBytes = uint64_t{16} << 30;
    /// Layers of one network, nested ones included.
    uint64_t m_MaxLayers = 1000000;
    /// Rank of a tensor; at most MaxNumOfTensorDimensions.
    unsigned int m_MaxRank = 8;
    /// Bytes of a model file.
    uint64_t m_MaxFileBytes = uint64_t{2} << 30;
    /// Iterations of all While layers in one run together. Nested loops multiply their iterations, so that a short
    /// model could run without end.
    uint64_t m_MaxLoopIterations = 10000000;
    /// Depth of nested graphs and of nested options.
    unsigned int m_MaxNesting = 32;
};

} // namespace tenon
