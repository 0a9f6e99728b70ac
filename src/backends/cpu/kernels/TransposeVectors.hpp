// SPDX-License-Identifier: Apache-2.0
// Transposition of matrices of 1- to 8-byte elements in registers. Used by StridedMove.
#pragma once

#include "backends/cpu/kernels/CopyPlane.hpp"

#include <cstddef>

namespace tenon::cpu
{

struct TransposeFunctions
{
    /// By the logarithm of the element's bytes: 1, 2, 4, 8. The rows of the plane lie side by side in the source
    /// (m_FromRow == m_RunBytes), its runs in the target (m_ToRun == m_RunBytes).
    CopyPlaneFunction m_Transpose[4] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const TransposeFunctions& GetTransposeFunctions();

} // namespace tenon::cpu
