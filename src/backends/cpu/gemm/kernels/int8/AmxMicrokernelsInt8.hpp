// SPDX-License-Identifier: Apache-2.0
// Products of bytes on the tile registers of x86-64 (AMX-INT8), for Engine8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Puts tiles of 16 and 32 rows into the engine. Precondition: the processor has them, see CpuFeatures.
void UseAmx(Engine8& engine);

} // namespace tenon::cpu
