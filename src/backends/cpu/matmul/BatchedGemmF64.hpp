// SPDX-License-Identifier: Apache-2.0
// Products of float64 matrices by OpenBLAS's dgemm, in blocks of rows of each batch. For BatchMatMul and
// FullyConnected.
#pragma once

#include "backends/cpu/gemm/driver/GemmF64.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

namespace tenon::cpu
{

/// The bias and the clamp that follow the sums.
struct EpilogueParamsF64
{
    bool m_HasBias = false; ///< input 2, one for each column
    backends::FloatClamp m_Clamp;
};

/// Declines where there is no library, and matrices that are empty, or that dgemm does not take where they lie.
backends::Prepared PrepareBatchedGemmF64(const ref::MatMulGeometry& g, const EpilogueParamsF64& epilogue = {});

} // namespace tenon::cpu
