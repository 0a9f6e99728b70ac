// SPDX-License-Identifier: Apache-2.0
// Which instructions of the processor CpuAcc uses. Asked when kernels are chosen, never in loops.
#pragma once

#include <string>

namespace tenon::cpu
{

/// What the processor has, and TENON_FORCE_ISA lets through.
struct CpuFeatures
{
    bool m_Simd = false;          ///< one of Highway's targets with vectors: without it only reference kernels run
    bool m_Avx2 = false;          ///< with FMA
    bool m_AvxVnni = false;       ///< 8-bit dot products on 256 bits
    bool m_Avx512 = false;        ///< F, BW, DQ, VL
    bool m_Avx512Vbmi = false;    ///< permutations of bytes; on some processors with VNNI: no level of its own
    bool m_Avx512Vnni = false;    ///< 8-bit dot products on 512 bits
    bool m_Avx512Bf16 = false;    ///< bfloat16 dot products on 512 bits
    bool m_AmxInt8 = false;       ///< tiles of 8-bit dot products
    bool m_AmxBf16 = false;       ///< tiles of bfloat16 dot products
    bool m_HasSparePorts = false; ///< 512-bit logic beside as many dot products as go: AMD's, from level avx512bf16 on
    /// 512-bit instructions run as two of 256 bits, so that half a vector takes half the time: AMD's family 19h, from
    /// level avx512bf16 on.
    bool m_SplitsVectors = false;
    bool m_DotProd = false; ///< Arm's 8-bit dot products
    bool m_I8mm = false;    ///< Arm's 8-bit products of 2 rows and 2 columns
};

/// Found once for the process. The environment variable TENON_FORCE_ISA caps it, for tests and comparisons: one of
///   x86-64: scalar, sse4, avx2, avxvnni, avx512, avx512vnni, avx512bf16, amx; 64-bit Arm: scalar, neon, dotprod, i8mm;
///   32-bit Arm: scalar, neon.
/// Each stands for all before it too, as far as the processor has them. Throws InvalidArgumentException for other
/// values.
const CpuFeatures& GetCpuFeatures();
/// Whether there are 32 vector registers, not 16.
bool HaveManyRegisters();

/// The instructions in use, e.g. "avx512vnni": the last name of the list above that is in force.
std::string GetIsaName();
/// All that are in use, which is what packed weights depend on.
std::string GetIsaFeatures();

} // namespace tenon::cpu
