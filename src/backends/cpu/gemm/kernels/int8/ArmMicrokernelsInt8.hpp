// SPDX-License-Identifier: Apache-2.0
// Products of bytes by the instructions that later 64-bit Arm processors have for them, for Engine8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Puts tiles of dot products (sdot, udot) into the engine. Precondition: the processor has them, see CpuFeatures.
void UseDotProd(Engine8& engine);

/// Puts tiles of matrix products (smmla, usmmla) into the engine. Precondition: the processor has them.
void UseI8mm(Engine8& engine);

} // namespace tenon::cpu
