// SPDX-License-Identifier: Apache-2.0
// Loops over registers, written in assembly so that no compiler can spill or reorder them, and loops over memory.
#include "MachinePeaks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace tenon::bench
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr int NumTrials = 40;
constexpr std::chrono::milliseconds TrialTime(2);

/// The best rate of several trials: calls of `run`, each of which does `workPerCall`.
template <typename Function>
double BestRate(double workPerCall, Function&& run)
{
    double best = 0.0;
    for (int trial = 0; trial < NumTrials; ++trial)
    {
        const auto start = Clock::now();
        auto now = start;
        double work = 0.0;
        while (now - start < TrialTime)
        {
            run();
            work += workPerCall;
            now = Clock::now();
        }
        best = std::max(best, work / std::chrono::duration<double>(now - start).count());
    }
    return best;
}

constexpr long LoopCount = 10000;

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
        long count = LoopCount / 10;                                                                                   \
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

bool HasAvxVnni()
{
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1U << 4U)) != 0;
}

void MeasureArithmetic(MachinePeaks& peaks)
{
    constexpr double Sums = 12.0 * LoopCount;
    if (__builtin_cpu_supports("avx512f"))
    {
        peaks.m_Float32Name = "AVX-512";
        peaks.m_Float32 = BestRate(Sums * 16, Fma512);
    }
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    {
        peaks.m_Float32Name = "AVX2";
        peaks.m_Float32 = BestRate(Sums * 8, Fma256);
    }
    else
    {
        peaks.m_Float32Name = "SSE";
        peaks.m_Float32 = BestRate(Sums * 4, MulAdd128);
    }
    if (__builtin_cpu_supports("avx512vnni"))
    {
        peaks.m_Int8Name = "AVX-512 VNNI";
        peaks.m_Int8 = BestRate(Sums * 64, Vnni512);
    }
    else if (HasAvxVnni())
    {
        peaks.m_Int8Name = "AVX-VNNI";
        peaks.m_Int8 = BestRate(Sums * 32, Vnni256);
    }
    else if (__builtin_cpu_supports("avx2"))
    {
        peaks.m_Int8Name = "AVX2, as pairs of int16";
        peaks.m_Int8 = BestRate(Sums * 16, Pairs256);
    }
    if (__builtin_cpu_supports("avx512bf16"))
    {
        peaks.m_BFloat16 = BestRate(Sums * 32, Bf16Dot512);
    }
    constexpr double TileProducts = 4.0 * (LoopCount / 10) * 16 * 16;
    if (HasTiles(1U << 25U))
    {
        peaks.m_Int8Tiles = BestRate(TileProducts * 64, Int8Tiles);
    }
    if (HasTiles(1U << 22U))
    {
        peaks.m_BFloat16Tiles = BestRate(TileProducts * 32, Bf16Tiles);
    }
}

#elif defined(__aarch64__)

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

void MeasureArithmetic(MachinePeaks& peaks)
{
    constexpr double Sums = 12.0 * LoopCount;
    peaks.m_Float32Name = "NEON";
    peaks.m_Float32 = BestRate(Sums * 4, Fma128);
    if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0)
    {
        peaks.m_Int8Name = "sdot";
        peaks.m_Int8 = BestRate(Sums * 16, Sdot128);
    }
}

#else

void MeasureArithmetic(MachinePeaks& peaks)
{
    peaks.m_Float32Name = "scalar";
    // Eight sums that the compiler may put into vectors.
    static volatile float factor = 1.0f;
    float sums[8] = {};
    peaks.m_Float32 = BestRate(8.0 * LoopCount,
                               [&]
                               {
                                   const float f = factor;
                                   for (long i = 0; i < LoopCount; ++i)
                                   {
                                       for (float& sum : sums)
                                       {
                                           sum = sum * f + f;
                                       }
                                   }
                                   factor = sums[0] < 0.0f ? 0.0f : 1.0f;
                               });
}

#endif

} // namespace

MachinePeaks MeasurePeaks()
{
    MachinePeaks peaks;
    MeasureArithmetic(peaks);
    const std::vector<uint64_t> memory((256U << 20U) / sizeof(uint64_t), 1);
    volatile uint64_t sink = 0;
    peaks.m_ReadBytes =
        BestRate(256.0 * (1U << 20U), [&] { sink = std::accumulate(memory.begin(), memory.end(), uint64_t(0)); });
    return peaks;
}

double MemcpyBytesPerSecond(size_t bytes)
{
    static std::map<size_t, double> known;
    double& rate = known[bytes];
    if (rate == 0.0)
    {
        // Both at the same place of a page: some other places are slow (common/CopyBlock.hpp), and no measure.
        constexpr size_t PageBytes = 4096;
        const size_t distance = (bytes + PageBytes - 1) / PageBytes * PageBytes;
        std::vector<char> memory(2 * distance, 1);
        char* const to = memory.data() + distance;
        rate = BestRate(static_cast<double>(bytes),
                        [&]
                        {
                            std::memcpy(to, memory.data(), bytes);
                            asm volatile("" : : "r"(to) : "memory");
                        });
    }
    return rate;
}

} // namespace tenon::bench
