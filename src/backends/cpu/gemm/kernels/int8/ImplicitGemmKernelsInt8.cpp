// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM microkernels with a requantizing epilogue, by AVX-512 VNNI. See ImplicitGemmRowsInt8.
#include "backends/cpu/gemm/kernels/int8/ImplicitGemmKernelsInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/ImplicitGemmKernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/kernels/int8/HalfVectorTilesAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/ImplicitGemmTileAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/RequantizedTilesAvx512Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3

template <typename Scale, size_t Vectors, size_t Rows>
void WriteImplicitGemmRows(const ImplicitGemmRowsInt8& rows, const PreparedRequantizationInt8& columns)
{
    using Dot = VnniDataUnsigned;
    using Narrow = RequantizedHalfVectorTile<Dot, Scale, false>;
    WriteImplicitGemm<RequantizedTile<Dot, Scale, false>, Narrow, Vectors, Rows>(rows, columns,
                                                                                 columns.m_IsLastVectorHalf);
}

template <typename Scale>
void FillImplicitGemmRows(ImplicitGemmKernelInt8 (&functions)[MicrokernelSetInt8::MaxVectors + 1])
{
    functions[1] = WriteImplicitGemmRows<Scale, 1, 8>;
    functions[2] = WriteImplicitGemmRows<Scale, 2, 8>;
    functions[3] = WriteImplicitGemmRows<Scale, 3, 8>;
    functions[4] = WriteImplicitGemmRows<Scale, 4, 6>;
}

void FillImplicitGemmKernels(MicrokernelSetInt8& tiles)
{
    FillImplicitGemmRows<OffsetScale>(tiles.m_ImplicitGemmKernels[0]);
    FillImplicitGemmRows<PlainScale>(tiles.m_ImplicitGemmKernels[1]);
}

#else

void FillImplicitGemmKernels(MicrokernelSetInt8&) {}

#endif

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseImplicitGemmKernels(MicrokernelSetInt8& tiles)
{
    TENON_CHOOSE(FillImplicitGemmKernels)(tiles);
}

} // namespace tenon::cpu
#endif
