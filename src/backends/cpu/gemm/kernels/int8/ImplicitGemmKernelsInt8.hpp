// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM microkernels for MicrokernelsInt8: they read receptive fields from a padded image.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Sets m_ImplicitGemmKernels. Precondition: the processor has AVX-512 VNNI, see CpuFeatures, and the microkernels
/// multiply uint8 data by int8 weights.
void UseImplicitGemmKernels(MicrokernelSetInt8& tiles);
/// Sets m_ImplicitGemmDequantizeKernels, with the same precondition.
void UseImplicitGemmDequantizeKernels(MicrokernelSetInt8& tiles);

} // namespace tenon::cpu
