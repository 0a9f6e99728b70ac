// SPDX-License-Identifier: Apache-2.0
// The sources that fill parts of MicrokernelsInt8; MicrokernelsInt8.cpp calls them.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Fills in the functions of the rows AmxS8 and AmxU8: the tile registers of x86-64 (AmxMicrokernelsInt8.cpp).
/// Precondition: the processor has AMX-INT8, see CpuFeatures.
void UseAmx(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned);

/// Fills in the functions of the rows DotProdS8 and DotProdU8: the dot products of 64-bit Arm, sdot and udot
/// (DotProdMicrokernelsInt8.cpp). Precondition: the processor has them, see CpuFeatures.
void UseDotProd(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned);

/// Fills in the functions of the rows I8mmS8 and I8mmU8: the matrix products of 64-bit Arm, smmla and usmmla
/// (I8mmMicrokernelsInt8.cpp). Precondition: the processor has them.
void UseI8mm(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned);

/// Sets m_ImplicitGemmKernels (ImplicitGemmKernelsInt8.cpp). Precondition: the processor has AVX-512 VNNI, see
/// CpuFeatures, and the microkernels multiply uint8 data by int8 weights.
void UseImplicitGemmKernels(MicrokernelSetInt8& tiles);
/// Sets m_ImplicitGemmDequantizeKernels, with the same precondition.
void UseImplicitGemmDequantizeKernels(MicrokernelSetInt8& tiles);

/// Sets m_FindRange, m_Quantize and m_QuantizeToFloats: quantization of float data for hybrid layers at run time
/// (pack/QuantizeLoopsInt8.cpp).
void UseQuantizeLoops(MicrokernelsInt8& microkernels);

} // namespace tenon::cpu
