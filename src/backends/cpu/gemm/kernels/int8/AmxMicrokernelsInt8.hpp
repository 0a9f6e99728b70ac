// SPDX-License-Identifier: Apache-2.0
// int8 microkernels on the tile registers of x86-64 (AMX-INT8), for MicrokernelsInt8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Adds microkernels of 16 and 32 rows. Precondition: the processor has AMX-INT8, see CpuFeatures.
void UseAmx(MicrokernelsInt8& microkernels);

} // namespace tenon::cpu
