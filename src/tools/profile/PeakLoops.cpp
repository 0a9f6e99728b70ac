// SPDX-License-Identifier: Apache-2.0
// Loops over registers, written in assembly so that no compiler can spill or reorder them.
#include "tools/profile/PeakLoops.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace tenon::tools
{

namespace
{

/// A call takes some microseconds.
constexpr long LoopCount = 1000;

#if defined(__x86_64__)

// Twelve independent sums (of registers 4 to 15, which every instruction set has) hide the latency of any of these.
// clang-format off
#define TENON_EACH_SUM(instruction, r)                                                                                 \
    instruction(r, 4) instruction(r, 5) instruction(r, 6) instruction(r, 7) instruction(r, 8) instruction(r, 9)        \
    instruction(r, 10) instruction(r, 11) instruction(r, 12) instruction(r, 13) instruction(r, 14) instruction(r, 15)
#define TENON_CLEAR(r, n) "vpxor %%ymm" #n ", %%ymm" #n ", %%ymm" #n "\n\t"
#define TENON_FMA(r, n) "vfmadd231ps %%" #r "mm0, %%" #r "mm1, %%" #r "mm" #n "\n\t"
#define TENON_MULADD(r, n) "mulps %%xmm1, %%xmm0\n\taddps %%xmm1, %%xmm" #n "\n\t"
#define TENON_VNNI(r, n) "vpdpbusd %%" #r "mm0, %%" #r "mm1, %%" #r "mm" #n "\n\t"
#define TENON_AVXVNNI(r, n) "%{vex%} vpdpbusd %%" #r "mm0, %%" #r "mm1, %%" #r "mm" #n "\n\t"
#define TENON_SHORTS(r, n) "vpdpwssd %%" #r "mm0, %%" #r "mm1, %%" #r "mm" #n "\n\t"
#define TENON_AVXSHORTS(r, n) "%{vex%} vpdpwssd %%" #r "mm0, %%" #r "mm1, %%" #r "mm" #n "\n\t"
#define TENON_PAIRS(r, n)                                                                                              \
    "vpmaddwd %%" #r "mm0, %%" #r "mm1, %%" #r "mm2\n\tvpaddd %%" #r "mm2, %%" #r "mm" #n ", %%" #r "mm" #n "\n\t"
#define TENON_BF16(r, n) "vdpbf16ps %%" #r "mm0, %%" #r "mm1, %%" #r "mm" #n "\n\t"
// clang-format on
#define TENON_SUMS                                                                                                     \
    "xmm0", "xmm1", "xmm2", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",        \
        "xmm14", "xmm15"

/// Defines a function that does LoopCount times twelve such instructions on operands of zero.
#define TENON_REGISTER_LOOP(name, features, instruction, r)                                                            \
    __attribute__((target(features), noinline)) void name()                                                            \
    {                                                                                                                  \
        long count = LoopCount;                                                                                        \
        asm volatile(TENON_CLEAR(r, 0) TENON_CLEAR(r, 1) TENON_EACH_SUM(TENON_CLEAR, r) "1:\n\t" TENON_EACH_SUM(       \
                         instruction, r) "dec %0\n\tjnz 1b\n\tvzeroupper"                                              \
                     : "+r"(count)                                                                                     \
                     :                                                                                                 \
                     : TENON_SUMS, "cc");                                                                              \
    }

TENON_REGISTER_LOOP(Fma512, "avx512f", TENON_FMA, z)
TENON_REGISTER_LOOP(Fma256, "avx2,fma", TENON_FMA, y)
TENON_REGISTER_LOOP(Vnni512, "avx512f", TENON_VNNI, z)
TENON_REGISTER_LOOP(Vnni256, "avx2", TENON_AVXVNNI, y)
TENON_REGISTER_LOOP(Shorts512, "avx512f", TENON_SHORTS, z)
TENON_REGISTER_LOOP(Shorts256, "avx2", TENON_AVXSHORTS, y)
TENON_REGISTER_LOOP(Pairs256, "avx2", TENON_PAIRS, y)
TENON_REGISTER_LOOP(Bf16Dot512, "avx512f", TENON_BF16, z)

/// Without fused multiply-adds: a product and a sum of four floats each.
void MulAdd128()
{
    long count = LoopCount;
    asm volatile("xorps %%xmm0, %%xmm0\n\txorps %%xmm1, %%xmm1\n\t"
                 "1:\n\t" TENON_EACH_SUM(TENON_MULADD, x) "dec %0\n\tjnz 1b"
                 : "+r"(count)
                 :
                 : TENON_SUMS, "cc");
}

#if defined(__linux__) // other systems have no call that allows tiles
constexpr long TileLoopCount = LoopCount / 10;

struct alignas(64) TileConfig
{
    uint8_t m_Palette = 1;
    uint8_t m_StartRow = 0;
    uint8_t m_Reserved[14] = {};
    uint16_t m_RowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t m_Rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Four sums: each instruction keeps the unit busy for 16 cycles, and its result is there after 52.
#define TENON_TILE_LOOP(name, instruction)                                                                             \
    __attribute__((noinline)) void name()                                                                              \
    {                                                                                                                  \
        const TileConfig config;                                                                                       \
        long count = TileLoopCount;                                                                                    \
        asm volatile("ldtilecfg %1\n\ttilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n\t"    \
                     "tilezero %%tmm4\n\ttilezero %%tmm5\n\t"                                                          \
                     "1:\n\t" instruction " %%tmm5, %%tmm4, %%tmm0\n\t" instruction                                    \
                     " %%tmm5, %%tmm4, %%tmm1\n\t" instruction " %%tmm5, %%tmm4, %%tmm2\n\t" instruction               \
                     " %%tmm5, %%tmm4, %%tmm3\n\t"                                                                     \
                     "dec %0\n\tjnz 1b\n\ttilerelease"                                                                 \
                     : "+r"(count)                                                                                     \
                     : "m"(config)                                                                                     \
                     : "cc");                                                                                          \
    }
TENON_TILE_LOOP(Int8Tiles, "tdpbssd")
TENON_TILE_LOOP(Bf16Tiles, "tdpbf16ps")

/// Whether the machine has tiles and the kernel lets this process use them.
bool HasTiles(unsigned int featureBit)
{
    constexpr long RequestPermission = 0x1023;
    constexpr long TileData = 18;
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    constexpr unsigned int TileBit = 1U << 24U;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & TileBit) != 0 && (d & featureBit) != 0 &&
           syscall(SYS_arch_prctl, RequestPermission, TileData) == 0;
}
#endif

bool HasAvxVnni()
{
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1U << 4U)) != 0;
}

