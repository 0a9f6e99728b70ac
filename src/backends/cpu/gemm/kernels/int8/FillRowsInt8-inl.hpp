// SPDX-License-Identifier: Apache-2.0
// FillRows: turns rows of int8_kernels.def into functions. A source of microkernels takes the rows of its own layouts,
// after the templates that these rows name:
//
//   #define TENON_INT8_LAYOUT_Split TENON_INT8_FILL
//   #include "backends/cpu/gemm/kernels/int8/FillRowsInt8-inl.hpp"
//
// Rows of other targets and of other layouts are skipped, since their templates are not there. A row becomes
//
//   if (microkernels.m_Rows.Has(KernelIdInt8::<id>)) { set = microkernels.Get(<role>); heights = ...; <functions>; }
//
// Part of sources that are compiled for each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_FILL_ROWS_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_FILL_ROWS_INT8_INL
#undef TENON_CPU_FILL_ROWS_INT8_INL
#else
#define TENON_CPU_FILL_ROWS_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
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

// KernelTarget: the target's bit of KernelTargetsInt8. Rows are dispatched on their column "targets", ...
#if HWY_TARGET == HWY_AVX3
inline constexpr unsigned int KernelTarget = KernelTargetsInt8::Avx3;
#define TENON_INT8_ON_Avx3 TENON_INT8_TAKE
#elif HWY_TARGET == HWY_AVX2
inline constexpr unsigned int KernelTarget = KernelTargetsInt8::Avx2;
#define TENON_INT8_ON_Avx2 TENON_INT8_TAKE
#define TENON_INT8_ON_Sse4OrAvx2 TENON_INT8_TAKE
#elif HWY_TARGET == HWY_SSE4
inline constexpr unsigned int KernelTarget = KernelTargetsInt8::Sse4;
#define TENON_INT8_ON_Sse4OrAvx2 TENON_INT8_TAKE
#elif HWY_ARCH_ARM_A64
inline constexpr unsigned int KernelTarget = KernelTargetsInt8::Neon64;
#define TENON_INT8_ON_Neon64 TENON_INT8_TAKE
#else
inline constexpr unsigned int KernelTarget = KernelTargetsInt8::Neon32;
#endif
#define TENON_INT8_ON_All TENON_INT8_TAKE
#if HWY_ARCH_X86
#define TENON_INT8_ON_X86 TENON_INT8_TAKE
#endif
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
// ... and then on their column "layout".
#ifndef TENON_INT8_LAYOUT_Int8x4
#define TENON_INT8_LAYOUT_Int8x4 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_LAYOUT_Int16x2
#define TENON_INT8_LAYOUT_Int16x2 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_LAYOUT_Int8x2
#define TENON_INT8_LAYOUT_Int8x2 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_LAYOUT_Int4x8
#define TENON_INT8_LAYOUT_Int4x8 TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_LAYOUT_Split
#define TENON_INT8_LAYOUT_Split TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_LAYOUT_Permuted
#define TENON_INT8_LAYOUT_Permuted TENON_INT8_SKIP
#endif
#ifndef TENON_INT8_LAYOUT_Unpacked
#define TENON_INT8_LAYOUT_Unpacked TENON_INT8_SKIP
#endif
#define TENON_INT8_SKIP(...)
#define TENON_INT8_TAKE(layout, ...) TENON_INT8_LAYOUT_##layout(__VA_ARGS__)
#define TENON_INT8_FILL(id, role, h1, h2, h3, h4, rowUnit, groupUnit, columnGroups, epilogues, ...)                    \
    if (microkernels.m_Rows.Has(KernelIdInt8::id))                                                                     \
    {                                                                                                                  \
        [[maybe_unused]] MicrokernelSetInt8& set = microkernels.Get(KernelRoleInt8::role);                             \
        [[maybe_unused]] constexpr size_t heights[] = {0, h1, h2, h3, h4};                                             \
        __VA_ARGS__;                                                                                                   \
    }
#define TENON_INT8_PANELS(...) FillPanels<__VA_ARGS__, heights[1], heights[2], heights[3], heights[4]>(set)
#define TENON_INT8_BLOCK_PANELS(offset, isPaired, ...)                                                                 \
    FillBlockSet<__VA_ARGS__, heights[1], heights[2], heights[3], heights[4]>(set, {offset, isPaired})
#define TENON_INT8_KERNEL(targets, id, needs, role, data, weights, minWeights, bias, layout, ...)                      \
    TENON_INT8_ON_##targets(layout, id, role, __VA_ARGS__)

namespace
{

/// Fills in the functions of the rows of the source's layouts that the processor has.
void FillRows([[maybe_unused]] MicrokernelsInt8& microkernels)
{
    [[maybe_unused]] constexpr size_t M = ManyRegisters ? 8 : 6;
#include "backends/cpu/gemm/kernels/int8/int8_kernels.def"
}

} // namespace

#undef TENON_INT8_KERNEL
#undef TENON_INT8_PANELS
#undef TENON_INT8_BLOCK_PANELS
#undef TENON_INT8_FILL
#undef TENON_INT8_TAKE
#undef TENON_INT8_SKIP
#undef TENON_INT8_ON_Avx3
#undef TENON_INT8_ON_Avx2
#undef TENON_INT8_ON_Sse4OrAvx2
#undef TENON_INT8_ON_Neon64
#undef TENON_INT8_ON_X86
#undef TENON_INT8_ON_All
#undef TENON_INT8_LAYOUT_Int8x4
#undef TENON_INT8_LAYOUT_Int16x2
#undef TENON_INT8_LAYOUT_Int8x2
#undef TENON_INT8_LAYOUT_Int4x8
#undef TENON_INT8_LAYOUT_Split
#undef TENON_INT8_LAYOUT_Permuted
#undef TENON_INT8_LAYOUT_Unpacked

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
