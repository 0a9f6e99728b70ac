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

/// Sets the functions with an epilogue in registers that the set's row has: m_RequantizedKernels by the epilogues Rq
/// and RqRow, m_DequantizedKernels and m_MinIndirectRows by Dq (FusedEpilogueRowsAvx512Int8.cpp). Precondition: m_Row
/// is set, and the processor has AVX-512 VNNI.
void UseFusedEpilogues(MicrokernelSetInt8& set);

/// Fills in the functions of the rows with the layout Int4x8 (MicrokernelsInt4.cpp). Precondition, here and below:
/// m_Rows and the sets' m_Row are those of the target that TENON_CHOOSE chooses.
void UseInt4Microkernels(MicrokernelsInt8& microkernels);
/// Fills in those with the layouts Split and Permuted, and m_MakeComplementBlocks (PmaddubswMicrokernelsInt8.cpp).
void UsePmaddubswMicrokernels(MicrokernelsInt8& microkernels);
/// Fills in those with the layout Unpacked (UnpackedDotsInt8.cpp).
void UseUnpackedDots(MicrokernelsInt8& microkernels);

/// Sets m_Requantize, m_Dequantize and, with AVX-512, m_PrepareRequantization (epilogue/EpilogueInt8.cpp).
void UseEpilogue(MicrokernelsInt8& microkernels);

/// Sets the loops over rows of data: m_Widen, m_SignXor, m_SumRows, m_StartBlocks, m_FindRange, m_Quantize and
/// m_QuantizeToFloats (pack/RowLoopsInt8.cpp).
void UseRowLoops(MicrokernelsInt8& microkernels);

} // namespace tenon::cpu