PeakLoops FindPeakLoops()
{
    PeakLoops loops;
    constexpr double Sums = 12.0 * LoopCount;
    if (__builtin_cpu_supports("avx512f"))
    {
        loops.m_Float32 = {"AVX-512", Sums * 16, Fma512};
    }
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    {
        loops.m_Float32 = {"AVX2", Sums * 8, Fma256};
    }
    else
    {
        loops.m_Float32 = {"SSE", Sums * 4, MulAdd128};
    }
    if (__builtin_cpu_supports("avx512vnni"))
    {
        loops.m_Int8 = {"AVX-512 VNNI", Sums * 64, Vnni512};
        loops.m_Int16 = {"AVX-512 VNNI", Sums * 32, Shorts512};
    }
    else if (HasAvxVnni())
    {
        loops.m_Int8 = {"AVX-VNNI", Sums * 32, Vnni256};
        loops.m_Int16 = {"AVX-VNNI", Sums * 16, Shorts256};
    }
    else if (__builtin_cpu_supports("avx2"))
    {
        loops.m_Int8 = {"AVX2, as pairs of int16", Sums * 16, Pairs256};
        loops.m_Int16 = {"AVX2", Sums * 16, Pairs256};
    }
    if (__builtin_cpu_supports("avx512bf16"))
    {
        loops.m_BFloat16 = {"AVX512-BF16", Sums * 32, Bf16Dot512};
    }
#if defined(__linux__)
    constexpr double TileProducts = 4.0 * TileLoopCount * 16 * 16;
    if (HasTiles(1U << 25U))
    {
        loops.m_Int8Tiles = {"AMX-INT8", TileProducts * 64, Int8Tiles};
    }
    if (HasTiles(1U << 22U))
    {
        loops.m_BFloat16Tiles = {"AMX-BF16", TileProducts * 32, Bf16Tiles};
    }
#endif
    return loops;
}

#elif defined(__aarch64__) && defined(__linux__)

// clang-format off
#define TENON_EACH_SUM(instruction)                                                                                    \
    instruction(2) instruction(3) instruction(4) instruction(5) instruction(6) instruction(7) instruction(16)          \
    instruction(17) instruction(18) instruction(19) instruction(20) instruction(21)
#define TENON_CLEAR(n) "movi v" #n ".4s, #0\n\t"
#define TENON_FMA(n) "fmla v" #n ".4s, v0.4s, v1.4s\n\t"
// sdot v<n>.4s, v0.16b, v1.16b, which assemblers refuse for the baseline of the architecture.
#define TENON_SDOT(n) ".inst 0x4e819400 + " #n "\n\t"
// clang-format on
#define TENON_REGISTER_LOOP(name, instruction)                                                                         \
    __attribute__((noinline)) void name()                                                                              \
    {                                                                                                                  \
        long count = LoopCount;                                                                                        \
        asm volatile(TENON_CLEAR(0) TENON_CLEAR(1)                                                                     \
                         TENON_EACH_SUM(TENON_CLEAR) "1:\n\t" TENON_EACH_SUM(instruction) "subs %0, %0, #1\n\tb.ne 1b" \
                     : "+r"(count)                                                                                     \
                     :                                                                                                 \
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",       \
                       "cc");                                                                                          \
    }
TENON_REGISTER_LOOP(Fma128, TENON_FMA)
TENON_REGISTER_LOOP(Sdot128, TENON_SDOT)

PeakLoops FindPeakLoops()
{
    PeakLoops loops;
    constexpr double Sums = 12.0 * LoopCount;
    loops.m_Float32 = {"NEON", Sums * 4, Fma128};
    if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0)
    {
        loops.m_Int8 = {"sdot", Sums * 16, Sdot128};
    }
    return loops;
}

#else

/// Eight sums that the compiler may put into vectors.
void ScalarSums()
{
    static volatile float factor = 1.0f;
    static float sums[8] = {};
    const float f = factor;
    for (long i = 0; i < LoopCount; ++i)
    {
        for (float& sum : sums)
        {
            sum = sum * f + f;
        }
    }
    factor = sums[0] < 0.0f ? 0.0f : 1.0f;
}

PeakLoops FindPeakLoops()
{
    PeakLoops loops;
    loops.m_Float32 = {"scalar", 8.0 * LoopCount, ScalarSums};
    return loops;
}

#endif

} // namespace

const PeakLoops& GetPeakLoops()
{
    static const PeakLoops loops = FindPeakLoops();
    return loops;
}

} // namespace tenon::tools
