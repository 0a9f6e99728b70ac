// SPDX-License-Identifier: Apache-2.0
// int8 microkernels by the dot products and matrix products of 64-bit Arm, for MicrokernelsInt8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Adds microkernels by dot products (sdot, udot). Precondition: the processor has them, see CpuFeatures.
void UseDotProd(MicrokernelsInt8& microkernels);

/// Adds microkernels by matrix products (smmla, usmmla). Precondition: the processor has them.
void UseI8mm(MicrokernelsInt8& microkernels);

} // namespace tenon::cpu
