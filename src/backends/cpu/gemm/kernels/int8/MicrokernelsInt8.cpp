// SPDX-License-Identifier: Apache-2.0
// The functions of the rows of int8_kernels.def, and the row loops, that each target has.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
//
#include "backends/cpu/gemm/epilogue/EpilogueInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/FusedEpilogueRowsAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/PmaddubswTilesInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/TilesInt4-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/UnpackedDotsInt8-inl.hpp"
#include "backends/cpu/gemm/pack/RowLoopsInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

/// Fills the microkernels of panels of 1 to 4 vectors. The numbers are the rows of the highest tiles; 0: no such
/// panels.
template <typename Tile, size_t H1, size_t H2, size_t H3, size_t H4>
void FillPanels(MicrokernelSetInt8& set)
{
    FillTiles<Tile, 1, H1>(set);
    FillTiles<Tile, 2, H2>(set);
    if constexpr (H3 != 0)
    {
        FillTiles<Tile, 3, H3>(set);
        FillTiles<Tile, 4, H4>(set);
    }
}

#if HWY_TARGET == HWY_AVX3
constexpr unsigned int Target = KernelTargetsInt8::Avx3;
#define TENON_INT8_ON_Avx3 TENON_INT8_FILL
#elif HWY_TARGET == HWY_AVX2
constexpr unsigned int Target = KernelTargetsInt8::Avx2;
#define TENON_INT8_ON_Avx2 TENON_INT8_FILL
#define TENON_INT8_ON_Sse4OrAvx2 TENON_INT8_FILL
#elif HWY_TARGET == HWY_SSE4
constexpr unsigned int Target = KernelTargetsInt8::Sse4;
#define TENON_INT8_ON_Sse4OrAvx2 TENON_INT8_FILL
#elif HWY_ARCH_ARM_A64
constexpr unsigned int Target = KernelTargetsInt8::Neon64;
#define TENON_INT8_ON_Neon64 TENON_INT8_FILL
#else
constexpr unsigned int Target = KernelTargetsInt8::Neon32;
#endif
#define TENON_INT8_ON_All TENON_INT8_FILL
#if HWY_ARCH_X86
#define TENON_INT8_ON_X86 TENON_INT8_FILL
#endif
// Rows of other targets: their templates are not there.
#define TENON_INT8_SKIP(...)
#ifndef TENON_INT8_ON_Avx3
#define TENON_INT8_ON_Avx3 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_ON_Avx2
#define TENON_INT8_ON_Avx2 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_ON_Sse4OrAvx2
#define TENON_INT8_ON_Sse4OrAvx2 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_ON_Neon64
#define TENON_INT8_ON_Neon64 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_ON_X86
#define TENON_INT8_ON_X86 TENON_INT8_SKIP
#endif
#define TENON_INT8_FILL(id, needs, role, data, weights, minWeight, bias, layout, h1, h2, h3, h4, rowUnit, groupUnit,   \
                        columnGroups, epilogues, ...)                                                                  \
    if (microkernels.m_Rows.Has(KernelIdInt8::id))                                                                     \
    {                                                                                                                  \
        [[maybe_unused]] MicrokernelSetInt8& set = microkernels.Get(KernelRoleInt8::role);                             \
        [[maybe_unused]] constexpr size_t heights[] = {0, h1, h2, h3, h4};                                             \
        __VA_ARGS__;                                                                                                   \
    }
#define TENON_INT8_PANELS(...) FillPanels<__VA_ARGS__, heights[1], heights[2], heights[3], heights[4]>(set)
#define TENON_INT8_KERNEL(targets, ...) TENON_INT8_ON_##targets(__VA_ARGS__)

/// Fills in the functions of the rows that the processor has.
void FillKernels(MicrokernelsInt8& microkernels)
{
    [[maybe_unused]] constexpr size_t M = ManyRegisters ? 8 : 6;
#include "backends/cpu/gemm/kernels/int8/int8_kernels.def"
}

#undef TENON_INT8_KERNEL
#undef TENON_INT8_PANELS
#undef TENON_INT8_FILL
#undef TENON_INT8_SKIP
#undef TENON_INT8_ON_Avx3
#undef TENON_INT8_ON_Avx2
#undef TENON_INT8_ON_Sse4OrAvx2
#undef TENON_INT8_ON_Neon64
#undef TENON_INT8_ON_X86
#undef TENON_INT8_ON_All

MicrokernelsInt8 MakeMicrokernels()
{
    MicrokernelsInt8 microkernels;
    microkernels.m_Lanes = hn::Lanes(Ints());
    microkernels.m_Rows = FindKernelRowsInt8(Target, GetCpuFeatures());
    microkernels.m_Requantize = Requantize;
    microkernels.m_SumRows = SumRows;
    microkernels.m_Widen = Widen;
    microkernels.m_SignXor = SignXor;
    microkernels.m_Dequantize = Dequantize;
    UseQuantizeLoops(microkernels);
#if HWY_TARGET == HWY_AVX3
    microkernels.m_PrepareRequantization = PrepareRequantization;
#endif
    for (const KernelRowInt8* const row : microkernels.m_Rows.m_Rows)
    {
        if (row != nullptr)
        {
            MicrokernelSetInt8& set = microkernels.Get(row->m_Role);
            static_cast<KernelTraitsInt8&>(set) = *row;
            set.m_Row = row;
        }
    }
    FillKernels(microkernels);
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
