// SPDX-License-Identifier: Apache-2.0
// int8 microkernels on the tile registers of x86-64 (AMX-INT8), for MicrokernelsInt8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Fills in the functions of the rows AmxS8 and AmxU8. Precondition: the processor has AMX-INT8, see CpuFeatures.
void UseAmx(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned);

} // namespace tenon::cpu
