// SPDX-License-Identifier: Apache-2.0
// int8 microkernels by the dot products and matrix products of 64-bit Arm, for MicrokernelsInt8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Fills in the functions of the rows DotProdS8 and DotProdU8. Precondition: the processor has sdot and udot, see
/// CpuFeatures.
void UseDotProd(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned);

/// Fills in the functions of the rows I8mmS8 and I8mmU8. Precondition: the processor has smmla and usmmla.
void UseI8mm(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned);

} // namespace tenon::cpu
