// SPDX-License-Identifier: Apache-2.0
// Tiles of int8 (or int16) data by weights in the layouts Int8x4, Int16x2 and Int8x2: register-blocked dot products
// (DotTile of DotProducts-inl.hpp), an instruction for each row of int8_kernels.def.
//
//   C[r][c] = bias[c] + sum_g dot(A[r][group g], B[group g][c])      group: four bytes, or two int16, of the depth
//
// GetMicrokernelsInt8 makes the table: these functions, and those of the other sources (RegisterMicrokernelsInt8.hpp),
// each of which has the microkernels of other layouts, an epilogue, or loops over rows.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/BlockTiles-inl.hpp"

#define TENON_INT8_LAYOUT_Int8x4 TENON_INT8_FILL
#define TENON_INT8_LAYOUT_Int16x2 TENON_INT8_FILL
#define TENON_INT8_LAYOUT_Int8x2 TENON_INT8_FILL
#include "backends/cpu/gemm/kernels/int8/FillRowsInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

MicrokernelsInt8 MakeMicrokernels()
{
    MicrokernelsInt8 microkernels;
    microkernels.m_Lanes = hn::Lanes(Ints());
    microkernels.m_ConvertsF16 = HWY_TARGET != HWY_SSE4 && (HWY_ARCH_X86 || HWY_ARCH_ARM_A64);
    microkernels.m_Rows = FindKernelRowsInt8(KernelTarget, GetCpuFeatures());
    for (const KernelRowInt8* const row : microkernels.m_Rows.m_Rows)
    {
        if (row != nullptr)
        {
            MicrokernelSetInt8& set = microkernels.Get(row->m_Role);
            static_cast<KernelTraitsInt8&>(set) = *row;
            set.m_Row = row;
        }
    }
    FillRows(microkernels);
    UseInt4Microkernels(microkernels);
    UsePmaddubswMicrokernels(microkernels);
    UseUnpackedDots(microkernels);
    UseEpilogue(microkernels);
    UseRowLoops(microkernels);
    return microkernels;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const MicrokernelsInt8& GetMicrokernelsInt8()
{
    static constinit PerIsa<MicrokernelsInt8> microkernels;
    return microkernels.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
}

} // namespace tenon::cpu
#endif
